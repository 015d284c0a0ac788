//! The supervisor: a small process between the owner and a command, so that the end of the command
//! is on disk even when the owner is killed at that moment.
//!
//! Its standard input is a socket, on which it gets the order and the open file `began` of the
//! attempt, whose lock it thereby holds until it ends. The socket then stays open: a byte on it is
//! a cancel, and its end means that the owner is dead; either way the command is ended.
//!
//! Processes that left the command's group (`setsid`, `timeout`, job control) become children of
//! the supervisor when their parents die. They are asked to end, then killed, before the end is
//! written: nothing writes to an output after that.

use std::collections::BTreeSet;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use rustix::process::{Signal, WaitId, WaitIdOptions, kill_process, waitid};

use super::command::{self, Word};
use super::ended::write_end;
use super::supervisor::{Received, receive};
use super::{left, orphans, process};
use crate::disk::Disk;

/// The argument with which the `stagetune` command becomes a supervisor.
pub const SUPERVISOR_COMMAND: &str = "attempt-local";

/// The exit code of a supervisor that could not write how its attempt ended: that of an input or
/// output error.
pub(super) const CANNOT_WRITE: u8 = 74;

/// The exit code of a supervisor that the system has no thread for: that of an error of the system.
pub(super) const NO_THREAD: u8 = 71;

/// The exit code of one that the system has no open file for: that of a file that cannot be opened.
pub(super) const NO_FILE: u8 = 72;

/// An end that cannot be written is tried again this often, a second apart: a full disk may be given room.
const TRIES: u32 = 30;

/// How long to go on killing: what was killed may leave children to this process, and those may leave more.
const KILLING: Duration = Duration::from_secs(2);

/// What the supervisor process does, from its standard input to its end.
pub fn supervise() -> ExitCode {
    leave_terminal();
    let Ok(socket) = io::stdin().as_fd().try_clone_to_owned().map(UnixStream::from) else {
        return ExitCode::from(NO_FILE);
    };
    // An owner that died before or while it wrote has started nothing.
    let Ok(Some(Received { order, lock: mut began, mut socket })) = receive(socket) else {
        return ExitCode::FAILURE;
    };
    let (tell, words) = mpsc::channel();
    let (told, gate) = (tell.clone(), Arc::new(Gate::default()));
    let door = gate.clone();
    let listening = std::thread::Builder::new().spawn(move || {
        loop {
            match socket.read(&mut [0]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(1) => drop(told.send(Word::Stop)),
                Ok(_) | Err(_) => break,
            }
        }
        // The owner is dead. Whatever this process waits for: what has not begun never will.
        if door.shut() {
            std::process::exit(1);
        }
        let _ = told.send(Word::Stop);
    });
    if listening.is_err() {
        return ExitCode::from(NO_THREAD);
    }
    orphans::adopt();
    let disk = Disk::default();
    let begun = |process| {
        // For the owner, should this process be killed.
        let _ = began.write_all(left::note(process).as_bytes());
    };
    let ended = command::run(&order, &disk, &words, tell, || gate.pass(), begun);
    end_orphans(order.grace);
    for _ in 0..TRIES {
        if write_end(Path::new(&order.attempt), &ended, &disk).is_ok() {
            return ExitCode::SUCCESS;
        }
        // Somebody removed it: nobody will look there.
        if !Path::new(&order.attempt).is_dir() {
            break;
        }
        std::thread::sleep(Duration::from_secs(1));
    }
    ExitCode::from(CANNOT_WRITE)
}

/// What a command passes before it begins, unless its owner died before.
#[derive(Debug, Default)]
struct Gate(AtomicU8);

impl Gate {
    /// Whether the command may begin.
    fn pass(&self) -> bool {
        self.0.compare_exchange(0, 1, Ordering::SeqCst, Ordering::SeqCst).is_ok()
    }

    /// Whether the command has not begun, and now never will.
    fn shut(&self) -> bool {
        self.0.compare_exchange(0, 2, Ordering::SeqCst, Ordering::SeqCst).is_ok()
    }
}

/// A session of its own has no terminal: a stage that opens one is told so, where it would be
/// stopped for ever.
fn leave_terminal() {
    // Only a process that leads no group may begin a session, and this one was started as a leader.
    let parent = rustix::process::getppid();
    let group = parent.and_then(|parent| rustix::process::getpgid(Some(parent)).ok());
    if rustix::process::setpgid(None, group).is_ok() && rustix::process::setsid().is_err() {
        let _ = rustix::process::setpgid(None, None);
    }
}

/// Asks every child that is left to end, and kills those that do not in their time. Their children
/// then are ours.
fn end_orphans(grace: Duration) {
    let timer = Instant::now();
    let mut asked = BTreeSet::new();
    while timer.elapsed() < grace + KILLING {
        match waitid(WaitId::All, WaitIdOptions::EXITED | WaitIdOptions::NOHANG) {
            // It has ended, and there may be another.
            Ok(Some(_)) | Err(rustix::io::Errno::INTR) => {}
            // Some are left.
            Ok(None) => {
                for child in process::children() {
                    if timer.elapsed() >= grace {
                        let _ = kill_process(child, Signal::KILL);
                    } else if asked.insert(child.as_raw_nonzero()) {
                        let _ = kill_process(child, Signal::TERM);
                    }
                }
                std::thread::sleep(Duration::from_millis(1));
            }
            // None is left.
            Err(_) => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_begins_or_its_supervisor_ends_and_never_both() {
        let (begun, gone) = (Gate::default(), Gate::default());
        assert!(begun.pass() && !begun.shut());
        assert!(gone.shut() && !gone.pass());
    }
}
