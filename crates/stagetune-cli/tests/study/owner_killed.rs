//! The owner is killed at every single write of a study with four attempts at a time: nothing is lost, nothing is told twice, and nothing that
//! had finished is run again.

use crate::harness::{Lab, wait_until};
use stagetune::study::Event;
use stagetune_pipeline::disk::Disk;
use stagetune_pipeline::executor::{Exit, Local, LocalOptions, read_end};
use stagetune_pipeline::file::Pipeline;
use stagetune_pipeline::owner::{Owner, OwnerOptions, Quiet};
use stagetune_pipeline::state_dir::StateDir;
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::Arc;

const PIPELINE: &str = r#"
[study]
name = "killed"
metric = "f"
direction = "minimize"
strategy = "random"
seed = 5
budget = { trials = 6 }

[[stage]]
name = "first"
cost = 10
run = ["sh", "-c", 'sleep 0.01; echo $1 > "$2/v"', "sh", "{a}", "{out}"]
[stage.params]
a = { int = [0, 99] }

[[stage]]
name = "second"
cost = 1
run = ["sh", "-c", 'read v < "$3/v"; sleep 0.01; echo "{{\"f\": $1}}" > "$2/result.json"', "sh", "{b}", "{out}", "{first}"]
[stage.params]
b = { int = [0, 999] }
"#;

/// Where a child of the test finds the directory and the number of the write.
const CHILD: &str = "STAGETUNE_KILLED_CHILD";

/// The owner itself, in a process of its own: without the variable this is no test of anything.
#[test]
fn an_owner_for_the_test_beside_this_one() {
    let Some(order) = std::env::var_os(CHILD) else { return };
    let order = order.into_string().unwrap();
    let (root, at) = order.split_once('\n').unwrap();
    let disk = match at.parse().unwrap() {
        0 => Disk::default(),
        at => Disk::killing_at(at),
    };
    let pipeline = Pipeline::load(&Path::new(root).join("pipeline.toml")).unwrap();
    let executor = Local::new(LocalOptions {
        supervisor: Some(PathBuf::from(env!("CARGO_BIN_EXE_stagetune"))),
        attempts: StateDir::of(&pipeline.root).attempts(),
        disk: disk.clone(),
    });
    let options = OwnerOptions { workers: 4, disk, ..OwnerOptions::default() };
    let ended = Owner::open(&pipeline, options, Arc::new(executor), &Quiet).unwrap().run().unwrap();
    assert_eq!(ended.ledger.observed, 6);
}

fn own(lab: &Lab, at: u64) -> ExitStatus {
    let order = format!("{}\n{at}", lab.root().display());
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["owner_killed::an_owner_for_the_test_beside_this_one", "--exact", "--quiet"]);
    child.env(CHILD, order).output().unwrap().status
}

/// The attempts that have ended by themselves, by token; waits for supervisors that are ending theirs.
fn finished(lab: &Lab) -> BTreeSet<String> {
    let attempts = lab.root().join(".stagetune/attempts");
    let dirs = || -> Vec<PathBuf> {
        let Ok(found) = std::fs::read_dir(&attempts) else { return Vec::new() };
        found.map(|entry| entry.unwrap().path()).collect()
    };
    // An attempt that was prepared but not started has no end, and nobody at work on it.
    let has_ended = |dir: &PathBuf| match std::fs::File::open(dir.join("began")) {
        Ok(began) => began.try_lock_shared().is_ok(),
        Err(_) => true,
    };
    wait_until("the end of all attempts", || dirs().iter().all(has_ended));
    let done = dirs().into_iter().filter(|dir| {
        let end = read_end(dir).unwrap();
        end.is_some_and(|end| !matches!(end.exit, Exit::Stopped | Exit::NoRoom(_)))
    });
    done.map(|dir| dir.file_name().unwrap().to_string_lossy().into_owned()).collect()
}

fn events(lab: &Lab) -> Vec<Event> {
    lab.records("killed").into_iter().map(|stamped| stamped.record.event).collect()
}

#[test]
fn an_owner_killed_at_any_write_loses_nothing_tells_nothing_twice_and_repeats_nothing_that_finished() {
    let (mut kills, mut adopted, mut most) = (0, 0, 0);
    for at in 1.. {
        let lab = Lab::new(PIPELINE);
        let status = own(&lab, at);
        if status.success() {
            assert!(kills > 100 && adopted > 0, "{kills} kills, {adopted} attempts adopted");
            assert_eq!(most, 4, "attempts at a time");
            return;
        }
        assert_eq!(status.signal(), Some(9), "write {at}: {status}");
        kills += 1;
        let done = finished(&lab);
        let before = events(&lab);
        assert!(own(&lab, 0).success(), "after a kill at write {at}");
        let after = events(&lab);
        assert_eq!(after.get(..before.len()), Some(&before[..]), "write {at}");

        // What had finished was launched in the first part, and its stage is not launched again.
        let mut open: BTreeMap<(u64, String), String> = BTreeMap::new();
        for event in &before {
            match event {
                Event::Launched { trial, stage, token, .. } => {
                    open.insert((trial.index(), stage.clone()), token.clone());
                }
                Event::Reported { trial, stage, .. } => {
                    open.remove(&(trial.index(), stage.clone()));
                }
                _ => {}
            }
        }
        most = most.max(open.len());
        let waiting: BTreeSet<_> = open.iter().filter(|(_, token)| done.contains(*token)).collect();
        adopted += waiting.len();
        for event in &after[before.len()..] {
            if let Event::Launched { trial, stage, .. } = event {
                let again = waiting.iter().find(|((id, name), _)| (*id, name) == (trial.index(), stage));
                assert!(again.is_none(), "write {at}: {stage} of trial {trial} had finished, and ran again");
            }
        }
        for trial in 0..6 {
            let told = after
                .iter()
                .filter(|event| matches!(event, Event::Ended { trial: ended, .. } if ended.index() == trial));
            assert_eq!(told.count(), 1, "write {at}: trial {trial}");
        }
        lab.assert_cache_is_whole();
    }
}
