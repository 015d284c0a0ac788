//! `stagetune trials`: the trials as a table.

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
    let which = match (args.best, args.last) {
        (Some(best), _) => Which::Best(best),
        (None, Some(last)) => Which::Last(last),
        // A program wants everything, a person the end of it.
        (None, None) if args.all || args.common.json => Which::All,
        (None, None) => Which::Last(20),
    };
    if args.common.json {
        print_json(&table::chosen(&record, which))?;
    } else {
        let width = std::io::stdout().is_terminal().then(|| usize::from(Term::stdout().size().1));
        print(&table::trials(&record, Options { which, width, colour: paint::is_on(), ascii: false }))?;
    }
    Ok(Code::Done)
}
