//! A tournament held twice, on the odd runs and on the even ones, which share no seeds: does its verdict depend on them?
//!
//! The verdict is who ranks before whom, where the 95% interval of the difference says so. It is stable if no pair is decided one way by one half and the
//! other way by the other. Beside it stand the numbers that differ between the halves by more than their intervals allow: of numbers that say the same
//! about both, one in twenty does by chance.

use super::summary::Summary;
use super::table;
use super::tournament::{self, Standing, Tournament};
use anyhow::Result;
use serde::Serialize;

/// Both tournaments, and what they agree on.
#[derive(Debug, Serialize)]
pub struct Halves {
    /// Of runs 1, 3, 5 …
    pub odd: Tournament,
    /// Of runs 2, 4, 6 …
    pub even: Tournament,
    /// Pairs of strategies that both halves decide.
    pub decided_by_both: usize,
    /// Those that they decide differently.
    pub contradictions: Vec<String>,
    /// Average ranks and cost ratios that were compared.
    pub numbers: usize,
    /// Those that differ beyond their intervals.
    pub beyond_intervals: Vec<String>,
}

/// Holds both tournaments.
pub fn hold(
    summaries: &[Summary],
    labels: Option<&[String]>,
    baseline: &str,
    threshold: Option<&str>,
) -> Result<Halves> {
    let half = |rest: usize| {
        let part: Vec<Summary> =
            summaries.iter().map(|summary| summary.runs(|sim| sim % 2 == rest)).collect();
        tournament::hold(&part, labels, baseline, threshold)
    };
    let (odd, even) = (half(1)?, half(0)?);
    let mut decided_by_both = 0;
    let mut contradictions = Vec::new();
    for first in &odd.before {
        if even.before.contains(first) {
            decided_by_both += 1;
        }
        if even.before.contains(&[first[1].clone(), first[0].clone()]) {
            decided_by_both += 1;
            contradictions.push(format!("{} and {}", first[0], first[1]));
        }
    }
    let mut beyond_intervals = Vec::new();
    let mut numbers = 0;
    for a in &odd.strategies {
        for b in even.strategies.iter().filter(|b| b.strategy == a.strategy) {
            numbers += 2;
            if differ((a.average_rank, a.rank_ci95), (b.average_rank, b.rank_ci95)) {
                beyond_intervals.push(format!("average rank of {}", a.strategy));
            }
            let log = |s: &Standing| (s.cost_ratio.ln(), s.cost_ratio_ci95.map(f64::ln));
            if differ(log(a), log(b)) {
                beyond_intervals.push(format!("cost ratio of {}", a.strategy));
            }
        }
    }
    Ok(Halves { odd, even, decided_by_both, contradictions, numbers, beyond_intervals })
}

/// Whether two independent numbers differ by more than the root of the sum of their squared half-widths.
fn differ((a, of_a): (f64, [f64; 2]), (b, of_b): (f64, [f64; 2])) -> bool {
    // The side of each interval that looks towards the other number.
    let (towards_b, towards_a) = if a < b { (of_a[1] - a, b - of_b[0]) } else { (a - of_a[0], of_b[1] - b) };
    (a - b).abs() > towards_a.hypot(towards_b)
}

impl std::fmt::Display for Halves {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let header =
            ["strategy", "rank, odd runs", "", "rank, even runs", "", "ratio, odd", "", "ratio, even", ""];
        let mut lines = vec![header.map(str::to_owned).to_vec()];
        for a in &self.odd.strategies {
            let Some(b) = self.even.strategies.iter().find(|b| b.strategy == a.strategy) else { continue };
            let mut line = vec![a.strategy.clone()];
            for (value, ci) in [(a.average_rank, a.rank_ci95), (b.average_rank, b.rank_ci95)] {
                line.extend([table::number(value), table::interval(ci)]);
            }
            for (value, ci) in [(a.cost_ratio, a.cost_ratio_ci95), (b.cost_ratio, b.cost_ratio_ci95)] {
                line.extend([table::number(value), table::interval(ci)]);
            }
            lines.push(line);
        }
        writeln!(f, "{}", table::table(&lines))?;
        let list = |names: &[String]| if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        writeln!(f, "pairs that both halves decide: {}", self.decided_by_both)?;
        writeln!(f, "of these, decided differently: {}", list(&self.contradictions))?;
        writeln!(
            f,
            "numbers that differ beyond their intervals, of {}: {}",
            self.numbers,
            list(&self.beyond_intervals)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_differ_when_their_intervals_together_do_not_bridge_the_gap() {
        // Half-widths of 3 and 4 bridge 5.
        assert!(!differ((0.0, [-3.0, 3.0]), (5.0, [1.0, 9.0])));
        assert!(differ((0.0, [-3.0, 3.0]), (5.1, [1.1, 9.1])));
        assert!(differ((5.1, [1.1, 9.1]), (0.0, [-3.0, 3.0])));
        // Only the sides that face each other count.
        assert!(differ((0.0, [-90.0, 3.0]), (5.1, [1.1, 90.0])));
    }
}
