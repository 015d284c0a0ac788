//! Commands as processes.

use std::ffi::OsStr;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::guard::Guard;
use super::{Ended, Exit, Job, Runner};
use crate::disk::Disk;
use crate::file::find_program;
use crate::stop::Stop;

/// Runs commands as processes, each the leader of a group of its own.
#[derive(Debug, Default)]
pub struct Processes {
    /// Kills the groups if this process dies without a word.
    guard: Option<Guard>,
    disk: Disk,
}

/// How long a process may take to end after it was asked to.
const GRACE: Duration = Duration::from_secs(2);

/// How often a stop is looked for while a process runs; its end is noticed at once.
const LOOK: Duration = Duration::from_millis(50);

impl Processes {
    /// With a guard, so that no command outlives a killed stagetune.
    pub fn new(guard: Option<Guard>, disk: Disk) -> Self {
        Self { guard, disk }
    }

    fn start(&self, job: &Job) -> Result<Child, Exit> {
        let none = || Exit::NotStarted(io::Error::new(io::ErrorKind::InvalidInput, "the command is empty"));
        let (program, arguments) = job.argv.split_first().ok_or_else(none)?;
        let no_log = |error: io::Error| Exit::NoRoom(io::Error::new(error.kind(), error));
        let log = self
            .disk
            .create(&job.log)
            .map_err(|error| Exit::NoRoom(io::Error::new(error.source.kind(), error.to_string())))?;
        let second = log.try_clone().map_err(no_log)?;
        let mut command = Command::new(Self::resolve(program, &job.dir));
        command
            .args(arguments)
            .current_dir(&job.dir)
            .envs(&job.env)
            .stdin(Stdio::null())
            .stdout(second)
            .stderr(log)
            .process_group(0);
        command.spawn().map_err(|error| match error.kind() {
            _ if !job.dir.is_dir() => Exit::NoRoom(error),
            io::ErrorKind::NotFound
            | io::ErrorKind::PermissionDenied
            | io::ErrorKind::InvalidInput
            | io::ErrorKind::ArgumentListTooLong => Exit::NotStarted(error),
            _ if error.raw_os_error() == Some(rustix::io::Errno::NOEXEC.raw_os_error()) => {
                Exit::NotStarted(error)
            }
            _ => Exit::NoRoom(error),
        })
    }

    /// A program by name is looked for on PATH, then beside stagetune itself; one with a `/` is a path from the study's directory.
    fn resolve(program: &OsStr, dir: &Path) -> PathBuf {
        let found = program.to_str().and_then(|name| find_program(name, dir));
        found.unwrap_or_else(|| program.into())
    }
}

impl Runner for Processes {
    fn run(&self, job: &Job, stop: &Stop) -> Ended {
        let began = Instant::now();
        let ended = |exit| Ended { seconds: began.elapsed().as_secs_f64(), exit };
        let mut child = match self.start(job) {
            Ok(child) => child,
            Err(exit) => return ended(exit),
        };
        let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) else {
            return ended(Exit::NotStarted(io::Error::other("the process has no number")));
        };
        if let Some(guard) = &self.guard {
            guard.began(group);
        }
        let end = watch_for_end(group);
        let killed = wait(&end, began, job.timeout, stop, group);
        // The leader is still a zombie, so that the group's number is its own: whatever it has left behind goes with it.
        let _ = kill_process_group(group, Signal::KILL);
        let status = child.wait();
        if let Some(guard) = &self.guard {
            guard.ended(group);
        }
        ended(killed.unwrap_or_else(|| status.map_or_else(Exit::NotStarted, exit)))
    }
}

/// Tells when the leader has ended, without reaping it.
fn watch_for_end(leader: Pid) -> Receiver<()> {
    let (tell, end) = mpsc::channel();
    std::thread::spawn(move || {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while matches!(waitid(WaitId::Pid(leader), options), Err(rustix::io::Errno::INTR)) {}
        let _ = tell.send(());
    });
    end
}

/// Waits for the end; what it was killed for, if it was.
fn wait(
    end: &Receiver<()>,
    began: Instant,
    timeout: Option<Duration>,
    stop: &Stop,
    group: Pid,
) -> Option<Exit> {
    loop {
        let left = timeout.map(|limit| limit.saturating_sub(began.elapsed()));
        let slice = left.map_or(LOOK, |left| left.min(LOOK));
        match end.recv_timeout(slice) {
            Ok(()) | Err(RecvTimeoutError::Disconnected) => return None,
            Err(RecvTimeoutError::Timeout) => {}
        }
        let why = match timeout {
            _ if stop.is_now() => Exit::Stopped,
            Some(limit) if began.elapsed() >= limit => Exit::Timeout(limit),
            _ => continue,
        };
        let _ = kill_process_group(group, Signal::TERM);
        if end.recv_timeout(GRACE).is_err() {
            let _ = kill_process_group(group, Signal::KILL);
            let _ = end.recv();
        }
        return Some(why);
    }
}

fn exit(status: ExitStatus) -> Exit {
    match (status.code(), status.signal()) {
        (Some(0), _) => Exit::Success,
        (Some(code), _) => Exit::Code(code),
        (None, signal) => Exit::Signal(signal.unwrap_or(0)),
    }
}

#[cfg(test)]
mod tests;
