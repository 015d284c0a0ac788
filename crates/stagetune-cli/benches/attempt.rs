//! What an attempt adds to its command: the directory, the supervisor, the end on disk.

// Clippy lets tests unwrap and panic but not the helpers beside them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use divan::Bencher;
use stagetune_pipeline::disk::Disk;
use stagetune_pipeline::executor::{Attempt, Body, Executor, Exit, Local, LocalOptions, Token, read_end};
use stagetune_pipeline::file::DEFAULT_GRACE;
use stagetune_pipeline::outputs::KeyId;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

fn main() {
    divan::main();
}

fn attempt(root: &Path) -> Attempt {
    let token = Token::fresh("bench", &KeyId::try_from("0".repeat(32)).expect("a key"), 1);
    let body = Body::Command { argv: vec!["true".into()], dir: root.to_owned(), env: BTreeMap::new() };
    let dir = root.join("attempts").join(token.as_str());
    Attempt {
        token,
        stage: "true".into(),
        body,
        dir,
        log: root.join("log"),
        timeout: None,
        grace: DEFAULT_GRACE,
    }
}

/// From the launch until the end can be read.
fn run(bencher: Bencher, supervisor: Option<PathBuf>) {
    let root = tempfile::tempdir().expect("a directory");
    let attempts = root.path().join("attempts");
    let local = Local::new(LocalOptions { supervisor, attempts, disk: Disk::default() });
    bencher.with_inputs(|| attempt(root.path())).bench_refs(|attempt| {
        local.launch(attempt).expect("a launch");
        local.wait(&attempt.token, Duration::from_secs(60));
        let ended = read_end(&attempt.dir).expect("a file").expect("an end");
        assert_eq!(ended.exit, Exit::Success);
    });
}

/// The same program started and waited for, and nothing else.
#[divan::bench(sample_count = 200)]
fn the_command_alone() {
    Command::new("true").status().expect("a process");
}

#[divan::bench(sample_count = 200)]
fn an_attempt_under_a_thread(bencher: Bencher) {
    run(bencher, None);
}

#[divan::bench(sample_count = 200)]
fn an_attempt_under_a_supervisor(bencher: Bencher) {
    run(bencher, Some(env!("CARGO_BIN_EXE_stagetune").into()));
}
