//! The dense kernels on one thread beside the matrix product that bounds them: items are floating-point operations, so
//! that `Gitem/s` reads as GFLOP/s.
//!
//! Only the cubic term is counted; assembling covariances counts as nothing, so the true rates are a little higher.

use crate::data::{hyper, only, points, process, values};
use divan::Bencher;
use divan::counter::ItemsCount;
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};
use stagetune::numeric::dense::cholesky;
use stagetune::surrogate::{Family, GaussianProcess};

/// Right-hand sides of the triangular solve.
const Q: usize = 512;

/// 2n³: faer's product of two square matrices.
#[divan::bench(args = only(1_000), sample_count = 20)]
fn matrix_product(bencher: Bencher, n: usize) {
    let a = Mat::from_fn(n, n, |i, j| ((i * 31 + j * 17) % 101) as f64 / 101.0);
    let mut c = Mat::zeros(n, n);
    bencher
        .counter(ItemsCount::new(2 * n * n * n))
        .bench_local(|| matmul(&mut c, Accum::Replace, &a, &a, 1.0, Par::Seq));
}

/// n³/3: the Cholesky factor alone.
#[divan::bench(args = only(1_000), sample_count = 20)]
fn factorisation(bencher: Bencher, n: usize) {
    let decay =
        |i: usize, j: usize| (-1e-4 * (i as f64 - j as f64).powi(2)).exp() + if i == j { 0.1 } else { 0.0 };
    let covariance: Vec<f64> = (0..n * n).map(|k| decay(k % n, k / n)).collect();
    let pool = one_thread();
    bencher
        .counter(ItemsCount::new(n * n * n / 3))
        .with_inputs(|| covariance.clone())
        .bench_local_values(|mut data| pool.install(|| cholesky(&mut data, n, n).map(|()| data).unwrap()));
}

/// n³/3: covariances, Cholesky factor and weights.
#[divan::bench(args = only(1_000), sample_count = 20)]
fn building_a_process(bencher: Bencher, n: usize) {
    let x = points(n, 1);
    let y = values(&x);
    let pool = one_thread();
    bencher
        .counter(ItemsCount::new(n * n * n / 3))
        .with_inputs(|| (hyper(), x.clone(), y.clone()))
        .bench_local_values(|(hyper, x, y)| {
            pool.install(|| GaussianProcess::new(Family::SquaredExponential, hyper, x, y).unwrap())
        });
}

/// qn²: a prediction is one triangular solve.
#[divan::bench(args = only(1_000), sample_count = 20)]
fn triangular_solve(bencher: Bencher, n: usize) {
    let (gp, at, pool) = (process(n), points(Q, 2), one_thread());
    bencher.counter(ItemsCount::new(Q * n * n)).bench_local(|| pool.install(|| gp.predict(&at).unwrap()));
}

/// 2n³/3: the inverse from the factor, and what the gradient sums over it.
#[divan::bench(args = only(1_000), sample_count = 20)]
fn likelihood_gradient(bencher: Bencher, n: usize) {
    let (gp, pool) = (process(n), one_thread());
    bencher
        .counter(ItemsCount::new(2 * n * n * n / 3))
        .bench_local(|| pool.install(|| gp.likelihood_gradient()));
}

fn one_thread() -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap()
}
