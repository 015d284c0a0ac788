//! Every write of a whole study fails once, injected: the journal stays readable, the error is clear, and the study then goes on to the same end.

// Clippy lets tests unwrap and panic but not the helpers beside them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use stagetune::study::Event;
use stagetune_pipeline::disk::Disk;
use stagetune_pipeline::executor::{Local, LocalOptions};
use stagetune_pipeline::file::Pipeline;
use stagetune_pipeline::log::{Log, Sqlite};
use stagetune_pipeline::outputs::{Cache, Verdict};
use stagetune_pipeline::owner::{Owner, OwnerOptions, Quiet, RunError};
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

const PIPELINE: &str = r#"
[study]
name = "faulty"
metric = "f"
direction = "minimize"
strategy = "lambo"
budget = { trials = 5 }
patience = 0
[cache]
limit = "2 kB"
[[stage]]
name = "one"
cost = 1
run = ["sh", "-c", 'echo "$1" > "$2/v"', "sh", "{x}", "{out}"]
[stage.params]
x = { float = [0, 1] }
[[stage]]
name = "two"
cost = "reported"
run = ["sh", "-c", 'read v < "$3/v"; echo "{{\"f\": $1, \"cost\": 2}}" > "$2/result.json"', "sh", "{y}", "{out}", "{one}"]
[stage.params]
y = { float = [0, 1] }
"#;

fn run(root: &Path, disk: Disk) -> Result<(), RunError> {
    let pipeline = Pipeline::parse(PIPELINE, Path::new("pipeline.toml"), root).unwrap();
    let executor = Local::new(LocalOptions {
        attempts: root.join(".stagetune/attempts"),
        disk: disk.clone(),
        ..LocalOptions::default()
    });
    let options = OwnerOptions { disk, ..OwnerOptions::default() };
    Owner::open(&pipeline, options, Arc::new(executor), &Quiet)?.run().map(|_| ())
}

fn events(root: &Path) -> Vec<Event> {
    let path = root.join(".stagetune/journal.db");
    if !path.exists() {
        return Vec::new();
    }
    let records = Sqlite::open(&path, "faulty", Disk::default()).unwrap().read(0).unwrap();
    // Who owned the study when, and how often a stage was launched, is another story after a fault.
    let told = |event: &Event| {
        matches!(
            event,
            Event::Started(_) | Event::Asked { .. } | Event::Reported { .. } | Event::Ended { .. }
        )
    };
    records.into_iter().map(|stamped| stamped.record.event).filter(told).collect()
}

#[test]
fn whichever_write_fails_nothing_told_is_lost_and_the_study_ends_the_same() {
    let undisturbed = tempfile::tempdir().unwrap();
    run(undisturbed.path(), Disk::default()).unwrap();
    let reference = events(undisturbed.path());
    assert_eq!(reference.len(), 21);

    let mut refusals = 0;
    for at in 1.. {
        let dir = tempfile::tempdir().unwrap();
        let kind = if at % 2 == 0 { ErrorKind::StorageFull } else { ErrorKind::PermissionDenied };
        let disk = Disk::failing_at(at, kind);
        let outcome = run(dir.path(), disk.clone());
        if !disk.has_failed() {
            outcome.unwrap();
            assert!(refusals > 60 && at > 100, "{refusals} refusals in {at} writes");
            return;
        }
        if let Err(error) = outcome {
            refusals += 1;
            let text = error.to_string();
            assert!(text.contains("injected") && text.contains(".stagetune"), "write {at}: {text}");
            let remedy = if at % 2 == 0 { "free some space" } else { "writable" };
            assert!(text.contains(remedy), "write {at}: {text}");
        }
        let so_far = events(dir.path());
        assert_eq!(reference.get(..so_far.len()), Some(&so_far[..]), "write {at}");
        assert_whole(dir.path(), at);
        run(dir.path(), Disk::default()).unwrap_or_else(|error| panic!("after write {at}: {error}"));
        assert_eq!(events(dir.path()), reference, "write {at}");
        assert_whole(dir.path(), at);
    }
}

fn assert_whole(root: &Path, at: u64) {
    let cache = Cache::at(&root.join(".stagetune"), Disk::default(), None);
    for listed in cache.list().unwrap() {
        assert_eq!(cache.verify(&listed), Verdict::Sound, "write {at}");
    }
}
