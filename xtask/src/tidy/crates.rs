//! The arrow between crates: which crate of ours may depend on which, for its tests as well.

use super::arrow::CRATES;
use super::{Source, dependencies};

/// Crates without a table, and dependencies on crates of ours that go against it.
pub fn check(sources: &[Source]) -> Vec<String> {
    let manifests = sources.iter().filter(|source| source.path.rsplit('/').next() == Some("Cargo.toml"));
    manifests.flat_map(|manifest| [renamed(manifest), against(manifest)].concat()).collect()
}

/// What one manifest says against the table.
fn against(manifest: &Source) -> Vec<String> {
    let Source { path, text } = manifest;
    // That of the workspace is no crate.
    let Some(folder) = path.strip_suffix("Cargo.toml").filter(|folder| !folder.is_empty()) else {
        return Vec::new();
    };
    let name =
        text.lines().find_map(|line| line.strip_prefix("name = ")).unwrap_or_default().trim_matches('"');
    let Some(known) = CRATES.iter().find(|known| (known.folder, known.name) == (folder, name)) else {
        let (table, mend) = ("CRATES in xtask/src/tidy/arrow.rs", "with the arrow of its modules");
        return vec![format!("{path}:1: crate `{name}` in {folder} has no table; add it to {table}, {mend}")];
    };
    let used = dependencies::dependencies(text).into_iter().map(|(used, _)| used);
    let is_against = |used: &String| is_ours(used) && !known.may_use.contains(&used.as_str());
    let finding = |used| {
        let allowed = known.may_use;
        format!("{path}:1: `{name}` must not depend on `{used}`; of our crates it may use {allowed:?}")
    };
    used.filter(is_against).map(finding).collect()
}

/// Crates of ours under another name, by which the table would not know them.
fn renamed(manifest: &Source) -> Vec<String> {
    let package = |rest: &str| Some(rest.trim_start().strip_prefix('=')?.split('"').nth(1)?.to_owned());
    let renames = |line: &str| line.split("package").skip(1).filter_map(package).find(|name| is_ours(name));
    let lines = (1..).zip(manifest.text.lines());
    let found = lines.filter_map(|(number, line)| Some((number, renames(line)?)));
    let finding = |(number, name): (usize, String)| {
        format!("{}:{number}: `{name}` has another name here; use its own", manifest.path)
    };
    found.map(finding).collect()
}

fn is_ours(name: &str) -> bool {
    CRATES.iter().any(|ours| ours.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(path: &str, name: &str, rest: &str) -> Vec<String> {
        let text = format!("[package]\nname = \"{name}\"\n\n{rest}\n");
        check(&[Source { path: path.to_owned(), text }])
    }

    #[test]
    fn a_dependency_against_the_table_is_found_however_it_is_written() {
        for rest in [
            "[dependencies]\nstagetune-lab.workspace = true",
            "[dependencies]\nstagetune-lab = { path = \"../stagetune-lab\" }",
            "[dependencies.stagetune-lab]\nworkspace = true",
            "[dev-dependencies] # For tests.\n\"stagetune-lab\".workspace = true",
            "[build-dependencies]\nstagetune-lab = { workspace = true, optional = true }",
            "[target.'cfg(unix)'.dev-dependencies]\nstagetune-lab.workspace = true",
            "[target.'cfg(unix)'.dependencies.stagetune-lab]\npath = \"../stagetune-lab\"",
            "[dependencies]\nlab = { path = \"../stagetune-lab\", package=\"stagetune-lab\" }",
            "[dependencies.lab]\npackage = \"stagetune-lab\"",
        ] {
            let found = findings("crates/stagetune-cli/Cargo.toml", "stagetune-cli", rest);
            assert!(found.len() == 1 && found[0].contains("`stagetune-lab`"), "{rest}: {found:?}");
        }
        let allowed =
            "[dependencies]\nstagetune.workspace = true\nserde = \"1\"\n\n[features]\nstagetune-lab = []";
        assert_eq!(findings("crates/stagetune-cli/Cargo.toml", "stagetune-cli", allowed), [""; 0]);
    }

    #[test]
    fn the_workspace_gives_no_crate_of_ours_another_name() {
        let text =
            "[workspace.dependencies]\nlab = { path = \"a\", package = \"stagetune-lab\" }\n".to_owned();
        let found = check(&[Source { path: "Cargo.toml".to_owned(), text }]);
        assert!(found.len() == 1 && found[0].starts_with("Cargo.toml:2: `stagetune-lab`"), "{found:?}");
    }

    #[test]
    fn a_crate_without_a_table_is_found() {
        for (path, name) in [
            ("crates/dream/Cargo.toml", "dream"),
            ("examples/dream/Cargo.toml", "quickstart"),
            ("fuzz/Cargo.toml", "dream"),
        ] {
            let found = findings(path, name, "");
            assert!(found.len() == 1 && found[0].contains("has no table"), "{path}: {found:?}");
        }
        assert_eq!(findings("fuzz/Cargo.toml", "stagetune-fuzz", ""), [""; 0]);
    }

    #[test]
    fn crates_use_only_those_above_them_in_the_table() {
        for (i, user) in CRATES.iter().enumerate() {
            let above = |used: &&&str| CRATES[..i].iter().any(|known| known.name == **used);
            assert_eq!(user.may_use.iter().find(|used| !above(used)), None, "of {}", user.name);
        }
    }

    #[test]
    fn the_arrow_of_a_crate_is_over_its_own_folder() {
        for known in CRATES {
            assert!(known.arrow.folder.starts_with(known.folder), "{}", known.name);
            assert!(!known.arrow.modules.is_empty(), "{}", known.name);
        }
    }
}
