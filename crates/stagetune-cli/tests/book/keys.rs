//! Every key of the schema has an entry in the page of the pipeline file, with an example, and
//! every entry is a key.

use super::examples::ROOT;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

/// The tables of the schema, and what their keys are called in the page.
const TABLES: [(&str, &str); 5] = [
    ("StudyFile", "study"),
    ("BudgetFile", "budget"),
    ("CacheFile", "cache"),
    ("StageFile", "stage"),
    ("ParamFile", "params"),
];

fn schema() -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_stagetune")).arg("schema").output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Every key, such as `study.name`.
fn keys(schema: &Value) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let tables: BTreeSet<&str> = TABLES.iter().map(|(table, _)| *table).collect();
    for (name, table) in schema["$defs"].as_object().unwrap() {
        let own = table["additionalProperties"] == false && table["properties"].is_object();
        assert!(
            !own || tables.contains(name.as_str()),
            "the schema has a table {name}: give it a part of the page"
        );
    }
    for (table, name) in TABLES {
        for key in schema["$defs"][table]["properties"].as_object().unwrap().keys() {
            found.insert(format!("{name}.{key}"));
        }
    }
    found
}

/// The entries of the page with their text.
fn entries(page: &str) -> Vec<(String, &str)> {
    page.split("\n### `")
        .skip(1)
        .filter_map(|part| part.split_once("`\n"))
        .map(|(key, text)| (key.to_owned(), text))
        .collect()
}

#[test]
fn every_key_of_the_schema_has_an_entry_with_an_example_and_every_entry_is_a_key() {
    let page = fs::read_to_string(format!("{ROOT}/docs/src/reference/pipeline-file.md")).unwrap();
    let entries = entries(&page);
    let known = keys(&schema());
    let written: BTreeSet<String> = entries.iter().map(|(key, _)| key.clone()).collect();
    let missing: Vec<_> = known.difference(&written).collect();
    let gone: Vec<_> = written.difference(&known).collect();
    assert!(
        missing.is_empty() && gone.is_empty(),
        "docs/src/reference/pipeline-file.md: missing {missing:?}, gone {gone:?}"
    );
    for (key, text) in entries {
        let name = key.split('.').nth(1).unwrap();
        let example = text.split("```toml\n").skip(1).any(|block| {
            block.split("```").next().unwrap().contains(&format!("{name} ="))
                || block.contains(&format!(".{name}]"))
        });
        assert!(example, "docs/src/reference/pipeline-file.md: `{key}` has no example that uses it");
    }
}
