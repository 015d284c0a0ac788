//! Paths of the file: relative to the study's directory, and inside it unless declared.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Component, Path, PathBuf};

use super::names::clipped;
use super::problem::Findings;
use super::reader::Text;
use super::stage::Draft;

/// Where the state of studies lives; no input can lie in it.
pub(super) const STATE: &str = ".stagetune";

/// The directories where inputs may lie: the study's own, and those that the file declares.
#[derive(Clone, Debug)]
pub(super) struct Bounds {
    pub(super) root: PathBuf,
    pub(super) outside: Vec<PathBuf>,
}

impl Bounds {
    pub(super) fn new(root: &Path, outside: &[Text], findings: &mut Findings<'_>) -> Self {
        let root = normal(root);
        let mut bounds = Self { root, outside: Vec::new() };
        for text in outside {
            if text.get_ref().is_empty() {
                findings.error(
                    &text.span(),
                    "a directory of `outside` is empty",
                    "write its path, such as \"../data\"",
                );
                continue;
            }
            let directory = normal(&bounds.root.join(text.get_ref()));
            if directory.starts_with(&bounds.root) {
                findings.error(
                    &text.span(),
                    format!(
                        "`outside` names \"{}\", which is inside the study's directory",
                        clipped(text.get_ref())
                    ),
                    "remove it: what is inside needs no declaration",
                );
            } else {
                bounds.outside.push(directory);
            }
        }
        bounds
    }

    /// Whether a path without `..` may be used.
    pub(super) fn allow(&self, path: &Path) -> bool {
        path.starts_with(&self.root) || self.outside.iter().any(|directory| path.starts_with(directory))
    }
}

/// The inputs of a stage: relative to the study's directory where they are inside it, absolute where they are not.
pub(super) fn inputs(
    draft: &Draft<'_, '_>,
    bounds: &Bounds,
    findings: &mut Findings<'_>,
) -> (Vec<PathBuf>, Vec<Range<usize>>) {
    let title = &draft.section.title;
    let texts = draft
        .section
        .get("inputs")
        .and_then(|node| {
            findings.read_texts(node, &format!("`inputs` of {title}"), "inputs = [\"data/train.csv\"]")
        })
        .unwrap_or_default();
    let (mut read, mut spans): (Vec<PathBuf>, Vec<Range<usize>>) = (Vec::new(), Vec::new());
    let mut seen = BTreeSet::new();
    for text in texts {
        let (span, typed) = (text.span(), text.get_ref().as_str());
        if typed.is_empty() {
            findings.error(
                &span,
                format!("an input of {title} is empty"),
                "write the path of a file or a directory",
            );
            continue;
        }
        let path = normal(&bounds.root.join(typed));
        let shown = clipped(typed);
        if typed.starts_with("~/") || typed.starts_with('$') {
            findings.error(
                &span,
                format!("the input \"{shown}\" of {title} would need a shell to be understood"),
                "write the path from the study's directory, or the whole path",
            );
            continue;
        }
        if let Err((message, help)) = bounds.check(&path, typed) {
            findings.error(&span, format!("the input \"{shown}\" of {title} {message}"), help);
            continue;
        }
        if bounds.root.starts_with(&path) || path.starts_with(bounds.root.join(STATE)) {
            findings.error(
                &span,
                format!("the input \"{shown}\" of {title} holds the study's own state, which changes with every trial"),
                "name the files and directories that the stage reads",
            );
            continue;
        }
        if let Some(name) =
            typed.strip_prefix('{').and_then(|rest| rest.split_once('}')).map(|(name, _)| name)
        {
            findings.error(
                &span,
                format!("the input \"{shown}\" of {title} is a placeholder: inputs are files that are there before the study starts"),
                format!("remove it; `{{{}}}` in `run` is enough for the stage to follow that output", clipped(name)),
            );
            continue;
        }
        let path = path.strip_prefix(&bounds.root).map(Path::to_owned).unwrap_or(path);
        if findings.is_full() {
            break;
        }
        if !seen.insert(path.clone()) {
            findings.error(
                &span,
                format!("the input \"{shown}\" of {title} is there already"),
                "remove one of the two",
            );
        } else {
            read.push(path);
            spans.push(span);
        }
    }
    (read, spans)
}

impl Bounds {
    /// Why a path must not be used, and what to do about it.
    pub(super) fn check(&self, path: &Path, typed: &str) -> Result<(), (String, String)> {
        if self.allow(path) {
            return Ok(());
        }
        let directory = Path::new(typed).parent().filter(|parent| !parent.as_os_str().is_empty());
        let declared = directory.map_or_else(|| "..".into(), |directory| directory.to_string_lossy());
        let help = format!(
            "move it inside, or declare the directory in [study]: `outside = [\"{}\"]`",
            clipped(&declared)
        );
        Err(("lies outside the study's directory".to_owned(), help))
    }
}

/// The same path without `.` and `..`, as far as the text goes.
pub(super) fn normal(path: &Path) -> PathBuf {
    let mut result = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                let named = matches!(result.components().next_back(), Some(Component::Normal(_)));
                if named {
                    result.pop();
                } else if !result.has_root() {
                    result.push("..");
                }
            }
            part => result.push(part),
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_are_worked_out() {
        for (path, expected) in [
            ("/a/./b/../c", "/a/c"),
            ("/a/../../b", "/b"),
            ("a/../../b", "../b"),
            ("./a", "a"),
            ("a//b/", "a/b"),
            ("../../x", "../../x"),
        ] {
            assert_eq!(normal(Path::new(path)), Path::new(expected), "{path}");
        }
    }

    #[test]
    fn a_directory_whose_name_starts_alike_is_outside() {
        let bounds = Bounds { root: "/study".into(), outside: vec!["/data".into()] };
        assert!(bounds.allow(Path::new("/study/x")) && bounds.allow(Path::new("/data")));
        assert!(!bounds.allow(Path::new("/study2/x")) && !bounds.allow(Path::new("/database/x")));
    }
}
