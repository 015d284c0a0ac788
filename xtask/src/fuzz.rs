//! `cargo xtask fuzz`: every fuzz target for a while, on stable Rust.
//!
//! The targets of `fuzz/` are built with LLVM's coverage pass and without a sanitizer, which is what stable Rust can do. Only the crates whose paths
//! the fuzzer should learn are instrumented, so that it is not led astray by those of the linear algebra: this program stands in for `rustc` and adds
//! the flags for these.

use crate::step;
use anyhow::{Context, Result, bail};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

/// What to fuzz, and for how long.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// One target; all of them without.
    target: Option<String>,
    /// Seconds for each target.
    #[arg(long, default_value_t = 60)]
    seconds: u32,
}

impl Options {
    /// Every target for as long as a check before a change can wait.
    pub fn briefly() -> Self {
        Self { target: None, seconds: 10 }
    }
}

/// The targets with the folders and files that their seeds come from.
const TARGETS: [(&str, &[&str]); 2] = [
    ("pipeline_file", &["crates/stagetune-pipeline/tests/malformed", "fuzz/seeds/pipeline_file"]),
    ("journal", &["fuzz/seeds/journal"]),
];

/// Set for the compiler's stand-in.
const STAND_IN: &str = "STAGETUNE_FUZZ_RUSTC";

/// The crates whose paths the fuzzer learns.
const INSTRUMENTED: [&str; 6] =
    ["stagetune", "stagetune_pipeline", "toml", "toml_parser", "pipeline_file", "journal"];

/// What makes a program tell the fuzzer where it has been.
const COVERAGE: [&str; 6] = [
    "--cfg=fuzzing",
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
];

/// Inputs longer than this find little that shorter ones do not.
const MOST_BYTES: &str = "-max_len=8192";

/// An input that takes longer than this many seconds counts as a crash; an unoptimised build on a busy machine is slow.
const SLOWEST: &str = "-timeout=20";

/// How many of the last lines of a target that crashed are shown.
const SHOWN: usize = 60;

/// Builds and runs the targets.
pub fn run(options: &Options) -> Result<()> {
    let chosen: Vec<_> = TARGETS
        .iter()
        .filter(|(name, _)| options.target.as_deref().is_none_or(|only| only == *name))
        .collect();
    if chosen.is_empty() {
        let names = TARGETS.map(|(name, _)| name).join(", ");
        bail!("there is no such fuzz target; there are {names}");
    }
    let started = Instant::now();
    step::run(&mut build()?)?;
    println!("built in {:.0} s", started.elapsed().as_secs_f64());
    for (name, seeds) in chosen {
        step::timed(&format!("fuzz {name}"), || fuzz(name, seeds, options.seconds))?;
    }
    Ok(())
}

/// The compiler's stand-in, if this process was started as one.
pub fn stand_in() -> Option<ExitCode> {
    std::env::var_os(STAND_IN)?;
    let mut arguments = std::env::args_os().skip(1);
    let mut rustc = Command::new(arguments.next()?);
    let arguments: Vec<OsString> = arguments.collect();
    let named = arguments.iter().position(|argument| argument == "--crate-name").map(|at| at + 1);
    let name = named.and_then(|at| arguments.get(at)).map(|name| name.to_string_lossy());
    if name.is_some_and(|name| INSTRUMENTED.contains(&name.as_ref())) {
        rustc.args(COVERAGE);
    }
    match rustc.args(arguments).status() {
        Ok(status) => Some(ExitCode::from(u8::try_from(status.code().unwrap_or(1)).unwrap_or(1))),
        Err(error) => {
            eprintln!("cannot start rustc: {error}");
            Some(ExitCode::FAILURE)
        }
    }
}

fn target_folder() -> PathBuf {
    step::root().join("target/fuzz")
}

fn build() -> Result<Command> {
    let mut cargo = step::cargo(&["build", "--quiet", "--manifest-path", "fuzz/Cargo.toml"]);
    cargo
        .env("RUSTC_WRAPPER", std::env::current_exe().context("cannot find this program")?)
        .env(STAND_IN, "1")
        .env("CARGO_TARGET_DIR", target_folder());
    Ok(cargo)
}

/// Runs one target; what crashed it is kept in `fuzz/crashes/`.
fn fuzz(name: &str, seeds: &[&str], seconds: u32) -> Result<()> {
    let root = step::root();
    // What the fuzzer finds out is kept between runs, apart from the seeds.
    let corpus = target_folder().join("corpus").join(name);
    let crashes = root.join("fuzz/crashes").join(name);
    for folder in [&corpus, &crashes] {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    }
    let log = target_folder().join(format!("{name}.log"));
    let file = std::fs::File::create(&log).with_context(|| format!("cannot write {}", log.display()))?;
    let mut target = Command::new(target_folder().join("debug").join(name));
    target
        .arg(&corpus)
        .args(seeds.iter().map(|seeds| root.join(seeds)).filter(|seeds| seeds.is_dir()))
        .args([
            &format!("-max_total_time={seconds}"),
            MOST_BYTES,
            SLOWEST,
            "-rss_limit_mb=2048",
            "-verbosity=0",
        ])
        .args(["-print_final_stats=1", &format!("-artifact_prefix={}/", crashes.display())])
        .stderr(file);
    let words = root.join("fuzz/words").join(format!("{name}.dict"));
    if words.is_file() {
        target.arg(format!("-dict={}", words.display()));
    }
    let ended = step::run(&mut target);
    let said =
        std::fs::read(&log).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    if ended.is_err() {
        let lines: Vec<&str> = said.lines().collect();
        let last = lines.iter().skip(lines.len().saturating_sub(SHOWN)).copied();
        println!("{}", last.collect::<Vec<_>>().join("\n"));
    }
    for fact in said.lines().filter_map(|line| line.strip_prefix("stat::")) {
        println!("{fact}");
    }
    ended.with_context(|| format!("the input that did it is in {}", shown(&crashes, &root)))
}

fn shown(path: &Path, root: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).display().to_string()
}
