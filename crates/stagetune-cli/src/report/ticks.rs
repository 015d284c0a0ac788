//! Round numbers for axes: linear, logarithmic, and durations; each with labels of one kind.

use crate::format;

/// A place on an axis and what stands there.
pub type Tick = (f64, String);

/// Round numbers from `low` to `high`, about `wanted` of them; none where the range is empty or not finite.
pub fn linear(low: f64, high: f64, wanted: usize) -> Vec<Tick> {
    let rough = (high - low) / wanted.max(1) as f64;
    if !(rough > 0.0) || !rough.is_finite() {
        return Vec::new();
    }
    let magnitude = 10f64.powf(rough.log10().floor());
    let step = nearest([1.0, 2.0, 2.5, 5.0, 10.0].map(|m| m * magnitude), rough);
    multiples(low, high, step).into_iter().map(|at| (at, plain(at, step))).collect()
}

/// Round whole numbers from `low` to `high`, about `wanted` of them.
pub fn whole(low: f64, high: f64, wanted: usize) -> Vec<Tick> {
    let rough = ((high - low) / wanted.max(1) as f64).max(1.0);
    if !rough.is_finite() {
        return Vec::new();
    }
    let magnitude = 10f64.powf(rough.log10().floor());
    let step = nearest([1.0, 2.0, 5.0, 10.0].map(|m| m * magnitude), rough);
    multiples(low, high, step).into_iter().map(|at| (at, format::digits(at, 4))).collect()
}

/// Powers of ten from `low` to `high`, with 2 and 5 between them where there is room; both ends are positive.
pub fn logarithmic(low: f64, high: f64, wanted: usize) -> Vec<Tick> {
    if !(low > 0.0) || !(high > low) || !high.is_finite() {
        return Vec::new();
    }
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let decades = (high / low).log10();
    let mantissas: &[f64] = match decades {
        d if d < 0.7 => return linear(low, high, wanted),
        d if d * 3.0 <= wanted as f64 + 1.0 => &[1.0, 2.0, 5.0],
        _ => &[1.0],
    };
    let every = ((decades / wanted.max(1) as f64).ceil() as i32).max(1);
    let inside = |at: &f64| *at >= low * (1.0 - 1e-9) && *at <= high * (1.0 + 1e-9);
    (first..=last)
        .filter(|power| power.rem_euclid(every) == 0)
        .flat_map(|power| mantissas.iter().map(move |m| m * 10f64.powi(power)))
        .filter(inside)
        .map(|at| (at, if (1e-3..1e5).contains(&at) { format::digits(at, 3) } else { format!("{at:.0e}") }))
        .collect()
}

/// Round durations from `low` to `high` seconds.
pub fn durations(low: f64, high: f64, wanted: usize) -> Vec<Tick> {
    // The steps that clocks have, up to where days take over.
    const STEPS: [f64; 19] = [
        1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 900.0, 1800.0, 3600.0, 7200.0, 10_800.0,
        21_600.0, 43_200.0, 86_400.0, 172_800.0,
    ];
    let rough = (high - low) / wanted.max(1) as f64;
    if rough < 1.0 {
        let label = |(at, _): Tick| (at, format::duration(at));
        return linear(low, high, wanted).into_iter().map(label).collect();
    }
    // Past the middle between the last step and its double, days are as round as other numbers.
    match nearest(STEPS, rough) {
        step if rough < 3.0 * 86_400.0 => {
            multiples(low, high, step).into_iter().map(|at| (at, format::duration(at))).collect()
        }
        _ => linear(low / 86_400.0, high / 86_400.0, wanted)
            .into_iter()
            .map(|(days, text)| (days * 86_400.0, format!("{text} d")))
            .collect(),
    }
}

/// The step whose ratio to the rough one is nearest to 1.
fn nearest<const N: usize>(steps: [f64; N], rough: f64) -> f64 {
    let away = |step: &f64| (step / rough).ln().abs();
    steps.into_iter().min_by(|a, b| away(a).total_cmp(&away(b))).unwrap_or(rough)
}

fn multiples(low: f64, high: f64, step: f64) -> Vec<f64> {
    let first = (low / step - 1e-9).ceil();
    let count = ((high / step + 1e-9).floor() - first).clamp(-1.0, 50.0) as i64 + 1;
    // Adding 0.0 turns a negative zero into zero.
    (0..count).map(|k| (first + k as f64) * step + 0.0).collect()
}

/// A multiple of the step with as many decimals as the step has.
fn plain(at: f64, step: f64) -> String {
    let size = at.abs().max(step);
    if !(1e-4..1e6).contains(&size) {
        return format::digits(at, 4);
    }
    let decimals = (0..9).find(|d| {
        let scaled = step * 10f64.powi(*d);
        (scaled - scaled.round()).abs() < 1e-6 * scaled
    });
    match decimals {
        Some(0) => format::digits(at.round(), 6),
        Some(decimals) => format!("{at:.*}", decimals as usize),
        None => format::digits(at, 9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(ticks: Vec<Tick>) -> String {
        ticks.into_iter().map(|(_, text)| text).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn ticks_stand_at_round_numbers() {
        assert_eq!(labels(linear(0.0, 1.0, 5)), "0.0 0.2 0.4 0.6 0.8 1.0");
        assert_eq!(labels(linear(-3.2, 4.1, 4)), "-2 0 2 4");
        assert_eq!(labels(linear(0.70, 0.78, 4)), "0.70 0.72 0.74 0.76 0.78");
        assert_eq!(labels(linear(0.0, 45_000.0, 4)), "0 10,000 20,000 30,000 40,000");
        assert_eq!(labels(whole(2.0, 14.0, 5)), "2 4 6 8 10 12 14");
        assert_eq!(labels(whole(0.0, 1.0, 5)), "0 1");
        assert_eq!(labels(logarithmic(1e-5, 0.08, 5)), "1e-5 1e-4 0.001 0.01");
        assert_eq!(labels(logarithmic(1.0, 64.0, 6)), "1 2 5 10 20 50");
        assert_eq!(labels(durations(0.0, 4000.0, 5)), "0 s 15 min 30 min 45 min 1 h");
        assert_eq!(labels(durations(0.0, 4e6, 4)), "0 d 10 d 20 d 30 d 40 d");
    }

    #[test]
    fn no_range_is_too_odd() {
        let odd =
            [0.0, -1.0, 1.0, 1e300, -1e300, 5e-324, f64::MAX, f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
        for low in odd {
            for high in odd {
                for of in [linear, whole, logarithmic, durations] {
                    assert!(of(low, high, 5).len() <= 60);
                }
            }
        }
    }
}
