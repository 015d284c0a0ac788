//! Which texts can name a record.

use super::RecordsError;

/// The longest word of a name: file systems take 255 bytes.
const LONGEST_WORD: usize = 200;

/// Refuses a text that is no name.
pub fn check(name: &str) -> Result<(), RecordsError> {
    name.split('/').try_for_each(|word| check_word(name, word))
}

/// Refuses a text that no name begins with; returns the folder that holds all names which do, without its
/// last `/`.
pub fn check_prefix(prefix: &str) -> Result<&str, RecordsError> {
    let (folder, last) = prefix.rsplit_once('/').unwrap_or(("", prefix));
    if prefix.contains('/') {
        check(folder)?;
    }
    if !last.is_empty() {
        check_word(prefix, last)?;
    }
    Ok(folder)
}

fn check_word(name: &str, word: &str) -> Result<(), RecordsError> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let problem = if word.is_empty() {
        "a word of it is empty"
    } else if word.starts_with('.') {
        "a word of it begins with a dot"
    } else if word.len() > LONGEST_WORD {
        "a word of it is longer than 200 characters"
    } else if !word.bytes().all(plain) {
        "it has another character"
    } else {
        return Ok(());
    };
    Err(RecordsError::Name { name: name.to_owned(), problem })
}
