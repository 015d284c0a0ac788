//! `stagetune repair`: keeps of a damaged journal all that is sound.

use super::{Done, print, print_json, say};
use crate::cli::RepairArgs;
use crate::exit::Code;
use crate::format::count;
use crate::paint::{FAINT, GOOD, STRONG, paint};
use serde_json::json;
use stagetune_pipeline::disk::Disk;
use stagetune_pipeline::file::Pipeline;
use stagetune_pipeline::log::{Repair, Repaired};
use stagetune_pipeline::outputs::Cache;
use stagetune_pipeline::owner::{Hold, RunError};
use stagetune_pipeline::state_dir::StateDir;
use std::fmt::Write;
use std::path::Path;

/// Repairs the journal of a file's directory, or says what that would do.
pub fn run(args: &RepairArgs) -> Done {
    let pipeline = Pipeline::read(args.given.as_ref().unwrap_or(&args.file))?;
    let (state, study, disk) = (StateDir::of(&pipeline.root), &pipeline.study.name, Disk::default());
    let journal = state.journal();
    let studies = state.locked_studies()?;
    for study in &studies {
        if let Some(holder) = Hold::holder(&state, study) {
            return Err(RunError::Held { study: study.clone(), holder }.into());
        }
    }
    let Some(plan) = Repair::plan(&journal, study)? else {
        if args.json {
            print_json(&json!({"sound": true, "studies": []}))?;
        } else {
            say!("{} is {}: nothing to repair", journal.display(), paint(GOOD, "sound"));
        }
        return Ok(Code::Done);
    };
    if args.dry_run {
        return tell(args, &plan, None, outputs(&state)?);
    }
    // Nobody begins to work on a study before it is done.
    let held: Result<Vec<Hold>, RunError> =
        studies.iter().map(|study| Hold::take(&state, study, &disk)).collect();
    let _held = held?;
    let Some(plan) = Repair::plan(&journal, study)? else { return Ok(Code::Done) };
    let aside = plan.carry_out(&disk)?;
    tell(args, &plan, Some(&aside), outputs(&state)?)
}

/// How many outputs there are to be reused.
fn outputs(state: &StateDir) -> anyhow::Result<usize> {
    Ok(Cache::at(state.path(), Disk::default(), None).list()?.len())
}

fn tell(args: &RepairArgs, plan: &Repair, aside: Option<&Path>, outputs: usize) -> Done {
    if args.json {
        let study = |one: &Repaired| {
            json!({
                "study": one.study, "kept": one.kept, "given_up": one.given_up, "trials": one.trials,
                "reopened": one.reopened, "forgotten": one.forgotten,
            })
        };
        let studies: Vec<_> = plan.studies.iter().map(study).collect();
        print_json(&json!({
            "sound": false, "problem": plan.problem.to_string(), "studies": studies, "rewrites": plan.rewrites,
            "aside": aside, "outputs": outputs, "dry_run": args.dry_run,
        }))?;
        return Ok(Code::Done);
    }
    let mut out = String::new();
    let _ = writeln!(out, "{}", plan.problem);
    let verb = if aside.is_some() { "" } else { "would be " };
    for one in &plan.studies {
        let (kept, trials) = (records(one.kept), trials(one.trials));
        let _ = writeln!(out, "\n{}  {verb}kept: {kept}, with {trials}", paint(STRONG, &one.study));
        if one.given_up > 0 {
            let _ = writeln!(out, "  {verb}given up: {}", records(one.given_up));
        }
        if !one.reopened.is_empty() {
            let _ = writeln!(out, "  open again, though it had ended: trial {}", ranges(&one.reopened));
        }
        if !one.forgotten.is_empty() {
            let _ = writeln!(out, "  not known any more: trial {}", ranges(&one.forgotten));
        }
    }
    if plan.studies.is_empty() {
        let _ = writeln!(out, "\nno record of any study can be read");
    }
    let _ = writeln!(out, "\noutputs in the cache, to be reused: {}", count(outputs));
    match aside {
        Some(aside) => {
            let what = if plan.rewrites { "the damaged files are" } else { "what was known of the rest is" };
            let _ = writeln!(out, "{}", paint(FAINT, format!("{what} in {}", aside.display())));
            let file = args.given.as_ref().unwrap_or(&args.file).display();
            let _ = writeln!(out, "{}", paint(FAINT, format!("`stagetune run {file}` goes on")));
        }
        None => {
            let _ = writeln!(out, "{}", paint(FAINT, "nothing was written; without --dry-run it is done"));
        }
    }
    print(&out)?;
    Ok(Code::Done)
}

fn records(number: u64) -> String {
    plural(number, "record")
}

fn trials(number: u64) -> String {
    plural(number, "trial")
}

fn plural(number: u64, what: &str) -> String {
    let number = usize::try_from(number).unwrap_or(usize::MAX);
    format!("{} {what}{}", count(number), if number == 1 { "" } else { "s" })
}

/// `3, 7–12`.
fn ranges(numbers: &[u64]) -> String {
    let mut parts: Vec<(u64, u64)> = Vec::new();
    for &number in numbers {
        match parts.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            Some(_) | None => parts.push((number, number)),
        }
    }
    let shown = |(first, last): &(u64, u64)| match last - first {
        0 => first.to_string(),
        1 => format!("{first}, {last}"),
        _ => format!("{first}–{last}"),
    };
    parts.iter().map(shown).collect::<Vec<_>>().join(", ")
}
