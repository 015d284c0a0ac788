//! Orphans of a killed supervisor become children of the owner, which ends them.
//!
//! A supervisor takes in whatever its command leaves. When it is killed itself, the system gives
//! all that to the nearest process above that takes in orphans: on Linux the owner. So that nothing
//! else ends with them, an orphan of an attempt is a child of this process that
//!
//! - is in another session than this process: what this process started by itself, such as a
//!   `notify` command, is not;
//! - is no supervisor;
//! - began after the supervisor that was killed;
//! - does not name another attempt in its environment.
//!
//! What a `notify` command leaves in a session of its own, begun while that supervisor ran, cannot
//! be told from these.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};

use super::left::ATTEMPT_VARIABLE;
use super::process::{self, Facts};
use super::supervise::SUPERVISOR_COMMAND;

/// Supervisors of this process that nobody has waited for yet: their ends belong to whoever does.
static SUPERVISORS: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

/// How long orphans are looked for that others start meanwhile.
const LIMIT: Duration = Duration::from_secs(2);

/// Processes whose parents die become children of this one.
pub(super) fn adopt() {
    #[cfg(target_os = "linux")]
    // Without it, what left the command's group and session is out of reach, as everywhere else.
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}

/// The supervisors of this process. While it is held, nobody takes a new one for an orphan.
pub(super) fn supervisors() -> MutexGuard<'static, BTreeSet<i32>> {
    SUPERVISORS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Kills the orphans of an attempt whose supervisor, which began at `since`, was killed.
pub(super) fn end(token: &str, since: u64) {
    let timer = Instant::now();
    while timer.elapsed() < LIMIT {
        let orphans: Vec<Facts> = found().into_iter().filter(|one| is_of(one, token, since)).collect();
        for orphan in orphans.iter().filter(|orphan| !orphan.is_zombie) {
            if let Some(process) = Pid::from_raw(orphan.number) {
                let _ = kill_process(process, Signal::KILL);
            }
        }
        reap();
        if orphans.is_empty() {
            return;
        }
        // The children of what was killed are ours now.
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Takes note of the ends of orphans, so that the system forgets them.
pub(super) fn reap() {
    for orphan in found().iter().filter(|orphan| orphan.is_zombie) {
        if let Some(process) = Pid::from_raw(orphan.number) {
            let _ = waitid(WaitId::Pid(process), WaitIdOptions::EXITED | WaitIdOptions::NOHANG);
        }
    }
}

/// The children that this process did not start.
fn found() -> Vec<Facts> {
    let Some(this) = process::this() else { return Vec::new() };
    let supervisors = supervisors();
    let children = process::children().into_iter().map(|child| child.as_raw_nonzero().get());
    let facts = children.filter(|child| !supervisors.contains(child)).filter_map(process::facts);
    facts.filter(|child| child.session != this.session).collect()
}

fn is_of(orphan: &Facts, token: &str, since: u64) -> bool {
    let of_another =
        || process::variable(orphan.number, ATTEMPT_VARIABLE).is_some_and(|named| named != token.as_bytes());
    orphan.started >= since && (orphan.is_zombie || !is_supervisor(orphan.number) && !of_another())
}

/// Whether a process is the supervisor of some owner, which ends by itself.
fn is_supervisor(number: i32) -> bool {
    let command = std::fs::read(format!("/proc/{number}/cmdline")).unwrap_or_default();
    command.split(|byte| *byte == 0).nth(1) == Some(SUPERVISOR_COMMAND.as_bytes())
}
