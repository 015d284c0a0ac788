//! `stagetune forget`, `rerun`, `pause`, `resume` and `note`: what can be said to a study without
//! owning it, whether it runs or not. Each appends to the log; nothing that stands there is ever
//! changed.

use super::{Done, ledger_of, print, print_json};
use crate::cli::{ControlArgs, ForgetArgs, NoteArgs, RerunArgs, WordsArgs};
use crate::exit::Code;
use anyhow::bail;
use serde_json::{Value, json};
use stagetune::study::Event;
use stagetune::trial::{End, TrialId};
use stagetune_pipeline::disk::Disk;
use stagetune_pipeline::file::Pipeline;
use stagetune_pipeline::ledger::{Ledger, TrialState};
use stagetune_pipeline::owner::control;
use stagetune_pipeline::text::{LONGEST_REASON, bounded};
use std::collections::BTreeSet;

/// Withdraws trials.
pub fn forget(args: &ForgetArgs) -> Done {
    let ledger = ledger_of(&args.common.file)?;
    let trials = distinct(&args.trials);
    for trial in &trials {
        check(&ledger, *trial)?;
    }
    let reason = bounded(args.because.clone(), LONGEST_REASON);
    control(&Pipeline::read(&args.common.file)?, Disk::default(), &|study| {
        let end = || End::Withdrawn { reason: reason.clone() };
        trials.iter().map(|trial| Ok(study.ended(TrialId::new(*trial), end())?)).collect()
    })?;
    told(&args.common, json!({"forgotten": trials}), &format!("forgot {}", list(&trials)))
}

/// Withdraws trials, and attaches their points anew.
pub fn rerun(args: &RerunArgs) -> Done {
    let ledger = ledger_of(&args.common.file)?;
    let because =
        |reason: &str| args.because.as_ref().is_none_or(|because| reason.contains(because.as_str()));
    let trials: Vec<u64> = if args.failed {
        let failed = ledger.trials.iter().filter(|trial| trial.state == TrialState::Failed);
        failed.filter(|trial| because(trial.reason.as_deref().unwrap_or_default())).map(|t| t.trial).collect()
    } else {
        distinct(&args.trials)
    };
    for trial in &trials {
        if check(&ledger, *trial)? == TrialState::Open {
            bail!("trial {trial} has not ended; `stagetune run` goes on with it");
        }
    }
    if trials.is_empty() {
        return told(&args.common, json!({"rerun": [], "as": []}), "no trial failed like that");
    }
    let first = std::cell::Cell::new(0);
    control(&Pipeline::read(&args.common.file)?, Disk::default(), &|study| {
        let mut events = Vec::new();
        let next = study.trials().len() as u64;
        first.set(next);
        for (trial, number) in trials.iter().zip(next..) {
            let (old, end) =
                (TrialId::new(*trial), End::Withdrawn { reason: format!("run again as trial {number}") });
            events.push(study.ended(old, end)?);
            let known = study.trials().find(|known| known.id() == old);
            if let Some(point) = known.map(|known| known.point().clone()) {
                let from = Some(format!("trial {trial}, run again"));
                events.push(Event::Attached { trial: TrialId::new(number), point, from });
            }
        }
        Ok(events)
    })?;
    let again: Vec<u64> = (first.get()..).take(trials.len()).collect();
    let words = format!(
        "{} will be run again as {}, at once if the study runs; else `stagetune run` begins with that",
        list(&trials),
        list(&again)
    );
    told(&args.common, json!({"rerun": trials, "as": again}), &words)
}

/// No new trials.
pub fn pause(args: &WordsArgs) -> Done {
    let reason = bounded(args.text.clone(), LONGEST_REASON);
    append(&args.common, &Event::Paused { reason })?;
    told(&args.common, json!({"paused": true}), "no new trials begin until `stagetune resume`")
}

/// New trials again.
pub fn resume(args: &ControlArgs) -> Done {
    append(args, &Event::Resumed)?;
    told(args, json!({"paused": false}), "new trials may begin again")
}

/// Words for the log.
pub fn note(args: &NoteArgs) -> Done {
    if let Some(trial) = args.trial {
        let ledger = ledger_of(&args.common.file)?;
        if trial >= ledger.trials.len() as u64 {
            bail!("there is no trial {trial}; the study has {}", ledger.trials.len());
        }
    }
    let text = bounded(args.text.clone(), LONGEST_REASON);
    append(&args.common, &Event::Noted { trial: args.trial.map(TrialId::new), text })?;
    told(&args.common, json!({"noted": true}), "noted")
}

fn append(args: &ControlArgs, event: &Event) -> anyhow::Result<()> {
    control(&Pipeline::read(&args.file)?, Disk::default(), &|_| Ok(vec![event.clone()]))?;
    Ok(())
}

/// Each number once, in the order given.
fn distinct(trials: &[u64]) -> Vec<u64> {
    let mut seen = BTreeSet::new();
    trials.iter().copied().filter(|trial| seen.insert(*trial)).collect()
}

/// The state of a trial that can be withdrawn.
fn check(ledger: &Ledger, trial: u64) -> anyhow::Result<TrialState> {
    match ledger.trials.iter().find(|known| known.trial == trial).map(|known| known.state) {
        Some(TrialState::Withdrawn) => bail!("trial {trial} was forgotten before"),
        Some(state) => Ok(state),
        None => bail!("there is no trial {trial}; the study has {}", ledger.trials.len()),
    }
}

fn told(args: &ControlArgs, facts: Value, words: &str) -> Done {
    if args.json {
        print_json(&facts)?
    } else {
        print(&format!("{words}\n"))?
    }
    Ok(Code::Done)
}

/// `trial 3`, or `trials 3, 4, 7`.
fn list(trials: &[u64]) -> String {
    let numbers: Vec<String> = trials.iter().map(u64::to_string).collect();
    format!("trial{} {}", if trials.len() == 1 { "" } else { "s" }, numbers.join(", "))
}
