//! `stagetune-lab tournament`: strategies over several experiments, in two numbers each.
//!
//! ```text
//! average rank   mean over experiments and runs of the place by final regret, 1 the best, ties sharing their places
//! cost ratio     exp( mean over experiments, thresholds and runs of ln( cost_to of the strategy / cost_to of the baseline ) )
//! ```
//!
//! A regret that is not reached counts as the budget; who ranks before whom is left open below five
//! runs. Intervals: 95%, runs resampled within every experiment, all strategies together, since run
//! k of everybody shares starting points and noise. They say how sure the numbers are for *these*
//! problems, not for others.

use super::stats::{FEWEST, Resampling, interval};
use super::summary::{Outcome, Summary, THRESHOLDS, WITHIN};
use super::table;
use anyhow::{Result, bail, ensure};
use serde::Serialize;
use std::collections::BTreeSet;

/// The outcome of a tournament, best average rank first.
#[derive(Debug, Serialize)]
pub struct Tournament {
    /// The experiments.
    pub experiments: Vec<String>,
    /// Runs of each experiment that everybody has.
    pub sims: Vec<usize>,
    /// Who has the cost ratio 1.
    pub baseline: String,
    /// Regrets whose cost is compared.
    pub thresholds: Vec<String>,
    /// The strategies that took part everywhere.
    pub strategies: Vec<Standing>,
    /// Those that some experiment lacks.
    pub left_out: Vec<String>,
    /// Pairs of strategies of which the first ranks before the second, by the 95% interval of the difference.
    pub before: Vec<[String; 2]>,
}

/// How a strategy did.
#[derive(Debug, Serialize)]
pub struct Standing {
    /// Label.
    pub strategy: String,
    /// Mean place by final regret.
    pub average_rank: f64,
    /// Its 95% interval.
    pub rank_ci95: [f64; 2],
    /// Geometric mean of cost over the baseline's.
    pub cost_ratio: f64,
    /// Its 95% interval.
    pub cost_ratio_ci95: [f64; 2],
}

/// For one experiment: rank and mean log cost ratio of each strategy in each run.
struct Scores {
    /// By run, then by strategy.
    ranks: Vec<Vec<f64>>,
    ratios: Vec<Vec<f64>>,
}

/// Holds the tournament; `threshold` is one of the summary's, all of them if none is named.
///
/// With `labels`, only these take part.
pub fn hold(
    summaries: &[Summary],
    labels: Option<&[String]>,
    baseline: &str,
    threshold: Option<&str>,
) -> Result<Tournament> {
    ensure!(!summaries.is_empty(), "no summaries; give plans that were run, folders or parts of them");
    let thresholds: Vec<&str> = match threshold {
        None => THRESHOLDS.iter().map(|(name, _)| *name).collect(),
        Some(wanted) => {
            let known = |summary: &Summary| summary.thresholds().iter().any(|(name, _)| *name == wanted);
            ensure!(
                summaries.iter().all(known),
                "--threshold {wanted} is not in all summaries; take 0.10, 0.05 or 0.02, or {WITHIN} \
                    if all are of tables"
            );
            vec![wanted]
        }
    };
    let asked = |label: &&String| labels.is_none_or(|labels| labels.contains(label));
    let everybody: BTreeSet<&String> =
        summaries.iter().flat_map(|summary| summary.strategies.keys()).filter(asked).collect();
    for label in labels.into_iter().flatten() {
        ensure!(
            everybody.contains(label),
            "no experiment has a strategy {label}; `stagetune-lab table` lists those that there are"
        );
    }
    let (labels, left_out): (Vec<&String>, Vec<&String>) =
        everybody.into_iter().partition(|label| summaries.iter().all(|s| s.strategies.contains_key(*label)));
    for (i, summary) in summaries.iter().enumerate() {
        if let Some(twin) = summaries[..i].iter().find(|other| other.rules() == summary.rules()) {
            bail!(
                "{} and {} are the same experiment; counted twice it would look more certain than it is",
                twin.name(),
                summary.name()
            );
        }
    }
    let Some(base) = labels.iter().position(|label| *label == baseline) else {
        let known: Vec<&str> = labels.iter().map(|label| label.as_str()).collect();
        bail!(
            "the baseline {baseline} does not take part everywhere; choose --baseline from {}",
            known.join(", ")
        );
    };
    let scores = summaries
        .iter()
        .map(|summary| Scores::of(summary, &labels, base, &thresholds))
        .collect::<Result<Vec<Scores>>>()?;
    // Runs of one number share starting points and noise in all experiments on a problem: they are
    // resampled together.
    let group = |summary: &Summary| {
        let same = |other: &Summary| (&other.problem, other.seed) == (&summary.problem, summary.seed);
        summaries.iter().position(same).unwrap_or(0) as u64
    };
    let resampled: Vec<Resampling> = summaries
        .iter()
        .zip(&scores)
        .map(|(summary, scores)| Resampling::seeded(scores.ranks.len(), group(summary)))
        .collect();
    let mut before = Vec::new();
    for (i, a) in labels.iter().enumerate() {
        for (j, b) in labels.iter().enumerate() {
            let between =
                statistic(&scores, &resampled, |scores, run| scores.ranks[run][i] - scores.ranks[run][j]);
            let enough = scores.iter().all(|scores| scores.ranks.len() >= FEWEST);
            if i != j && enough && between.1[1] < 0.0 {
                before.push([(*a).clone(), (*b).clone()]);
            }
        }
    }
    let strategies = labels.iter().enumerate().map(|(column, label)| {
        let rank = statistic(&scores, &resampled, |scores, run| scores.ranks[run][column]);
        let ratio = statistic(&scores, &resampled, |scores, run| scores.ratios[run][column]);
        Standing {
            strategy: (*label).clone(),
            average_rank: rank.0,
            rank_ci95: rank.1,
            cost_ratio: ratio.0.exp(),
            cost_ratio_ci95: ratio.1.map(f64::exp),
        }
    });
    let mut strategies: Vec<Standing> = strategies.collect();
    strategies.sort_by(|a, b| a.average_rank.total_cmp(&b.average_rank));
    Ok(Tournament {
        experiments: summaries.iter().map(Summary::name).collect(),
        sims: scores.iter().map(|scores| scores.ranks.len()).collect(),
        baseline: baseline.to_owned(),
        thresholds: thresholds.into_iter().map(str::to_owned).collect(),
        strategies,
        left_out: left_out.into_iter().cloned().collect(),
        before,
    })
}

impl std::fmt::Display for Tournament {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (name, sims) in self.experiments.iter().zip(&self.sims) {
            writeln!(f, "{name}: {sims} runs")?;
        }
        writeln!(f, "\ncost ratio: to regret {}, over {}\n", self.thresholds.join(", "), self.baseline)?;
        let header =
            ["strategy", "average rank", "95% interval", "cost ratio", "95% interval"].map(str::to_owned);
        let mut lines = vec![header.to_vec()];
        lines.extend(self.strategies.iter().map(|row| {
            vec![
                row.strategy.clone(),
                table::number(row.average_rank),
                table::interval(row.rank_ci95),
                table::number(row.cost_ratio),
                table::interval(row.cost_ratio_ci95),
            ]
        }));
        write!(f, "{}", table::table(&lines))?;
        if !self.left_out.is_empty() {
            writeln!(f, "\nnot in every experiment, left out: {}", self.left_out.join(", "))?;
        }
        Ok(())
    }
}

impl Scores {
    fn of(summary: &Summary, labels: &[&String], base: usize, thresholds: &[&str]) -> Result<Self> {
        let outcomes: Vec<&Outcome> =
            labels.iter().filter_map(|label| summary.strategies.get(*label)).collect();
        let place =
            |outcome: &Outcome, sim: usize| outcome.per_sim.sim.iter().position(|&other| other == sim);
        let (mut ranks, mut ratios) = (Vec::new(), Vec::new());
        for &sim in outcomes.first().map(|outcome| &outcome.per_sim.sim).into_iter().flatten() {
            // Only runs that everybody has can be ranked.
            let Some(places) = outcomes.iter().map(|o| place(o, sim)).collect::<Option<Vec<usize>>>() else {
                continue;
            };
            let regrets: Vec<f64> =
                outcomes.iter().zip(&places).map(|(o, &i)| o.per_sim.final_regret[i]).collect();
            ranks.push(shared_places(&regrets));
            let log_cost = |(outcome, &i): (&&Outcome, &usize)| {
                let cost = |name: &&str| {
                    outcome.per_sim.cost_to.get(*name).and_then(|costs| costs.get(i).copied().flatten())
                };
                // The first trial costs something, so that logarithms are finite; a free one would
                // count as the least positive cost.
                let logs = thresholds
                    .iter()
                    .map(|name| cost(name).unwrap_or(summary.budget).max(f64::MIN_POSITIVE).ln());
                logs.sum::<f64>() / thresholds.len() as f64
            };
            let logs: Vec<f64> = outcomes.iter().zip(&places).map(log_cost).collect();
            ratios.push(logs.iter().map(|log| log - logs[base]).collect());
        }
        ensure!(
            !ranks.is_empty(),
            "{}: no run that all strategies have; run the plan for all of them, or name \
                --strategies (for --halves at least 2 runs)",
            summary.name()
        );
        Ok(Self { ranks, ratios })
    }
}

/// A number's mean over experiments of the mean over runs, and its interval.
fn statistic(
    scores: &[Scores],
    resampled: &[Resampling],
    of: impl Fn(&Scores, usize) -> f64,
) -> (f64, [f64; 2]) {
    let columns: Vec<Vec<f64>> =
        scores.iter().map(|scores| (0..scores.ranks.len()).map(|run| of(scores, run)).collect()).collect();
    let over_all = |means: &mut dyn Iterator<Item = f64>| means.sum::<f64>() / columns.len() as f64;
    let value = over_all(&mut columns.iter().map(|runs| super::stats::mean(runs)));
    let mut totals = vec![0.0; super::stats::RESAMPLES];
    for (runs, resampling) in columns.iter().zip(resampled) {
        for (total, picks) in totals.iter_mut().zip(resampling.each()) {
            let sum: f64 = picks.iter().map(|&i| runs[i as usize]).sum();
            *total += sum / runs.len() as f64 / columns.len() as f64;
        }
    }
    (value, interval(&totals))
}

/// Regrets that differ by less are equal: strategies that do the same up to rounding must not be
/// told apart by it.
const EQUAL: f64 = 1e-6;

/// Places from 1; equal values share the mean of theirs.
fn shared_places(values: &[f64]) -> Vec<f64> {
    let place = |value: &f64| {
        let lower = values.iter().filter(|other| **other < value - EQUAL).count() as f64;
        let equal = values.iter().filter(|other| (*other - value).abs() <= EQUAL).count() as f64;
        lower + (equal + 1.0) / 2.0
    };
    values.iter().map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_share_their_places() {
        assert_eq!(shared_places(&[0.2, 0.1, 0.2 + 1e-9, 0.5]), [2.5, 1.0, 2.5, 4.0]);
    }
}
