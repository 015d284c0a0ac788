//! Maximum-likelihood fits: ours, inside the bounds of the file, must reach the likelihood that the file states.

use super::Format;
use super::gp::{batch, family};
use super::reader::{Complaint, Node};
use super::tally::Tally;
use stagetune::surrogate::{Fit, GaussianProcess, Hyper, HyperBounds};

pub(super) const FORMAT: Format = Format {
    name: "fit",
    recognise: |root| root.cases_have("best_log_marginal_likelihood"),
    check,
    keys: &[
        "about",
        "tolerance",
        "cases",
        "kernel",
        "x",
        "y",
        "bounds",
        "lengthscales",
        "signal_variance",
        "noise_variance",
        "best_log_marginal_likelihood",
    ],
};

/// Exponentials of logarithms may leave a bound by a rounding error; more than this is a fit outside the bounds.
const BOUND_SLACK: f64 = 1e-9;

fn check(root: &Node, tally: &mut Tally) -> Result<(), Complaint> {
    for case in root.get("cases")?.list()? {
        check_case(&case, tally)?;
        tally.cases += 1;
    }
    Ok(())
}

fn check_case(case: &Node, tally: &mut Tally) -> Result<(), Complaint> {
    let refused = |error| case.complain(format_args!("is refused by the engine: {error}"));
    let points = case.get("x")?;
    let dim = points.list()?.first().map_or(Ok(0), |row| row.list().map(|row| row.len()))?;
    let x = batch(&points, dim)?;
    let y = case.get("y")?.numbers_of_length(x.len())?;
    let bounds = case.get("bounds")?;
    let bounds = HyperBounds {
        lengthscales: bounds.get("lengthscales")?.pair()?,
        signal_variance: bounds.get("signal_variance")?.pair()?,
        noise_variance: bounds.get("noise_variance")?.pair()?,
    };
    let best = case.get("best_log_marginal_likelihood")?;
    let wanted = best.number()?;

    let family = family(case)?;
    let mut fit = Fit::maximum_likelihood(family);
    fit.bounds = bounds;
    let hyper = fit.run(&x, &y).map_err(refused)?.gp.hyper().clone();
    if let Some(name) = outside(&hyper, &bounds) {
        tally.record(format!("{}.bounds.{name}", case.path()), f64::INFINITY);
    }
    // The likelihood is computed afresh from the fitted hyper-parameters rather than taken from the fit's own word.
    let reached = GaussianProcess::new(family, hyper, x, y).map_err(refused)?.log_marginal_likelihood();
    tally.record(best.path(), if reached >= wanted { 0.0 } else { wanted - reached });
    Ok(())
}

/// The first hyper-parameter that lies outside its bounds; a mean other than 0 counts, since the files' mean is 0.
fn outside(hyper: &Hyper, bounds: &HyperBounds) -> Option<&'static str> {
    let within = |value: f64, (low, high): (f64, f64)| {
        value >= low * (1.0 - BOUND_SLACK) && value <= high * (1.0 + BOUND_SLACK)
    };
    if !hyper.lengthscales.iter().all(|&lengthscale| within(lengthscale, bounds.lengthscales)) {
        Some("lengthscales")
    } else if !within(hyper.signal_variance, bounds.signal_variance) {
        Some("signal_variance")
    } else if !within(hyper.noise_variance, bounds.noise_variance) {
        Some("noise_variance")
    } else if hyper.mean != 0.0 {
        Some("mean")
    } else {
        None
    }
}
