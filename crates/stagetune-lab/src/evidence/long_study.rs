//! What a long study costs to open and to look at: a journal of many trials, failures among them,
//! and the real command.

use super::Finding;
use super::overhead::{median, program};
use anyhow::{Context, Result, ensure};
use clap::Args;
use stagetune::study::{Event, Owner, Study};
use stagetune::trial::{End, StageReport, TrialId};
use stagetune_pipeline::disk::Disk;
use stagetune_pipeline::file::Pipeline;
use stagetune_pipeline::log::{Log, Record, Run, Session, Sqlite, Stamped};
use stagetune_pipeline::owner::{Keys, definition, study};
use stagetune_pipeline::state_dir::StateDir;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

pub const CLAIM: &str = "a study with 20,000 trials and 160,000 records opens in under 1 s";

/// What is allowed to open, in seconds.
const ALLOWED: f64 = 1.0;

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
        open < ALLOWED,
        &serde_json::json!({
            "trials": options.trials, "records": records, "journal_bytes": journal, "repeats": options.repeats,
            "open_seconds": open, "allowed_open_seconds": ALLOWED,
            "status_seconds": status,
            "best_seconds": best, "trials_seconds": trials, "report_seconds": report,
        }),
    )
}

fn pipeline(trials: usize, seed: u64) -> String {
    let stages = ["denoise", "train", "score"].map(|stage| {
        format!(
            "[[stage]]\nname = \"{stage}\"\nrun = \
                [\"true\", \"{{out}}\", \"{{{stage}_x}}\", \"{{{stage}_n}}\"]\n[stage.params]\n{stage}_x = {{ float = [0, 1] }}\n{stage}_n = {{ int = [1, 3] }}\n"
        )
    });
    format!(
        "[study]\nname = \"long\"\nmetric = \"f\"\ndirection = \"minimize\"\nstrategy \
            = \"random\"\nseed = {seed}\nbudget = {{ trials = {trials} }}\n{}",
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
    let session = Session { workers: 1, definition: definition(&pipeline, &Keys::new(&pipeline)?) };
    let mut records = Vec::new();
    let mut add = |study: &mut Study, at: f64, record: Record| -> Result<()> {
        study.apply(&record.event)?;
        records.push(Stamped { at, record });
        Ok(())
    };
    let started = study.started();
    add(&mut study, 1.0, started.into())?;
    let by = Owner { host: "lab".into(), process: 1, ..Owner::default() };
    add(&mut study, 1.0, Record { session: Some(session), ..Record::from(Event::Owned { epoch: 1, by }) })?;
    for number in 0..trials {
        let (at, trial) = (1.0 + number as f64, TrialId::new(number as u64));
        let proposal = Box::new(study.propose()?);
        let x = proposal.point.get("train_x").and_then(|x| x.as_float()).context("a float")?;
        add(&mut study, at, Event::Asked { trial, proposal }.into())?;
        let fails = number % FAIL_EVERY == FAIL_EVERY - 1;
        for (m, stage) in pipeline.stages.iter().enumerate() {
            let (stage, key) = (stage.name.clone(), "0123456789abcdef0123456789abcdef".to_owned());
            let token = format!("long.{key}.1.{number:016x}{m}");
            add(
                &mut study,
                at,
                Event::Launched { trial, stage: stage.clone(), key: key.clone(), token }.into(),
            )?;
            let report = match m {
                2 if fails => StageReport::failed(Some(1.0)),
                2 => StageReport::ran(Some(1.0)).with_metric("f", (x - 0.3).powi(2)),
                _ => StageReport::ran(Some(1.0)).with_metric("loss", x),
            };
            let run = Run {
                key,
                saved: 0.0,
                seconds: 1.0,
                began: at,
                ended: at + 0.1,
                attempts: 1,
                ..Run::default()
            };
            let event = Event::Reported { trial, stage, report };
            add(&mut study, at, Record { run: Some(run), ..Record::from(event) })?;
        }
        let reason = "stage `score` ended with exit code 1".to_owned();
        let end = match fails {
            true => End::Failed { stage: Some("score".into()), finished: 2, reason },
            false => End::Finished,
        };
        let ended = study.ended(trial, end)?;
        add(&mut study, at + 0.5, ended.into())?;
    }
    journal.append(0, &records)?;
    Ok(records.len())
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
