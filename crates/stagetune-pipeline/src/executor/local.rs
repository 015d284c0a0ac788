//! Attempts on this machine: commands under a supervisor process, or in a thread; callables in a thread.
//!
//! Local attempts end with their owner. With a supervisor that holds even when the owner is killed;
//! without one, commands outlive an owner that is killed, and are ended only by one that drops its executor.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::Write;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::call::{self, CallOrder, Callable};
use super::command::{self, Order, Word};
use super::ended::write_end;
use super::folder::{self, Prepared};
use super::left::{self, ATTEMPT_VARIABLE};
use super::supervise::{CANNOT_WRITE, NO_FILE, NO_THREAD};
use super::supervisor::{Supervisor, Supervisors};
use super::{Attempt, Body, Executor, NoIdea, Refused, Sight, Token, orphans, process};
use crate::disk::{Disk, DiskError};

/// How attempts are run.
#[derive(Clone, Debug, Default)]
pub struct LocalOptions {
    /// A program that calls [`super::supervise`] if its argument is [`super::SUPERVISOR_COMMAND`]:
    /// the `stagetune` command. Without one, commands are watched over by a thread of this process.
    pub supervisor: Option<PathBuf>,
    /// Where the directories of attempts are, each under its token, to look at those of earlier owners.
    pub attempts: PathBuf,
    /// Writes what this process writes.
    pub disk: Disk,
}

/// Runs attempts on this machine.
pub struct Local {
    options: LocalOptions,
    /// Without any, commands are watched over by threads.
    supervisors: Option<Arc<Supervisors>>,
    callables: Mutex<BTreeMap<String, Callable>>,
    shared: Arc<Shared>,
}

/// What the threads of attempts share with the executor.
#[derive(Default)]
struct Shared {
    attempts: Mutex<BTreeMap<Token, State>>,
    /// The longest time to end that any of them has.
    grace: Mutex<Duration>,
    changed: Condvar,
}

enum State {
    /// It is being started at this moment.
    Starting,
    Running(Control),
    Ended,
    /// It has ended, but its end could not be written, and why.
    Unwritten(String),
    /// Its supervisor could not work, and why.
    Unsupervised(String),
}

/// How an attempt is asked to end.
enum Control {
    /// A byte to the supervisor.
    Supervisor(UnixStream),
    /// A word to the thread that watches over a command.
    Thread(Sender<Word>),
    /// A flag that a callable may look at.
    Callable(Arc<AtomicBool>),
}

/// How long an attempt takes to end after its time to do so is over.
const KILLING: Duration = Duration::from_secs(3);

/// Between looks at an attempt that another process runs.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

impl Local {
    /// An executor that runs nothing yet.
    pub fn new(options: LocalOptions) -> Self {
        let supervisors = options.supervisor.clone().map(|program| Arc::new(Supervisors::new(program)));
        if supervisors.is_some() {
            orphans::adopt();
        }
        Self { options, supervisors, callables: Mutex::default(), shared: Arc::default() }
    }

    /// Gives a function a name by which stages can call it; a function that had the name is replaced.
    pub fn register(&self, name: impl Into<String>, callable: Callable) {
        lock(&self.callables).insert(name.into(), callable);
    }

    fn start(&self, attempt: &Attempt) -> Result<Option<Control>, Refused> {
        let callable = match &attempt.body {
            Body::Command { argv, .. } if argv.is_empty() => {
                return Err(Refused::Never(format!("the command of stage `{}` is empty", attempt.stage)));
            }
            Body::Command { .. } => None,
            Body::Call { name, .. } => {
                let found = lock(&self.callables).get(name).cloned();
                let missing = || format!("stage `{}` calls `{name}`, which nobody registered", attempt.stage);
                Some(found.ok_or_else(|| Refused::Never(missing()))?)
            }
        };
        let held = match folder::prepare(&attempt.dir, &self.options.disk)? {
            Prepared::Fresh(held) => held,
            Prepared::Taken => return Ok(None),
        };
        match (&attempt.body, callable, &self.supervisors) {
            (Body::Call { params, inputs, .. }, Some(callable), _) => {
                let cancelled = Arc::new(AtomicBool::new(false));
                let order = CallOrder {
                    callable,
                    params: params.clone(),
                    inputs: inputs.clone(),
                    out: attempt.dir.join("out"),
                    log: attempt.log.clone(),
                    timeout: attempt.timeout,
                    cancelled: cancelled.clone(),
                };
                let disk = self.options.disk.clone();
                self.spawn(attempt, held, move |dir| write_end(dir, &call::run(&order, &disk), &disk))?;
                Ok(Some(Control::Callable(cancelled)))
            }
            (Body::Command { argv, dir, env }, _, supervisors) => {
                let mut env = env.clone();
                env.insert(ATTEMPT_VARIABLE.to_owned(), attempt.token.to_string());
                let order = Order {
                    argv: argv.clone(),
                    dir: dir.into(),
                    env,
                    attempt: attempt.dir.clone().into(),
                    log: attempt.log.clone().into(),
                    timeout: attempt.timeout,
                    grace: attempt.grace,
                };
                match supervisors {
                    Some(supervisors) => self.supervised(attempt, &order, supervisors, &held).map(Some),
                    None => self.in_a_thread(attempt, order, held).map(Some),
                }
            }
            (Body::Call { name, .. }, None, _) => Err(Refused::Never(format!("nobody registered `{name}`"))),
        }
    }

    /// Runs a command under a thread of this process.
    fn in_a_thread(&self, attempt: &Attempt, order: Order, held: File) -> Result<Control, Refused> {
        let (tell, words) = mpsc::channel();
        let (told, disk) = (tell.clone(), self.options.disk.clone());
        self.spawn(attempt, held, move |dir| {
            let ended = command::run(&order, &disk, &words, told, || true, |_| {});
            write_end(dir, &ended, &disk)
        })?;
        Ok(Control::Thread(tell))
    }

    /// Runs a command under a process that ends it if this one dies.
    fn supervised(
        &self,
        attempt: &Attempt,
        order: &Order,
        supervisors: &Arc<Supervisors>,
        held: &File,
    ) -> Result<Control, Refused> {
        let world = |source| Refused::World {
            doing: format!("start {} for stage `{}`", supervisors.program().display(), attempt.stage),
            source,
        };
        let mut line = serde_json::to_vec(order).map_err(|error| Refused::Never(error.to_string()))?;
        line.push(b'\n');
        // The thread first: a process that nobody can wait for is not started.
        let (give, take) = mpsc::channel::<Child>();
        let (shared, token, dir) = (self.shared.clone(), attempt.token.clone(), attempt.dir.clone());
        let reserve = supervisors.clone();
        let waiting = move || {
            let Ok(mut child) = take.recv() else { return };
            // What it leaves began after it.
            let since = i32::try_from(child.id()).ok().and_then(process::facts).map(|about| about.started);
            reserve.refill();
            let status = Supervisor::wait(&mut child);
            let mut state = State::Ended;
            if !dir.join("ended.json").exists() {
                left::end(&dir);
                if let Some(since) = since {
                    orphans::end(token.as_str(), since);
                }
                // Where the directory is gone, that says enough.
                if dir.is_dir() {
                    state = unended(status.ok().and_then(|status| status.code()), &dir);
                }
            }
            shared.end(&token, state);
            orphans::reap();
        };
        std::thread::Builder::new().spawn(waiting).map_err(world)?;
        let Supervisor { process: child, socket } = supervisors.begin(&line, held).map_err(world)?;
        let _ = give.send(child);
        Ok(Control::Supervisor(socket))
    }

    /// Runs `work` in a thread, which then says that the attempt has ended.
    fn spawn(
        &self,
        attempt: &Attempt,
        held: File,
        work: impl FnOnce(&Path) -> Result<(), DiskError> + Send + 'static,
    ) -> Result<(), Refused> {
        let (shared, token, dir) = (self.shared.clone(), attempt.token.clone(), attempt.dir.clone());
        let thread = std::thread::Builder::new().spawn(move || {
            let written = work(&dir);
            drop(held);
            shared.end(
                &token,
                written.map_or_else(|error| State::Unwritten(error.to_string()), |()| State::Ended),
            );
        });
        let doing = format!("start a thread for stage `{}`", attempt.stage);
        thread.map(drop).map_err(|source| Refused::World { doing, source })
    }
}

impl Executor for Local {
    fn launch(&self, attempt: &Attempt) -> Result<(), Refused> {
        {
            let mut attempts = self.shared.lock();
            if attempts.contains_key(&attempt.token) {
                return Ok(());
            }
            attempts.insert(attempt.token.clone(), State::Starting);
            let mut longest = lock(&self.shared.grace);
            *longest = attempt.grace.max(*longest);
        }
        let started = self.start(attempt);
        let mut attempts = self.shared.lock();
        let done = match started {
            Ok(Some(control)) => {
                // It may have ended before it is known here that it runs.
                if let Some(state @ State::Starting) = attempts.get_mut(&attempt.token) {
                    *state = State::Running(control);
                }
                Ok(())
            }
            // Whoever runs it, or ran it, is seen by its directory.
            Ok(None) => {
                attempts.remove(&attempt.token);
                Ok(())
            }
            Err(refused) => {
                attempts.remove(&attempt.token);
                Err(refused)
            }
        };
        drop(attempts);
        self.shared.changed.notify_all();
        done
    }

    fn look(&self, tokens: &[Token]) -> Result<BTreeMap<Token, Sight>, NoIdea> {
        let mut seen = BTreeMap::new();
        let mut attempts = self.shared.lock();
        for token in tokens {
            let sight = match attempts.get_mut(token) {
                Some(State::Starting | State::Running(_)) => Sight::Running,
                Some(State::Ended) => Sight::Gone,
                Some(State::Unwritten(problem)) => {
                    // Said once: then it is lost, and whoever asks again may run the stage again.
                    let problem = std::mem::take(problem);
                    attempts.insert(token.clone(), State::Ended);
                    return Err(NoIdea::Unwritten { token: token.clone(), problem });
                }
                Some(State::Unsupervised(problem)) => {
                    let problem = std::mem::take(problem);
                    attempts.insert(token.clone(), State::Ended);
                    return Err(NoIdea::Unsupervised { token: token.clone(), problem });
                }
                None => {
                    let dir = self.options.attempts.join(token.as_str());
                    let sight = folder::probe(&dir)?;
                    // Its owner and its supervisor were killed together: nobody else ends what it left.
                    if sight == Sight::Gone && !dir.join("ended.json").exists() {
                        left::end(&dir);
                    }
                    sight
                }
            };
            seen.insert(token.clone(), sight);
        }
        Ok(seen)
    }

    fn cancel(&self, token: &Token) -> Result<(), NoIdea> {
        let mut attempts = self.shared.lock();
        while let Some(State::Starting) = attempts.get(token) {
            attempts = self.shared.changed.wait(attempts).unwrap_or_else(PoisonError::into_inner);
        }
        match attempts.get_mut(token) {
            Some(State::Running(control)) => control.stop(),
            Some(State::Ended | State::Unwritten(_) | State::Unsupervised(_) | State::Starting) => {}
            None => match folder::probe(&self.options.attempts.join(token.as_str()))? {
                Sight::Gone => {}
                Sight::Waiting | Sight::Running => return Err(NoIdea::NotOurs { token: token.clone() }),
            },
        }
        Ok(())
    }

    fn wait(&self, token: &Token, limit: Duration) {
        let timer = Instant::now();
        let mut attempts = self.shared.lock();
        loop {
            let left = limit.saturating_sub(timer.elapsed());
            let slice = match attempts.get(token) {
                Some(State::Ended | State::Unwritten(_) | State::Unsupervised(_)) => return,
                Some(State::Starting | State::Running(_)) => left,
                None => {
                    let sight = folder::probe(&self.options.attempts.join(token.as_str()));
                    if matches!(sight, Ok(Sight::Gone)) {
                        return;
                    }
                    left.min(LOOK_AGAIN)
                }
            };
            if left.is_zero() {
                return;
            }
            let waited = self.shared.changed.wait_timeout(attempts, slice);
            attempts = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Drop for Local {
    /// Ends the attempts, and waits for those that can be ended.
    fn drop(&mut self) {
        if let Some(supervisors) = &self.supervisors {
            supervisors.close();
        }
        let mut attempts = self.shared.lock();
        for state in attempts.values_mut() {
            if let State::Running(control) = state {
                control.stop();
            }
        }
        let timer = Instant::now();
        let limit = *lock(&self.shared.grace) + KILLING;
        while attempts.values().any(State::can_be_ended) && timer.elapsed() < limit {
            let waited = self.shared.changed.wait_timeout(attempts, limit.saturating_sub(timer.elapsed()));
            attempts = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Control {
    fn stop(&mut self) {
        // Whoever does not listen any more has ended.
        match self {
            Self::Supervisor(socket) => drop(socket.write_all(b"c")),
            Self::Thread(tell) => drop(tell.send(Word::Stop)),
            Self::Callable(flag) => flag.store(true, Ordering::SeqCst),
        }
    }
}

impl State {
    /// A callable ends when it likes.
    fn can_be_ended(&self) -> bool {
        match self {
            Self::Running(Control::Supervisor(_) | Control::Thread(_)) => true,
            Self::Running(Control::Callable(_))
            | Self::Starting
            | Self::Ended
            | Self::Unwritten(_)
            | Self::Unsupervised(_) => false,
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<Token, State>> {
        lock(&self.attempts)
    }

    fn end(&self, token: &Token, as_what: State) {
        if let Some(state) = self.lock().get_mut(token) {
            *state = as_what;
        }
        self.changed.notify_all();
    }
}

impl fmt::Debug for Local {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Local").field("options", &self.options).finish_non_exhaustive()
    }
}

/// What became of an attempt whose supervisor left no end, by the supervisor's exit code.
fn unended(code: Option<i32>, dir: &Path) -> State {
    let unsupervised = |problem: &str| {
        State::Unsupervised(format!("{problem}; raise the limits (`ulimit -a`), or use fewer workers"))
    };
    match code.and_then(|code| u8::try_from(code).ok()) {
        Some(CANNOT_WRITE) => {
            let problem = "is the disk full? Make room, and run the same command again";
            State::Unwritten(format!("{}: {problem}", dir.join("ended.json").display()))
        }
        Some(NO_THREAD) => unsupervised("the system had no thread for its supervisor (`ulimit -u`)"),
        Some(NO_FILE) => unsupervised("the system had no open file for its supervisor (`ulimit -n`)"),
        Some(_) | None => State::Ended,
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
