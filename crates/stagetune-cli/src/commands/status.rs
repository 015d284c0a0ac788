//! `stagetune status`: how a study stands, in a few lines.

use super::{Done, print, print_json, study_of};
use crate::cli::FileArgs;
use crate::exit::Code;
use crate::format::{self, count, digits, duration, number, percent};
use crate::paint::{BAD, FAINT, GOOD, STRONG, WARNING, paint};
use serde_json::json;
use stagetune_pipeline::file::{Budget, Pipeline};
use stagetune_pipeline::journal::{Journal, Summary};
use stagetune_pipeline::record::CostUnit;
use stagetune_pipeline::run_loop::{Hold, Live, Outlook, RunningStage, outlook, too_long};
use stagetune_pipeline::state_dir::StateDir;
use std::fmt::Write;
use std::time::SystemTime;

/// Prints it.
pub fn run(args: &FileArgs) -> Done {
    let (pipeline, journal) = study_of(&args.file)?;
    let summary = journal.summary()?;
    let state = StateDir::of(&pipeline.root);
    let name = &pipeline.study.name;
    let holder = Hold::holder(&state, name);
    let running = if holder.is_some() { Live::read(&state, name) } else { Vec::new() };
    let standing = match (&holder, summary.finished) {
        (Some(_), _) => "running",
        (None, true) => "finished",
        (None, false) => "paused",
    };
    let ahead = match too_long(summary.trials) {
        Some(why) => Err(why),
        None => {
            let records = journal.read(0).map_err(|error| error.to_string());
            records.and_then(|records| outlook(&pipeline, &records))
        }
    };
    if args.json {
        print_json(&json!({
            "study": name, "state": standing, "holder": holder, "running": running, "metric": summary.metric,
            "direction": summary.direction, "strategy": summary.strategy, "seed": summary.seed,
            "trials": summary.trials, "observed": summary.observed, "failed": summary.failed, "open": summary.open,
            "best": summary.best, "spent": summary.spent, "saved": summary.saved, "wall": summary.wall,
            "cost_unit": summary.cost_unit, "sessions": summary.sessions, "stages": summary.stages,
            "closed": summary.closed, "forecast": ahead.as_ref().ok(), "no_forecast": ahead.as_ref().err(),
        }))?;
        return Ok(Code::Done);
    }
    let unit = summary.cost_unit.unwrap_or(CostUnit::Units);
    let mut out = String::new();
    let shown = match standing {
        "running" => paint(GOOD, "running"),
        "finished" => paint(GOOD, "finished"),
        _ => paint(WARNING, "paused"),
    };
    let _ = writeln!(out, "{}  {shown}{}", paint(STRONG, name), ending(&summary, standing));
    if let Some(holder) = &holder {
        let _ = writeln!(out, "  by       {holder}");
    }
    let failed = if summary.failed > 0 {
        format!(", {}", paint(BAD, format!("{} failed", count(summary.failed as usize))))
    } else {
        String::new()
    };
    let open = if summary.open.is_empty() { String::new() } else { format!(", {} open", summary.open.len()) };
    let of = pipeline.study.budget.trials.map_or(String::new(), |limit| format!(" of {}", count(limit)));
    let _ = writeln!(out, "  trials   {}{of}{failed}{open}", count(summary.trials as usize));
    match &summary.best {
        Some(best) => {
            let value = paint(GOOD, number(best.value));
            let _ = writeln!(
                out,
                "  best     {} {value} {}",
                summary.metric,
                paint(FAINT, format!("(trial {})", best.trial))
            );
        }
        None => {
            let _ = writeln!(out, "  best     none yet");
        }
    }
    let _ = writeln!(out, "  spent    {}", spent(&summary, unit, &pipeline.study.budget));
    if summary.saved > 0.0 {
        let share = summary.saved / (summary.saved + summary.spent);
        let cost = format::cost(summary.saved, unit);
        let _ = writeln!(
            out,
            "  saved    {cost} by reuse, {} of what running everything would cost",
            percent(share)
        );
    }
    let _ = writeln!(out, "  {}", forecast(&ahead, unit, standing == "finished"));
    let _ = writeln!(out, "  strategy {} (seed {})", summary.strategy, summary.seed);
    stages(&mut out, &summary, unit);
    now(&mut out, &running);
    hint(&mut out, &pipeline, standing, args);
    print(&out)?;
    Ok(Code::Done)
}

fn ending(summary: &Summary, standing: &str) -> String {
    match (&summary.closed, standing) {
        (Some(reason), "finished" | "paused") => paint(FAINT, format!("  {reason}")),
        (None, "paused") => paint(FAINT, "  the last process ended without a word"),
        _ => String::new(),
    }
}

fn spent(summary: &Summary, unit: CostUnit, budget: &Budget) -> String {
    let mut text = format::cost(summary.spent, unit);
    if let Some(limit) = budget.cost {
        let _ = write!(text, " of {}", format::cost(limit, unit));
    }
    let _ = write!(text, ", {} of work", duration(summary.wall));
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
                "ahead    {}{horizon}: expected gain {} (the model believes in {} now); the best next trial gains {} for {}",
                if finished { "if you went on, " } else { "" },
                digits(forecast.expected_gain, 3),
                number(forecast.incumbent),
                digits(forecast.next_gain, 3),
                format::cost(forecast.next_cost, unit)
            )
        }
    }
}

fn stages(out: &mut String, summary: &Summary, unit: CostUnit) {
    let width = summary.stages.iter().map(|stage| stage.name.chars().count()).max().unwrap_or(0).max(5);
    let _ = writeln!(
        out,
        "\n  {:width$}  {:>7} {:>7} {:>7}  {:>12}",
        "stage", "ran", "reused", "failed", "cost each"
    );
    for stage in &summary.stages {
        let runs = stage.ran + stage.failed;
        let each = if runs > 0 { format::cost(stage.cost / runs as f64, unit) } else { "–".into() };
        let (ran, reused, failed) = (stage.ran, stage.reused, stage.failed);
        let _ = writeln!(out, "  {:width$}  {ran:>7} {reused:>7} {failed:>7}  {each:>12}", stage.name);
    }
}

fn now(out: &mut String, running: &[RunningStage]) {
    let now =
        SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64());
    for stage in running {
        let about =
            stage.expected.map_or(String::new(), |expected| format!(" of about {}", duration(expected)));
        let elapsed = duration((now - stage.began).max(0.0));
        let _ = writeln!(out, "\n  now      trial {}: {} for {elapsed}{about}", stage.trial, stage.stage);
    }
}

fn hint(out: &mut String, pipeline: &Pipeline, standing: &str, args: &FileArgs) {
    let file = args.file.display();
    let text = match standing {
        "paused" => format!("`stagetune run {file}` continues it"),
        "finished" => {
            format!("`stagetune best {file}` shows the settings, `stagetune report {file}` draws them")
        }
        _ => format!("logs: {}", StateDir::of(&pipeline.root).logs(&pipeline.study.name).display()),
    };
    let _ = writeln!(out, "\n  {}", paint(FAINT, text));
}
