//! One update of the slowly moving bandit: the loss estimate of every arm and the probabilities after it.

use super::Format;
use super::reader::{Complaint, Node};
use super::tally::Tally;
use stagetune::bandit::{Sign, SlowlyMovingBandit, Tree};

pub(super) const FORMAT: Format = Format {
    name: "bandit",
    recognise: |root| root.cases_have("regions_per_module"),
    check,
    keys: &[
        "about",
        "tolerance",
        "cases",
        "regions_per_module",
        "depths",
        "eta",
        "p",
        "loss",
        "sigma",
        "loss_estimate",
        "p_next",
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
    let regions = case.get("regions_per_module")?;
    let depths = case.get("depths")?.counts()?;
    let tree = Tree::new(&regions.counts()?, &depths).map_err(|error| refused(&regions, error))?;
    let arms = tree.arms();
    let (eta, p) = (case.get("eta")?, case.get("p")?);
    let mut bandit = SlowlyMovingBandit::new(tree, eta.number()?).map_err(|error| refused(&eta, error))?;
    bandit.set_p(&p.numbers_of_length(arms)?).map_err(|error| refused(&p, error))?;
    let loss = case.get("loss")?.numbers_of_length(arms)?;
    let sigma: Vec<Sign> = case.get("sigma")?.list()?.iter().map(sign).collect::<Result<_, _>>()?;

    let step = bandit.update(&loss, &sigma).map_err(|error| refused(case, error))?;
    let (estimate, next) = (case.get("loss_estimate")?, case.get("p_next")?);
    tally.compare_all(estimate.path(), &step.loss_estimate, &estimate.numbers_of_length(arms)?);
    tally.compare_all(next.path(), &bandit.p(), &next.numbers_of_length(arms)?);
    Ok(())
}

fn sign(node: &Node) -> Result<Sign, Complaint> {
    match node.number()? {
        1.0 => Ok(Sign::Plus),
        -1.0 => Ok(Sign::Minus),
        other => Err(node.complain(format_args!("is {other}; a sign is 1 or -1"))),
    }
}

fn refused(node: &Node, error: impl std::fmt::Display) -> Complaint {
    node.complain(format_args!("is refused: {error}"))
}
