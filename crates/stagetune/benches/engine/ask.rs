//! One suggestion, with the fit and without.

use crate::data::{DIM, points, process, sizes, values};
use divan::Bencher;
use stagetune::acquisition::{Best, LogEi, Maximiser, Region, Surface};
use stagetune::surrogate::{Family, Fit, GaussianProcess};

/// From observations to the next point.
#[divan::bench(args = sizes(5_000), sample_count = 10, max_time = 3)]
fn fit_and_maximise(bencher: Bencher, n: usize) {
    let x = points(n, 1);
    let y = values(&x);
    let fit = Fit::with_priors(Family::SquaredExponential, DIM);
    bencher.bench_local(|| maximise(&fit.run(&x, &y).unwrap().gp));
}

/// The maximisation alone.
#[divan::bench(args = sizes(5_000), sample_count = 10, max_time = 3)]
fn maximise_only(bencher: Bencher, n: usize) {
    let gp = process(n);
    bencher.bench_local(|| maximise(&gp));
}

fn maximise(gp: &GaussianProcess) -> Best {
    let best = gp.y().iter().copied().fold(f64::INFINITY, f64::min);
    let surface = Surface::new(gp, LogEi::new(best).unwrap());
    Maximiser::default().maximise(&surface, &Region::cube(DIM), &gp.lowest(5)).unwrap()
}
