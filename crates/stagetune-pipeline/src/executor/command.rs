//! A command as a process: without a shell, in a group of its own, with a time limit, its words
//! kept in a log.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use serde::{Deserialize, Serialize};

use super::capped::CappedLog;
use super::{Ended, Exit};
use crate::clock;
use crate::disk::Disk;
use crate::file::find_program;
use crate::host;

/// How often the length of a log is looked at while its command runs.
const LOOK: Duration = Duration::from_millis(100);

/// All that is needed to run a command. Paths are system strings, so that any path can be sent as JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Order {
    pub(super) argv: Vec<OsString>,
    pub(super) dir: OsString,
    pub(super) env: BTreeMap<String, String>,
    /// The directory of the attempt.
    pub(super) attempt: OsString,
    pub(super) log: OsString,
    pub(super) timeout: Option<Duration>,
    /// How long its processes have to end after they were asked to.
    pub(super) grace: Duration,
}

/// What is said to whoever waits for a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    /// The command has ended.
    Ended,
    /// The command shall end.
    Stop,
    /// The command was stopped by this signal, because it wants to use the terminal: it would stand
    /// still for ever.
    WantsTerminal(i32),
}

/// Runs a command to its end, or ends it. `tell` leads to `words`; `may_start` is asked last,
/// `started` learns the process.
pub(super) fn run(
    order: &Order,
    disk: &Disk,
    words: &Receiver<Word>,
    tell: Sender<Word>,
    may_start: impl FnOnce() -> bool,
    started: impl FnOnce(u32),
) -> Ended {
    let (began, timer) = (clock::now(), Instant::now());
    let end = |exit: Exit, process: u32| {
        let seconds = timer.elapsed().as_secs_f64();
        // The clock may have been set meanwhile.
        Ended { exit, seconds, began, ended: began + seconds, host: host::name().to_owned(), process }
    };
    let (mut child, mut log) = match start(order, disk, may_start) {
        Ok(started) => started,
        Err(exit) => return end(exit, 0),
    };
    let process = child.id();
    started(process);
    let Some(group) = i32::try_from(process).ok().and_then(Pid::from_raw) else {
        return end(Exit::NoRoom("the process has no number".into()), process);
    };
    let killed = match tell_end(group, tell) {
        Ok(()) => wait(words, timer, order, group, &mut log),
        Err(error) => Some(Exit::NoRoom(error.to_string())),
    };
    // The leader is still a zombie, so that the group's number is its own: what it left behind goes with it.
    let _ = kill_process_group(group, Signal::KILL);
    let status = child.wait();
    let exit = killed.unwrap_or_else(|| status.map_or_else(|error| Exit::NoRoom(error.to_string()), exit));
    let ended = end(exit, process);
    log.close(disk);
    ended
}

fn start(order: &Order, disk: &Disk, may_start: impl FnOnce() -> bool) -> Result<(Child, CappedLog), Exit> {
    let Some((program, arguments)) = order.argv.split_first() else {
        return Err(Exit::NotStarted("the command is empty".into()));
    };
    let log =
        CappedLog::create(Path::new(&order.log), disk).map_err(|error| Exit::NoRoom(error.to_string()))?;
    let writers = log.writers().map_err(|error| Exit::NoRoom(error.to_string()))?;
    let dir = Path::new(&order.dir);
    let mut command = Command::new(resolve(program, dir));
    command.args(arguments).current_dir(dir).envs(&order.env);
    command.stdin(Stdio::null()).stdout(writers.0).stderr(writers.1).process_group(0);
    if !may_start() {
        return Err(Exit::Stopped);
    }
    let started = command.spawn().map_err(|error| match error.kind() {
        _ if !dir.is_dir() => Exit::NoRoom(error.to_string()),
        io::ErrorKind::NotFound
        | io::ErrorKind::PermissionDenied
        | io::ErrorKind::InvalidInput
        | io::ErrorKind::ArgumentListTooLong => Exit::NotStarted(error.to_string()),
        _ if error.raw_os_error() == Some(rustix::io::Errno::NOEXEC.raw_os_error()) => {
            Exit::NotStarted(error.to_string())
        }
        _ => Exit::NoRoom(error.to_string()),
    });
    Ok((started?, log))
}

/// A program by name is looked for on PATH, then beside stagetune; one with a `/` is a path from `dir`.
fn resolve(program: &OsStr, dir: &Path) -> PathBuf {
    let found = program.to_str().and_then(|name| find_program(name, dir));
    found.unwrap_or_else(|| program.into())
}

/// Tells when the leader has ended, without reaping it, and when it was stopped because it wants to
/// use the terminal.
fn tell_end(leader: Pid, tell: Sender<Word>) -> io::Result<()> {
    let waiting = move || {
        let options = WaitIdOptions::EXITED | WaitIdOptions::STOPPED | WaitIdOptions::NOWAIT;
        loop {
            match waitid(WaitId::Pid(leader), options) {
                Err(rustix::io::Errno::INTR) => {}
                Ok(Some(status)) if status.stopped() => {
                    if let Some(signal) = status.stopping_signal().filter(|signal| is_of_terminal(*signal)) {
                        let _ = tell.send(Word::WantsTerminal(signal));
                    }
                    // Each stop is seen once; what somebody else stopped goes on when they like.
                    let _ = waitid(WaitId::Pid(leader), WaitIdOptions::STOPPED | WaitIdOptions::NOHANG);
                }
                Ok(_) | Err(_) => break,
            }
        }
        let _ = tell.send(Word::Ended);
    };
    std::thread::Builder::new().spawn(waiting).map(drop)
}

/// Whether a signal stops what is not in the foreground of a terminal, and reads from it or writes to it.
fn is_of_terminal(signal: i32) -> bool {
    [Signal::TTIN, Signal::TTOU].iter().any(|known| known.as_raw() == signal)
}

/// Waits for the end; what the command was killed for, if it was.
fn wait(
    words: &Receiver<Word>,
    timer: Instant,
    order: &Order,
    group: Pid,
    log: &mut CappedLog,
) -> Option<Exit> {
    let timeout = order.timeout;
    let why = match (next_word(words, timer, timeout, log), timeout) {
        (Ok(Word::Ended) | Err(RecvTimeoutError::Disconnected), _) => return None,
        // What had ended before anybody wanted it to has its own end.
        _ if has_ended(group) => return None,
        (Ok(Word::WantsTerminal(signal)), _) => Exit::Signal(signal),
        (Err(RecvTimeoutError::Timeout), Some(limit)) => Exit::Timeout(limit.as_secs_f64()),
        (Ok(Word::Stop) | Err(RecvTimeoutError::Timeout), _) => Exit::Stopped,
    };
    let _ = kill_process_group(group, Signal::TERM);
    // What is stopped would not notice.
    let _ = kill_process_group(group, Signal::CONT);
    if !ends_within(words, order.grace) {
        let _ = kill_process_group(group, Signal::KILL);
        while !matches!(words.recv(), Ok(Word::Ended) | Err(_)) {}
    }
    Some(why)
}

/// The next word, or a timeout; the log is kept short meanwhile.
fn next_word(
    words: &Receiver<Word>,
    timer: Instant,
    timeout: Option<Duration>,
    log: &mut CappedLog,
) -> Result<Word, RecvTimeoutError> {
    loop {
        let left = timeout.map(|limit| limit.saturating_sub(timer.elapsed()));
        let said = words.recv_timeout(left.map_or(LOOK, |left| left.min(LOOK)));
        match said {
            Err(RecvTimeoutError::Timeout) if left.is_none_or(|left| left > LOOK) => log.look(),
            said => return said,
        }
    }
}

fn ends_within(words: &Receiver<Word>, limit: Duration) -> bool {
    let timer = Instant::now();
    loop {
        match words.recv_timeout(limit.saturating_sub(timer.elapsed())) {
            Ok(Word::Ended) | Err(RecvTimeoutError::Disconnected) => return true,
            Ok(Word::Stop | Word::WantsTerminal(_)) => {}
            Err(RecvTimeoutError::Timeout) => return false,
        }
    }
}

fn has_ended(leader: Pid) -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    matches!(waitid(WaitId::Pid(leader), options), Ok(Some(_)))
}

fn exit(status: ExitStatus) -> Exit {
    match (status.code(), status.signal()) {
        (Some(0), _) => Exit::Success,
        (Some(code), _) => Exit::Code(code),
        (None, signal) => Exit::Signal(signal.unwrap_or(0)),
    }
}
