//! The name of an attempt, unique for ever: study, key, number and a nonce.

use std::fmt;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

use crate::clock;
use crate::outputs::KeyId;

/// The name of an attempt; it is the name of its directory too.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Token(String);

/// A text that is no token.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{text:?} is not the token of an attempt; tokens have up to {LONGEST} letters, digits, `.`, `_` and `-` and \
     do not start with a dot"
)]
pub struct TokenError {
    /// The text.
    pub text: String,
}

/// File systems allow names of 255 bytes; a temporary name beside it needs some of them.
const LONGEST: usize = 200;

/// The longest part of a study's name that goes into a token.
const LONGEST_STUDY: usize = 80;

impl Token {
    /// A token that nobody has had before; `number` is for people who read it.
    pub fn fresh(study: &str, key: &KeyId, number: u64) -> Self {
        Self(format!("{}.{key}.{number}.{}", Self::study_part(study), nonce()))
    }

    /// Whether it is of this study.
    pub fn is_of(&self, study: &str) -> bool {
        self.0.starts_with(&format!("{}.", Self::study_part(study)))
    }

    /// Whether it is an attempt at the output of this key.
    pub fn is_for(&self, key: &KeyId) -> bool {
        self.0.rsplit('.').nth(2) == Some(key.as_str())
    }

    fn study_part(study: &str) -> String {
        let plain = |c: char| if is_plain(c) && c != '.' { c } else { '_' };
        study.chars().take(LONGEST_STUDY).map(plain).collect()
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<Token> for String {
    fn from(token: Token) -> Self {
        token.0
    }
}

impl TryFrom<String> for Token {
    type Error = TokenError;

    fn try_from(text: String) -> Result<Self, TokenError> {
        let fits = !text.is_empty() && text.len() <= LONGEST && !text.starts_with('.');
        if fits && text.chars().all(is_plain) { Ok(Self(text)) } else { Err(TokenError { text }) }
    }
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-')
}

/// 64 bits that the system's randomness, the time, the process and a counter go into.
fn nonce() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let mut hasher = blake3::Hasher::new();
    hasher.update(&RandomState::new().build_hasher().finish().to_le_bytes());
    hasher.update(&clock::now().to_le_bytes());
    hasher.update(&std::process::id().to_le_bytes());
    hasher.update(&COUNT.fetch_add(1, Ordering::Relaxed).to_le_bytes());
    hasher.finalize().to_hex().chars().take(16).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_unique_and_safe_as_names_of_directories() {
        let key = KeyId::try_from("0".repeat(32)).unwrap();
        let tokens: std::collections::BTreeSet<Token> =
            (0..1000).map(|_| Token::fresh("../é x", &key, 3)).collect();
        assert_eq!(tokens.len(), 1000);
        for token in &tokens {
            let text = serde_json::to_string(token).unwrap();
            assert_eq!(serde_json::from_str::<Token>(&text).unwrap(), *token);
        }
        let longest = Token::fresh(&"x".repeat(500), &key, u64::MAX);
        assert!(Token::try_from(longest.to_string()).is_ok());
        for text in ["", ".", "..", "a/b", ".hidden", "a b", "a\0"] {
            assert!(Token::try_from(text.to_owned()).is_err(), "{text:?}");
        }
        assert!(serde_json::from_str::<Token>("\"../etc\"").is_err());
    }
}
