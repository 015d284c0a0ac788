//! The map: every folder of the engine and every crate is named in `ARCHITECTURE.md`.

use super::Source;
use std::collections::BTreeSet;

const MAP: &str = "ARCHITECTURE.md";
const ENGINE: &str = "crates/stagetune/src/";

/// What the map leaves out.
pub fn check(sources: &[Source]) -> Vec<String> {
    let Some(map) = sources.iter().find(|source| source.path == MAP) else {
        return vec![format!(
            "{MAP}:1: the map is missing; name every crate and every folder of the engine in it"
        )];
    };
    let mut places = BTreeSet::new();
    for source in sources {
        if let Some(crate_folder) = source.path.strip_suffix("/Cargo.toml") {
            places.insert(format!("{crate_folder}/"));
        }
        let Some(inside) = source.path.strip_prefix(ENGINE) else { continue };
        // A folder that holds nothing but the tests of the file beside it is part of that file.
        if let Some((folder, name)) = inside.rsplit_once('/')
            && name != "tests.rs"
        {
            places.insert(format!("{folder}/"));
        }
    }
    let missing = |place: &&String| !names(&map.text, place);
    places.iter().filter(missing).map(|place| format!("{MAP}:1: `{place}` is not on the map")).collect()
}

/// Whether the place stands in the text and is not the end of a longer path.
fn names(text: &str, place: &str) -> bool {
    let part_of_longer = |before: char| before.is_alphanumeric() || "_-/".contains(before);
    text.match_indices(place).any(|(at, _)| !text[..at].chars().next_back().is_some_and(part_of_longer))
}
