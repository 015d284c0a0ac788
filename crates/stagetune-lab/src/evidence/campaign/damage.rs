//! Damage to the files of a study: bytes that flip, ends that are cut off, pages of zeros, files
//! that go or come.

use super::dice::Dice;
use anyhow::Result;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

/// What is damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// The log: the main file, its WAL, its shared memory.
    Log,
    /// The outputs: entries and what they hold, and the pack of small ones.
    Cache,
}

/// What was done.
#[derive(Clone, Debug)]
pub struct Damage {
    /// What kind of damage, to be counted.
    pub name: String,
    /// With all that is needed to see what happened.
    pub what: String,
    /// Whether the bytes of an output are others now.
    pub changes_content: bool,
}

/// A page of SQLite.
const PAGE: usize = 4096;

/// Damages one of the files; nothing if there is none.
pub fn inflict(state: &Path, target: Target, dice: &mut Dice) -> Result<Option<Damage>> {
    let files = match target {
        Target::Log => databases(state, &["journal.db"])?,
        Target::Cache => {
            let packed = databases(&state.join("cache"), &["packed.db"])?;
            if !packed.is_empty() && dice.one_in(2) { packed } else { return entry(state, dice) }
        }
    };
    let Some(path) = dice.pick(&files) else { return Ok(None) };
    let (how, _) = bytes(path, dice)?;
    let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Some(Damage {
        name: format!("{file}: {}", how.0),
        what: format!("{file}: {}", how.1),
        changes_content: false,
    }))
}

/// The databases of these names with what stands beside them.
fn databases(folder: &Path, names: &[&str]) -> Result<Vec<PathBuf>> {
    let mut found: Vec<PathBuf> = Vec::new();
    for name in names {
        for ending in ["", "-wal", "-shm"] {
            let path = folder.join(format!("{name}{ending}"));
            if fs::metadata(&path).is_ok_and(|about| about.len() > 0) {
                found.push(path);
            }
        }
    }
    Ok(found)
}

/// Damages the content of a file; what was done, short and long, and whether the file has other bytes now.
fn bytes(path: &Path, dice: &mut Dice) -> Result<((&'static str, String), bool)> {
    // An entry's files are read-only, for all but the superuser.
    let _ = fs::set_permissions(path, fs::Permissions::from_mode(0o644));
    let before = fs::read(path)?;
    let mut now = before.clone();
    let length = now.len();
    let how = match dice.below(6) {
        0 | 1 => {
            let many = 1 + dice.below(3);
            let mut places = Vec::new();
            for _ in 0..many {
                let at = dice.index(length);
                let bit = 1_u8 << dice.below(8);
                if let Some(byte) = now.get_mut(at) {
                    *byte ^= bit;
                }
                places.push(at);
            }
            ("bits flipped", format!("bits flipped at {places:?} of {length}"))
        }
        2 => {
            let at = dice.index(length);
            now.truncate(at);
            ("cut off", format!("cut off at {at} of {length}"))
        }
        3 => {
            let page = dice.index(length.div_ceil(PAGE));
            now.iter_mut().skip(page * PAGE).take(PAGE).for_each(|byte| *byte = 0);
            ("a page of zeros", format!("page {page} of {length} bytes is zeros"))
        }
        4 => {
            let (at, many) = (dice.index(length), 1 + dice.index(64));
            now.iter_mut().skip(at).take(many).for_each(|byte| *byte = dice.below(256) as u8);
            ("noise", format!("{many} random bytes at {at} of {length}"))
        }
        _ => {
            fs::remove_file(path)?;
            return Ok((("removed", "removed".to_owned()), true));
        }
    };
    fs::write(path, &now)?;
    Ok((how, now != before))
}

/// Damages an entry that is a directory.
fn entry(state: &Path, dice: &mut Dice) -> Result<Option<Damage>> {
    let cache = state.join("cache");
    let mut entries: Vec<PathBuf> = Vec::new();
    for found in fs::read_dir(&cache).into_iter().flatten() {
        let path = found?.path();
        if path.join("entry.json").is_file() {
            entries.push(path);
        }
    }
    entries.sort();
    let (Some(first), Some(second)) = (dice.pick(&entries), dice.pick(&entries)) else { return Ok(None) };
    open_up(first);
    let out = first.join("out");
    let files = files(&out);
    let say = |name: &str, changes_content: bool| {
        let path = first.file_name().unwrap_or_default().to_string_lossy();
        Ok(Some(Damage { name: name.to_owned(), what: format!("entry {path}: {name}"), changes_content }))
    };
    let file = dice.pick(&files);
    match (dice.below(14), file) {
        (0, _) => {
            let (how, _) = bytes(&first.join("entry.json"), dice)?;
            let name = format!("entry.json: {}", how.0);
            let what = format!("entry.json of {}: {}", first.display(), how.1);
            Ok(Some(Damage { name, what, changes_content: false }))
        }
        (1..=4, Some(file)) => {
            let (how, changed) = bytes(file, dice)?;
            let name = format!("output: {}", how.0);
            let what = format!("output {}: {}", file.display(), how.1);
            Ok(Some(Damage { name, what, changes_content: changed }))
        }
        (5, Some(file)) => {
            fs::set_permissions(file, fs::Permissions::from_mode(dice.below(0o1000) as u32))?;
            say("output: mode", false)
        }
        (6, Some(file)) => {
            fs::remove_file(file)?;
            symlink("/etc/hostname", file)?;
            say("output: a link outside in its place", true)
        }
        (7, Some(file)) => {
            fs::remove_file(file)?;
            fs::create_dir(file)?;
            say("output: a directory in its place", true)
        }
        (8, Some(file)) => {
            fs::remove_file(file)?;
            let _ = std::process::Command::new("mkfifo").arg(file).status()?;
            say("output: a pipe in its place", true)
        }
        (9, _) if out.is_dir() => {
            fs::write(out.join("stranger"), "stranger")?;
            say("output: a file added", true)
        }
        (10, _) => {
            fs::remove_file(first.join("entry.json"))?;
            let _ = std::process::Command::new("mkfifo").arg(first.join("entry.json")).status()?;
            say("entry.json: a pipe in its place", false)
        }
        (11, _) if first != second => {
            open_up(second);
            let aside = state.join("tmp/aside");
            fs::rename(&out, &aside)?;
            fs::rename(second.join("out"), &out)?;
            fs::rename(&aside, second.join("out"))?;
            say("two outputs change places", false)
        }
        (12, _) if first != second => {
            let aside = state.join("tmp/aside");
            fs::rename(first, &aside)?;
            fs::rename(second, first)?;
            fs::rename(&aside, second)?;
            say("two entries change places", true)
        }
        (13, _) => {
            fs::remove_dir_all(&out)?;
            say("output: all of it removed", true)
        }
        _ => {
            fs::remove_dir_all(first)?;
            say("entry removed", false)
        }
    }
}

/// The regular files below a directory, in the order of their paths.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        match fs::symlink_metadata(&path) {
            Ok(about) if about.is_dir() => found.extend(files(&path)),
            Ok(about) if about.is_file() && about.len() > 0 => found.push(path),
            Ok(_) | Err(_) => {}
        }
    }
    found
}

/// Makes the directories of an entry writable, for users who are no superusers.
fn open_up(folder: &Path) {
    let _ = fs::set_permissions(folder, fs::Permissions::from_mode(0o755));
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            open_up(&entry.path());
        }
    }
}
