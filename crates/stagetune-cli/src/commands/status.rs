//! `stagetune status`: how a study stands, in a few lines.

use super::{Done, print, print_json, study_of};
use crate::cli::FileArgs;
use crate::exit::Code;
use crate::format::{self, count, digits, duration, number, percent};
use crate::paint::{BAD, FAINT, GOOD, STRONG, WARNING, paint};
use serde_json::json;
use stagetune_pipeline::file::{Budget, Pipeline};
use stagetune_pipeline::ledger::{CostUnit, Ledger, TrialState};
use stagetune_pipeline::log::Log;
use stagetune_pipeline::owner::{Hold, Live, Now, Outlook, RunningStage, outlook, too_long};
use stagetune_pipeline::state_dir::StateDir;
use std::fmt::Write;
use std::time::SystemTime;

/// Whether somebody is at work on the study.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    /// A process runs it.
    Running,
    /// It is complete.
    Finished,
    /// It can be continued.
    Paused,
}

/// Prints it.
pub fn run(args: &FileArgs) -> Done {
    let (pipeline, journal) = study_of(&args.file)?;
    let name = &pipeline.study.name;
    let records = journal.read(0)?;
    let ledger = Ledger::of(name, &records);
    let state = StateDir::of(&pipeline.root);
    let holder = Hold::holder(&state, name);
    let Now { running, waiting } = if holder.is_some() { Live::read(&state, name) } else { Now::default() };
    let standing = match (&holder, ledger.finished) {
        (Some(_), _) => Standing::Running,
        (None, true) => Standing::Finished,
        (None, false) => Standing::Paused,
    };
    let ahead = match too_long(ledger.trials.len() as u64) {
        Some(why) => Err(why),
        None => outlook(&pipeline, &records),
    };
    if args.json {
        print_json(&json!({
            "study": name, "state": standing.as_str(), "holder": holder, "running": running,
            "waiting": waiting,
            "metric": ledger.metric, "direction": ledger.direction, "strategy": ledger.strategy,
            "seed": ledger.seed, "trials": ledger.trials.len(), "observed": ledger.observed,
            "failed": ledger.failed, "abandoned": ledger.count(TrialState::Abandoned),
            "withdrawn": ledger.count(TrialState::Withdrawn), "open": ledger.open(), "best": ledger.best,
            "spent": ledger.spent, "saved": ledger.saved, "wall": ledger.wall, "cost_unit": ledger.cost_unit,
            "sessions": ledger.owners.len(), "stages": ledger.stages, "closed": ledger.closed,
            "paused": ledger.paused, "notes": ledger.notes, "forecast": ahead.as_ref().ok(),
            "no_forecast": ahead.as_ref().err(),
        }))?;
        return Ok(Code::Done);
    }
    let unit = ledger.cost_unit;
    let mut out = String::new();
    let shown = match standing {
        Standing::Running | Standing::Finished => paint(GOOD, standing.as_str()),
        Standing::Paused => paint(WARNING, standing.as_str()),
    };
    let _ = writeln!(out, "{}  {shown}{}", paint(STRONG, name), ending(&ledger, standing));
    if let Some(holder) = &holder {
        let _ = writeln!(out, "  by       {holder}");
    }
    if let Some(reason) = &ledger.paused {
        let _ = writeln!(out, "  {}   no new trials begin: {reason}", paint(WARNING, "on hold"));
    }
    for wait in &waiting {
        let who = wait.trial.map_or("the journal".to_owned(), |trial| format!("trial {trial}"));
        let since = duration((seconds_since_1970() - wait.since).max(0.0));
        let patience = duration(pipeline.study.patience.as_secs_f64());
        let _ = writeln!(
            out,
            "  {}    {who}, for {since} of at most {patience}: {}",
            paint(WARNING, "waits"),
            wait.problem
        );
    }
    let of = pipeline.study.budget.trials.map_or(String::new(), |limit| format!(" of {}", count(limit)));
    let _ = writeln!(out, "  trials   {}{of}{}", count(ledger.trials.len()), unlike_observed(&ledger));
    match &ledger.best {
        Some(best) => {
            let value = paint(GOOD, number(best.value));
            let _ = writeln!(
                out,
                "  best     {} {value} {}",
                ledger.metric,
                paint(FAINT, format!("(trial {})", best.trial))
            );
        }
        None => {
            let _ = writeln!(out, "  best     none yet");
        }
    }
    let _ = writeln!(out, "  spent    {}", spent(&ledger, unit, &pipeline.study.budget));
    if ledger.saved > 0.0 {
        let share = ledger.saved / (ledger.saved + ledger.spent);
        let cost = format::cost(ledger.saved, unit);
        let _ = writeln!(
            out,
            "  saved    {cost} by reuse, {} of what running everything would cost",
            percent(share)
        );
    }
    let _ = writeln!(out, "  {}", forecast(&ahead, unit, standing == Standing::Finished));
    let _ = writeln!(out, "  strategy {} (seed {})", ledger.strategy, ledger.seed);
    stages(&mut out, &ledger, unit);
    now(&mut out, &running);
    hint(&mut out, &pipeline, standing, args);
    print(&out)?;
    Ok(Code::Done)
}

impl Standing {
    fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Finished => "finished",
            Self::Paused => "paused",
        }
    }
}

fn ending(ledger: &Ledger, standing: Standing) -> String {
    match (&ledger.closed, standing) {
        (Some(reason), Standing::Finished | Standing::Paused) => paint(FAINT, format!("  {reason}")),
        (None, Standing::Paused) => paint(
            FAINT,
            "  the last process could not say why it ended: it was killed, or could not write the journal",
        ),
        (_, Standing::Running) | (None, Standing::Finished) => String::new(),
    }
}

/// How many trials have no value, by state: `, 3 failed, 1 open`.
fn unlike_observed(ledger: &Ledger) -> String {
    let states = [TrialState::Failed, TrialState::Abandoned, TrialState::Withdrawn, TrialState::Open];
    let mut text = String::new();
    for state in states {
        let trials = ledger.count(state);
        if trials > 0 {
            let said = format!("{} {}", count(trials), state.as_str());
            let said = if state == TrialState::Failed { paint(BAD, said) } else { said };
            let _ = write!(text, ", {said}");
        }
    }
    text
}

fn spent(ledger: &Ledger, unit: CostUnit, budget: &Budget) -> String {
    let mut text = format::cost(ledger.spent, unit);
    if let Some(limit) = budget.cost {
        let _ = write!(text, " of {}", format::cost(limit, unit));
    }
    let _ = write!(text, ", {} of work", duration(ledger.wall));
    if let Some(wall) = budget.wall {
        let _ = write!(text, " of {}", duration(wall.as_secs_f64()));
    }
    text
}

/// What going on is expected to bring, in a line.
fn forecast(ahead: &Result<Outlook, String>, unit: CostUnit, finished: bool) -> String {
    match ahead {
        Err(why) => paint(FAINT, format!("ahead    no forecast: {why}")),
        Ok(Outlook { rest_of_budget, horizon_seconds, horizon_full_runs, forecast }) => {
            let horizon = match horizon_seconds {
                _ if *rest_of_budget => {
                    format!("rest of the budget ({})", format::cost(forecast.horizon, unit))
                }
                Some(_) => "next hour".to_owned(),
                None => format!("next {} full runs", digits(*horizon_full_runs, 3)),
            };
            format!(
                "ahead    {}{horizon}: expected gain {} (the model believes in {} now); the best \
                    next trial gains {} for {}",
                if finished { "if you went on, " } else { "" },
                digits(forecast.expected_gain, 3),
                number(forecast.incumbent),
                digits(forecast.next_gain, 3),
                format::cost(forecast.next_cost, unit)
            )
        }
    }
}

fn stages(out: &mut String, ledger: &Ledger, unit: CostUnit) {
    let width = ledger.stages.iter().map(|stage| stage.name.chars().count()).max().unwrap_or(0).max(5);
    let _ = writeln!(
        out,
        "\n  {:width$}  {:>7} {:>7} {:>7}  {:>12}",
        "stage", "ran", "reused", "failed", "cost each"
    );
    for stage in &ledger.stages {
        let runs = stage.ran + stage.failed;
        let each = if runs > 0 { format::cost(stage.cost / runs as f64, unit) } else { "–".into() };
        let (ran, reused, failed) = (stage.ran, stage.reused, stage.failed);
        let _ = writeln!(out, "  {:width$}  {ran:>7} {reused:>7} {failed:>7}  {each:>12}", stage.name);
    }
}

fn now(out: &mut String, running: &[RunningStage]) {
    let now = seconds_since_1970();
    for stage in running {
        let about =
            stage.expected.map_or(String::new(), |expected| format!(" of about {}", duration(expected)));
        let elapsed = duration((now - stage.began).max(0.0));
        let _ = writeln!(out, "\n  now      trial {}: {} for {elapsed}{about}", stage.trial, stage.stage);
    }
}

fn seconds_since_1970() -> f64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}

fn hint(out: &mut String, pipeline: &Pipeline, standing: Standing, args: &FileArgs) {
    let file = args.file.display();
    let text = match standing {
        Standing::Paused => format!("`stagetune run {file}` continues it"),
        Standing::Finished => {
            format!("`stagetune best {file}` shows the settings, `stagetune report {file}` draws them")
        }
        Standing::Running => {
            format!("logs: {}", StateDir::of(&pipeline.root).logs(&pipeline.study.name).display())
        }
    };
    let _ = writeln!(out, "\n  {}", paint(FAINT, text));
}
