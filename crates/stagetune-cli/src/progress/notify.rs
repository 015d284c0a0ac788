//! The study's `notify` command: run when the study waits, when it ends, and when it finds a new best value.

use super::{Facts, View};
use crate::format::number;
use stagetune_pipeline::owner::{News, Standing, Watcher};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
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
    /// To the thread that runs commands; dropped at the end.
    messages: Mutex<Option<Sender<Message>>>,
    ended: Mutex<Receiver<()>>,
}

/// What there is to say.
struct Message {
    event: &'static str,
    text: String,
}

impl Notifying {
    /// `argv` is not empty. `{event}`, `{study}` and `{text}` in it are filled in for every message.
    pub fn new(view: Box<dyn View>, facts: &Facts, argv: Vec<String>) -> Self {
        let (messages, inbox) = mpsc::channel::<Message>();
        let (over, ended) = mpsc::channel();
        let (study, say) = (facts.study.clone(), view.teller());
        // Without a thread nobody is told, and the study goes on.
        let _ = std::thread::Builder::new().spawn(move || {
            let mut has_failed = false;
            for message in inbox {
                if let Err(problem) = run(&argv, &study, &message)
                    && !has_failed
                {
                    has_failed = true;
                    say(&format!("the command of `notify` {problem}; the study goes on"));
                }
            }
            let _ = over.send(());
        });
        Self { view, facts: facts.clone(), messages: Mutex::new(Some(messages)), ended: Mutex::new(ended) }
    }

    fn tell(&self, event: &'static str, text: String) {
        if let Ok(messages) = self.messages.lock()
            && let Some(messages) = messages.as_ref()
        {
            let _ = messages.send(Message { event, text });
        }
    }
}

impl Watcher for Notifying {
    fn see(&self, news: &News<'_>) {
        self.view.see(news);
        match news {
            News::Waits { problem, .. } => self.tell("waits", (*problem).to_owned()),
            News::Told { trial, value: Some(value), improved: true, .. } => {
                self.tell("best", format!("{} {} in trial {trial}", self.facts.metric, number(*value)));
            }
            News::Told { .. }
            | News::BegunWith { .. }
            | News::OtherOptions { .. }
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
        self.view.end(why);
        self.tell("ended", why.to_owned());
        if let Ok(mut messages) = self.messages.lock() {
            *messages = None;
        }
        if let Ok(ended) = self.ended.lock() {
            match ended.recv_timeout(LAST) {
                Ok(()) | Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
        }
    }

    fn teller(&self) -> Box<dyn Fn(&str) + Send + Sync> {
        self.view.teller()
    }
}

/// Runs the command for one message; what went wrong.
fn run(argv: &[String], study: &str, message: &Message) -> Result<(), String> {
    let fill = |argument: &String| fill(argument, message.event, study, &message.text);
    let filled: Vec<String> = argv.iter().map(fill).collect();
    let Some((program, arguments)) = filled.split_first() else { return Ok(()) };
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
