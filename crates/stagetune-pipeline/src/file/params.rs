//! `[stage.params]`: what can be tuned in a stage.

use stagetune::space::{Param, ParamError};
use toml::Spanned;
use toml::de::DeValue;

use super::names::{clipped, mended, param};
use super::problem::Findings;
use super::reader::{Node, Section, Text, described};

/// The keys of a parameter.
pub(super) const PARAM_KEYS: [&str; 6] = ["float", "int", "choice", "bool", "step", "log"];

/// What a parameter looks like.
const EXAMPLES: &str =
    "`{ float = [0.1, 2] }`, `{ int = [1, 8] }`, `{ choice = [\"a\", \"b\"] }` or `{ bool = true }`";

/// The parameters in the order of the file; `None` for one that is wrong.
pub(super) fn read(node: &Node<'_>, stage: &str, findings: &mut Findings<'_>) -> Vec<(Text, Option<Param>)> {
    let example = "[stage.params] and below it one parameter a line, such as `lr = { float = [0.1, 2] }`";
    let Some(section) = Section::of(node, format!("`params` of {stage}"), example, findings) else {
        return Vec::new();
    };
    let mut read = Vec::new();
    for (span, name, node) in section.in_order() {
        let good = match param(name) {
            Ok(()) => true,
            Err(reason) => {
                let misplaced = super::stage::STAGE_KEYS.contains(&name);
                let help = if misplaced {
                    format!("move `{name}` above [stage.params]")
                } else {
                    format!("write for example `{}`", mended(name))
                };
                findings.error(&span, format!("the parameter's name `{}` {reason}", clipped(name)), help);
                false
            }
        };
        let param = if good { one(name, node, findings) } else { None };
        read.push((Spanned::new(span, name.to_owned()), param));
        if findings.is_full() {
            break;
        }
    }
    read
}

/// One parameter.
fn one(name: &str, node: &Node<'_>, findings: &mut Findings<'_>) -> Option<Param> {
    let shown = clipped(name);
    let what = format!("parameter `{shown}`");
    let DeValue::Table(_) = node.get_ref() else {
        findings.error(
            &node.span(),
            format!("{what} is {}, which does not say what it can be", described(node.get_ref())),
            match node.get_ref() {
                _ if super::stage::STAGE_KEYS.contains(&name) => {
                    format!("if `{shown}` is meant for the stage, move it above [stage.params]; a parameter is {EXAMPLES}")
                }
                DeValue::Array(_) => format!("say what it is: {EXAMPLES}"),
                _ => format!("write {EXAMPLES}; a fixed value belongs into `run`"),
            },
        );
        return None;
    };
    let section = Section::of(node, what.clone(), EXAMPLES, findings)?;
    if let [(_, inner, value)] = section.in_order()[..]
        && value.get_ref().is_table()
    {
        findings.error(
            &node.span(),
            format!(
                "`{shown}.{0}` is a name with a dot, which TOML reads as a table in a table",
                clipped(inner)
            ),
            format!("write the name alone, such as `{} = {{ float = [0.1, 2] }}`", mended(inner)),
        );
        return None;
    }
    let known = section.knows(&PARAM_KEYS, elsewhere, findings);
    let kinds: Vec<&str> =
        ["float", "int", "choice", "bool"].into_iter().filter(|kind| section.get(kind).is_some()).collect();
    let kind = match kinds[..] {
        [kind] => kind,
        [] if !known => return None,
        [] => {
            findings.error(
                &node.span(),
                format!("{what} does not say what it can be"),
                format!("write {EXAMPLES}"),
            );
            return None;
        }
        _ => {
            findings.error(
                &node.span(),
                format!("{what} is both {} at once", kinds.join(" and ")),
                "keep one of them",
            );
            return None;
        }
    };
    let value = section.get(kind)?;
    let log = match section.get("log") {
        None => Some(false),
        Some(node) => findings.read_flag(node, &format!("`log` of {what}")),
    };
    let step = match section.get("step") {
        None => Some(None),
        Some(node) => whole(findings, node, &format!("`step` of {what}")).map(Some),
    };
    let made = match kind {
        "float" => {
            let (low, high) = pair(value, &what, "float", findings, |findings, node, what| {
                findings.read_number(node, what)
            })?;
            Param::float(name, low, high)
        }
        "int" => {
            let (low, high) = pair(value, &what, "int", findings, whole)?;
            Param::stepped(name, low, high, step?.unwrap_or(1))
        }
        "choice" => {
            let texts = choices(value, &what, findings)?;
            Param::choice(name, texts)
        }
        _ => {
            if !findings.read_flag(value, &format!("`bool` of {what}"))? {
                findings.error(
                    &value.span(),
                    format!("`bool` of {what} is false"),
                    "write `{ bool = true }` to have true and false tried; a fixed value belongs into `run`",
                );
                return None;
            }
            Param::bool(name)
        }
    };
    let log = log?;
    let made = match (made, step?) {
        (Ok(param), Some(step)) if kind != "int" => param.step(step),
        (made, _) => made,
    };
    let made = made.and_then(|param| if log { param.log() } else { Ok(param) });
    match made {
        Ok(param) => Some(param),
        Err(error) => {
            let at = match &error {
                ParamError::NoScale { what, .. } if what.contains("step") => section.get("step"),
                ParamError::NoScale { .. } => section.get("log"),
                ParamError::Step { .. } => section.get("step"),
                _ => None,
            };
            let (message, help) = explain(&error);
            findings.error(&at.unwrap_or(value).span(), message, help);
            None
        }
    }
}

/// What is wrong, and what to write.
fn explain(error: &ParamError) -> (String, String) {
    match error {
        ParamError::TooManyValues { name, .. } => (
            format!("parameter `{name}` has more values than can be told apart"),
            "narrow the range, or add a larger `step`".to_owned(),
        ),
        ParamError::LogThroughZero { name, low } => (
            format!("parameter `{name}` has a log scale that starts at {low}"),
            "raise the lower bound above zero, or remove `log`".to_owned(),
        ),
        error => {
            let text = error.to_string();
            match text.rsplit_once("; ") {
                Some((message, help)) => (message.to_owned(), help.to_owned()),
                None => (text, format!("write {EXAMPLES}")),
            }
        }
    }
}

/// Two numbers, the lower one first.
fn pair<T>(
    node: &Node<'_>,
    what: &str,
    kind: &str,
    findings: &mut Findings<'_>,
    read: impl Fn(&mut Findings<'_>, &Node<'_>, &str) -> Option<T>,
) -> Option<(T, T)> {
    let example = format!("`{{ {kind} = [1, 8] }}`, the lower bound first");
    let items = findings.read_list(node, &format!("`{kind}` of {what}"), &example)?;
    let [low, high] = items else {
        findings.error(
            &node.span(),
            match items.len() {
                1 => format!("`{kind}` of {what} has one number instead of two"),
                len => format!("`{kind}` of {what} has {len} numbers instead of two"),
            },
            if items.len() > 2 {
                format!("write {example}; for a few fixed values write `{{ choice = [\"…\", \"…\"] }}`")
            } else {
                format!("write {example}")
            },
        );
        return None;
    };
    let low = read(findings, low, &format!("the lower bound of {what}"));
    let high = read(findings, high, &format!("the upper bound of {what}"));
    Some((low?, high?))
}

/// A whole number of the size that parameters can have.
fn whole(findings: &mut Findings<'_>, node: &Node<'_>, what: &str) -> Option<i64> {
    match node.get_ref() {
        DeValue::Float(digits) => {
            findings.error(
                &node.span(),
                format!("{what} is the number {}, which is not whole", clipped(digits.as_str())),
                "write a whole number, or use `float` instead of `int`",
            );
            None
        }
        _ => {
            let read = findings.read_whole(node, what, i128::from(i64::MIN)..=i128::from(i64::MAX))?;
            i64::try_from(read).ok()
        }
    }
}

/// The texts of a choice.
fn choices(node: &Node<'_>, what: &str, findings: &mut Findings<'_>) -> Option<Vec<String>> {
    let items = findings.read_list(node, &format!("`choice` of {what}"), "`{ choice = [\"a\", \"b\"] }`")?;
    let numbers =
        items.iter().filter(|item| matches!(item.get_ref(), DeValue::Integer(_) | DeValue::Float(_)));
    if !items.is_empty() && numbers.count() == items.len() {
        findings.error(
            &node.span(),
            format!("`choice` of {what} holds numbers, which have an order that a choice would forget"),
            "write `{ int = [1, 8], step = 1 }` or `{ float = [0.1, 2] }`; if no order is meant, put them in quotes",
        );
        return None;
    }
    let texts = findings.read_texts(node, &format!("`choice` of {what}"), "[\"a\", \"b\"]")?;
    (texts.len() == items.len()).then(|| texts.into_iter().map(Spanned::into_inner).collect())
}

/// What a key that is not one of a parameter means elsewhere.
fn elsewhere(key: &str) -> Option<String> {
    Some(match key {
        "type" | "kind" => format!("write {EXAMPLES}: the key says what it is"),
        "min" | "max" | "low" | "high" | "lower" | "upper" | "range" | "bounds" => {
            "write both bounds as a list: `{ float = [0.1, 2] }` or `{ int = [1, 8] }`".to_owned()
        }
        "values" | "options" | "choices" | "categories" => "write `{ choice = [\"a\", \"b\"] }`".to_owned(),
        "default" | "value" => "remove it: stagetune chooses the values".to_owned(),
        "scale" => "write `log = true` for a logarithmic scale".to_owned(),
        "boolean" => "write `{ bool = true }`".to_owned(),
        "integer" => "write `{ int = [1, 8] }`".to_owned(),
        "categorical" => "write `{ choice = [\"a\", \"b\"] }`".to_owned(),
        "loguniform" | "log_float" => "write `{ float = [1e-5, 0.1], log = true }`".to_owned(),
        "uniform" | "real" | "double" => "write `{ float = [0.1, 2] }`".to_owned(),
        _ => return None,
    })
}
