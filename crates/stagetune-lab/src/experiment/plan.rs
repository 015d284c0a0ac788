//! The plan of an experiment: what a TOML file says, and what it means once checked.

mod file;
mod list;
mod subject;

use self::file::{CostModelName, PlanFile, RowFile, StartFile};
use super::start::{self, Start};
use super::summary::{THRESHOLDS, WITHIN, WITHIN_PERCENT};
use crate::peers;
use crate::peers::transcript::{Game, Games, Transcript};
use crate::simulate::Pipeline;
use serde_json::{Value, json};
use stagetune::space::CostModel;
use stagetune::strategy::Design;
use std::ops::Range;
use std::path::{Path, PathBuf};
use toml::Spanned;

pub use list::Listed;

/// A plan that can be run.
#[derive(Debug)]
pub struct Plan {
    /// What the figure is called.
    pub title: Option<String>,
    /// The problem, split into modules.
    pub pipeline: Pipeline,
    /// Which earlier outputs are at hand.
    pub cost_model: CostModel,
    /// What a run may spend, in runs of the whole pipeline; as much as its trials can, where they
    /// alone are limited.
    pub budget: f64,
    /// Whether strategies are told of that budget: not where trials alone are limited.
    pub limits_cost: bool,
    /// How many trials a run may have, whatever they cost.
    pub trials: Option<usize>,
    /// The regret at which a run is over: then its costs are compared, and not what it does with
    /// the rest of the budget.
    pub until: Option<f64>,
    /// The points that every strategy starts with.
    pub start: Design,
    /// λ of the movement regret.
    pub lambda: f64,
    /// Runs per strategy.
    pub sims: usize,
    /// What all randomness comes from.
    pub seed: u64,
    /// Whether the figure shows the movement regret.
    pub movement: bool,
    /// Who competes.
    pub entries: Vec<Entry>,
    /// Who is shown beside whom; where there are none, all are shown together.
    pub rows: Vec<Row>,
}

/// A competitor.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// What it is called in tables and figures.
    pub label: String,
    /// The engine's name of the strategy.
    pub strategy: String,
    /// A start of its own.
    pub start: Option<Start>,
    /// The folder of its games, if it is a peer from outside.
    pub games: Option<PathBuf>,
}

/// A row of the figure: those who are compared side by side.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// What they have in common.
    pub title: String,
    /// Labels of competitors.
    pub show: Vec<String>,
}

/// A plan that cannot be run: where, why and how to mend it.
#[derive(Debug, thiserror::Error)]
#[error("{file}:{line}:{column}: {problem}\n{line:>5} | {source_line}\n      | {marker}")]
pub struct PlanError {
    file: String,
    line: usize,
    column: usize,
    problem: String,
    source_line: String,
    marker: String,
}

/// As in the paper: noise of standard deviation 0.01, 15 uniform points, λ = 0.1, 100 runs a curve.
const NOISE: f64 = 0.01;
const START: Design = Design::Uniform(15);
const LAMBDA: f64 = 0.1;
const SIMS: usize = 100;

/// Runs or trials beyond what anybody will wait for.
const MOST: usize = 100_000;

impl Plan {
    /// Reads and checks a file.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        Ok(Self::parse(&path.display().to_string(), &text(path)?)?)
    }

    /// Checks the text of a file.
    pub fn parse(file: &str, text: &str) -> Result<Self, PlanError> {
        let at = |span: Range<usize>, problem: String| PlanError::at(file, text, span, problem);
        let plan: PlanFile = toml::from_str(text).map_err(|error| PlanError::of_toml(file, text, &error))?;
        if let Some(name) = &plan.name {
            let problem = "only the plans of a list have a `name`; give a `title`".to_owned();
            return Err(at(name.span(), problem));
        }
        Self::checked(file, text, plan)
    }

    /// Checks what was typed.
    fn checked(file: &str, text: &str, plan: PlanFile) -> Result<Self, PlanError> {
        let at = |span: Range<usize>, problem: String| PlanError::at(file, text, span, problem);
        let number = |value: &Option<Spanned<f64>>, key: &str, default: f64| match value {
            Some(value) if !(value.get_ref().is_finite() && *value.get_ref() >= 0.0) => Err(at(
                value.span(),
                format!("`{key}` is {}; give a finite number of at least 0", value.get_ref()),
            )),
            value => Ok(value.as_ref().map_or(default, |value| *value.get_ref())),
        };
        let count = |value: &Spanned<usize>, key: &str| match *value.get_ref() {
            0 => Err(at(value.span(), format!("`{key}` is 0; give at least 1"))),
            count if count > MOST => {
                Err(at(value.span(), format!("`{key}` is {count}; give at most {MOST}")))
            }
            count => Ok(count),
        };

        let given = |value: &Option<Spanned<f64>>, key: &str| {
            number(value, key, 0.0).map(|n| value.as_ref().map(|_| n))
        };
        let (noise, spread) = (given(&plan.noise, "noise")?, given(&plan.cost_spread, "cost_spread")?);
        let (pipeline, about_modules) = subject::pipeline(file, &plan, noise, spread, &at)?;
        let trials = plan.trials.as_ref().map(|trials| count(trials, "trials")).transpose()?;
        let budget = match (&plan.budget, trials) {
            (Some(given), _) => match *given.get_ref() {
                budget if budget.is_finite() && budget > 0.0 => budget,
                budget => {
                    let problem =
                        format!("`budget` is {budget}; give a number of full pipeline runs above 0");
                    return Err(at(given.span(), problem));
                }
            },
            (None, Some(trials)) => trials as f64,
            (None, None) => {
                let problem = "missing field `budget`: say how many full pipeline runs a run may \
                    spend, or give `trials`";
                return Err(at(0..0, problem.to_owned()));
            }
        };
        let checked = |start: &Spanned<StartFile>| {
            let checked = start.get_ref().start();
            if let Start::Design(design) = checked {
                design.check().map_err(|error| at(start.span(), error.to_string()))?;
            }
            Ok(checked)
        };
        let start = match plan.start.as_ref().map(|start| Ok((checked(start)?, start.span()))).transpose()? {
            None => START,
            Some((Start::Design(design), _)) => design,
            Some((Start::Own, span)) => {
                return Err(at(
                    span,
                    "the plan's `start` is what all share; `own` is for variants".to_owned(),
                ));
            }
        };
        let sims = plan.sims.as_ref().map_or(Ok(SIMS), |sims| count(sims, "sims"))?;
        let space = pipeline.space().map_err(|error| at(about_modules, format!("{error:#}")))?;

        let spendable = budget * pipeline.costs.iter().sum::<f64>();
        let mut entries: Vec<Entry> = Vec::new();
        let plain = plan.strategies.get_ref().iter().map(|name| (name, name.get_ref().clone(), None));
        let variants = plan.variant.iter().flat_map(|variant| {
            let label = |name: &Spanned<String>| format!("{}-{}", name.get_ref(), variant.suffix);
            variant.strategies.iter().map(move |name| (name, label(name), Some(&variant.start)))
        });
        for (name, label, own) in plain.chain(variants) {
            start::build(name.get_ref(), &space, Start::Design(start), 0, spendable)
                .map_err(|error| at(name.span(), format!("{error}")))?;
            let own = own.map(checked).transpose()?;
            let entry = Entry { label, strategy: name.get_ref().clone(), start: own, games: None };
            check_label(&entry.label, &entries).map_err(|problem| at(name.span(), problem))?;
            let other = entry.label != entry.strategy
                && start::build(&entry.label, &space, Start::Design(start), 0, spendable).is_ok();
            if other {
                let problem =
                    format!("`{}` is the name of another strategy; choose another suffix", entry.label);
                return Err(at(name.span(), problem));
            }
            entries.push(entry);
        }
        for peer in plan.peers.iter() {
            let folder = Self::folder(Path::new(file)).join(&peer.games);
            for name in &peer.names {
                let label = name.get_ref().clone();
                if !peers::NAMES.contains(&label.as_str()) {
                    let known = peers::NAMES.join(", ");
                    return Err(at(name.span(), format!("no peer is called `{label}`; there are {known}")));
                }
                check_label(&label, &entries).map_err(|problem| at(name.span(), problem))?;
                entries.push(Entry {
                    strategy: label.clone(),
                    label,
                    start: None,
                    games: Some(folder.clone()),
                });
            }
        }
        if entries.is_empty() {
            return Err(at(
                plan.strategies.span(),
                format!("nobody competes; name strategies: {}", stagetune::strategy::NAMES.join(", ")),
            ));
        }
        let known = |label: &Spanned<String>| match entries.iter().any(|e| e.label == *label.get_ref()) {
            true => Ok(label.get_ref().clone()),
            false => Err(at(
                label.span(),
                format!("`{}` does not compete; name a strategy of the plan", label.get_ref()),
            )),
        };
        let row = |row: &RowFile| {
            Ok(Row { title: row.title.clone(), show: row.show.iter().map(known).collect::<Result<_, _>>()? })
        };
        let rows = plan.row.iter().map(row).collect::<Result<_, _>>()?;
        Ok(Self {
            title: plan.title,
            pipeline,
            cost_model: match plan.cost_model {
                Some(CostModelName::Cache) => CostModel::Cache,
                _ => CostModel::Previous,
            },
            budget,
            limits_cost: plan.budget.is_some(),
            trials,
            until: given(&plan.until, "until")?,
            start,
            lambda: number(&plan.lambda, "lambda", LAMBDA)?,
            sims,
            seed: plan.seed.unwrap_or(1),
            movement: plan.movement.unwrap_or(false),
            entries,
            rows,
        })
    }

    /// Keeps the competitors of these labels; a strategy that the plan does not name may join.
    pub fn select(&mut self, labels: &[String]) -> anyhow::Result<()> {
        let space = self.pipeline.space()?;
        let mut entries: Vec<Entry> = Vec::new();
        for label in labels {
            let entry = match self.entries.iter().find(|entry| entry.label == *label) {
                Some(entry) => entry.clone(),
                None => {
                    start::build(label, &space, Start::Design(self.start), 0, self.budget_cost())
                        .map_err(|error| anyhow::anyhow!("--strategies {label}: {error}"))?;
                    Entry { label: label.clone(), strategy: label.clone(), start: None, games: None }
                }
            };
            check_label(&entry.label, &entries)
                .map_err(|problem| anyhow::anyhow!("--strategies {label}: {problem}"))?;
            entries.push(entry);
        }
        self.entries = entries;
        Ok(())
    }

    /// The game that a peer plays under these conditions.
    pub fn game(&self, peer: &str, sim: usize) -> Game {
        Game {
            peer: peer.to_owned(),
            problem: self.pipeline.problem.name().to_owned(),
            table: self.pipeline.problem.table().map(|table| table.fingerprint().to_owned()),
            noise: self.pipeline.noise,
            start: start::describe(self.start),
            seed: self.seed,
            sim,
        }
    }

    /// How long a game must be: as many trials as the budget pays for in full.
    pub fn trials_of_game(&self) -> usize {
        (self.budget.ceil() as usize).min(self.trials.unwrap_or(usize::MAX))
    }

    /// The runs of a competitor: for peers, as many as there are games.
    pub fn sims_of(&self, entry: &Entry) -> anyhow::Result<usize> {
        let Some(folder) = &entry.games else { return Ok(self.sims) };
        let games = Games::open(folder, self.pipeline.problem.name())?;
        for sim in 1..=self.sims {
            let game = self.game(&entry.strategy, sim);
            let fits = |found: &Transcript| found.game == game && found.trials() >= self.trials_of_game();
            if !games.find(&game)?.is_some_and(|found| fits(&found)) {
                return Ok(sim - 1);
            }
        }
        Ok(self.sims)
    }

    /// Takes out the peers that have no games under these conditions, and says which.
    pub fn without_absent_peers(&mut self) -> anyhow::Result<Vec<String>> {
        let mut absent = Vec::new();
        for entry in &self.entries {
            if self.sims_of(entry)? == 0 {
                absent.push(entry.label.clone());
            }
        }
        self.entries.retain(|entry| !absent.contains(&entry.label));
        Ok(absent)
    }

    /// What one run may spend.
    pub fn budget_cost(&self) -> f64 {
        self.budget * self.pipeline.costs.iter().sum::<f64>()
    }

    /// The starting points of a competitor.
    pub fn start_of(&self, entry: &Entry) -> Start {
        entry.start.unwrap_or(Start::Design(self.start))
    }

    /// Everything that a run of this competitor depends on, but for its number: equal conditions
    /// give equal runs.
    pub fn conditions(&self, entry: &Entry) -> Value {
        let mut conditions = json!({
            "problem": self.pipeline.problem.name(), "split": self.pipeline.split, "costs": self.pipeline.costs,
            "cost_spread": self.pipeline.spread, "noise": self.pipeline.noise, "cost_model": self.cost_model_name(),
            "budget": self.budget, "trials": self.trials, "start": self.start_of(entry).describe(), "seed": self.seed,
            "strategy": entry.strategy, "release": env!("CARGO_PKG_VERSION"),
        });
        // Left out where it is not given: runs of plans without it stay what they were.
        if let Some(until) = self.until {
            conditions["until"] = json!(until);
        }
        let coarse = &self.pipeline.coarse;
        if !coarse.is_plain() {
            conditions["coarse"] = json!({ "choices": coarse.choices, "steps": coarse.steps });
        }
        if !self.limits_cost {
            conditions["budget"] = Value::Null;
        }
        // A table that was computed anew has the same name.
        if let Some(table) = self.pipeline.problem.table() {
            conditions["table"] = json!(table.fingerprint());
        }
        conditions
    }

    /// The regrets whose cost is worked out, by name: a table also has that of a score within 5% of its best.
    pub fn thresholds(&self) -> Vec<(&'static str, f64)> {
        let problem = &self.pipeline.problem;
        let within = problem.table().map(|table| (WITHIN, problem.normalise(-table.within(WITHIN_PERCENT))));
        THRESHOLDS.into_iter().chain(within).collect()
    }

    /// As files name it.
    pub fn cost_model_name(&self) -> &'static str {
        match self.cost_model {
            CostModel::Previous => "previous",
            CostModel::Cache => "cache",
        }
    }

    /// Where results go unless told otherwise: beside the plan.
    pub fn folder(path: &Path) -> PathBuf {
        match path.parent() {
            Some(folder) if folder != Path::new("") => folder.to_owned(),
            _ => PathBuf::from("."),
        }
    }
}

impl PlanError {
    fn of_toml(file: &str, text: &str, error: &toml::de::Error) -> Self {
        let problem = format!("{}; `stagetune-lab run --help` lists the keys", error.message().trim());
        Self::at(file, text, error.span().unwrap_or(0..0), problem)
    }

    fn at(file: &str, text: &str, span: Range<usize>, problem: String) -> Self {
        let start = span.start.min(text.len());
        let before = text.get(..start).unwrap_or_default();
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let source_line = text.get(line_start..).unwrap_or_default().lines().next().unwrap_or_default();
        let indent = text.get(line_start..start).unwrap_or_default().chars().count();
        let marked = text.get(start..span.end.min(line_start + source_line.len()).max(start));
        let width = marked.unwrap_or_default().chars().count().max(1);
        Self {
            file: file.to_owned(),
            line: before.matches('\n').count() + 1,
            column: indent + 1,
            problem,
            source_line: source_line.to_owned(),
            marker: format!("{}{}", " ".repeat(indent), "^".repeat(width)),
        }
    }
}

/// The text of a file of plans.
fn text(path: &Path) -> anyhow::Result<String> {
    use anyhow::Context;
    let problem = || format!("cannot read the plan {}; give the path of a TOML file", path.display());
    std::fs::read_to_string(path).with_context(problem)
}

/// Labels name files and columns.
fn check_label(label: &str, taken: &[Entry]) -> Result<(), String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if label.is_empty() || label.starts_with('.') || label.len() > 64 || !label.chars().all(plain) {
        return Err(format!(
            "`{label}` cannot be a label; use at most 64 letters, digits, `-`, `_` and `.`, not `.` first"
        ));
    }
    if taken.iter().any(|entry| entry.label == label) {
        return Err(format!("`{label}` competes twice; give one of them another label"));
    }
    Ok(())
}
