//! Files with several plans, each a `[[plan]]` with a `name`: small plans that belong together need
//! no folder each.

use super::file::ListFile;
use super::{Plan, PlanError, check_label};
use anyhow::{Result, ensure};
use std::path::{Path, PathBuf};

/// A plan, and where it stands.
#[derive(Debug)]
pub struct Listed {
    /// Its file, and in a list its name.
    pub name: String,
    /// What it says.
    pub plan: Plan,
    /// Where its results go unless told otherwise: beside the plan; of a list, in a folder of its
    /// name.
    pub folder: PathBuf,
}

impl Listed {
    /// The plans of a file, or those of these names.
    pub fn read(path: &Path, only: Option<&[String]>) -> Result<Vec<Self>> {
        let text = super::text(path)?;
        let file = path.display().to_string();
        if !text.lines().any(|line| line.trim_end() == "[[plan]]") {
            ensure!(only.is_none(), "{file} is one plan; leave out --only");
            let plan = Plan::parse(&file, &text)?;
            return Ok(vec![Self { name: file, plan, folder: Plan::folder(path) }]);
        }
        let all = Self::parse(&file, &text)?;
        let Some(only) = only else { return Ok(all.into_iter().map(|(_, listed)| listed).collect()) };
        for name in only {
            let known = all.iter().any(|(other, _)| other == name);
            ensure!(known, "--only {name}: {file} has no plan of this name");
        }
        Ok(all.into_iter().filter(|(name, _)| only.contains(name)).map(|(_, listed)| listed).collect())
    }

    fn parse(file: &str, text: &str) -> Result<Vec<(String, Self)>, PlanError> {
        let list: ListFile = toml::from_str(text).map_err(|error| PlanError::of_toml(file, text, &error))?;
        let mut all: Vec<(String, Self)> = Vec::new();
        for plan in list.plan {
            let Some(name) = plan.name.clone() else {
                let problem = "a plan of a list has no `name`; its results go into a folder of that name";
                return Err(PlanError::at(file, text, plan.strategies.span(), problem.to_owned()));
            };
            let at = |problem: String| PlanError::at(file, text, name.span(), problem);
            check_label(name.get_ref(), &[]).map_err(at)?;
            if all.iter().any(|(other, _)| other == name.get_ref()) {
                return Err(at(format!("two plans are called `{}`; rename one", name.get_ref())));
            }
            let listed = Self {
                name: format!("{file}, {}", name.get_ref()),
                plan: Plan::checked(file, text, plan)?,
                folder: Plan::folder(Path::new(file)).join(name.get_ref()),
            };
            all.push((name.into_inner(), listed));
        }
        Ok(all)
    }
}
