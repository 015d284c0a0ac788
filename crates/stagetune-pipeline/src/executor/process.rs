//! What Linux says of processes in `/proc`. Elsewhere nothing is found.

use std::fs;

use rustix::process::Pid;

/// A process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Facts {
    pub(super) number: i32,
    pub(super) is_zombie: bool,
    pub(super) parent: i32,
    pub(super) group: i32,
    pub(super) session: i32,
    /// When it began, in ticks since the system did. With its number that tells it from every other process.
    pub(super) started: u64,
}

/// What is known of one process.
pub(super) fn facts(number: i32) -> Option<Facts> {
    parse(number, &fs::read_to_string(format!("/proc/{number}/stat")).ok()?)
}

/// The fields that follow the name, which may hold anything, also brackets.
fn parse(number: i32, stat: &str) -> Option<Facts> {
    let (_, after) = stat.rsplit_once(')')?;
    let mut fields = after.split_whitespace();
    let is_zombie = matches!(fields.next()?, "Z" | "X");
    let mut next = || fields.next()?.parse().ok();
    let (parent, group, session) = (next()?, next()?, next()?);
    let started = fields.nth(15)?.parse().ok()?;
    Some(Facts { number, is_zombie, parent, group, session, started })
}

/// Every process.
pub(super) fn all() -> Vec<Facts> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| facts(entry.file_name().to_str()?.parse().ok()?)).collect()
}

/// This process.
pub(super) fn this() -> Option<Facts> {
    facts(rustix::process::getpid().as_raw_nonzero().get())
}

/// The children of this process, as the system lists them for each of its threads.
pub(super) fn children() -> Vec<Pid> {
    let threads = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let lists = threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    let numbers = |list: String| -> Vec<Pid> {
        list.split_whitespace().filter_map(|number| Pid::from_raw(number.parse().ok()?)).collect()
    };
    lists.flat_map(numbers).collect()
}

/// The value of a variable in the environment that a process was started with.
pub(super) fn variable(number: i32, name: &str) -> Option<Vec<u8>> {
    let environment = fs::read(format!("/proc/{number}/environ")).ok()?;
    let value = |variable: &[u8]| {
        variable.strip_prefix(name.as_bytes()).and_then(|rest| rest.strip_prefix(b"=")).map(<[u8]>::to_vec)
    };
    environment.split(|byte| *byte == 0).find_map(value)
}

/// What tells this run of the system, or of the container, from every other: numbers mean nothing beyond it.
pub(super) fn system() -> Option<String> {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(format!("{}.{}", boot.trim(), facts(1)?.started))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_brackets_and_spaces_is_no_field() {
        let stat = "7 (a) S (b c) Z 5 6 4 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 12345 1000 2";
        let expected = Facts { number: 7, is_zombie: true, parent: 5, group: 6, session: 4, started: 12345 };
        assert_eq!(parse(7, stat), Some(expected));
        assert_eq!((parse(7, ""), parse(7, "7 (a) S 1 2")), (None, None));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_process_finds_itself() {
        let this = this().unwrap();
        assert!(all().contains(&this) && !this.is_zombie && this.started > 0 && system().is_some());
    }
}
