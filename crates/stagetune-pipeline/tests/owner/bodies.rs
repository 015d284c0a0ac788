//! Stages that are functions of the embedding program, and metrics of every stage.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use stagetune_pipeline::executor::{Local, LocalOptions};
use stagetune_pipeline::owner::{Owner, OwnerOptions, Quiet};
use stagetune_pipeline::state_dir::StateDir;

use crate::harness::{Notes, TWO, pipeline};

fn local(root: &std::path::Path) -> Local {
    Local::new(LocalOptions { attempts: StateDir::of(root).attempts(), ..LocalOptions::default() })
}

#[test]
fn a_function_of_the_embedding_program_is_a_stage_with_a_cache() {
    let dir = tempfile::tempdir().unwrap();
    let text = TWO.replace("a = { float = [0, 1] }", "a = { choice = [\"x\", \"y\"] }");
    let pipeline = pipeline(&text.replace("metric = \"f\"", "metric = \"first.size\""), dir.path());
    let pipeline = pipeline.with_call("first", "load").unwrap().with_call("second", "score").unwrap();
    assert!(pipeline.clone().with_call("third", "score").is_none());
    let loads = Arc::new(AtomicUsize::new(0));
    let executor = local(dir.path());
    let counted = loads.clone();
    executor.register(
        "load",
        Arc::new(move |call: &_| {
            counted.fetch_add(1, Ordering::SeqCst);
            let call: &stagetune_pipeline::executor::Call<'_> = call;
            std::fs::write(call.out.join("data"), call.params["a"].as_bytes()).map_err(|e| e.to_string())?;
            Ok(BTreeMap::from([("size".to_owned(), if call.params["a"] == "x" { 1.0 } else { 2.0 })]))
        }),
    );
    executor.register(
        "score",
        Arc::new(|call: &stagetune_pipeline::executor::Call<'_>| {
            let data =
                std::fs::read_to_string(call.inputs["first"].join("data")).map_err(|e| e.to_string())?;
            match call.params["b"].parse::<f64>() {
                Ok(b) if b > 0.9 => Err(format!("no score for {data}")),
                Ok(b) => Ok(BTreeMap::from([("f".to_owned(), b), ("loss".to_owned(), 1.0 - b)])),
                Err(error) => Err(error.to_string()),
            }
        }),
    );
    let notes = Notes::default();
    let options = OwnerOptions { workers: 3, ..OwnerOptions::default() };
    let ended = Owner::open(&pipeline, options, Arc::new(executor), &notes).unwrap().run().unwrap();
    let ledger = ended.ledger;
    assert_eq!(loads.load(Ordering::SeqCst), 2, "each value of the first stage is made once");
    assert_eq!(ledger.trials.len(), 8);
    assert_eq!(ledger.best.as_ref().map(|best| best.value), Some(1.0));
    let metrics: Vec<String> = ledger.metrics().iter().map(ToString::to_string).collect();
    assert_eq!(metrics, ["first.size", "second.f", "second.loss"]);
    for trial in ledger.trials.iter().filter(|trial| trial.value.is_some()) {
        let size = trial.stages[0].metrics["size"];
        assert_eq!(trial.value, Some(size), "also where the first stage was reused");
    }
    let failed = ledger.trials.iter().find_map(|trial| trial.reason.clone());
    assert!(failed.is_none_or(|reason| reason.contains("raised an error: no score")));
}

#[test]
fn a_stage_whose_input_was_evicted_is_made_again_before_another_that_reads_it() {
    // c reads a and b; b is there, a is not.
    let dir = tempfile::tempdir().unwrap();
    let text = r#"
[study]
name = "evicted"
metric = "f"
direction = "minimize"
strategy = "random"
budget = { trials = 2 }
[[stage]]
name = "a"
cost = 1
run = ["sh", "-c", 'echo 1 > "$1/v"', "sh", "{out}"]
[[stage]]
name = "b"
cost = 1
run = ["sh", "-c", 'echo 2 > "$1/v"', "sh", "{out}", "{a}"]
[[stage]]
name = "c"
cost = 1
run = ["sh", "-c", 'cat "$2/v" "$3/v"; echo "{{\"f\": $4}}" > "$1/result.json"', "sh", "{out}", "{a}", "{b}", "{x}"]
[stage.params]
x = { float = [0, 1] }
"#;
    let run = |trials: usize| {
        let text = text.replace("trials = 2", &format!("trials = {trials}"));
        let pipeline = pipeline(&text, dir.path());
        let executor = Arc::new(local(dir.path()));
        Owner::open(&pipeline, OwnerOptions::default(), executor, &Quiet).unwrap().run().unwrap().ledger
    };
    run(1);
    let cache = dir.path().join(".stagetune/cache");
    let entry_of = |stage: &str| {
        let entries = std::fs::read_dir(&cache).unwrap().map(|entry| entry.unwrap().path());
        let is = |path: &std::path::PathBuf| {
            let text = std::fs::read_to_string(path.join("entry.json")).unwrap();
            text.contains(&format!("\"stage\":\"{stage}\""))
        };
        entries.into_iter().find(is).unwrap()
    };
    std::fs::remove_dir_all(entry_of("a")).unwrap();
    let ledger = run(2);
    assert_eq!((ledger.observed, ledger.failed), (2, 0));
    let how: Vec<_> = ledger.trials[1].stages.iter().map(|row| row.how.as_str()).collect();
    assert_eq!(how, ["ran", "reused", "ran"]);
}
