//! The study's `notify` command: run when the study waits, when it ends, and when it finds a new
//! best value.

use super::aside::Aside;
use super::{Facts, View};
use crate::format::number;
use rustix::process::{Pid, Signal, kill_process_group};
use stagetune_pipeline::owner::{News, Standing, Watcher};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long one command may take; a message is sent in less.
const LIMIT: Duration = Duration::from_secs(30);

/// How long the end of a run waits for commands that have not ended.
const LAST: Duration = Duration::from_secs(10);

/// Between looks at a command that runs.
const LOOK: Duration = Duration::from_millis(20);

/// A view that runs a command besides.
pub struct Notifying {
    view: Box<dyn View>,
    facts: Facts,
    argv: Vec<String>,
    aside: Aside,
    /// Whether a command has failed: that is said once.
    has_failed: Arc<AtomicBool>,
    /// Whether the run has ended: no command outlives it.
    is_over: Arc<AtomicBool>,
}

impl Notifying {
    /// `argv` is not empty. `{event}`, `{study}` and `{text}` in it are filled in for every
    /// message.
    pub fn new(view: Box<dyn View>, facts: &Facts, argv: Vec<String>) -> Self {
        Self {
            view,
            facts: facts.clone(),
            argv,
            aside: Aside::new(),
            has_failed: Arc::default(),
            is_over: Arc::default(),
        }
    }

    fn tell(&self, event: &'static str, text: &str) {
        let argv: Vec<String> =
            self.argv.iter().map(|argument| fill(argument, event, &self.facts.study, text)).collect();
        let (say, has_failed, is_over) = (self.view.teller(), self.has_failed.clone(), self.is_over.clone());
        self.aside.run(move || {
            if let Err(problem) = run(&argv, &is_over)
                && !has_failed.swap(true, Ordering::Relaxed)
            {
                say(&format!("the command of `notify` {problem}; the study goes on"));
            }
        });
    }
}

impl Watcher for Notifying {
    fn see(&self, news: &News<'_>) {
        self.view.see(news);
        match news {
            News::Waits { problem, .. } => self.tell("waits", problem),
            News::Told { trial, value: Some(value), improved: true, .. } => {
                self.tell("best", &format!("{} {} in trial {trial}", self.facts.metric, number(*value)));
            }
            News::Told { .. }
            | News::BegunWith { .. }
            | News::OtherOptions { .. }
            | News::PackUnusable { .. }
            | News::Asked { .. }
            | News::StageBegan { .. }
            | News::StageEnded { .. }
            | News::StageFailed { .. }
            | News::Damaged { .. }
            | News::GoesOn { .. }
            | News::Control { .. }
            | News::Reached { .. } => {}
        }
    }
}

impl View for Notifying {
    fn begin(&self, standing: &Standing) {
        self.view.begin(standing);
    }

    fn end(&self, why: &str) {
        self.tell("ended", why);
        if !self.aside.finish(Some(LAST)) {
            self.is_over.store(true, Ordering::Relaxed);
            self.aside.wait(LAST);
        }
        self.view.end(why);
    }

    fn teller(&self) -> Box<dyn Fn(&str) + Send + Sync> {
        self.view.teller()
    }
}

/// Runs a command; what went wrong. With the command all that it started ends, unless it left its group.
fn run(argv: &[String], is_over: &AtomicBool) -> Result<(), String> {
    let Some((program, arguments)) = argv.split_first() else { return Ok(()) };
    if is_over.load(Ordering::Relaxed) {
        return Err("was not started, as the run has ended".to_owned());
    }
    let mut command = Command::new(program);
    command.process_group(0).args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| format!("cannot be started: {error}"))?;
    let timer = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => return Err(format!("ended with {status}")),
            Ok(None) if timer.elapsed() < LIMIT && !is_over.load(Ordering::Relaxed) => {
                std::thread::sleep(LOOK);
            }
            Ok(None) => {
                // Not waited for yet, so that the number is still its own.
                if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
                    let _ = kill_process_group(group, Signal::KILL);
                }
                let _ = child.wait();
                return Err(format!("took longer than {} s and was killed", timer.elapsed().as_secs()));
            }
            Err(error) => return Err(format!("cannot be waited for: {error}")),
        }
    }
}

/// Fills in what stands in braces, once: braces in a text that is filled in stay.
fn fill(argument: &str, event: &str, study: &str, text: &str) -> String {
    let mut out = String::new();
    let mut rest = argument;
    while let Some(at) = rest.find('{') {
        let (before, braces) = rest.split_at(at);
        out.push_str(before);
        let known = [("{event}", event), ("{study}", study), ("{text}", text)];
        match known.iter().find(|(name, _)| braces.starts_with(name)) {
            Some((name, value)) => {
                out.push_str(value);
                rest = braces.get(name.len()..).unwrap_or_default();
            }
            None => {
                out.push('{');
                rest = braces.get(1..).unwrap_or_default();
            }
        }
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_hangs_ends_with_the_run_and_so_does_what_it_started() {
        let dir = tempfile::tempdir().unwrap();
        let started = dir.path().join("started");
        let script = format!("sleep 300 & echo $! > {0}.new; mv {0}.new {0}; wait", started.display());
        let is_over = AtomicBool::new(false);
        let ended = std::thread::scope(|scope| {
            let run = scope.spawn(|| run(&["sh".into(), "-c".into(), script], &is_over));
            while !started.exists() {
                std::thread::sleep(LOOK);
            }
            is_over.store(true, Ordering::Relaxed);
            run.join().unwrap()
        });
        assert!(ended.unwrap_err().contains("was killed"));
        let child = std::fs::read_to_string(&started).unwrap();
        let status = std::path::Path::new("/proc").join(child.trim()).join("status");
        let is_gone = || {
            let status = std::fs::read_to_string(&status).unwrap_or_default();
            status.is_empty() || status.contains("State:\tZ")
        };
        let timer = Instant::now();
        while !is_gone() {
            assert!(timer.elapsed() < Duration::from_secs(60), "the child lives on");
            std::thread::sleep(LOOK);
        }
        assert!(run(&["true".into()], &is_over).is_err(), "nothing begins after the end");
    }

    #[test]
    fn what_stands_in_braces_is_filled_in_once() {
        assert_eq!(fill("{study}: {text}{x}{", "best", "s", "{event}"), "s: {event}{x}{");
        assert_eq!(fill("no braces", "best", "s", "t"), "no braces");
    }
}
