//! A zero-mean Gaussian process with given hyper-parameters: posterior, likelihood and the likelihood's gradient.

use super::Format;
use super::reader::{Complaint, Node};
use super::tally::Tally;
use stagetune::space::Batch;
use stagetune::surrogate::{Family, GaussianProcess, Hyper};

pub(super) const FORMAT: Format = Format {
    name: "gp",
    recognise: |root| root.cases_have("gradient_log"),
    check,
    keys: &[
        "about",
        "tolerance",
        "cases",
        "kernel",
        "lengthscales",
        "signal_variance",
        "noise_variance",
        "x",
        "y",
        "x_star",
        "mean",
        "covariance",
        "log_marginal_likelihood",
        "gradient_log",
    ],
};

fn check(root: &Node, tally: &mut Tally) -> Result<(), Complaint> {
    for case in root.get("cases")?.list()? {
        check_case(&case, tally)?;
        tally.cases += 1;
    }
    Ok(())
}

fn check_case(case: &Node, tally: &mut Tally) -> Result<(), Complaint> {
    let refused = |error| case.complain(format_args!("is refused by the engine: {error}"));
    let hyper = Hyper {
        lengthscales: case.get("lengthscales")?.numbers()?,
        signal_variance: case.get("signal_variance")?.number()?,
        noise_variance: case.get("noise_variance")?.number()?,
        mean: 0.0,
    };
    let dim = hyper.lengthscales.len();
    let x = batch(&case.get("x")?, dim)?;
    let y = case.get("y")?.numbers_of_length(x.len())?;
    let x_star = batch(&case.get("x_star")?, dim)?;
    let q = x_star.len();
    let gp = GaussianProcess::new(family(case)?, hyper, x, y).map_err(refused)?;

    let joint = gp.joint(&x_star).map_err(refused)?;
    let marginal = gp.predict(&x_star).map_err(refused)?;
    let mean = case.get("mean")?;
    let wanted = mean.numbers_of_length(q)?;
    tally.compare_all(mean.path(), &joint.mean, &wanted);
    // Two ways lead to the mean and to the variance; both are held to the file.
    tally.compare_all(mean.path(), &marginal.mean, &wanted);
    let rows = case.get("covariance")?.list()?;
    if rows.len() != q {
        return Err(case.get("covariance")?.wrong_length(q, rows.len()));
    }
    if joint.covariance.len() != q * q || marginal.variance.len() != q {
        tally.record(format!("{}.covariance", case.path()), f64::INFINITY);
        return Ok(());
    }
    for (i, row) in rows.iter().enumerate() {
        let wanted = row.numbers_of_length(q)?;
        tally.compare_all(row.path(), &joint.covariance[i * q..(i + 1) * q], &wanted);
        tally.compare(format!("{}[{i}]", row.path()), marginal.variance[i], wanted[i]);
    }

    let likelihood = case.get("log_marginal_likelihood")?;
    tally.compare(likelihood.path(), gp.log_marginal_likelihood(), likelihood.number()?);
    let gradient = gp.likelihood_gradient();
    let wanted = case.get("gradient_log")?;
    let lengthscales = wanted.get("lengthscales")?;
    tally.compare_all(lengthscales.path(), &gradient.lengthscales, &lengthscales.numbers_of_length(dim)?);
    for (key, got) in
        [("signal_variance", gradient.signal_variance), ("noise_variance", gradient.noise_variance)]
    {
        let wanted = wanted.get(key)?;
        tally.compare(wanted.path(), got, wanted.number()?);
    }
    Ok(())
}

/// The kernel by the name that the files use.
pub(super) fn family(case: &Node) -> Result<Family, Complaint> {
    let kernel = case.get("kernel")?;
    match kernel.text()? {
        "se" => Ok(Family::SquaredExponential),
        "matern32" => Ok(Family::Matern32),
        "matern52" => Ok(Family::Matern52),
        other => Err(kernel.complain(format_args!("is `{other}`; known are se, matern32 and matern52"))),
    }
}

/// Points of dimension `dim`, at least one.
pub(super) fn batch(node: &Node, dim: usize) -> Result<Batch, Complaint> {
    let rows = node.rows_of_length(dim)?;
    match Batch::from_slices(dim, &rows) {
        Some(batch) if !batch.is_empty() => Ok(batch),
        _ => Err(node.complain("holds no points")),
    }
}
