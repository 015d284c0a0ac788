//! A small process that outlives a killed stagetune just long enough to kill its stages.
//!
//! A process that is killed cannot clean up after itself. The guard reads from a pipe which process groups are at work (`+123`) and which have ended (`-123`);
//! when stagetune dies, in whatever way, the pipe closes, and the guard kills the groups that are left and ends.

use std::collections::BTreeSet;
use std::io::{self, BufRead, Write};
use std::os::unix::process::CommandExt;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::Mutex;

use rustix::process::{Pid, Signal, kill_process_group};

/// The end of the pipe that stagetune writes to.
#[derive(Debug)]
pub struct Guard {
    pipe: Mutex<ChildStdin>,
}

impl Guard {
    /// Starts the guard: a command that calls [`watch_over`] on its standard input.
    pub fn start(mut command: Command) -> io::Result<Self> {
        // A group of its own: Ctrl-C in a terminal must not end the guard before stagetune has ended.
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        let mut child = command.spawn()?;
        let pipe = child.stdin.take().ok_or_else(|| io::Error::other("the guard has no standard input"))?;
        // It ends when the pipe closes, and somebody has to notice.
        std::thread::spawn(move || child.wait());
        Ok(Self { pipe: Mutex::new(pipe) })
    }

    pub(super) fn began(&self, group: Pid) {
        self.tell('+', group);
    }

    pub(super) fn ended(&self, group: Pid) {
        self.tell('-', group);
    }

    fn tell(&self, sign: char, group: Pid) {
        if let Ok(mut pipe) = self.pipe.lock() {
            // Without a guard stages run as well; only a kill would leave them behind.
            // In one write, so that the guard never sees half a number.
            let _ = pipe.write_all(format!("{sign}{}\n", group.as_raw_nonzero()).as_bytes());
        }
    }
}

/// What the guard does: listens until the pipe closes, then kills what is left.
pub fn watch_over(pipe: impl BufRead) {
    let mut groups = BTreeSet::new();
    for line in pipe.lines().map_while(Result::ok) {
        match line.split_at_checked(1) {
            Some(("+", group)) => drop(group.parse::<i32>().map(|group| groups.insert(group))),
            Some(("-", group)) => drop(group.parse::<i32>().map(|group| groups.remove(&group))),
            _ => {}
        }
    }
    for group in groups.into_iter().filter_map(Pid::from_raw) {
        let _ = kill_process_group(group, Signal::KILL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_groups_that_are_still_at_work_are_killed() {
        let sleep = || Command::new("sleep").arg("30").process_group(0).spawn().unwrap();
        let (mut left, mut ended) = (sleep(), sleep());
        let said = format!("+{}\n+{}\nnonsense\n+x\n-{}\n", left.id(), ended.id(), ended.id());
        watch_over(said.as_bytes());
        assert!(!left.wait().unwrap().success());
        assert!(ended.try_wait().unwrap().is_none());
        ended.kill().unwrap();
        ended.wait().unwrap();
    }
}
