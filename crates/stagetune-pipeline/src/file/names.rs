//! Names of studies, stages and parameters, and which one a mistyped name was meant to be.

/// The longest name of a stage or a parameter: it becomes a file name and a column.
const MOST_BYTES: usize = 64;

/// The longest text that is compared with others.
const MOST_COMPARED: usize = 128;

/// Why a text cannot name a stage.
pub(super) fn stage(name: &str) -> Result<(), String> {
    let rule = "letters, digits, `_` and `-`, starting with a letter or a digit";
    check(
        name,
        rule,
        |first| first.is_ascii_alphanumeric(),
        |c| c.is_ascii_alphanumeric() || "_-".contains(c),
    )
}

/// Why a text cannot name a parameter.
pub(super) fn param(name: &str) -> Result<(), String> {
    let rule = "letters, digits, `_` and `-`, starting with a letter or `_`";
    let first = |c: char| c.is_ascii_alphabetic() || c == '_';
    check(name, rule, first, |c| c.is_ascii_alphanumeric() || "_-".contains(c))
}

/// Why a text cannot name a study.
pub(super) fn study(name: &str) -> Result<(), String> {
    let rule = "letters, digits, `.`, `_` and `-`, not starting with a dot";
    let inner = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    check(name, rule, |first| first != '.' && inner(first), inner)
}

/// The name that could stand instead of one that is not allowed, for a remedy.
pub(super) fn mended(name: &str) -> String {
    let letters: String =
        name.chars().take(MOST_BYTES).map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let inner = letters.trim_matches('_').trim_start_matches(|c: char| c.is_ascii_digit());
    match inner.trim_matches('_') {
        "" => "name_1".to_owned(),
        "out" => "output".to_owned(),
        inner => inner.to_owned(),
    }
}

/// The known name that was most likely meant: at most a third of its characters differ.
pub(super) fn nearest<'a>(typed: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let typed: Vec<char> = typed.chars().take(MOST_COMPARED + 1).collect();
    if typed.is_empty() || typed.len() > MOST_COMPARED {
        return None;
    }
    let tolerance = (typed.len() / 3).max(1);
    known
        .into_iter()
        .filter(|known| known.len() <= MOST_COMPARED)
        .filter(|known| known.chars().count().abs_diff(typed.len()) <= tolerance)
        .map(|known| (edits(&typed, known), known))
        .filter(|(distance, known)| *distance <= tolerance && *distance < known.chars().count())
        .min()
        .map(|(_, known)| known)
}

/// `a`, `b` and `c`, in backticks; not more than a dozen.
pub(super) fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let mut names: Vec<String> = names.into_iter().map(|name| format!("`{}`", clipped(name))).collect();
    if names.len() > 12 {
        names.truncate(12);
        return format!("{}, …", names.join(", "));
    }
    match names.split_last() {
        None => "none".to_owned(),
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
    }
}

/// A text short and plain enough to stand in a message.
pub(super) fn clipped(text: &str) -> String {
    let mut shown: String =
        text.chars().take(60).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    if text.chars().nth(60).is_some() {
        shown.push('…');
    }
    shown
}

fn check(
    name: &str,
    rule: &str,
    first: impl Fn(char) -> bool,
    inner: impl Fn(char) -> bool,
) -> Result<(), String> {
    if name.is_empty() {
        return Err("is empty".to_owned());
    }
    if name.len() > MOST_BYTES {
        return Err(format!("has {} bytes, more than {MOST_BYTES}", name.len()));
    }
    if !name.starts_with(&first) || !name.chars().all(inner) {
        return Err(format!("is not made of {rule}"));
    }
    if name == "out" {
        return Err("is taken: `{out}` is the directory that a stage writes to".to_owned());
    }
    Ok(())
}

/// Levenshtein's distance in which two swapped neighbours are one mistake, blind to the case of letters and to `_` against `-`.
fn edits(typed: &[char], known: &str) -> usize {
    let plain = |c: &char| if *c == '-' { '_' } else { c.to_ascii_lowercase() };
    let a: Vec<char> = typed.iter().map(plain).collect();
    let b: Vec<char> = known.chars().map(|c| plain(&c)).collect();
    // Rows for the last two, one and no characters of `a`.
    let (mut before, mut above): (Vec<usize>, Vec<usize>) = (Vec::new(), (0..=b.len()).collect());
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replace = above[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = replace.min(row[j - 1] + 1).min(above[j] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(before[j - 2] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut above, row);
    }
    above.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_plain_letters_only() {
        for good in ["a", "unet", "3d", "a-b_c", "X9"] {
            assert_eq!(stage(good), Ok(()), "{good}");
        }
        for bad in ["", "-a", "_a", "a b", "a/b", "..", "é", "out", &"x".repeat(65)] {
            assert!(stage(bad).is_err(), "{bad}");
        }
        assert!(param("_lr").is_ok() && param("9").is_err() && param("out").is_err());
        assert!(study("v1.2").is_ok() && study(".hidden").is_err() && study("a/b").is_err());
    }

    #[test]
    fn a_mended_name_is_allowed() {
        for typed in ["", "3", "a b", "学", "-x-", "my stage!", "out", "9lives", "__"] {
            let mended = mended(typed);
            assert!(param(&mended).is_ok() && stage(&mended).is_ok(), "{typed}: {mended}");
        }
    }

    #[test]
    fn a_mistyped_name_finds_its_neighbour() {
        let known = ["learning_rate", "batch", "lr"];
        assert_eq!(nearest("learning-rat", known), Some("learning_rate"));
        assert_eq!(nearest("Batch", known), Some("batch"));
        assert_eq!(nearest("lrr", known), Some("lr"));
        assert_eq!(nearest("momentum", known), None);
        assert_eq!(nearest("", known), None);
        assert_eq!(nearest("z", ["q"]), None);
    }

    #[test]
    fn distances_are_those_of_levenshtein() {
        let distance = |a: &str, b: &str| edits(&a.chars().collect::<Vec<_>>(), b);
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("abc", "abc"), 0);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abcd", "bd"), 2);
        assert_eq!(distance("claen", "clean"), 1);
    }
}
