//! Expected improvement and its logarithm, Gittins indices, max-value entropy: from hand-made posteriors.

use super::Format;
use super::reader::{Complaint, Node};
use super::tally::Tally;
use stagetune::acquisition::{Acquisition, Ei, Gittins, LogEi, Mes};

const SECTIONS: [(&str, Check); 3] = [
    ("expected_improvement", expected_improvement),
    ("gittins", gittins),
    ("max_value_entropy", max_value_entropy),
];

type Check = fn(&Node, &mut Tally) -> Result<(), Complaint>;

pub(super) const FORMAT: Format = Format {
    name: "acquisition",
    recognise: |root| SECTIONS.iter().any(|(key, _)| root.has(key)),
    check,
    keys: &[
        "about",
        "tolerance",
        "expected_improvement",
        "gittins",
        "max_value_entropy",
        "mean",
        "sd",
        "best",
        "log_ei",
        "ei",
        "lambda_cost",
        "index",
        "y_star",
        "value",
    ],
};

fn check(root: &Node, tally: &mut Tally) -> Result<(), Complaint> {
    for (key, check_case) in SECTIONS.into_iter().filter(|(key, _)| root.has(key)) {
        for case in root.get(key)?.list()? {
            check_case(&case, tally)?;
            tally.cases += 1;
        }
    }
    Ok(())
}

fn expected_improvement(case: &Node, tally: &mut Tally) -> Result<(), Complaint> {
    let (mean, sd) = posterior(case)?;
    let best = case.get("best")?;
    let refused = |error| best.complain(format_args!("is refused: {error}"));
    let (log_ei, ei) = (case.get("log_ei")?, case.get("ei")?);
    let got = LogEi::new(best.number()?).map_err(refused)?.score(mean, sd).value;
    tally.compare(log_ei.path(), got, log_ei.number()?);
    let got = Ei::new(best.number()?).map_err(refused)?.score(mean, sd).value;
    tally.compare_relatively(ei.path(), got, ei.number()?);
    Ok(())
}

fn gittins(case: &Node, tally: &mut Tally) -> Result<(), Complaint> {
    let (mean, sd) = posterior(case)?;
    let (lambda_cost, index) = (case.get("lambda_cost")?, case.get("index")?);
    let gittins = Gittins::new(lambda_cost.number()?)
        .map_err(|error| lambda_cost.complain(format_args!("is refused: {error}")))?;
    // The acquisition function is −g, since a smaller index is more promising.
    tally.compare(index.path(), -gittins.score(mean, sd).value, index.number()?);
    Ok(())
}

fn max_value_entropy(case: &Node, tally: &mut Tally) -> Result<(), Complaint> {
    let (mean, sd) = posterior(case)?;
    let (y_star, value) = (case.get("y_star")?, case.get("value")?);
    let mes =
        Mes::new(y_star.numbers()?).map_err(|error| y_star.complain(format_args!("is refused: {error}")))?;
    tally.compare(value.path(), mes.score(mean, sd).value, value.number()?);
    Ok(())
}

fn posterior(case: &Node) -> Result<(f64, f64), Complaint> {
    Ok((case.get("mean")?.number()?, case.get("sd")?.number()?))
}
