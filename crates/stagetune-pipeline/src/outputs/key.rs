//! The cache key of a stage: one struct that can be printed, and the hash of it that names the directory.
//!
//! A stage further down holds the keys of the stages that it needs, and so everything that determined their outputs.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// The format of the keys that this release makes; another one finds none of the entries before it.
pub const KEY_FORMAT: u32 = 1;

/// Everything that determines the output of a stage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageKey {
    /// [`KEY_FORMAT`].
    pub format: u32,
    /// The stage's name.
    pub stage: String,
    /// The command with its placeholders.
    pub run: Vec<String>,
    /// Its own parameters, as the command sees them.
    pub params: BTreeMap<String, String>,
    /// The hash of each declared input, and of the program where it lies in the study's directory.
    pub inputs: BTreeMap<String, String>,
    /// Declared variables; `None` where a watched one is not set.
    pub env: BTreeMap<String, Option<String>>,
    /// The keys of the stages that it needs, by name.
    pub after: BTreeMap<String, KeyId>,
}

/// The name of a key: 32 hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct KeyId(String);

impl StageKey {
    /// Equal keys have equal names, and others have others.
    pub fn id(&self) -> KeyId {
        // Maps are sorted and every field is a text or a list of texts: the JSON is the same whenever the key is. It cannot fail either.
        let text = serde_json::to_vec(self).unwrap_or_default();
        // Half of the hash: a collision among 2⁴⁰ entries has a chance of 2⁻⁴⁸, and entries hold their key in full.
        KeyId(blake3::hash(&text).to_hex().chars().take(32).collect())
    }
}

impl KeyId {
    /// The digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Enough digits to tell keys apart on a screen.
    pub fn short(&self) -> &str {
        self.0.get(..8).unwrap_or(&self.0)
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<KeyId> for String {
    fn from(id: KeyId) -> Self {
        id.0
    }
}

impl TryFrom<String> for KeyId {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let digit = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
        if text.len() == 32 && text.bytes().all(digit) {
            Ok(Self(text))
        } else {
            Err(format!("{text:?} is not a cache key; keys are 32 hexadecimal digits"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> StageKey {
        let texts = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect::<BTreeMap<_, _>>()
        };
        StageKey {
            format: KEY_FORMAT,
            stage: "train".into(),
            run: vec!["tool".into(), "{lr}".into()],
            params: texts(&[("lr", "0.1")]),
            inputs: texts(&[("data", "00")]),
            env: BTreeMap::from([("A".to_owned(), Some("1".to_owned()))]),
            after: BTreeMap::from([("denoise".to_owned(), KeyId("0".repeat(32)))]),
        }
    }

    #[test]
    fn whatever_changes_the_key_changes_its_name() {
        let changes: [fn(&mut StageKey); 9] = [
            |k| k.format += 1,
            |k| k.stage.push('2'),
            |k| k.run.push("-v".into()),
            |k| k.run = vec!["tool {lr}".into()],
            |k| drop(k.params.insert("lr".into(), "0.10".into())),
            |k| drop(k.inputs.insert("data".into(), "01".into())),
            |k| drop(k.env.insert("A".into(), None)),
            |k| drop(k.after.insert("denoise".into(), KeyId("1".repeat(32)))),
            |k| drop(k.after.insert("other".into(), KeyId("0".repeat(32)))),
        ];
        let mut names: Vec<KeyId> = changes
            .iter()
            .map(|change| {
                let mut key = key();
                change(&mut key);
                key.id()
            })
            .collect();
        names.push(key().id());
        names.sort();
        names.dedup();
        assert_eq!(names.len(), changes.len() + 1);
    }

    #[test]
    fn a_name_is_the_same_in_every_release_with_the_same_format() {
        assert_eq!(key().id().as_str(), "cc84e2c5729dbcab971638527591bb95");
        assert_eq!(serde_json::from_str::<StageKey>(&serde_json::to_string(&key()).unwrap()).unwrap(), key());
        assert!(KeyId::try_from("../../etc".to_owned()).is_err());
    }
}
