//! Why a stage would run: what its key has in common with the nearest entry, and what not.

use std::collections::BTreeMap;

use serde::Serialize;

use super::OutputError;
use super::key::{KeyId, StageKey};
use super::store::Cache;

/// The entry of the same stage that differs least.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Nearest {
    /// Its name.
    pub id: KeyId,
    /// What differs, the wanted key's side first.
    pub differences: Vec<Difference>,
}

/// One place in which two keys differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Which part of the key.
    pub what: String,
    /// What the wanted key says; `None` if it has no such part.
    pub wanted: Option<String>,
    /// What the entry says.
    pub cached: Option<String>,
}

impl Cache {
    /// The nearest entry of the same stage, if there is one.
    pub fn nearest(&self, wanted: &StageKey) -> Result<Option<Nearest>, OutputError> {
        let listed = self.list()?;
        let keys: BTreeMap<&KeyId, &StageKey> =
            listed.iter().filter_map(|l| Some((&l.id, &l.entry.as_ref().ok()?.key))).collect();
        let candidates = keys.iter().filter(|(_, key)| key.stage == wanted.stage);
        let nearest =
            candidates.map(|(id, key)| (differences(wanted, key), id)).min_by_key(|(d, _)| distance(d));
        Ok(nearest.map(|(differences, id)| Nearest { id: (*id).clone(), differences }))
    }
}

/// Another output of an earlier stage is further away than anything of the stage's own.
fn distance(differences: &[Difference]) -> usize {
    differences.iter().map(|one| if one.what.starts_with(ABOVE) { 100 } else { 1 }).sum()
}

/// What the keys of earlier stages are called.
const ABOVE: &str = "output of stage";

/// Every place in which two keys differ.
pub(super) fn differences(wanted: &StageKey, cached: &StageKey) -> Vec<Difference> {
    let mut found = Vec::new();
    let mut compare = |what: String, wanted: Option<String>, cached: Option<String>| {
        if wanted != cached {
            found.push(Difference { what, wanted, cached });
        }
    };
    let shown = |run: &[String]| Some(run.join(" "));
    compare("format of keys".into(), Some(wanted.format.to_string()), Some(cached.format.to_string()));
    compare("command".into(), shown(&wanted.run), shown(&cached.run));
    let texts = |map: &BTreeMap<String, String>| {
        map.iter().map(|(name, text)| (name.clone(), text.clone())).collect::<BTreeMap<_, _>>()
    };
    let env = |map: &BTreeMap<String, Option<String>>| {
        let text = |text: &Option<String>| text.clone().unwrap_or_else(|| "not set".into());
        map.iter().map(|(name, value)| (name.clone(), text(value))).collect::<BTreeMap<_, _>>()
    };
    let after = |map: &BTreeMap<String, KeyId>| {
        map.iter().map(|(name, id)| (name.clone(), id.to_string())).collect::<BTreeMap<_, _>>()
    };
    for (part, wanted, cached) in [
        ("parameter", texts(&wanted.params), texts(&cached.params)),
        ("content of input", texts(&wanted.inputs), texts(&cached.inputs)),
        ("variable", env(&wanted.env), env(&cached.env)),
        (ABOVE, after(&wanted.after), after(&cached.after)),
    ] {
        let names: std::collections::BTreeSet<&String> = wanted.keys().chain(cached.keys()).collect();
        for name in names {
            compare(format!("{part} `{name}`"), wanted.get(name).cloned(), cached.get(name).cloned());
        }
    }
    found
}
