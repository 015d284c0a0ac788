//! Where the options of two strategies differ: they are known as text, and all of it is more than anybody reads.

/// The first option that differs, as each side has it: (`` `least_share: 0.05` ``, `` nothing of `least_share` ``), say; nothing where they are the same.
///
/// Both are what [`crate::strategy::Strategy::settings`] says.
pub fn differing_option(one: &str, other: &str) -> Option<(String, String)> {
    if one == other {
        return None;
    }
    let (left, right) = (leaves(one), leaves(other));
    let key = |leaf: &str| leaf.split_once(": ").map(|(key, _)| key.to_owned());
    let has = |list: &[&str], key: &str| {
        list.iter().any(|leaf| leaf.split_once(": ").is_some_and(|(k, _)| k == key))
    };
    let at = left.iter().zip(&right).position(|(a, b)| a != b).unwrap_or(left.len().min(right.len()));
    let show =
        |leaf: Option<&&str>| leaf.map_or_else(|| "nothing more".to_owned(), |leaf| format!("`{leaf}`"));
    let missing = |key: &str| format!("nothing of `{key}`");
    let (a, b) = (left.get(at), right.get(at));
    // An option that one side does not know at all pushes the others along.
    if let Some((leaf, key)) = b.and_then(|leaf| Some((leaf, key(leaf)?)))
        && !has(&left, &key)
    {
        return Some((missing(&key), format!("`{leaf}`")));
    }
    if let Some((leaf, key)) = a.and_then(|leaf| Some((leaf, key(leaf)?)))
        && !has(&right, &key)
    {
        return Some((format!("`{leaf}`"), missing(&key)));
    }
    Some((show(a), show(b)))
}

/// `key: value` for `key: value`, whatever they are nested in; lists and what is in round brackets are whole.
fn leaves(text: &str) -> Vec<&str> {
    let mut depth = 0_usize;
    let ends = |c: char| {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && ['{', '}', ','].contains(&c)
    };
    text.split(ends).map(str::trim).filter(|leaf| !leaf.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_option_that_differs_is_named_and_nothing_else() {
        let differ = |one: &str, other: &str| {
            differing_option(one, other).map(|(a, b)| format!("{a} / {b}")).unwrap_or_default()
        };
        let old = "auto seed 7 Options { start: Nested, share: 0.01, model: Model { a: 1, b: [A, B] } }";
        assert_eq!(differ(old, old), "");
        assert_eq!(differ(old, &old.replace("0.01", "0.05")), "`share: 0.01` / `share: 0.05`");
        assert_eq!(differ(old, &old.replace("[A, B]", "[A]")), "`b: [A, B]` / `b: [A]`");
        assert_eq!(differ("O { s: Some(0.3) }", "O { s: None }"), "`s: Some(0.3)` / `s: None`");
        let new = old.replace("share: 0.01, ", "share: 0.01, pace: true, ");
        assert_eq!(differ(old, &new), "nothing of `pace` / `pace: true`");
        assert_eq!(differ(&new, old), "`pace: true` / nothing of `pace`");
        assert_eq!(differ("a", "a, b"), "nothing more / `b`");
    }
}
