//! Reads JSON so that every complaint names the key it is about, such as `cases[3].gradient_log.noise_variance`.

use serde_json::Value;

/// A key and what is wrong with it.
#[derive(Debug, thiserror::Error)]
#[error("{key} {problem}")]
pub struct Complaint {
    /// The way to the key from the top of the file.
    pub key: String,
    /// What is wrong, as the rest of a sentence that starts with the key.
    pub problem: String,
}

/// A value of the file together with the way to it.
#[derive(Clone, Debug)]
pub struct Node<'a> {
    value: &'a Value,
    path: String,
}

impl<'a> Node<'a> {
    pub fn root(value: &'a Value) -> Self {
        Self { value, path: String::new() }
    }

    pub fn path(&self) -> &str {
        &self.path
    }

    pub fn complain(&self, problem: impl std::fmt::Display) -> Complaint {
        let key = if self.path.is_empty() { "the file".to_owned() } else { format!("`{}`", self.path) };
        Complaint { key, problem: problem.to_string() }
    }

    /// The value of a key that must be there.
    pub fn get(&self, key: &str) -> Result<Self, Complaint> {
        let object = self.value.as_object().ok_or_else(|| self.wrong_type("an object"))?;
        let path = if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) };
        match object.get(key) {
            Some(value) => Ok(Self { value, path }),
            None => Err(Self { value: self.value, path }.complain("is missing")),
        }
    }

    pub fn has(&self, key: &str) -> bool {
        self.value.get(key).is_some()
    }

    /// Whether the first of `cases` has this key.
    pub fn cases_have(&self, key: &str) -> bool {
        self.value.get("cases").and_then(|cases| cases.get(0)).is_some_and(|case| case.get(key).is_some())
    }

    pub fn number(&self) -> Result<f64, Complaint> {
        self.value.as_f64().ok_or_else(|| self.wrong_type("a number"))
    }

    pub fn count(&self) -> Result<usize, Complaint> {
        let whole = self.value.as_u64().and_then(|n| usize::try_from(n).ok());
        whole.ok_or_else(|| self.wrong_type("a whole number of at least 0"))
    }

    pub fn text(&self) -> Result<&'a str, Complaint> {
        self.value.as_str().ok_or_else(|| self.wrong_type("a text"))
    }

    pub fn list(&self) -> Result<Vec<Self>, Complaint> {
        let list = self.value.as_array().ok_or_else(|| self.wrong_type("a list"))?;
        let item = |(i, value)| Self { value, path: format!("{}[{i}]", self.path) };
        Ok(list.iter().enumerate().map(item).collect())
    }

    pub fn numbers(&self) -> Result<Vec<f64>, Complaint> {
        self.list()?.iter().map(Node::number).collect()
    }

    pub fn counts(&self) -> Result<Vec<usize>, Complaint> {
        self.list()?.iter().map(Node::count).collect()
    }

    /// A list of `len` numbers.
    pub fn numbers_of_length(&self, len: usize) -> Result<Vec<f64>, Complaint> {
        let numbers = self.numbers()?;
        if numbers.len() == len { Ok(numbers) } else { Err(self.wrong_length(len, numbers.len())) }
    }

    /// A list of lists of `len` numbers each.
    pub fn rows_of_length(&self, len: usize) -> Result<Vec<Vec<f64>>, Complaint> {
        self.list()?.iter().map(|row| row.numbers_of_length(len)).collect()
    }

    /// Two numbers in ascending order.
    pub fn pair(&self) -> Result<(f64, f64), Complaint> {
        match self.numbers()?.as_slice() {
            &[low, high] if low <= high => Ok((low, high)),
            _ => Err(self.complain("is not a pair of numbers, the smaller first")),
        }
    }

    pub fn wrong_length(&self, expected: usize, found: usize) -> Complaint {
        self.complain(format_args!("has {found} entries where {expected} belong"))
    }

    /// The keys on top, and those of the first case, in words.
    pub fn describe_keys(&self) -> String {
        let names = |value: &Value| match value {
            Value::Object(object) if object.is_empty() => "none".to_owned(),
            Value::Object(object) => object.keys().map(String::as_str).collect::<Vec<_>>().join(", "),
            other => format!("none, for it holds {}", type_name(other)),
        };
        match self.value.get("cases").and_then(|cases| cases.get(0)) {
            Some(case) => format!("{}; those of cases[0]: {}", names(self.value), names(case)),
            None => names(self.value),
        }
    }

    /// Every key, on top or inside a list of objects, that is not among `known`, once each.
    pub fn keys_beside(&self, known: &[&str]) -> Vec<String> {
        let mut unknown = std::collections::BTreeSet::new();
        collect_unknown(self.value, "", known, &mut unknown);
        unknown.into_iter().collect()
    }

    fn wrong_type(&self, expected: &str) -> Complaint {
        self.complain(format_args!("is {} where {expected} belongs", type_name(self.value)))
    }
}

fn collect_unknown(
    value: &Value,
    path: &str,
    known: &[&str],
    unknown: &mut std::collections::BTreeSet<String>,
) {
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                if known.contains(&key.as_str()) {
                    collect_unknown(value, &path, known, unknown);
                } else {
                    unknown.insert(path);
                }
            }
        }
        Value::Array(list) => {
            for value in list.iter().filter(|value| value.is_object()) {
                collect_unknown(value, &format!("{path}[]"), known, unknown);
            }
        }
        _ => {}
    }
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number of another kind",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn complaints_name_the_way_to_the_key() {
        let value = json!({"cases": [{"x": [[0.5, 1], [0.5]]}, {"x": [[true]]}]});
        let cases = Node::root(&value).get("cases").unwrap().list().unwrap();
        let complaint = |result: Result<Vec<Vec<f64>>, Complaint>| result.unwrap_err().to_string();
        let x = cases[0].get("x").unwrap();
        assert_eq!(complaint(x.rows_of_length(2)), "`cases[0].x[1]` has 1 entries where 2 belong");
        let x = cases[1].get("x").unwrap();
        assert_eq!(
            complaint(x.rows_of_length(1)),
            "`cases[1].x[0][0]` is true or false where a number belongs"
        );
        assert_eq!(cases[1].get("y").unwrap_err().to_string(), "`cases[1].y` is missing");
    }

    #[test]
    fn unknown_keys_are_listed_once_with_their_place() {
        let value = json!({"cases": [{"x": 1, "z": 2}, {"z": 3}], "note": "", "tolerance": 1});
        assert_eq!(Node::root(&value).keys_beside(&["cases", "x", "tolerance"]), ["cases[].z", "note"]);
    }
}
