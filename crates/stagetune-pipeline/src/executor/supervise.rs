//! The supervisor: a small process between the owner and a command, so that the end of the command is on disk even
//! when the owner is killed at that moment.
//!
//! Its standard input is a socket, on which it gets the order and the open file `began` of the attempt, whose lock it
//! thereby holds until it ends. The socket then stays open: a byte on it is a cancel, and its end means that the
//! owner is dead; either way the command is ended.
//!
//! Processes that left the command's group (`setsid`, `timeout`, job control) become children of the supervisor when
//! their parents die. They are asked to end, then killed, before the end is written: nothing writes to an output after that.

use std::collections::BTreeSet;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::ExitCode;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};

use super::command::{self, Word};
use super::ended::write_end;
use super::supervisor::{Received, receive};
use crate::disk::Disk;

/// The argument with which the `stagetune` command becomes a supervisor.
pub const SUPERVISOR_COMMAND: &str = "attempt-local";

/// The exit code of a supervisor that could not write how its attempt ended: that of an input or output error.
pub(super) const CANNOT_WRITE: u8 = 74;

/// An end that cannot be written is tried again this often, a second apart: a full disk may be given room.
const TRIES: u32 = 30;

/// How long to go on killing: what was killed may leave children to this process, and those may leave more.
const KILLING: Duration = Duration::from_secs(2);

/// What the supervisor process does, from its standard input to its end.
pub fn supervise() -> ExitCode {
    leave_terminal();
    let Ok(socket) = io::stdin().as_fd().try_clone_to_owned().map(UnixStream::from) else {
        return ExitCode::FAILURE;
    };
    // An owner that died before or while it wrote has started nothing.
    let Ok(Some(Received { order, lock: mut began, mut socket })) = receive(socket) else {
        return ExitCode::FAILURE;
    };
    let (tell, words) = mpsc::channel();
    let told = tell.clone();
    let listening = std::thread::Builder::new().spawn(move || {
        while matches!(socket.read(&mut [0]), Err(error) if error.kind() == io::ErrorKind::Interrupted) {}
        let _ = told.send(Word::Stop);
    });
    if listening.is_err() {
        return ExitCode::FAILURE;
    }
    adopt_orphans();
    let disk = Disk::default();
    let ended = command::run(&order, &disk, &words, tell, |process| {
        // For the owner, should this process be killed.
        let _ = began.write_all(format!("group {process}\n").as_bytes());
    });
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

/// A session of its own has no terminal: a stage that opens one is told so, where it would be stopped for ever.
fn leave_terminal() {
    // Only a process that leads no group may begin a session, and this one was started as a leader.
    let parent = rustix::process::getppid();
    let group = parent.and_then(|parent| rustix::process::getpgid(Some(parent)).ok());
    if rustix::process::setpgid(None, group).is_ok() && rustix::process::setsid().is_err() {
        let _ = rustix::process::setpgid(None, None);
    }
}

/// Processes whose parents die become children of this one.
fn adopt_orphans() {
    #[cfg(target_os = "linux")]
    // Without it, what left the command's group is out of reach, as everywhere else.
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}

/// Asks every child that is left to end, and kills those that do not in their time. Their children then are ours.
fn end_orphans(grace: Duration) {
    let timer = Instant::now();
    let mut asked = BTreeSet::new();
    while timer.elapsed() < grace + KILLING {
        match waitid(WaitId::All, WaitIdOptions::EXITED | WaitIdOptions::NOHANG) {
            // It has ended, and there may be another.
            Ok(Some(_)) | Err(rustix::io::Errno::INTR) => {}
            // Some are left.
            Ok(None) => {
                for child in children() {
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

/// The children of this process, as the system lists them for each of its threads.
fn children() -> Vec<Pid> {
    let threads = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let lists = threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok());
    let numbers = |list: String| -> Vec<Pid> {
        list.split_whitespace().filter_map(|number| Pid::from_raw(number.parse().ok()?)).collect()
    };
    lists.flat_map(numbers).collect()
}
