//! A strategy is named in at most three source files: its own, `rivals/mod.rs` and the table of the
//! catalogue.

// Clippy lets tests unwrap but not the helpers beside them; the engine sees no files, this test does.
#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

use std::path::{Path, PathBuf};

/// Where a new strategy would have to be made known: the engine, what runs pipelines, and the command.
const CRATES: [&str; 3] = ["stagetune", "stagetune-pipeline", "stagetune-cli"];

/// Every Rust file below a folder that is not a file of tests.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|end| end == "rs") && !path.ends_with("tests.rs") {
            found.push(path);
        }
    }
}

/// The code of a file: without comments, and up to its tests.
fn code(path: &Path) -> String {
    let text = std::fs::read_to_string(path).unwrap();
    let code = text.split("#[cfg(test)]").next().unwrap();
    code.lines().map(|line| line.split("//").next().unwrap()).collect::<Vec<_>>().join("\n")
}

/// Whether one of these words stands in the code.
fn names(code: &str, words: &[&str]) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    code.split(|c| !is_part(c)).any(|word| words.contains(&word))
}

#[test]
fn a_strategy_is_named_in_at_most_three_files() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = Vec::new();
    for folder in CRATES {
        sources(&crates.join(folder).join("src"), &mut files);
    }
    assert!(files.len() > 200, "only {} source files were found", files.len());
    // Without `random`, which is a word of its own, and `gp-ei`, which an error recommends.
    let rivals = [
        ["ca-mobo", "ca_mobo", "CaMobo"],
        ["carbo", "carbo", "Carbo"],
        ["eeipu", "eeipu", "Eeipu"],
        ["eipu", "eipu", "Eipu"],
        ["eipu-prefix", "eipu_prefix", "EipuPrefix"],
        ["gp-ucb", "gp_ucb", "GpUcb"],
        ["gp_mes", "gp_mes", "GpMes"],
        ["pbgi", "pbgi", "Pbgi"],
        ["switch-eipu", "switch_eipu", "SwitchEipu"],
        ["ts", "thompson", "Thompson"],
    ];
    for words in rivals {
        let named: Vec<&PathBuf> = files.iter().filter(|path| names(&code(path), &words)).collect();
        // Without the three the test would look for the wrong words.
        let expected = [format!("rivals/{}.rs", words[1]), "rivals/mod.rs".into(), "table.rs".into()];
        assert!(named.len() == 3, "{words:?}: {named:?}");
        assert!(expected.iter().all(|end| named.iter().any(|path| path.ends_with(end))), "{named:?}");
    }
}
