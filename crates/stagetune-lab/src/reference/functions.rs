//! Values, box and minimum of test functions: the engine does not take part, the laboratory's problems do.

use super::Format;
use super::reader::{Complaint, Node};
use super::tally::Tally;
use crate::problems::Problem;

pub(super) const FORMAT: Format = Format {
    name: "functions",
    recognise: |root| root.cases_have("function"),
    check,
    keys: &["about", "tolerance", "cases", "function", "low", "high", "x", "value", "minimum"],
};

fn check(root: &Node, tally: &mut Tally) -> Result<(), Complaint> {
    for case in root.get("cases")?.list()? {
        let function = case.get("function")?;
        let problem: Problem = function
            .text()?
            .parse()
            .map_err(|error| function.complain(format_args!("is unknown: {error}")))?;
        let (low, high) = problem.interval(0);
        for (key, ours) in [("low", low), ("high", high)] {
            let stated = case.get(key)?;
            tally.compare(stated.path(), ours, stated.number()?);
        }
        let minimum = case.get("minimum")?;
        tally.compare_printed(minimum.path(), problem.minimum(), minimum.number()?);

        let points = case.get("x")?.rows_of_length(problem.dim())?;
        let value = case.get("value")?;
        let wanted = value.numbers_of_length(points.len())?;
        for (i, (x, want)) in points.iter().zip(wanted).enumerate() {
            let place = format!("{}[{i}]", value.path());
            let got = problem.evaluate(x).map_err(|error| case.complain(error))?;
            tally.compare(place, got, want);
        }
        tally.cases += 1;
    }
    Ok(())
}
