//! Processes that a lost attempt has left: its supervisor was killed, and nobody had them end.
//!
//! ```text
//! with the attempt's token in their environment     found, whatever group or session they made for themselves
//! without it, in the group of the command           found by the group, of which the supervisor leaves a note
//! without it, in a group or session of their own    found by the owner, whose children they become
//! ```
//!
//! The last are out of reach when the owner and the supervisor were killed both, and the process cleared its
//! environment and left its group: nothing tells it from a process of somebody else. Only Linux
//! shows environments and lets owners take in orphans; elsewhere the command's own group is all
//! that can be found.
//!
//! Numbers of groups are given to others in time. So the note has the session of the group, when
//! its leader began, and which run of the system that was; a group that differs in any of these is
//! somebody else's.

use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use super::folder;
use super::process::{self, Facts};

/// The variable that holds the token of an attempt.
pub(super) const ATTEMPT_VARIABLE: &str = "STAGETUNE_ATTEMPT";

/// How long processes are looked for that others start meanwhile.
const LIMIT: Duration = Duration::from_secs(2);

/// What a supervisor notes in `began` of the command that it started, for whoever ends what is left of it.
pub(super) fn note(process: u32) -> String {
    let leader = i32::try_from(process).ok().and_then(process::facts);
    match leader.zip(process::system()) {
        Some((Facts { session, started, .. }, system)) => {
            format!("group {process} {session} {started} {system}\n")
        }
        None => format!("group {process}\n"),
    }
}

/// Kills what the attempt in a directory has left running. Nobody may be at work with the attempt.
pub(super) fn end(dir: &Path) {
    let Some(token) = dir.file_name().and_then(|name| name.to_str()) else { return };
    let timer = Instant::now();
    loop {
        let mut found = with_variable(token.as_bytes());
        if cfg!(target_os = "linux") {
            found.extend(folder::said(dir, "group").map(|note| of_group(&note)).unwrap_or_default());
        } else {
            end_group(dir);
        }
        if found.is_empty() || timer.elapsed() > LIMIT {
            return;
        }
        // Each that dies may have started another just before.
        found.into_iter().for_each(|process| {
            let _ = kill_process(process, Signal::KILL);
        });
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn end_group(dir: &Path) {
    let number = folder::said(dir, "group").and_then(|note| note.split(' ').next()?.parse().ok());
    if let Some(group) = number.and_then(Pid::from_raw) {
        let _ = kill_process_group(group, Signal::KILL);
    }
}

/// The processes of the group that a supervisor noted, if it is still the same.
fn of_group(note: &str) -> Vec<Pid> {
    let mut words = note.split(' ');
    let mut number = || words.next()?.parse::<i32>().ok();
    let (Some(group), Some(session)) = (number(), number()) else { return Vec::new() };
    let Some(started) = words.next().and_then(|word| word.parse::<u64>().ok()) else { return Vec::new() };
    if words.next().map(str::to_owned) != process::system() {
        return Vec::new();
    }
    if process::facts(group).is_some_and(|leader| leader.started != started) {
        return Vec::new();
    }
    let is_of_it = |one: &Facts| {
        (one.group, one.session) == (group, session) && one.started >= started && !one.is_zombie
    };
    process::all().into_iter().filter(is_of_it).filter_map(|one| Pid::from_raw(one.number)).collect()
}

/// The processes that have this token, zombies left out: those have no environment any more.
fn with_variable(token: &[u8]) -> Vec<Pid> {
    let this = rustix::process::getpid();
    let has_it = |one: &Facts| {
        one.number != this.as_raw_nonzero().get()
            && process::variable(one.number, ATTEMPT_VARIABLE).is_some_and(|value| value == token)
    };
    process::all().into_iter().filter(has_it).filter_map(|one| Pid::from_raw(one.number)).collect()
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;
    use std::os::unix::process::CommandExt;
    use std::process::Command;

    #[test]
    fn a_group_is_known_by_its_note_and_one_that_has_its_number_since_is_not() {
        let mut child = Command::new("sleep").arg("60").process_group(0).spawn().unwrap();
        let note = note(child.id());
        let number = i32::try_from(child.id()).unwrap();
        let words: Vec<&str> = note.trim().split(' ').collect();
        assert_eq!(of_group(&words[1..].join(" ")), [Pid::from_raw(number).unwrap()]);
        for i in 2..words.len() {
            let mut other = words.clone();
            let changed = format!("{}1", words[i]);
            other[i] = &changed;
            assert!(of_group(&other[1..].join(" ")).is_empty(), "{other:?}");
        }
        assert!(of_group(&number.to_string()).is_empty(), "the note of an older release says too little");
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
