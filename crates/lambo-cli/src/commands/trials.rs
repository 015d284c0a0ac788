//! `lambo trials`: the trials as a table.

use super::{Done, print, print_json, record_of};
use crate::cli::TrialsArgs;
use crate::exit::Code;
use crate::paint;
use crate::table::{self, Options, Which};
use console::Term;
use std::io::IsTerminal;

/// Prints the last ones, the best ones or all.
pub fn run(args: &TrialsArgs) -> Done {
    let record = record_of(&args.common.file)?;
    let which = match (args.all, args.best) {
        (true, _) => Which::All,
        (false, Some(best)) => Which::Best(best),
        (false, None) => Which::Last(args.last),
    };
    if args.common.json {
        print_json(&table::chosen(&record, which))?;
    } else {
        let width = std::io::stdout().is_terminal().then(|| usize::from(Term::stdout().size().1));
        print(&table::trials(&record, Options { which, width, colour: paint::is_on(), ascii: false }))?;
    }
    Ok(Code::Done)
}
