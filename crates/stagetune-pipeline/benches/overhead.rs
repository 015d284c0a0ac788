//! What stagetune adds to the commands that it runs: reused and executed stages.
//!
//! `cargo bench -p stagetune-pipeline`; `cargo xtask evidence overhead` measures the whole command against a shell loop.

// Clippy lets tests unwrap and panic but not the helpers beside them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use divan::Bencher;
use stagetune_pipeline::executor::{Local, LocalOptions};
use stagetune_pipeline::file::Pipeline;
use stagetune_pipeline::owner::{Owner, OwnerOptions, Quiet};
use stagetune_pipeline::state_dir::StateDir;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

fn main() {
    divan::main();
}

fn pipeline(root: &Path, name: &str, trials: usize) -> Pipeline {
    let text = format!(
        r#"
[study]
name = "{name}"
metric = "f"
direction = "minimize"
strategy = "random"
budget = {{ trials = {trials} }}
[[stage]]
name = "first"
run = ["true", "{{out}}"]
[[stage]]
name = "second"
run = ["sh", "-c", 'echo "{{{{\"f\": 1}}}}" > "$1/result.json"', "sh", "{{out}}", "{{x}}"]
[stage.params]
x = {{ float = [0, 1] }}
"#
    );
    Pipeline::parse(&text, Path::new("pipeline.toml"), root).expect("a good file")
}

fn run(pipeline: &Pipeline) {
    let attempts = StateDir::of(&pipeline.root).attempts();
    let executor = Arc::new(Local::new(LocalOptions { attempts, ..LocalOptions::default() }));
    Owner::open(pipeline, OwnerOptions::default(), executor, &Quiet).and_then(Owner::run).expect("a run");
}

/// Ten trials: one stage is reused and one runs in each.
#[divan::bench(sample_count = 10)]
fn ten_trials_with_new_values(bencher: Bencher) {
    let dir = tempfile::tempdir().expect("a directory");
    let numbers = AtomicU64::new(0);
    bencher
        .with_inputs(|| {
            let number = numbers.fetch_add(1, Ordering::Relaxed);
            let mut pipeline = pipeline(dir.path(), &format!("s{number}"), 10);
            pipeline.study.seed = number;
            pipeline
        })
        .bench_values(|pipeline| run(&pipeline));
}

/// Ten trials that another study has run: every stage is reused.
#[divan::bench(sample_count = 10)]
fn ten_trials_from_the_cache(bencher: Bencher) {
    let dir = tempfile::tempdir().expect("a directory");
    run(&pipeline(dir.path(), "before", 10));
    let numbers = AtomicU64::new(0);
    bencher
        .with_inputs(|| pipeline(dir.path(), &format!("s{}", numbers.fetch_add(1, Ordering::Relaxed)), 10))
        .bench_values(|pipeline| run(&pipeline));
}
