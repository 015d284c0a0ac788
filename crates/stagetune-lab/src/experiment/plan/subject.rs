//! What a plan is about: a test function that it splits into modules, or a table that has modules of its own.

use super::file::PlanFile;
use super::{NOISE, Plan, PlanError};
use crate::coarse::Coarse;
use crate::problems::{Problem, Table};
use crate::simulate::Pipeline;
use std::ops::Range;
use std::path::Path;
use toml::Spanned;

/// A mistake at a place of the file.
type At<'a> = &'a dyn Fn(Range<usize>, String) -> PlanError;

/// The pipeline of a plan, and the place that says most about its modules.
pub(super) fn pipeline(
    file: &str,
    plan: &PlanFile,
    noise: Option<f64>,
    spread: Option<f64>,
    at: At<'_>,
) -> Result<(Pipeline, Range<usize>), PlanError> {
    let (problem, named) = match (&plan.problem, &plan.table) {
        (Some(name), None) => {
            let problem = name.get_ref().parse().map_err(|error| at(name.span(), format!("{error}")))?;
            (problem, name.span())
        }
        (None, Some(folder)) => {
            let path = Plan::folder(Path::new(file)).join(folder.get_ref());
            let table = Table::read(&path).map_err(|error| at(folder.span(), error.to_string()))?;
            (Problem::of_table(table), folder.span())
        }
        (Some(_), Some(table)) => {
            let both = "a plan has a `problem` or a `table`; remove one".to_owned();
            return Err(at(table.span(), both));
        }
        (None, None) => {
            let none = "missing field `problem`: name a test function, or a `table` by its folder";
            return Err(at(0..0, none.to_owned()));
        }
    };
    let split = split(&problem, plan.split.as_ref(), named.clone(), at)?;
    let costs = costs(&problem, split.len(), plan.costs.as_ref(), named.clone(), at)?;
    let place = plan.costs.as_ref().map_or(named, Spanned::span);
    // A table is as certain as what it was computed with.
    let coarse = coarse(&problem, plan, at)?;
    let noise = noise.unwrap_or(if problem.table().is_some() { 0.0 } else { NOISE });
    Ok((Pipeline { problem, split, costs, noise, spread, coarse }, place))
}

/// Variables of each module: of a table, its own.
fn split(
    problem: &Problem,
    given: Option<&Spanned<Vec<usize>>>,
    named: Range<usize>,
    at: At<'_>,
) -> Result<Vec<usize>, PlanError> {
    let (name, dim) = (problem.name(), problem.dim());
    let Some(given) = given else {
        let own = |table: &Table| table.modules().iter().map(|module| module.params.len()).collect();
        let none = || {
            at(named, format!("missing field `split`: say how the {dim} variables of {name} make modules"))
        };
        return problem.table().map(own).ok_or_else(none);
    };
    let split = given.get_ref();
    if let Some(table) = problem.table() {
        let own: Vec<usize> = table.modules().iter().map(|module| module.params.len()).collect();
        if own != *split {
            let problem = format!(
                "`split` is {split:?}, but the modules of {name} have {own:?} parameters; leave it out"
            );
            return Err(at(given.span(), problem));
        }
    }
    let variables = split.iter().fold(0usize, |sum, n| sum.saturating_add(*n));
    if split.contains(&0) || variables != dim {
        let problem = format!(
            "`split` gives modules to {variables} variables, {name} has {dim}; give each module at least 1, {dim} in all"
        );
        return Err(at(given.span(), problem));
    }
    Ok(split.clone())
}

/// What each module costs: of a table, the seconds it took unless told otherwise.
fn costs(
    problem: &Problem,
    modules: usize,
    given: Option<&Spanned<Vec<f64>>>,
    named: Range<usize>,
    at: At<'_>,
) -> Result<Vec<f64>, PlanError> {
    let Some(given) = given else {
        let name = problem.name();
        let Some(table) = problem.table() else {
            return Err(at(
                named,
                format!("missing field `costs`: say what each of the {modules} modules costs"),
            ));
        };
        let measured = |module: &crate::problems::TableModule| {
            let none = || format!("module {} of {name} has no `seconds`; give `costs`", module.name);
            module.seconds.map(|seconds| seconds.mean).ok_or_else(none)
        };
        let costs = table.modules().iter().map(measured).collect::<Result<_, _>>();
        return costs.map_err(|problem| at(named, problem));
    };
    let costs = given.get_ref();
    let fine = |cost: &f64| cost.is_finite() && *cost >= 0.0;
    if costs.len() != modules || !costs.iter().all(fine) || !(costs.iter().sum::<f64>() > 0.0) {
        let problem = format!("`costs` needs {modules} numbers, one per module, none negative, not all 0");
        return Err(at(given.span(), problem));
    }
    Ok(costs.clone())
}

/// Which variables are choices, and the steps of the metric: of functions, and where nobody from outside plays, whose games know numbers alone.
fn coarse(problem: &Problem, plan: &PlanFile, at: At<'_>) -> Result<Coarse, PlanError> {
    /// More is as good as a number.
    const MOST: usize = 100;
    let place = plan.choices.as_ref().map(Spanned::span).or(plan.steps.as_ref().map(Spanned::span));
    let Some(place) = place else { return Ok(Coarse::default()) };
    if problem.table().is_some() {
        return Err(at(place, "a table has its own values; leave `choices` and `steps` out".to_owned()));
    }
    if plan.peers.is_some() {
        let problem = "peers play on plain functions; leave out `[peers]`, or `choices` and `steps`";
        return Err(at(place, problem.to_owned()));
    }
    let choices = plan.choices.as_ref().map_or(&[][..], |choices| choices.get_ref());
    let fits = choices.is_empty() || choices.len() == problem.dim();
    if !fits || choices.iter().any(|count| *count == 1 || *count > MOST) {
        let problem = format!(
            "`choices` needs {} numbers, one per variable: 0 where it stays a number, or from 2 to {MOST}",
            problem.dim()
        );
        return Err(at(place, problem));
    }
    if let Some(none) = plan.steps.as_ref().filter(|steps| *steps.get_ref() == 0) {
        return Err(at(none.span(), "`steps` is 0; give the number of steps of the metric".to_owned()));
    }
    let steps = plan.steps.as_ref().map(|steps| *steps.get_ref());
    Ok(Coarse { choices: choices.to_vec(), steps })
}
