//! Names of parameters, modules and choices: what is accepted, and which one a mistyped name was meant to be.

use std::sync::Arc;

/// The longest name in characters; a longer one is a paste that went wrong.
pub const MAX_NAME: usize = 256;

/// Why a text cannot be a name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameError {
    /// Nothing, or nothing but white space.
    #[error("a name is empty; give it at least one visible character")]
    Empty,
    /// White space at an end is invisible and would make two names look the same.
    #[error("the name {0:?} starts or ends with white space; remove it")]
    Padded(String),
    /// A line break, a tab or another control character.
    #[error("the name {0:?} contains a control character; remove it")]
    Control(String),
    /// More than [`MAX_NAME`] characters.
    #[error("the name that starts with {start:?} has {len} characters; use at most {MAX_NAME}")]
    Long {
        /// Its first characters.
        start: String,
        /// Its length in characters.
        len: usize,
    },
}

/// Accepts any visible text, in any script.
pub(super) fn check_name(name: &str) -> Result<Arc<str>, NameError> {
    let len = name.chars().count();
    if name.trim().is_empty() {
        return Err(NameError::Empty);
    }
    if len > MAX_NAME {
        return Err(NameError::Long { start: name.chars().take(20).collect(), len });
    }
    if name.chars().any(char::is_control) {
        return Err(NameError::Control(name.to_owned()));
    }
    if name.trim() != name {
        return Err(NameError::Padded(name.to_owned()));
    }
    Ok(name.into())
}

/// The known name that `name` most likely meant: at most a third of its characters differ.
pub(super) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let typed: Vec<char> = name.chars().take(MAX_NAME + 1).collect();
    if typed.len() > MAX_NAME {
        return None;
    }
    let tolerance = (typed.len() / 3).max(1);
    known
        .into_iter()
        .filter(|candidate| candidate.chars().count().abs_diff(typed.len()) <= tolerance)
        .map(|candidate| (edits(&typed, candidate), candidate))
        .filter(|(distance, _)| *distance <= tolerance)
        .min()
        .map(|(_, candidate)| candidate.to_owned())
}

/// A clause for an error message: `; did you mean …?`, or nothing.
pub(super) fn hint(suggestion: &Option<String>) -> String {
    suggestion.as_ref().map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}

/// Levenshtein's distance, blind to the case of letters.
fn edits(typed: &[char], candidate: &str) -> usize {
    let same = |a: char, b: char| a == b || a.to_lowercase().eq(b.to_lowercase());
    let mut row: Vec<usize> = (0..=typed.len()).collect();
    for (i, c) in candidate.chars().enumerate() {
        let mut diagonal = i;
        row[0] = i + 1;
        for (j, &t) in typed.iter().enumerate() {
            let replace = diagonal + usize::from(!same(c, t));
            diagonal = row[j + 1];
            row[j + 1] = replace.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[typed.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_any_script_are_accepted() {
        for name in ["lr", "学习率", "λ", "learning rate", "скорость", "🚀", "a`b", "e\u{301}"]
        {
            assert_eq!(&*check_name(name).unwrap(), name);
        }
    }

    #[test]
    fn invisible_names_are_refused() {
        assert_eq!(check_name(""), Err(NameError::Empty));
        assert_eq!(check_name(" \t"), Err(NameError::Empty));
        assert_eq!(check_name(" lr"), Err(NameError::Padded(" lr".into())));
        assert_eq!(check_name("l\nr"), Err(NameError::Control("l\nr".into())));
        assert!(matches!(check_name(&"x".repeat(300)), Err(NameError::Long { len: 300, .. })));
    }

    #[test]
    fn a_mistyped_name_finds_its_neighbour() {
        let known = ["learning_rate", "batch", "norm"];
        assert_eq!(nearest("learning_rat", known).as_deref(), Some("learning_rate"));
        assert_eq!(nearest("Batch", known).as_deref(), Some("batch"));
        assert_eq!(nearest("momentum", known), None);
        assert_eq!(nearest("", known), None);
    }
}
