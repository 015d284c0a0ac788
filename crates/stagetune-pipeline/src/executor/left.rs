//! Processes that a lost attempt has left: its supervisor was killed, and nobody had them end.
//!
//! Every process of an attempt has the attempt's token in its environment, so that it is found by
//! it: whatever group or session it made for itself, and without a risk that a number was given to
//! somebody else since. Only Linux shows environments; elsewhere the command's own group is all
//! that can be found.

use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use super::folder;

/// The variable that holds the token of an attempt.
pub(super) const ATTEMPT_VARIABLE: &str = "STAGETUNE_ATTEMPT";

/// How long processes are looked for that others start meanwhile.
const LIMIT: Duration = Duration::from_secs(2);

/// Kills what the attempt in a directory has left running. Nobody may be at work with the attempt.
pub(super) fn end(dir: &Path) {
    let Some(token) = dir.file_name().and_then(|name| name.to_str()) else { return };
    let wanted = format!("{ATTEMPT_VARIABLE}={token}");
    let timer = Instant::now();
    loop {
        let found = with_variable(wanted.as_bytes());
        if cfg!(not(target_os = "linux")) {
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
    let group = folder::said(dir, "group").and_then(|group| group.parse().ok()).and_then(Pid::from_raw);
    if let Some(group) = group {
        let _ = kill_process_group(group, Signal::KILL);
    }
}

/// The processes that have this variable, zombies left out: those have no environment any more.
fn with_variable(wanted: &[u8]) -> Vec<Pid> {
    let this = std::process::id();
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let has_it = |number: &i32| {
        let environment = std::fs::read(format!("/proc/{number}/environ")).unwrap_or_default();
        u32::try_from(*number).is_ok_and(|number| number != this)
            && environment.split(|byte| *byte == 0).any(|variable| variable == wanted)
    };
    numbers.filter(has_it).filter_map(Pid::from_raw).collect()
}
