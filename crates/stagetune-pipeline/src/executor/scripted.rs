//! An executor that does what a test says: an attempt runs until the test ends it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::ended::write_end;
use super::folder::{self, Prepared};
use super::{Attempt, Ended, Executor, Exit, NoIdea, Refused, Sight, Token};
use crate::clock;
use crate::disk::{Disk, DiskError};
use crate::host;

/// Runs nothing; attempts end by [`Scripted::end`] or by a cancel, and leave what real ones leave.
#[derive(Debug, Default)]
pub struct Scripted {
    state: Mutex<State>,
    changed: Condvar,
    disk: Disk,
}

#[derive(Debug, Default)]
struct State {
    attempts: BTreeMap<Token, (Attempt, Sight, f64)>,
    /// The order in which attempts were launched.
    launched: Vec<Token>,
    held: bool,
    busy: bool,
}

impl Scripted {
    /// An executor with no attempts.
    pub fn new() -> Self {
        Self::default()
    }

    /// While it holds launches, what is launched waits; then it starts.
    pub fn hold_launches(&self, hold: bool) {
        let mut state = self.lock();
        state.held = hold;
        if !hold {
            for (_, sight, _) in state.attempts.values_mut() {
                if *sight == Sight::Waiting {
                    *sight = Sight::Running;
                }
            }
        }
        self.changed.notify_all();
    }

    /// While it is busy, launches are refused.
    pub fn set_busy(&self, busy: bool) {
        self.lock().busy = busy;
    }

    /// What runs, in the order of the launches.
    pub fn running(&self) -> Vec<Token> {
        let state = self.lock();
        let runs = |token: &&Token| matches!(state.attempts.get(*token), Some((_, Sight::Running, _)));
        state.launched.iter().filter(runs).cloned().collect()
    }

    /// Everything that was ever launched, in that order.
    pub fn launched(&self) -> Vec<Token> {
        self.lock().launched.clone()
    }

    /// An attempt as it was launched.
    pub fn attempt(&self, token: &Token) -> Option<Attempt> {
        self.lock().attempts.get(token).map(|(attempt, _, _)| attempt.clone())
    }

    /// Ends an attempt that has not ended, with files in its `out`; others are left alone.
    pub fn end(&self, token: &Token, exit: Exit, files: &[(&str, &[u8])]) -> Result<(), DiskError> {
        let mut state = self.lock();
        let Some((attempt, sight, began)) = state.attempts.get_mut(token) else { return Ok(()) };
        if *sight == Sight::Gone {
            return Ok(());
        }
        for (name, bytes) in files {
            let path = attempt.dir.join("out").join(name);
            if let Some(above) = path.parent() {
                self.disk.make_dir(above)?;
            }
            self.disk.write(&path, bytes)?;
        }
        let now = clock::now();
        let host = host::name().to_owned();
        let ended = Ended { exit, seconds: now - *began, began: *began, ended: now, host, process: 0 };
        write_end(&attempt.dir, &ended, &self.disk)?;
        *sight = Sight::Gone;
        self.changed.notify_all();
        Ok(())
    }

    /// Waits until so many attempts run, at most so long; whether they do.
    pub fn wait_for_running(&self, count: usize, limit: Duration) -> bool {
        let timer = Instant::now();
        let mut state = self.lock();
        loop {
            let running = state.attempts.values().filter(|(_, sight, _)| *sight == Sight::Running).count();
            let left = limit.saturating_sub(timer.elapsed());
            if running >= count || left.is_zero() {
                return running >= count;
            }
            state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Executor for Scripted {
    fn launch(&self, attempt: &Attempt) -> Result<(), Refused> {
        let mut state = self.lock();
        if state.attempts.contains_key(&attempt.token) {
            return Ok(());
        }
        if state.busy {
            return Err(Refused::Busy);
        }
        match folder::prepare(&attempt.dir, &self.disk)? {
            // A test may open the study again in the same process: nothing is locked for longer.
            Prepared::Fresh(held) => drop(held),
            Prepared::Taken => return Ok(()),
        }
        self.disk.write(&attempt.log, b"")?;
        let sight = if state.held { Sight::Waiting } else { Sight::Running };
        state.launched.push(attempt.token.clone());
        state.attempts.insert(attempt.token.clone(), (attempt.clone(), sight, clock::now()));
        self.changed.notify_all();
        Ok(())
    }

    fn look(&self, tokens: &[Token]) -> Result<BTreeMap<Token, Sight>, NoIdea> {
        let state = self.lock();
        let sight = |token: &Token| state.attempts.get(token).map_or(Sight::Gone, |(_, sight, _)| *sight);
        Ok(tokens.iter().map(|token| (token.clone(), sight(token))).collect())
    }

    fn cancel(&self, token: &Token) -> Result<(), NoIdea> {
        let path = self.attempt(token).map_or_else(PathBuf::new, |attempt| attempt.dir);
        self.end(token, Exit::Stopped, &[]).map_err(|error| NoIdea::Look { path, source: error.source })
    }

    fn wait(&self, token: &Token, limit: Duration) {
        let timer = Instant::now();
        let mut state = self.lock();
        while matches!(state.attempts.get(token), Some((_, sight, _)) if *sight != Sight::Gone) {
            let left = limit.saturating_sub(timer.elapsed());
            if left.is_zero() {
                return;
            }
            state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}
