//! Patience: what an owner does when the world, and not a trial, is at fault.
//!
//! A fault of the world (a full disk, no process left, an input that changed, an output that
//! vanished) is never a result. The trial stays open and is taken up again where it was, after
//! pauses that grow from [`FIRST_PAUSE`] to [`LONGEST_PAUSE`]. Meanwhile no new trial begins, and
//! the reason is on the screen and in `stagetune status`. A trial that gets further starts its
//! patience anew. Once `patience` is over the run ends with an exit code of its own; nothing is
//! lost, and the same command continues.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::error::RunError;
use super::news::News;
use super::open::Context;
use crate::clock;

/// The first pause: a file that is being replaced is back by then.
const FIRST_PAUSE: Duration = Duration::from_millis(200);

/// The longest pause: how late it may be noticed that the world is in order again.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// How often a stop is looked for during a pause.
const LOOK: Duration = Duration::from_millis(50);

/// What is waited for, for whoever looks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Waiting {
    /// The trial; `None` for the journal.
    pub trial: Option<u64>,
    /// What is wrong, and what to do about it.
    pub problem: String,
    /// Since when, in seconds since 1970.
    pub since: f64,
}

/// Who waits, and since when.
#[derive(Debug)]
pub(super) struct Patience {
    limit: Duration,
    waiting: Mutex<BTreeMap<Option<u64>, Wait>>,
    /// When the disk was last seen full, in seconds since 1970.
    full: Mutex<Option<f64>>,
}

#[derive(Clone, Debug)]
struct Wait {
    began: Instant,
    since: f64,
    pause: Duration,
    problem: String,
    /// It is being tried again at this moment.
    trying: bool,
}

/// What to do after a fault of the world.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Then {
    /// The pause is over: try again.
    Again,
    /// Somebody asked for a stop, or ended the trial: leave everything as it is.
    Stop,
    /// Patience is over.
    End,
}

impl Patience {
    pub(super) fn new(limit: Duration) -> Self {
        Self { limit, waiting: Mutex::default(), full: Mutex::default() }
    }

    /// Whether anything waits: then no new trial begins.
    pub(super) fn is_tried(&self) -> bool {
        self.lock().values().any(|wait| !wait.trying)
    }

    /// Whether a trial waits, or is being tried again.
    pub(super) fn waits_for(&self, trial: u64) -> bool {
        self.lock().contains_key(&Some(trial))
    }

    /// Trials that somebody has ended are waited for no longer.
    pub(super) fn keep(&self, is_open: impl Fn(u64) -> bool) {
        self.lock().retain(|trial, _| trial.is_none_or(&is_open));
    }

    /// The disk is full at this moment.
    pub(super) fn note_full_disk(&self) {
        *self.full.lock().unwrap_or_else(PoisonError::into_inner) = Some(clock::now());
    }

    /// Whether the disk was seen full at that moment or later.
    pub(super) fn disk_was_full_since(&self, moment: f64) -> bool {
        self.full.lock().unwrap_or_else(PoisonError::into_inner).is_some_and(|full| full >= moment)
    }

    /// All that is waited for.
    pub(super) fn list(&self) -> Vec<Waiting> {
        let waiting = |(trial, wait): (&Option<u64>, &Wait)| Waiting {
            trial: *trial,
            problem: wait.problem.clone(),
            since: wait.since,
        };
        self.lock().iter().filter(|(_, wait)| !wait.trying).map(waiting).collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Option<u64>, Wait>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Context<'_> {
    /// Waits a while after a fault of the world; of a trial, or of the journal.
    pub(super) fn wait(&self, trial: Option<u64>, problem: &str) -> Then {
        let (wait, is_news) = {
            let mut waiting = self.patience.lock();
            let known = waiting.get(&trial).cloned();
            let is_same = |known: &Wait| without_attempt(&known.problem) == without_attempt(problem);
            let is_news = !known.as_ref().is_some_and(is_same);
            let mut wait = known.unwrap_or_else(|| Wait {
                began: Instant::now(),
                since: clock::now(),
                pause: FIRST_PAUSE,
                problem: String::new(),
                trying: false,
            });
            wait.problem = problem.to_owned();
            wait.trying = false;
            let now = wait.clone();
            wait.pause = (wait.pause * 2).min(LONGEST_PAUSE);
            waiting.insert(trial, wait);
            (now, is_news)
        };
        let left = self.patience.limit.saturating_sub(wait.began.elapsed());
        if left.is_zero() {
            return Then::End;
        }
        self.live.write(self.patience.list());
        if is_news {
            self.watcher.see(&News::Waits { trial, problem, left });
        }
        let (pause, timer) = (wait.pause.min(left), Instant::now());
        while timer.elapsed() < pause {
            let was_ended = !self.patience.lock().contains_key(&trial);
            if was_ended || self.options.stop.is_asked() {
                return Then::Stop;
            }
            std::thread::sleep(LOOK.min(pause.saturating_sub(timer.elapsed())));
        }
        if let Some(wait) = self.patience.lock().get_mut(&trial) {
            wait.trying = true;
        }
        Then::Again
    }

    /// The trial, or the journal, got further.
    pub(super) fn goes_on(&self, trial: Option<u64>) {
        let waited = self.patience.lock().remove(&trial);
        if let Some(wait) = waited {
            self.watcher.see(&News::GoesOn { trial, waited: wait.began.elapsed() });
        }
    }

    /// Why a run ends whose patience with a trial, or with the journal, is over.
    pub(super) fn lost_patience(&self, trial: Option<u64>, error: RunError) -> RunError {
        // Without patience nobody has waited.
        if self.patience.limit.is_zero() {
            return error;
        }
        let waited = self.patience.lock().get(&trial).map(|wait| wait.began.elapsed());
        RunError::PatienceOver { waited: waited.unwrap_or_default(), problem: Box::new(error) }
    }
}

/// A problem without the names of attempts and of outputs on their way, of which each has its own:
/// the same trouble is told once.
fn without_attempt(problem: &str) -> String {
    let end = |c: char| matches!(c, '/' | ':' | ' ' | ')' | ',' | ';');
    let parts = problem.split("attempts/").flat_map(|part| part.split("attempt "));
    let mut parts = parts.flat_map(|part| part.split(".stagetune/tmp/"));
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str(part.find(end).and_then(|at| part.get(at..)).unwrap_or_default());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_trouble_of_another_attempt_is_no_news() {
        let full = |token: &str| format!("cannot write /s/.stagetune/attempts/{token}/out: no space");
        assert_eq!(without_attempt(&full("a.1")), without_attempt(&full("b.2")));
        assert_ne!(without_attempt(&full("a.1")), without_attempt("cannot write /s/other: no space"));
        let moved = |name: &str| format!("cannot write /s/.stagetune/tmp/{name}/entry.json: no space");
        assert_eq!(without_attempt(&moved("k.h.1-8")), without_attempt(&moved("k.h.1-9")));
        let lost = |token: &str| format!("gone (attempt {token}): killed");
        assert_eq!(without_attempt(&lost("a.1")), without_attempt(&lost("b.2")));
    }
}
