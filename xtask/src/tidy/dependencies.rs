//! The list of dependencies: `docs/dependencies.md` names every direct one of every crate with its
//! release, and no other.

use super::Source;
use std::collections::BTreeSet;

const LIST: &str = "docs/dependencies.md";
const WORKSPACE: &str = "Cargo.toml";

/// The manifests whose dependencies are listed, each with the word that stands for it in the list.
const USERS: [(&str, &str); 6] = [
    ("crates/stagetune/Cargo.toml", "engine"),
    ("crates/stagetune-pipeline/Cargo.toml", "pipeline"),
    ("crates/stagetune-cli/Cargo.toml", "command"),
    ("crates/stagetune-lab/Cargo.toml", "laboratory"),
    ("xtask/Cargo.toml", "chores"),
    ("fuzz/Cargo.toml", "fuzz"),
];

/// One crate uses one dependency.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Use {
    name: String,
    release: String,
    user: String,
}

/// What the list leaves out, and what it holds that is gone.
pub fn check(sources: &[Source]) -> Vec<String> {
    let text =
        |path: &str| sources.iter().find(|source| source.path == path).map(|source| source.text.as_str());
    let releases = text(WORKSPACE).map(dependencies).unwrap_or_default();
    let mut used = BTreeSet::new();
    for (path, user) in USERS {
        for (name, release) in text(path).map(dependencies).unwrap_or_default() {
            let of_workspace =
                || releases.iter().find(|(known, _)| *known == name).and_then(|(_, r)| r.clone());
            let release = release.or_else(of_workspace).unwrap_or_default();
            // Our own crates have no release in another registry.
            if !release.is_empty() {
                used.insert(Use { name, release, user: user.to_owned() });
            }
        }
    }
    let Some(list) = text(LIST) else {
        let missing = format!("{LIST}:1: the list of dependencies is missing; give every one a line");
        return if used.is_empty() { Vec::new() } else { vec![missing] };
    };
    let listed: BTreeSet<Use> = list.lines().flat_map(row).collect();
    let say = |what: &Use, how: &str| {
        let Use { name, release, user } = what;
        format!("{LIST}:1: `{name}` {release}, used by {user}, {how}")
    };
    let missing = used.difference(&listed).map(|what| say(what, "is not listed; say what it is for"));
    let gone = listed.difference(&used).map(|what| say(what, "is listed but is not in its manifest"));
    missing.chain(gone).collect()
}

/// The dependencies of a manifest, each with its release unless it is that of the workspace or has none.
pub fn dependencies(manifest: &str) -> Vec<(String, Option<String>)> {
    let mut found: Vec<(String, Option<String>)> = Vec::new();
    // In a section of all dependencies, or in that of the last one found.
    let (mut of_all, mut of_one) = (false, false);
    for line in manifest.lines().map(str::trim) {
        if let Some(section) = line.strip_prefix('[') {
            let section = section.split(']').next().unwrap_or(section);
            of_all = section.ends_with("dependencies");
            let one = section.rsplit_once('.').filter(|(all, _)| all.ends_with("dependencies"));
            of_one = one.is_some();
            found.extend(one.map(|(_, name)| (name.trim_matches('"').to_owned(), None)));
            continue;
        }
        let Some((key, value)) = line.split_once('=').filter(|_| !line.starts_with('#')) else { continue };
        let (key, value) = (key.trim(), value.trim());
        if of_all {
            let name = key.split('.').next().unwrap_or_default().trim_matches('"');
            let in_table = value.starts_with('{');
            let quoted =
                if in_table { value.split_once("version =").map(|(_, rest)| rest) } else { Some(value) };
            let release = quoted.and_then(|text| text.split('"').nth(1)).filter(|_| !key.contains('.'));
            found.push((name.to_owned(), release.map(str::to_owned)));
        } else if of_one && key == "version" {
            let release = value.split('"').nth(1).map(str::to_owned);
            found.last_mut().into_iter().for_each(|last| last.1.clone_from(&release));
        }
    }
    found
}

/// The uses that a row of a table names: `` | `name` | release | user, user | … ``.
fn row(line: &str) -> Vec<Use> {
    let mut cells = line.split('|').map(str::trim).skip(1);
    let (Some(name), Some(release), Some(users)) = (cells.next(), cells.next(), cells.next()) else {
        return Vec::new();
    };
    let Some(name) = name.strip_prefix('`').and_then(|name| name.strip_suffix('`')) else {
        return Vec::new();
    };
    let used =
        |user: &str| Use { name: name.to_owned(), release: release.to_owned(), user: user.trim().to_owned() };
    users.split(',').map(used).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources(list: &str) -> Vec<Source> {
        let workspace = "[workspace.dependencies]\nstagetune = { path = \"crates/stagetune\" }\n\
                         # Reads files.\nserde = { version = \"1\", features = [\"rc\"] }\nlibm = \"0.2\"\n";
        let engine = "[package]\nname = \"stagetune\"\n\n[dependencies]\nlibm.workspace = true\n\n\
                      [target.'cfg(unix)'.dependencies]\nserde.workspace = true\n\n\
                      [dev-dependencies]\nbasin = \"=3.2.0\"\n\n[lints]\nworkspace = true\n";
        let command =
            "[dependencies]\nstagetune.workspace = true\nserde = { workspace = true, optional = true }\n";
        let files = [(WORKSPACE, workspace), (USERS[0].0, engine), (USERS[2].0, command), (LIST, list)];
        files.map(|(path, text)| Source { path: path.to_owned(), text: text.to_owned() }).into()
    }

    #[test]
    fn a_list_with_every_use_is_in_order() {
        let list = "| crate | release |\n| --- | --- |\n| `libm` | 0.2 | engine | logarithms |\n\
                    | `serde` | 1 | engine, command | |\n| `basin` | =3.2.0 | engine | |\n";
        assert_eq!(check(&sources(list)), Vec::<String>::new());
    }

    #[test]
    fn what_is_missing_gone_or_of_another_release_is_said() {
        let list =
            "| `libm` | 0.2 | engine, command | |\n| `serde` | 2 | engine | |\n| `gone` | 1 | engine | |\n";
        let said = check(&sources(list)).join("\n");
        for part in [
            "`basin` =3.2.0, used by engine, is not listed",
            "`serde` 1, used by command, is not listed",
            "`serde` 1, used by engine, is not listed",
            "`serde` 2, used by engine, is listed but is not in its manifest",
            "`gone` 1, used by engine, is listed but",
            "`libm` 0.2, used by command, is listed but",
        ] {
            assert!(said.contains(part), "{part}\n{said}");
        }
        assert_eq!(said.lines().count(), 6, "{said}");
        let none: Vec<Source> = sources("").into_iter().filter(|source| source.path != LIST).collect();
        assert!(check(&none).join("").contains("is missing"));
    }
}
