//! `stagetune trials`: the trials as a table, or one of them whole.

use super::{Done, ledger_of, print, print_json};
use crate::cli::TrialsArgs;
use crate::exit::Code;
use crate::table::{self, Options, Which};
use crate::{detail, paint, rows};
use anyhow::bail;
use console::Term;
use stagetune_pipeline::ledger::Ledger;
use std::io::IsTerminal;

/// Prints the last ones, the best ones, all or one.
pub fn run(args: &TrialsArgs) -> Done {
    let ledger = ledger_of(&args.common.file)?;
    if let Some(number) = args.trial {
        return one(&ledger, number, args.common.json);
    }
    let which = match (args.best, args.last) {
        (Some(best), _) => Which::Best(best),
        (None, Some(last)) => Which::Last(last),
        // A program wants everything, a person the end of it.
        (None, None) if args.all || args.common.json => Which::All,
        (None, None) => Which::Last(20),
    };
    if args.common.json {
        let chosen = table::chosen(&ledger, which);
        let facts = chosen.into_iter().map(|trial| rows::trial_facts(&ledger, trial));
        print_json(&facts.collect::<Vec<_>>())?;
    } else {
        let width = std::io::stdout().is_terminal().then(|| usize::from(Term::stdout().size().1));
        print(&table::trials(&ledger, Options { which, width, colour: paint::is_on(), ascii: false }))?;
    }
    Ok(Code::Done)
}

/// Prints one trial whole.
fn one(ledger: &Ledger, number: u64, json: bool) -> Done {
    let Some(trial) = ledger.trials.iter().find(|trial| trial.trial == number) else {
        bail!("there is no trial {number}; the study has {}", ledger.trials.len());
    };
    if json {
        print_json(&rows::trial_facts(ledger, trial))?;
    } else {
        print(&detail::trial(ledger, trial))?;
    }
    Ok(Code::Done)
}
