//! The study's `notify` command: run when the study waits, when it ends, and when it finds a new
//! best value.

use super::aside::Aside;
use super::{Facts, View};
use crate::format::number;
use stagetune_pipeline::owner::{News, Standing, Watcher};
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
}

impl Notifying {
    /// `argv` is not empty. `{event}`, `{study}` and `{text}` in it are filled in for every
    /// message.
    pub fn new(view: Box<dyn View>, facts: &Facts, argv: Vec<String>) -> Self {
        Self { view, facts: facts.clone(), argv, aside: Aside::new(), has_failed: Arc::default() }
    }

    fn tell(&self, event: &'static str, text: &str) {
        let argv: Vec<String> =
            self.argv.iter().map(|argument| fill(argument, event, &self.facts.study, text)).collect();
        let (say, has_failed) = (self.view.teller(), self.has_failed.clone());
        self.aside.run(move || {
            if let Err(problem) = run(&argv)
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
        self.aside.finish(Some(LAST));
        self.view.end(why);
    }

    fn teller(&self) -> Box<dyn Fn(&str) + Send + Sync> {
        self.view.teller()
    }
}

/// Runs a command; what went wrong.
fn run(argv: &[String]) -> Result<(), String> {
    let Some((program, arguments)) = argv.split_first() else { return Ok(()) };
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| format!("cannot be started: {error}"))?;
    let timer = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => return Err(format!("ended with {status}")),
            Ok(None) if timer.elapsed() < LIMIT => std::thread::sleep(LOOK),
            Ok(None) => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("took longer than {} s and was killed", LIMIT.as_secs()));
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
    fn what_stands_in_braces_is_filled_in_once() {
        assert_eq!(fill("{study}: {text}{x}{", "best", "s", "{event}"), "s: {event}{x}{");
        assert_eq!(fill("no braces", "best", "s", "t"), "no braces");
    }
}
