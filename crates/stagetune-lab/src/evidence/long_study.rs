//! What a long study costs to open and to look at: a journal of many trials, failures among them, and the real command.

use super::Finding;
use super::overhead::{median, program};
use anyhow::{Context, Result, ensure};
use clap::Args;
use stagetune_pipeline::disk::Disk;
use stagetune_pipeline::file::Pipeline;
use stagetune_pipeline::journal::{Journal, Record, Sqlite, Stamped};
use stagetune_pipeline::record::{How, StageRecord};
use stagetune_pipeline::run_loop::{Keys, definition, study};
use stagetune_pipeline::state_dir::StateDir;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

pub const CLAIM: &str =
    "a study with 20,000 trials opens in under 2 s, and `stagetune status` answers in under 200 ms";

/// What is allowed to open and to answer, in seconds.
const ALLOWED: (f64, f64) = (2.0, 0.2);

/// One trial in so many fails.
const FAIL_EVERY: usize = 10;

/// The size of the study.
#[derive(Debug, Args)]
pub struct Options {
    /// Trials in the journal.
    #[arg(long, default_value_t = 20_000)]
    trials: usize,
    /// How often everything is measured.
    #[arg(long, default_value_t = 7)]
    repeats: usize,
    /// The program to measure; without it the one beside this program.
    #[arg(long)]
    stagetune: Option<PathBuf>,
}

/// Writes the journal and times the command on it.
pub fn run(options: &Options, seed: u64) -> Result<Finding> {
    ensure!(options.trials > 0 && options.repeats > 0, "there must be something to measure");
    let stagetune = program(options.stagetune.as_ref())?;
    let dir = tempfile::tempdir()?;
    let file = dir.path().join("pipeline.toml");
    std::fs::write(&file, pipeline(options.trials, seed))?;
    let records = write(&file, options.trials)?;
    eprintln!("long-study: {records} records written");
    // The study is complete: a run opens it, finds that its budget is reached, and closes it.
    let open = repeated(options.repeats, || timed(&stagetune, dir.path(), &["run", "--quiet"]))?;
    let status = repeated(options.repeats, || timed(&stagetune, dir.path(), &["status"]))?;
    let best = repeated(options.repeats, || timed(&stagetune, dir.path(), &["best"]))?;
    let trials = repeated(options.repeats, || timed(&stagetune, dir.path(), &["trials"]))?;
    let report =
        repeated(options.repeats, || timed(&stagetune, dir.path(), &["report", "-o", "report.html"]))?;
    let journal = std::fs::metadata(dir.path().join(".stagetune/journal.db"))?.len();
    Finding::new(
        open < ALLOWED.0 && status < ALLOWED.1,
        &serde_json::json!({
            "trials": options.trials, "records": records, "journal_bytes": journal, "repeats": options.repeats,
            "open_seconds": open, "allowed_open_seconds": ALLOWED.0,
            "status_seconds": status, "allowed_status_seconds": ALLOWED.1,
            "best_seconds": best, "trials_seconds": trials, "report_seconds": report,
        }),
    )
}

fn pipeline(trials: usize, seed: u64) -> String {
    let stages = ["denoise", "train", "score"].map(|stage| {
        format!(
            "[[stage]]\nname = \"{stage}\"\nrun = [\"true\", \"{{out}}\", \"{{{stage}_x}}\", \"{{{stage}_n}}\"]\n[stage.params]\n{stage}_x = {{ float = [0, 1] }}\n{stage}_n = {{ int = [1, 3] }}\n"
        )
    });
    format!(
        "[study]\nname = \"long\"\nmetric = \"f\"\ndirection = \"minimize\"\nstrategy = \"random\"\nseed = {seed}\nbudget = {{ trials = {trials} }}\n{}",
        stages.concat()
    )
}

/// A journal as a run would have written it, without the run.
fn write(file: &Path, trials: usize) -> Result<usize> {
    let pipeline = Pipeline::load(file)?;
    let mut study = study(&pipeline, "random")?;
    let state = StateDir::of(&pipeline.root);
    let disk = Disk::default();
    state.make("long", &disk)?;
    let mut journal = Sqlite::open(&state.journal(), "long", disk)?;
    let definition = definition(&pipeline, &Keys::new(&pipeline)?);
    let opened = Record::Opened {
        release: env!("CARGO_PKG_VERSION").into(),
        process: 1,
        host: "lab".into(),
        workers: 1,
        definition,
    };
    let mut records = vec![Stamped { at: 0.0, record: opened }];
    for number in 0..trials {
        let (at, written) = (number as f64, study.events().len());
        let trial = study.ask()?;
        let asked = study.events_since(written).iter();
        records.extend(asked.map(|event| Stamped { at, record: Record::Study { event: event.clone() } }));
        let failed = number % FAIL_EVERY == FAIL_EVERY - 1;
        let stages: Vec<StageRecord> =
            pipeline.stages.iter().map(|stage| ran(&stage.name, at, failed)).collect();
        let measured = vec![Some(1.0); stages.len()];
        let written = study.events().len();
        if failed {
            study.tell(trial.fail("stage `score` ended with exit code 1").after(2).measured(measured)?)?;
        } else {
            let x = trial.point().get("train_x").and_then(|x| x.as_float()).context("a float")?;
            study.tell(trial.observe((x - 0.3).powi(2))?.measured(measured)?)?;
        }
        let charged = study.account().charges().last().and_then(|charge| charge.cost);
        let told = study.events_since(written).iter();
        records.extend(told.map(|event| Stamped {
            at: at + 0.5,
            record: Record::Told { event: event.clone(), charged, stages: stages.clone() },
        }));
    }
    journal.append(0, &records)?;
    Ok(records.len())
}

fn ran(stage: &str, at: f64, failed: bool) -> StageRecord {
    let how = if failed && stage == "score" { How::Failed } else { How::Ran };
    let key = "0123456789abcdef0123456789abcdef".to_owned();
    StageRecord {
        stage: stage.into(),
        how,
        key,
        cost: 1.0,
        seconds: 1.0,
        began: at,
        ended: at + 0.1,
        attempts: 1,
    }
}

fn repeated(repeats: usize, measure: impl Fn() -> Result<f64>) -> Result<f64> {
    let mut seconds = (0..repeats).map(|_| measure()).collect::<Result<Vec<_>>>()?;
    Ok(median(&mut seconds))
}

fn timed(stagetune: &Path, dir: &Path, arguments: &[&str]) -> Result<f64> {
    let started = Instant::now();
    let status = Command::new(stagetune).args(arguments).current_dir(dir).stdout(Stdio::null()).status()?;
    ensure!(status.success(), "stagetune {arguments:?} ended with {status}");
    Ok(started.elapsed().as_secs_f64())
}
