//! The Gaussian process: growing, predicting, its likelihood, its fit.

use crate::data::{DIM, hyper, points, process, sizes, values};
use divan::Bencher;
use stagetune::surrogate::{Family, Fit, GaussianProcess};

/// One more observation, where there is room for it.
#[divan::bench(args = sizes(5_000), sample_size = 1, max_time = 2)]
fn append(bencher: Bencher, n: usize) {
    let mut gp = process(n - 1);
    let new = points(2, 9);
    // The first row past the room of a fresh factor moves the whole factor; after it there is room for an eighth more.
    gp.append(new.row(0), 0.1).unwrap();
    bencher.with_inputs(|| gp.clone()).bench_local_values(|mut gp| {
        gp.append(new.row(1), 0.2).unwrap();
        gp
    });
}

/// Means and variances of a batch.
#[divan::bench(args = sizes(5_000), consts = [1, 10, 512], max_time = 1)]
fn predict<const Q: usize>(bencher: Bencher, n: usize) {
    let (gp, at) = (process(n), points(Q, 2));
    bencher.bench_local(|| gp.predict(&at).unwrap());
}

/// The same with gradients.
#[divan::bench(args = sizes(5_000), consts = [1, 10, 512], max_time = 1)]
fn predict_with_gradient<const Q: usize>(bencher: Bencher, n: usize) {
    let (gp, at) = (process(n), points(Q, 2));
    bencher.bench_local(|| gp.predict_with_gradient(&at).unwrap());
}

/// One evaluation of the likelihood and its gradient, from the points: what a fit does again and again.
#[divan::bench(args = sizes(5_000), sample_count = 20, max_time = 2)]
fn likelihood_with_gradient(bencher: Bencher, n: usize) {
    let x = points(n, 1);
    let y = values(&x);
    bencher.with_inputs(|| (hyper(), x.clone(), y.clone())).bench_local_values(|(hyper, x, y)| {
        let gp = GaussianProcess::new(Family::SquaredExponential, hyper, x, y).unwrap();
        (gp.log_marginal_likelihood(), gp.likelihood_gradient())
    });
}

/// A fit that knows nothing.
#[divan::bench(args = sizes(5_000), sample_count = 10, max_time = 3)]
fn fit_cold(bencher: Bencher, n: usize) {
    let x = points(n, 1);
    let y = values(&x);
    let fit = Fit::with_priors(Family::SquaredExponential, DIM);
    bencher.bench_local(|| fit.run(&x, &y).unwrap());
}

/// A fit that starts from the fit of one observation fewer.
#[divan::bench(args = sizes(5_000), sample_count = 10, max_time = 3)]
fn fit_warm(bencher: Bencher, n: usize) {
    let x = points(n, 1);
    let y = values(&x);
    let cold = Fit::with_priors(Family::SquaredExponential, DIM);
    let mut fewer = x.clone();
    fewer.truncate(n - 1);
    let before = cold.run(&fewer, &y[..n - 1]).unwrap().gp.hyper().clone();
    let warm = Fit { warm: Some(before), ..cold };
    bencher.bench_local(|| warm.run(&x, &y).unwrap());
}
