//! `stagetune-lab best-of`: one strategy beside the best of several rivals, problem by problem and over all.
//!
//! ```text
//! cost       geometric mean over runs of the cost to the regret 0.05, on a table to a score within 5% of the best; not reached counts as the budget
//! rival      the one of the lowest cost on that problem: chosen afterwards, problem by problem, which is more than any rival could do
//! ratio      cost of the strategy / cost of that rival, over the runs that both have
//! all        geometric mean of the ratios over problems;  reached: over those problems where either gets there in half of its runs
//! one rival  the same beside one rival throughout: the one, of those that took part everywhere, that leaves the highest ratio
//! ```
//!
//! Summaries of the same rules are one problem: rivals may have been run long before. Intervals:
//! 95%, runs resampled within every problem. Runs of one number share their noise, and their start
//! where they start alike, so that ratios are taken run by run.

use super::stats::{FEWEST, RESAMPLES, Resampling, interval, mean};
use super::summary::{Outcome, Summary, WITHIN};
use super::table;
use anyhow::{Result, ensure};
use serde::Serialize;
use std::collections::BTreeMap;

/// The regret that counts on functions.
const REGRET: &str = "0.05";

/// Worse by more than this, with significance, is worse.
const MARGIN: f64 = 1.1;

/// One strategy beside the best of its rivals.
#[derive(Debug, Serialize)]
pub struct BestOf {
    /// Who.
    pub strategy: String,
    /// Beside whom.
    pub rivals: Vec<String>,
    /// Problem by problem, in the order given.
    pub problems: Vec<Beside>,
    /// Over all problems.
    pub all: Ratio,
    /// Over the problems where either gets there in half of its runs.
    pub reached: Option<Ratio>,
    /// Beside the strongest of those rivals that took part everywhere.
    pub one_rival: Option<OneRival>,
    /// Problems where the strategy is worse by more than a tenth, with significance.
    pub worse: Vec<String>,
}

/// One problem.
#[derive(Debug, Serialize)]
pub struct Beside {
    /// Title, problem, modules and costs.
    pub problem: String,
    /// Runs that both have.
    pub runs: usize,
    /// What getting there costs the strategy, in full runs.
    pub cost: f64,
    /// The share of its runs that get there.
    pub reached: f64,
    /// The best rival.
    pub rival: String,
    /// What it costs that one.
    pub rival_cost: f64,
    /// The share of its runs that get there.
    pub rival_reached: f64,
    /// One over the other.
    pub ratio: Ratio,
    /// ln of the ratio, run by run.
    #[serde(skip)]
    logs: Vec<f64>,
}

/// Beside one rival on every problem.
#[derive(Debug, Serialize)]
pub struct OneRival {
    /// Who.
    pub rival: String,
    /// Over all problems.
    pub all: Ratio,
    /// Over the problems where either gets there in half of its runs.
    pub reached: Option<Ratio>,
}

/// A ratio of costs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Ratio {
    /// How many problems.
    pub problems: usize,
    /// Geometric mean.
    pub ratio: f64,
    /// Its 95% interval.
    pub ci95: [f64; 2],
}

/// Sets a strategy beside the best of `rivals` on every problem that has it and one of them.
pub fn best_of(summaries: &[Summary], strategy: &str, rivals: &[String]) -> Result<BestOf> {
    let merged = merged(summaries)?;
    for rival in rivals {
        ensure!(rival != strategy, "{strategy} is no rival of itself; leave it out of --rivals");
        let known = merged.iter().any(|(_, strategies)| strategies.contains_key(rival.as_str()));
        ensure!(
            known,
            "no experiment has a strategy {rival}; `stagetune-lab table` lists those that there are"
        );
    }
    // By problem, then by rival.
    let mut beside: Vec<Vec<Beside>> = Vec::new();
    for (summary, strategies) in &merged {
        let Some(own) = strategies.get(strategy) else { continue };
        let candidates = rivals.iter().filter_map(|rival| Some((rival, *strategies.get(rival.as_str())?)));
        let all: Vec<Beside> =
            candidates.filter_map(|(label, rival)| Beside::of(summary, own, label, rival)).collect();
        if !all.is_empty() {
            beside.push(all);
        }
    }
    let throughout = |rival: &&String| -> Option<OneRival> {
        let of = |problem: &'_ Vec<Beside>| problem.iter().position(|one| one.rival == **rival);
        let all: Option<Vec<&Beside>> = beside.iter().map(|problem| Some(&problem[of(problem)?])).collect();
        let all = all.filter(|all| !all.is_empty())?;
        Some(OneRival { rival: (*rival).clone(), all: over(&all), reached: over_reached(&all) })
    };
    let one_rival = rivals
        .iter()
        .filter_map(|rival| throughout(&rival))
        .max_by(|a, b| a.all.ratio.total_cmp(&b.all.ratio));
    let cheapest = |all: Vec<Beside>| all.into_iter().min_by(|a, b| a.rival_cost.total_cmp(&b.rival_cost));
    let problems: Vec<Beside> = beside.into_iter().filter_map(cheapest).collect();
    ensure!(
        !problems.is_empty(),
        "no experiment has `{strategy}` and one of the rivals with {FEWEST} runs in common; \
            `stagetune-lab table` lists what there is"
    );
    let everything: Vec<&Beside> = problems.iter().collect();
    let worse = problems.iter().filter(|problem| problem.ratio.ci95[0] > MARGIN);
    Ok(BestOf {
        strategy: strategy.to_owned(),
        rivals: rivals.to_vec(),
        all: over(&everything),
        reached: over_reached(&everything),
        one_rival,
        worse: worse.map(|problem| problem.problem.clone()).collect(),
        problems,
    })
}

/// Experiments of the same rules together: the first summary of each, and everybody who has runs
/// under these rules.
fn merged(summaries: &[Summary]) -> Result<Vec<(&Summary, BTreeMap<&str, &Outcome>)>> {
    let mut merged: Vec<(&Summary, BTreeMap<&str, &Outcome>)> = Vec::new();
    for summary in summaries {
        let place = match merged.iter().position(|(other, _)| other.rules() == summary.rules()) {
            Some(place) => place,
            None => {
                merged.push((summary, BTreeMap::new()));
                merged.len() - 1
            }
        };
        for (label, outcome) in &summary.strategies {
            let twice = merged[place].1.insert(label, outcome).is_some();
            ensure!(!twice, "two experiments on {} have runs of {label}; give one of them", summary.name());
        }
    }
    Ok(merged)
}

impl Beside {
    /// `None` where they have too few runs in common to decide anything.
    fn of(summary: &Summary, own: &Outcome, label: &str, rival: &Outcome) -> Option<Self> {
        let threshold = if summary.table.is_some() { WITHIN } else { REGRET };
        let full: f64 = summary.costs.iter().sum();
        let in_common: Vec<usize> =
            own.per_sim.sim.iter().copied().filter(|sim| rival.per_sim.sim.contains(sim)).collect();
        if in_common.len() < FEWEST {
            return None;
        }
        let costs = |outcome: &Outcome| -> Option<Vec<Option<f64>>> {
            let all = outcome.per_sim.cost_to.get(threshold)?;
            let place = |sim: &usize| outcome.per_sim.sim.iter().position(|other| other == sim);
            in_common.iter().map(|sim| all.get(place(sim)?).copied()).collect()
        };
        let (own, theirs) = (costs(own)?, costs(rival)?);
        // A free trial would count as the least positive cost.
        let ln = |cost: &Option<f64>| (cost.unwrap_or(summary.budget) / full).max(f64::MIN_POSITIVE).ln();
        let logs_of = |costs: &[Option<f64>]| costs.iter().map(ln).collect::<Vec<f64>>();
        let reached = |costs: &[Option<f64>]| costs.iter().flatten().count() as f64 / costs.len() as f64;
        let (own_logs, rival_logs) = (logs_of(&own), logs_of(&theirs));
        let logs: Vec<f64> = own_logs.iter().zip(&rival_logs).map(|(own, rival)| own - rival).collect();
        let ci95 = Resampling::new(logs.len()).mean(&logs).map(f64::exp);
        Some(Self {
            problem: summary.name(),
            runs: logs.len(),
            cost: mean(&own_logs).exp(),
            reached: reached(&own),
            rival: label.to_owned(),
            rival_cost: mean(&rival_logs).exp(),
            rival_reached: reached(&theirs),
            ratio: Ratio { problems: 1, ratio: mean(&logs).exp(), ci95 },
            logs,
        })
    }
}

/// The geometric mean over problems.
fn over(problems: &[&Beside]) -> Ratio {
    let count = problems.len() as f64;
    let mut totals = vec![0.0; RESAMPLES];
    for (number, problem) in (0..).zip(problems) {
        let runs = problem.logs.len();
        for (total, picks) in totals.iter_mut().zip(Resampling::seeded(runs, number).each()) {
            *total += picks.iter().map(|&i| problem.logs[i as usize]).sum::<f64>() / runs as f64 / count;
        }
    }
    let ratio = problems.iter().map(|problem| mean(&problem.logs)).sum::<f64>() / count;
    Ratio { problems: problems.len(), ratio: ratio.exp(), ci95: interval(&totals).map(f64::exp) }
}

/// The same over the problems where either gets there in half of its runs.
fn over_reached(problems: &[&Beside]) -> Option<Ratio> {
    let gets_there = |problem: &&&Beside| problem.reached.max(problem.rival_reached) >= 0.5;
    let reached: Vec<&Beside> = problems.iter().filter(gets_there).copied().collect();
    (!reached.is_empty()).then(|| over(&reached))
}

impl std::fmt::Display for BestOf {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let header =
            ["problem", "runs", &self.strategy, "reached", "best rival", "cost", "reached", "ratio", "95%"];
        let mut lines = vec![header.map(str::to_owned).to_vec()];
        lines.extend(self.problems.iter().map(|p| {
            let share = |reached: f64| format!("{:.0}%", 100.0 * reached);
            vec![
                p.problem.clone(),
                p.runs.to_string(),
                table::number(p.cost),
                share(p.reached),
                p.rival.clone(),
                table::number(p.rival_cost),
                share(p.rival_reached),
                table::number(p.ratio.ratio),
                table::interval(p.ratio.ci95),
            ]
        }));
        write!(f, "{}", table::table(&lines))?;
        let line = |ratio: &Ratio| {
            let (mean, interval) = (table::number(ratio.ratio), table::interval(ratio.ci95));
            format!("{mean} {interval} over {} problems", ratio.problems)
        };
        writeln!(f, "\nratio to the best of {}:", self.rivals.join(", "))?;
        let both = |f: &mut std::fmt::Formatter<'_>, all: &Ratio, reached: &Option<Ratio>| {
            writeln!(f, "  all: {}", line(all))?;
            match reached {
                Some(reached) => {
                    writeln!(f, "  where either gets there in half of its runs: {}", line(reached))
                }
                None => Ok(()),
            }
        };
        both(f, &self.all, &self.reached)?;
        if let Some(one) = &self.one_rival {
            writeln!(
                f,
                "ratio to {} throughout, the strongest of those that took part everywhere:",
                one.rival
            )?;
            both(f, &one.all, &one.reached)?;
        }
        match self.worse.as_slice() {
            [] => writeln!(f, "  nowhere worse by more than a tenth with significance"),
            worse => writeln!(f, "  worse by more than a tenth with significance: {}", worse.join("; ")),
        }
    }
}
