//! A study in a directory of its own: commands with a bounded wait, and a look at everything that
//! must hold after each.

use super::oracle::{self, Said};
use super::sketch::Sketch;
use super::tally::{Finding, Kind, Tally};
use anyhow::{Context, Result};
use serde_json::Value;
use stagetune_pipeline::disk::Disk;
use stagetune_pipeline::log::{Log, Record, Sqlite, Stamped};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Where cases work, and with which program.
#[derive(Clone, Debug)]
pub struct Place {
    pub stagetune: PathBuf,
    pub dir: PathBuf,
    /// Directories of cases that found something stay.
    pub keep: bool,
    /// How long a command may take.
    pub longest: Duration,
    /// How long processes may live on when their owner is gone.
    pub longest_survival: Duration,
}

/// A study, what it said so far and what was found.
#[derive(Debug)]
pub struct World {
    place: Place,
    pub sketch: Sketch,
    /// Unique on this machine: the name of the study and of its directory.
    pub name: String,
    /// The study that is looked at.
    name_in_log: String,
    pub tally: Tally,
    pub findings: Vec<Finding>,
    /// What was shown as told, by trial: its value.
    shown: BTreeMap<u64, Value>,
    /// The records that were seen last.
    pub before: Vec<Record>,
}

/// How a command ended.
#[derive(Clone, Debug)]
pub struct Ran {
    /// Its exit code; none if it was killed.
    pub code: Option<i32>,
    pub killed: bool,
    pub out: String,
    pub error: String,
}

impl Ran {
    /// What it said last: an error stands on standard error, or in JSON on the last line.
    pub fn words(&self) -> &str {
        let error = self.error.trim();
        if error.is_empty() { self.out.lines().last().unwrap_or_default() } else { error }
    }
}

/// When a command is ended, if it has not ended by itself.
#[derive(Clone, Copy, Debug)]
pub enum Until {
    /// It may take its time, within bounds.
    Itself,
    /// Killed after that long.
    Killed(Duration),
    /// It kills itself, perhaps.
    KillsItself,
    /// Sent this signal after that long, and then waited for.
    Signalled(Duration, &'static str),
}

impl World {
    /// A directory with a pipeline file and nothing else.
    pub fn new(place: &Place, case: &str, sketch: Sketch) -> Result<Self> {
        let name = format!("{case}-{}", std::process::id());
        let world = Self {
            place: place.clone(),
            sketch,
            name_in_log: name.clone(),
            name,
            tally: Tally::default(),
            findings: Vec::new(),
            shown: BTreeMap::new(),
            before: Vec::new(),
        };
        let _ = fs::remove_dir_all(world.dir());
        fs::create_dir_all(world.root())?;
        fs::create_dir_all(world.dir().join("outside"))?;
        fs::write(world.root().join("pipeline.toml"), world.sketch.file(&world.name, &world.mark()))?;
        Ok(world)
    }

    pub fn dir(&self) -> PathBuf {
        self.place.dir.join(&self.name)
    }

    pub fn root(&self) -> PathBuf {
        self.dir().join("study")
    }

    pub fn state(&self) -> PathBuf {
        self.root().join(".stagetune")
    }

    pub fn stagetune(&self) -> &Path {
        &self.place.stagetune
    }

    /// A number that is in the command line of whatever a stage leaves running.
    fn mark(&self) -> String {
        let digits: String = self.name.bytes().map(|byte| format!("{byte:03}")).collect();
        // `sleep` takes as many digits after the point as one likes.
        digits
    }

    pub fn found(&mut self, kind: Kind, what: impl Into<String>) {
        self.findings.push(Finding { kind, what: what.into() });
    }

    /// The `stagetune` command in the study's directory.
    pub fn stagetune_does(&mut self, arguments: &[&str], until: Until) -> Result<Ran> {
        let mut command = Command::new(&self.place.stagetune);
        command.args(arguments);
        self.does(&mut command, until)
    }

    /// A command in the study's directory. What it shows as told is kept in mind.
    pub fn does(&mut self, command: &mut Command, until: Until) -> Result<Ran> {
        self.tally.commands += 1;
        let (out, error) = (self.dir().join("out.txt"), self.dir().join("error.txt"));
        command.current_dir(self.root()).stdin(Stdio::null());
        command.stdout(File::create(&out)?).stderr(File::create(&error)?);
        let mut child = command.spawn().with_context(|| format!("cannot start {command:?}"))?;
        let killed = self.wait(&mut child, until, &format!("{command:?}"))?;
        let status = child.wait()?;
        let text = |path: &Path| fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let ran = Ran {
            code: status.code(),
            killed: (killed || matches!(until, Until::KillsItself)) && status.signal() == Some(9),
            out: text(&out)?,
            error: text(&error)?,
        };
        if ran.code == Some(101) || ran.error.contains("panicked") {
            self.found(Kind::Panic, format!("{command:?}: {}", ran.error.trim()));
        } else if !ran.killed && status.signal().is_some() {
            self.found(Kind::Panic, format!("{command:?} ended with {status}: {}", ran.error.trim()));
        }
        self.remember(&ran.out);
        Ok(ran)
    }

    fn wait(&mut self, child: &mut Child, until: Until, what: &str) -> Result<bool> {
        let timer = Instant::now();
        let mut signalled = false;
        loop {
            if child.try_wait()?.is_some() {
                return Ok(false);
            }
            match until {
                Until::Killed(after) if timer.elapsed() >= after => {
                    child.kill()?;
                    return Ok(true);
                }
                Until::Signalled(after, signal) if timer.elapsed() >= after && !signalled => {
                    signalled = true;
                    let _ = Command::new("kill").args([signal, &child.id().to_string()]).status();
                }
                Until::Itself | Until::KillsItself | Until::Killed(_) | Until::Signalled(..) => {}
            }
            if timer.elapsed() > self.place.longest {
                self.found(
                    Kind::Hang,
                    format!("{what} had not ended after {} s", self.place.longest.as_secs()),
                );
                child.kill()?;
                return Ok(true);
            }
            // The instants of kills are spread finely, and nobody waits in a loop that costs a core.
            let rest = match until {
                Until::Killed(after) | Until::Signalled(after, _) => after.saturating_sub(timer.elapsed()),
                Until::Itself | Until::KillsItself => Duration::from_millis(2),
            };
            std::thread::sleep(rest.clamp(Duration::from_micros(50), Duration::from_millis(2)));
        }
    }

    /// Keeps in mind which trials were shown as told.
    fn remember(&mut self, out: &str) {
        for line in out.lines().filter(|line| line.contains("\"news\":\"told\"")) {
            let Ok(news) = serde_json::from_str::<Value>(line) else { continue };
            let Some(trial) = news["trial"].as_u64() else { continue };
            let value = news["value"].clone();
            if self.shown.get(&trial).is_some_and(|known| *known != value) {
                self.found(Kind::Twice, format!("trial {trial} was shown as told twice, with other values"));
            }
            self.shown.insert(trial, value);
        }
    }

    /// The log of the study of this name, if it can be read.
    pub fn records(&self) -> Result<Vec<Stamped>, String> {
        let path = self.state().join("journal.db");
        if !path.exists() {
            return Ok(Vec::new());
        }
        let log =
            Sqlite::open(&path, &self.name_in_log, Disk::default()).map_err(|error| error.to_string())?;
        log.read(0).map_err(|error| error.to_string())
    }

    /// The log must be readable, begin with what it held before, hold what was shown, and say what is right.
    pub fn look(&mut self) -> Result<Said> {
        let records = match self.records() {
            Ok(records) => records,
            Err(error) => {
                self.found(Kind::Lost, format!("the log cannot be read: {error}"));
                return Ok(Said::default());
            }
        };
        let now: Vec<Record> = records.iter().map(|stamped| stamped.record.clone()).collect();
        if let Some(at) = self.before.iter().enumerate().position(|(i, record)| now.get(i) != Some(record)) {
            let what = format!("record {at} of {} is not there any more", self.before.len());
            self.found(Kind::Lost, what);
        }
        self.before = now;
        let said = self.compare(&records);
        for trial in self.shown.keys().filter(|trial| !said.ended.contains_key(trial)) {
            let what = format!("trial {trial} was shown as told and is not in the log");
            self.findings.push(Finding { kind: Kind::Lost, what });
        }
        Ok(said)
    }

    /// What was shown as told, by trial; nothing is remembered from here on, of the records neither.
    pub fn forget(&mut self) -> BTreeMap<u64, Value> {
        self.before.clear();
        std::mem::take(&mut self.shown)
    }

    /// Another pipeline file takes the place of the first: of what was shown before nothing is
    /// known any more.
    pub fn begin_another(&mut self, file: &str) -> Result<()> {
        fs::write(self.root().join("pipeline.toml"), file)?;
        self.forget();
        Ok(())
    }

    /// The log of a study of another name in the same directory.
    pub fn look_at(&mut self, name: &str) -> Result<Said> {
        let first = std::mem::replace(&mut self.name_in_log, name.to_owned());
        let said = self.look();
        self.name_in_log = first;
        said
    }

    /// Compares a log, and what was shown, with the oracle.
    pub fn compare(&mut self, records: &[Stamped]) -> Said {
        let said = oracle::check(&self.sketch, records, &mut self.tally, &mut self.findings);
        for (trial, right) in &said.ended {
            if let Some(shown) = self.shown.get(trial)
                && shown.as_f64() != right.map(|right| right as f64)
            {
                let what = format!("trial {trial} was shown with {shown}, and {right:?} is right");
                self.findings.push(Finding { kind: Kind::Wrong, what });
            }
        }
        said
    }

    /// What people see of every trial at the end is what the oracle says.
    pub fn look_at_trials(&mut self, said: &Said) -> Result<()> {
        let ran = self.stagetune_does(&["trials", "--all", "--json"], Until::Itself)?;
        let trials: Vec<Value> = serde_json::from_str(&ran.out).unwrap_or_default();
        for (trial, right) in &said.ended {
            let row = trials.iter().find(|row| row["trial"].as_u64() == Some(*trial));
            let value = row.and_then(|row| row["value"].as_f64());
            if row.is_none() || value != right.map(|right| right as f64) {
                self.found(Kind::Wrong, format!("`trials` shows trial {trial} as {row:?}, not {right:?}"));
            }
        }
        Ok(())
    }

    /// Every entry of the cache is sound.
    pub fn verify(&mut self) -> Result<()> {
        let ran = self.stagetune_does(&["cache", "verify"], Until::Itself)?;
        if ran.code != Some(0) && !ran.killed {
            self.found(Kind::Wrong, format!("cache verify: {:?} {}{}", ran.code, ran.out, ran.error));
        }
        Ok(())
    }

    /// No process works in the directory any more, or did and has another one now.
    pub fn survivors(&mut self) -> Result<()> {
        let timer = Instant::now();
        loop {
            let left = self.processes();
            if left.is_empty() {
                return Ok(());
            }
            if timer.elapsed() > self.place.longest_survival {
                self.found(Kind::Survivor, format!("still there: {}", left.join("; ")));
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Those that work in the directory, have its name in their environment, or the mark in their
    /// command line.
    fn processes(&self) -> Vec<String> {
        let (dir, name, mark) = (self.dir(), self.name.clone().into_bytes(), self.mark().into_bytes());
        let found = fs::read_dir("/proc").into_iter().flatten().flatten();
        let ours = found.filter(|entry| entry.file_name().to_string_lossy().parse::<u32>().is_ok());
        let this = std::process::id().to_string();
        let ours = ours.filter(|entry| *entry.file_name() != *this).filter_map(|entry| {
            let path = entry.path();
            let command = fs::read(path.join("cmdline")).unwrap_or_default();
            let here = fs::read_link(path.join("cwd")).is_ok_and(|cwd| cwd.starts_with(&dir));
            let has = |bytes: &[u8], part: &[u8]| bytes.windows(part.len()).any(|window| window == part);
            // One that has ended and was not collected yet has no command line any more.
            let is_ours = !command.is_empty()
                && (here
                    || has(&command, &mark)
                    || has(&fs::read(path.join("environ")).unwrap_or_default(), &name));
            let command = String::from_utf8_lossy(&command).replace('\0', " ");
            is_ours.then(|| {
                format!(
                    "{} {}",
                    entry.file_name().to_string_lossy(),
                    command.chars().take(200).collect::<String>()
                )
            })
        });
        ours.collect()
    }

    /// Stages that ran to their end, by stage and value; they wrote it down outside.
    pub fn executions(&self) -> BTreeMap<String, u64> {
        let text = fs::read_to_string(self.dir().join("outside/runs")).unwrap_or_default();
        let mut runs = BTreeMap::new();
        for line in text.lines() {
            *runs.entry(line.to_owned()).or_default() += 1;
        }
        runs
    }

    /// Executions of what had been executed before.
    pub fn executed_again(&mut self) -> u64 {
        let runs = self.executions();
        self.tally.executions = runs.values().sum();
        runs.values().map(|runs| runs - 1).sum()
    }

    /// The end of a case: nothing hostile was done, nothing is left, and what it used goes.
    pub fn close(mut self) -> Result<(Tally, Vec<Finding>)> {
        if self.root().join("hacked").exists() {
            self.found(Kind::Wrong, "the text of a parameter was run as a command");
        }
        if self.findings.is_empty() || !self.place.keep {
            let _ = fs::remove_dir_all(self.dir());
        }
        Ok((self.tally, self.findings))
    }
}
