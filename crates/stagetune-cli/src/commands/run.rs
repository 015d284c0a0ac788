//! `stagetune run`: begins a study or continues it, shows how it goes, and ends in peace.

use super::{Done, print, print_json};
use crate::cli::RunArgs;
use crate::exit::Code;
use crate::format::{self, number};
use crate::paint::{FAINT, GOOD, STRONG, WARNING, paint};
use crate::progress::{self, Facts};
use anyhow::Context;
use serde_json::json;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use stagetune_pipeline::disk::Disk;
use stagetune_pipeline::executor::{Local, LocalOptions};
use stagetune_pipeline::file::Pipeline;
use stagetune_pipeline::owner::{Ended, Owner, OwnerOptions, Reached, Rehearsal, RunError, rehearse, unit};
use stagetune_pipeline::state_dir::StateDir;
use stagetune_pipeline::stop::Stop;
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::Duration;

/// Runs the study of a file.
pub fn run(args: &RunArgs) -> Done {
    let file = &args.common.file;
    let (pipeline, warnings) = Pipeline::load_with_warnings(file)?;
    if args.dry_run {
        return dry_run(&pipeline, args);
    }
    for warning in &warnings {
        let text = format!("{}: {}", paint(WARNING, "warning"), warning.render(file));
        // In JSON it is one of the news.
        let said = json!({"news": "warning", "warning": warning});
        if args.common.json {
            let _ = super::print_line(&said);
        } else {
            crate::terminal::warn(&text);
        }
    }
    let facts = Facts::of(&pipeline, usize::from(args.workers));
    let view = progress::choose(&facts, &pipeline.study.notify, args.common.json, args.quiet);
    let stop = Stop::new();
    let options = OwnerOptions {
        workers: usize::from(args.workers),
        accept_changes: args.accept_changes,
        stop: stop.clone(),
        disk: Disk::default(),
    };
    let owner = Owner::open(&pipeline, options, Arc::new(executor(&pipeline)), &*view)?;
    listen(stop, view.teller())?;
    view.begin(&owner.standing());
    let ended = owner.run();
    view.end(&match &ended {
        Ok(ended) => ended.reached.to_string(),
        Err(error) => error.to_string(),
    });
    let ended = ended?;
    if !args.quiet {
        closing(&pipeline, &ended, args)?;
    }
    Ok(match ended.reached {
        Reached::Asked => Code::Stopped,
        Reached::Rule(_) | Reached::Wall(_) | Reached::NothingNew(_) | Reached::Exhausted => {
            let fruitless = ended.ledger.observed == 0 && ended.ledger.failed > 0;
            if fruitless { Code::EverythingFailed } else { Code::Done }
        }
    })
}

/// Runs stages under supervisors that are this same program: without one, stages outlive a killed stagetune.
fn executor(pipeline: &Pipeline) -> Local {
    Local::new(LocalOptions {
        supervisor: std::env::current_exe().ok(),
        attempts: StateDir::of(&pipeline.root).attempts(),
        disk: Disk::default(),
    })
}

/// The first Ctrl-C finishes what runs, the second stops at once; so does whoever shuts the machine
/// down. A third does not wait for anything.
fn listen(stop: Stop, say: Box<dyn Fn(&str) + Send + Sync>) -> anyhow::Result<()> {
    let say: Arc<dyn Fn(&str) + Send + Sync> = say.into();
    // A hang-up that was ignored before, as under `nohup`, stays ignored. Shells also ignore Ctrl-C
    // for what they start in the background, but whoever sends that signal to one process means it.
    let wanted = [SIGINT, SIGTERM].into_iter().chain(Some(SIGHUP).filter(|signal| !is_ignored(*signal)));
    let mut signals = Signals::new(wanted).context("cannot listen to Ctrl-C")?;
    // All threads begin here: when a signal comes, the system may have none left.
    let words = thread("say what a signal does", move |words: Receiver<&'static str>| {
        words.iter().for_each(|text| say(text));
    })?;
    let last = thread("leave after a second signal", |stops: Receiver<()>| {
        if stops.recv().is_ok() {
            leave_anyway();
        }
    })?;
    let signals = move |_: Receiver<()>| {
        for signal in signals.forever() {
            // First the deed, then the word, on a thread of its own: nobody may be listening.
            let text = if stop.is_now() {
                std::process::exit(Code::Stopped as i32);
            } else if signal == SIGINT && !stop.is_asked() {
                stop.finish();
                "finishing the trials that are running; Ctrl-C again stops at once"
            } else {
                stop.now();
                let _ = last.send(());
                "stopping; what has finished is kept, and the same command continues"
            };
            let _ = words.send(text);
        }
    };
    thread("listen to Ctrl-C", signals)?;
    Ok(())
}

/// Starts a thread that is sent something.
fn thread<T: Send + 'static>(
    what: &'static str,
    work: impl FnOnce(Receiver<T>) + Send + 'static,
) -> Result<Sender<T>, RunError> {
    let (send, receive) = mpsc::channel();
    let started = std::thread::Builder::new().spawn(move || work(receive));
    started.map(|_| send).map_err(|source| RunError::NoThread { what, source })
}

/// A stop at once is not held up by whoever does not read what we print; the supervisors end the stages.
fn leave_anyway() {
    std::thread::sleep(LONGEST_STOP);
    std::process::exit(Code::Stopped as i32);
}

/// Stages have two seconds to end when they are asked to.
const LONGEST_STOP: Duration = Duration::from_secs(10);

/// Whether a signal was ignored when this process began; only Linux tells.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask & (1 << (signal - 1)) != 0
}

fn closing(pipeline: &Pipeline, ended: &Ended, args: &RunArgs) -> anyhow::Result<()> {
    let file = args.common.file.display();
    let Ended { reached, ledger } = ended;
    if args.common.json {
        let said = json!({
            "news": "ended", "finished": reached.is_finished(), "reason": reached.to_string(),
            "best": ledger.best, "trials": ledger.trials.len(), "spent": ledger.spent, "saved": ledger.saved,
        });
        return super::print_line(&said);
    }
    let unit = unit(pipeline);
    let mut out = String::new();
    let _ = writeln!(
        out,
        "\n{}: {reached}",
        if reached.is_finished() { paint(GOOD, "done") } else { paint(WARNING, "stopped") }
    );
    if let Some(best) = &ledger.best {
        let _ = writeln!(
            out,
            "  best     {} {}  {}",
            ledger.metric,
            paint(GOOD, number(best.value)),
            paint(FAINT, format!("trial {}", best.trial))
        );
        for stage in &pipeline.stages {
            let values: Vec<String> = stage
                .params
                .iter()
                .filter_map(|name| Some(format!("{name}={}", format::value(best.point.get(name)?))))
                .collect();
            let _ = writeln!(out, "           {}  {}", paint(STRONG, &stage.name), values.join(" "));
        }
    }
    let _ = writeln!(out, "  spent    {}", format::cost(ledger.spent, unit));
    if ledger.saved > 0.0 {
        let whole = ledger.spent + ledger.saved;
        let times = if ledger.spent > 0.0 {
            format!(", {}× as much", format::digits(whole / ledger.spent, 2))
        } else {
            String::new()
        };
        let _ = writeln!(
            out,
            "  saved    {}: running every stage anew would have cost {}{times}",
            format::cost(ledger.saved, unit),
            format::cost(whole, unit)
        );
    }
    let next = if reached.is_finished() {
        format!("stagetune best {file} · stagetune trials {file} · stagetune report {file}")
    } else {
        format!("stagetune run {file} continues")
    };
    let _ = writeln!(out, "  {}", paint(FAINT, next));
    print(&out)
}

fn dry_run(pipeline: &Pipeline, args: &RunArgs) -> Done {
    let next = rehearse(pipeline, args.accept_changes)?;
    if args.common.json {
        print_json(&next)?;
        return Ok(Code::Done);
    }
    let mut out = String::new();
    match &next {
        None => {
            let _ = writeln!(
                out,
                "the study is complete: a budget is reached or every point was tried, and nothing would run"
            );
        }
        Some(next) => show(&mut out, next),
    }
    print(&out)?;
    Ok(Code::Done)
}

fn show(out: &mut String, next: &Rehearsal) {
    let goes_on = if next.resumed { ", begun before" } else { "" };
    let _ = writeln!(out, "{}{goes_on}", paint(STRONG, format!("trial {}", next.trial)));
    let _ = writeln!(out, "  {}", paint(FAINT, &next.why));
    for stage in &next.stages {
        let verdict = if stage.cached { paint(GOOD, "reuse") } else { paint(WARNING, "run  ") };
        let command: Vec<String> = stage.argv.iter().map(|part| quoted(part)).collect();
        let _ = writeln!(out, "  {verdict} {}  {}", paint(STRONG, &stage.stage), command.join(" "));
    }
}

/// As one would type it into a shell.
fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_./:+,@%=-".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}
