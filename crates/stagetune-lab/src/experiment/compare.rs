//! `stagetune-lab compare A.json B.json`: what changed between two summaries, strategy by strategy, with intervals.
//!
//! Where both have the same problem under the same rules and seed, run k of A is paired with run k of B: they share starting points and
//! noise, and their difference is far more certain than the two means. Otherwise the runs of each side are resampled on their own.

use super::stats::{FEWEST, Resampling, interval, mean};
use super::summary::{Outcome, Summary, THRESHOLDS, WITHIN};
use super::table;
use anyhow::{Result, ensure};
use serde::Serialize;

/// A comparison of two summaries.
#[derive(Debug, Serialize)]
pub struct Comparison {
    /// The problem of each side.
    pub problems: [String; 2],
    /// Whether runs of the same number belong together.
    pub paired: bool,
    /// Strategy by strategy, measure by measure.
    pub rows: Vec<Difference>,
    /// Strategies that only one side has.
    pub only_in_one: Vec<String>,
}

/// One measure of one strategy on both sides; less is better.
#[derive(Debug, Serialize)]
pub struct Difference {
    /// Label.
    pub strategy: String,
    /// `final_regret`, `movement_regret`, `cost_to_0.05` …
    pub measure: String,
    /// Runs that were compared.
    pub sims: [usize; 2],
    /// Mean of A.
    pub a: f64,
    /// Mean of B.
    pub b: f64,
    /// Mean of B − A.
    pub difference: f64,
    /// Its 95% bootstrap interval.
    pub ci95: [f64; 2],
    /// `better`, `worse` or `unclear`: whether B is, beyond the interval; always unclear below five runs.
    pub verdict: &'static str,
}

/// Compares B with A.
///
/// Strategies of the same label, or with `labels` one of A and one of B.
pub fn compare(a: &Summary, b: &Summary, labels: Option<[&str; 2]>) -> Result<Comparison> {
    let paired = a.rules() == b.rules();
    for (side, label) in [a, b].into_iter().zip(labels.into_iter().flatten()) {
        let known = side.strategies.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
        ensure!(
            side.strategies.contains_key(label),
            "{} has no strategy {label}; it has {known}",
            side.name()
        );
    }
    let mut rows = Vec::new();
    let pairs: Vec<[&str; 2]> = match labels {
        Some(pair) => vec![pair],
        None => a.strategies.keys().map(|label| [label.as_str(), label.as_str()]).collect(),
    };
    for [of_a, of_b] in pairs {
        let (Some(left), Some(right)) = (a.strategies.get(of_a), b.strategies.get(of_b)) else { continue };
        let label = if of_a == of_b { of_a.to_owned() } else { format!("{of_a} → {of_b}") };
        for (measure, x, y) in measures(left, a.budget)
            .into_iter()
            .zip(measures(right, b.budget))
            .map(|((measure, x), (_, y))| (measure, x, y))
        {
            rows.push(difference(&label, measure, (left, &x), (right, &y), paired));
        }
    }
    ensure!(
        !rows.is_empty(),
        "the two summaries have no such strategies in common; run one plan with the strategies of the other"
    );
    let only = |one: &Summary, other: &Summary| {
        one.strategies
            .keys()
            .filter(|label| !other.strategies.contains_key(*label))
            .cloned()
            .collect::<Vec<_>>()
    };
    Ok(Comparison {
        problems: [a.name(), b.name()],
        paired,
        rows,
        only_in_one: if labels.is_some() { Vec::new() } else { [only(a, b), only(b, a)].concat() },
    })
}

impl std::fmt::Display for Comparison {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "A: {}\nB: {}", self.problems[0], self.problems[1])?;
        writeln!(
            f,
            "runs are {}; less is better\n",
            if self.paired { "paired by number" } else { "not paired" }
        )?;
        let header = ["strategy", "measure", "A", "B", "B − A", "95% interval", "B is"].map(str::to_owned);
        let mut lines = vec![header.to_vec()];
        lines.extend(self.rows.iter().map(|row| {
            let number = table::number;
            let numbers = [number(row.a), number(row.b), number(row.difference), table::interval(row.ci95)];
            let mut line = vec![row.strategy.clone(), row.measure.clone()];
            line.extend(numbers);
            line.push(row.verdict.to_owned());
            line
        }));
        write!(f, "{}", table::table(&lines))?;
        if !self.only_in_one.is_empty() {
            writeln!(f, "\nonly in one of them: {}", self.only_in_one.join(", "))?;
        }
        Ok(())
    }
}

/// What is compared, run by run; a regret that is not reached counts as the budget.
pub(super) fn measures(outcome: &Outcome, budget: f64) -> Vec<(String, Vec<f64>)> {
    let runs = &outcome.per_sim;
    let mut all = vec![
        ("final_regret".to_owned(), runs.final_regret.clone()),
        ("movement_regret".to_owned(), runs.movement_regret.clone()),
    ];
    // What only tables have comes last, so that a comparison with another problem leaves it out.
    for name in THRESHOLDS.iter().map(|(name, _)| *name).chain([WITHIN]) {
        if let Some(costs) = runs.cost_to.get(name) {
            let costs = costs.iter().map(|cost| cost.unwrap_or(budget)).collect();
            all.push((format!("cost_to_{name}"), costs));
        }
    }
    all
}

fn difference(
    label: &str,
    measure: String,
    (left, x): (&Outcome, &[f64]),
    (right, y): (&Outcome, &[f64]),
    paired: bool,
) -> Difference {
    let common: Vec<(f64, f64)> = if paired {
        let partner = |sim: &usize| right.per_sim.sim.iter().position(|other| other == sim);
        let pair = |(i, sim)| partner(sim).map(|j| (x[i], y[j]));
        left.per_sim.sim.iter().enumerate().filter_map(pair).collect()
    } else {
        Vec::new()
    };
    let (a, b, difference, ci95, sims);
    if common.is_empty() {
        (a, b) = (mean(x), mean(y));
        difference = b - a;
        sims = [x.len(), y.len()];
        let (on_x, on_y) = (Resampling::seeded(x.len(), 1), Resampling::seeded(y.len(), 2));
        let of = |picks: &[u32], sample: &[f64]| {
            picks.iter().map(|&i| sample[i as usize]).sum::<f64>() / picks.len() as f64
        };
        let differences: Vec<f64> = on_x.each().zip(on_y.each()).map(|(i, j)| of(j, y) - of(i, x)).collect();
        ci95 = interval(&differences);
    } else {
        let (p, q): (Vec<f64>, Vec<f64>) = common.into_iter().unzip();
        let between: Vec<f64> = p.iter().zip(&q).map(|(x, y)| y - x).collect();
        (a, b, difference) = (mean(&p), mean(&q), mean(&between));
        sims = [p.len(), q.len()];
        ci95 = Resampling::new(between.len()).mean(&between);
    }
    let verdict = match ci95 {
        _ if sims.iter().any(|&n| n < FEWEST) => "unclear",
        [_, high] if high < 0.0 => "better",
        [low, _] if low > 0.0 => "worse",
        _ => "unclear",
    };
    Difference { strategy: label.to_owned(), measure, sims, a, b, difference, ci95, verdict }
}
