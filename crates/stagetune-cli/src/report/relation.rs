//! How strongly a parameter goes along with the metric, by ranks, so that outliers and units do not matter.
//!
//! - ρ: Spearman's rank correlation, the correlation of the ranks with ties at their mean.
//! - share: of the variance of the metric's ranks, the part between groups of equal parameter values (or bins of neighbouring ones),
//!   corrected for chance as ε² = 1 − (1 − η²)(n − 1)/(n − k) for n trials in k groups (Kelley 1935), and never below 0.

use std::collections::BTreeMap;

/// Fewer trials than this say nothing.
pub const LEAST: usize = 8;

/// Spearman's ρ; nothing for too few pairs or where one side is constant.
pub fn spearman(pairs: &[(f64, f64)]) -> Option<f64> {
    if pairs.len() < LEAST {
        return None;
    }
    let (x, y): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
    let (x, y) = (ranks(&x), ranks(&y));
    let mean = (pairs.len() as f64 - 1.0) / 2.0;
    let (mut xy, mut xx, mut yy) = (0.0, 0.0, 0.0);
    for (x, y) in x.iter().zip(&y) {
        xy += (x - mean) * (y - mean);
        xx += (x - mean) * (x - mean);
        yy += (y - mean) * (y - mean);
    }
    (xx > 0.0 && yy > 0.0).then(|| (xy / (xx * yy).sqrt()).clamp(-1.0, 1.0))
}

/// The share ε² of the variance of the ranks of `y` that lies between the groups.
pub fn share(groups: &[usize], y: &[f64]) -> Option<f64> {
    let n = groups.len().min(y.len());
    let mut sums: BTreeMap<usize, (f64, f64)> = BTreeMap::new();
    let ranks = ranks(y);
    let mean = (n as f64 - 1.0) / 2.0;
    let mut total = 0.0;
    for (group, rank) in groups.iter().zip(&ranks) {
        let sum = sums.entry(*group).or_default();
        *sum = (sum.0 + 1.0, sum.1 + (rank - mean));
        total += (rank - mean) * (rank - mean);
    }
    let k = sums.len();
    if n < LEAST || k < 2 || k >= n || !(total > 0.0) {
        return None;
    }
    let between: f64 = sums.values().map(|(count, sum)| sum * sum / count).sum();
    Some((1.0 - (1.0 - between / total) * (n as f64 - 1.0) / (n - k) as f64).clamp(0.0, 1.0))
}

/// A bin for each value: neighbours in order share one, equal values always do; six bins at most, of about six values at least.
pub fn bins(x: &[f64]) -> Vec<usize> {
    let count = (x.len() / 6).clamp(2, 6);
    let n = x.len().max(1) as f64;
    ranks(x).into_iter().map(|rank| ((rank / n * count as f64) as usize).min(count - 1)).collect()
}

/// The running median of `y` along `x` at up to `knots` places, smoothed by its neighbours.
pub fn trend(pairs: &[(f64, f64)], knots: usize) -> Vec<(f64, f64)> {
    let mut sorted = pairs.to_vec();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let n = sorted.len();
    if n < LEAST || knots < 2 {
        return Vec::new();
    }
    // A quarter of the trials around each knot: fewer follow the noise, more flatten a peak.
    let half = (n / 8).max(2);
    let places: Vec<(f64, f64)> = (0..knots.min(n))
        .map(|k| {
            let centre = k * (n - 1) / (knots.min(n) - 1);
            let window = &sorted[centre.saturating_sub(half)..(centre + half + 1).min(n)];
            (median(window.iter().map(|p| p.0)), median(window.iter().map(|p| p.1)))
        })
        .collect();
    let smooth = |at: usize| {
        let around = &places[at.saturating_sub(1)..(at + 2).min(places.len())];
        (places[at].0, around.iter().map(|p| p.1 / around.len() as f64).sum())
    };
    let mut smoothed: Vec<(f64, f64)> = (0..places.len()).map(smooth).collect();
    smoothed.dedup_by(|a, b| a.0 == b.0);
    smoothed
}

/// The median; 0 of nothing.
pub fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => 0.0,
        n if n % 2 == 1 => values[n / 2],
        n => values[n / 2 - 1] / 2.0 + values[n / 2] / 2.0,
    }
}

/// The rank of each value from 0, ties at their mean.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0.0; values.len()];
    let mut from = 0;
    while from < order.len() {
        let tied = order[from..].iter().take_while(|at| values[**at] == values[order[from]]).count().max(1);
        let mean = from as f64 + (tied as f64 - 1.0) / 2.0;
        order[from..from + tied].iter().for_each(|at| ranks[*at] = mean);
        from += tied;
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rising_relation_has_rank_correlation_one_whatever_its_shape() {
        let pairs: Vec<(f64, f64)> = (0..20).map(|k| (f64::from(k), f64::from(k).exp())).collect();
        assert!((spearman(&pairs).unwrap() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn ties_count_at_their_mean_rank() {
        assert_eq!(ranks(&[3.0, 1.0, 3.0, 2.0]), [2.5, 0.0, 2.5, 1.0]);
        // Worked by hand: ranks 0,1,2,3 twice against 0.5,0.5,2.5,2.5 twice give 8/√(10·8).
        let pairs: Vec<(f64, f64)> =
            [(1., 1.), (2., 1.), (3., 2.), (4., 2.), (1., 1.), (2., 1.), (3., 2.), (4., 2.)].into();
        assert!((spearman(&pairs).unwrap() - 8.0 / 80f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn a_valley_has_no_correlation_but_a_large_share() {
        let x: Vec<f64> = (-30..=30).map(f64::from).collect();
        let y: Vec<f64> = x.iter().map(|x| x * x).collect();
        let pairs: Vec<_> = x.iter().copied().zip(y.iter().copied()).collect();
        assert!(spearman(&pairs).unwrap().abs() < 0.05);
        assert!(share(&bins(&x), &y).unwrap() > 0.7);
    }

    #[test]
    fn chance_is_not_counted_as_a_share() {
        // Every group holds one low and one high value: nothing lies between groups.
        let (groups, y): (Vec<usize>, Vec<f64>) = (0..20).map(|k| (k / 2, f64::from(k as u8 % 2))).unzip();
        assert_eq!(share(&groups, &y), Some(0.0));
    }

    #[test]
    fn too_little_or_constant_data_has_no_relation() {
        assert_eq!(spearman(&[(1.0, 2.0); 7]), None);
        assert_eq!(spearman(&[(1.0, 2.0); 20]), None);
        assert_eq!(share(&[0; 20], &[1.0; 20]), None);
        assert!(trend(&[(0.0, 1.0); 3], 10).is_empty());
    }
}
