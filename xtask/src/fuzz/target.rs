//! One fuzz target: its seeds, its words, and one run of it.

use super::build;
use crate::step;
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// A target of `fuzz/targets`.
pub struct Target {
    pub name: &'static str,
    /// Folders of inputs that it starts from, beside those that were found and are kept.
    seeds: &'static [&'static str],
    /// The longest input in bytes: longer ones find little that shorter ones do not, and take longer.
    most_bytes: u32,
}

/// Every target.
pub const TARGETS: [Target; 4] = [
    Target { name: "pipeline_file", seeds: &["crates/stagetune-pipeline/tests/malformed"], most_bytes: 4096 },
    Target { name: "journal", seeds: &[], most_bytes: 4096 },
    Target { name: "result_json", seeds: &[], most_bytes: 1024 },
    Target { name: "expressions", seeds: &[], most_bytes: 1024 },
];

/// When a run ends by itself.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    pub seconds: u64,
    pub executions: Option<u64>,
}

/// What a run did.
#[derive(Debug)]
pub struct Done {
    pub executions: u64,
    pub seconds: f64,
    /// An error if an input crashed the target, took too long or too much memory.
    pub ended: Result<()>,
}

/// An input that takes longer than this many seconds counts as a crash; a busy machine is slow.
const SLOWEST: &str = "-timeout=30";

/// How many of the last lines of a target that crashed are shown.
const SHOWN: usize = 60;

impl Target {
    /// What the fuzzer has found out; it is kept between runs, apart from the seeds.
    pub fn corpus(&self) -> PathBuf {
        build::folder().join("corpus").join(self.name)
    }

    /// The inputs that are kept with the sources.
    fn kept(&self) -> PathBuf {
        step::root().join("fuzz/seeds").join(self.name)
    }

    /// Runs the target; what crashed it is kept in `fuzz/crashes/`.
    pub fn run(&self, program: &Path, limit: Limit) -> Result<Done> {
        let root = step::root();
        let crashes = root.join("fuzz/crashes").join(self.name);
        make(&crashes)?;
        let mut command = self.command(program)?;
        command.arg(self.corpus()).arg(self.kept()).args(self.seeds.iter().map(|seeds| root.join(seeds)));
        command.args([
            &format!("-max_total_time={}", limit.seconds),
            &format!("-max_len={}", self.most_bytes),
            &format!("-artifact_prefix={}/", crashes.display()),
            SLOWEST,
            "-rss_limit_mb=2048",
            "-print_final_stats=1",
            "-verbosity=0",
            // An input that takes long is tried less often, as it finds less in the same time.
            "-entropic_scale_per_exec_time=1",
        ]);
        if let Some(executions) = limit.executions {
            command.arg(format!("-runs={executions}"));
        }
        let words = root.join("fuzz/words").join(format!("{}.dict", self.name));
        if words.is_file() {
            command.arg(format!("-dict={}", words.display()));
        }
        let started = Instant::now();
        let ended = step::run(&mut command);
        let seconds = started.elapsed().as_secs_f64();
        let said = self.said();
        if ended.is_err() {
            let lines: Vec<&str> = said.lines().collect();
            println!("{}", lines.get(lines.len().saturating_sub(SHOWN)..).unwrap_or_default().join("\n"));
        }
        let where_it_is = format!("the input that did it is in {}", shown(&crashes, &root));
        Ok(Done { executions: executions(&said), seconds, ended: ended.context(where_it_is) })
    }

    /// The program, whose words go into a file.
    fn command(&self, program: &Path) -> Result<Command> {
        make(&self.corpus())?;
        let log = self.log();
        let file = std::fs::File::create(&log).with_context(|| format!("cannot write {}", log.display()))?;
        let mut command = Command::new(program);
        command.stderr(file);
        Ok(command)
    }

    fn log(&self) -> PathBuf {
        build::folder().join(format!("{}.log", self.name))
    }

    fn said(&self) -> String {
        std::fs::read(self.log())
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .unwrap_or_default()
    }
}

/// How many files of how many bytes are in a folder.
pub fn size(folder: &Path) -> (u64, u64) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let sizes = entries.filter_map(|entry| entry.metadata().ok()).map(|found| found.len());
    sizes.fold((0, 0), |(files, bytes), size| (files + 1, bytes + size))
}

/// The executions that a run counted.
fn executions(said: &str) -> u64 {
    let line = said.lines().find_map(|line| line.strip_prefix("stat::number_of_executed_units:"));
    line.and_then(|number| number.trim().parse().ok()).unwrap_or(0)
}

fn make(folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))
}

fn shown(path: &Path, root: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).display().to_string()
}
