//! A study in a directory of its own, with stages that are shell scripts of a few milliseconds.

use serde_json::Value;
use stagetune::study::Event;
use stagetune_pipeline::disk::Disk;
use stagetune_pipeline::log::{Log, Record, Sqlite, Stamped};
use stagetune_pipeline::outputs::{Cache, KeyId, Verdict};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use tempfile::TempDir;

/// A directory with a pipeline file, and one outside of it for what stages count.
pub struct Lab {
    dir: TempDir,
}

/// Three stages whose metric is (a − 7)² + (b − 11)² + (c − 23)², which note every run in a file outside.
pub const THREE: &str = r#"
[study]
name = "three"
metric = "f"
direction = "minimize"
strategy = "lambo"
seed = 3
budget = { trials = 40 }

[[stage]]
name = "first"
cost = 10
run = ["sh", "-c", 'echo "first $1" >> ../outside/runs; sleep 0.003; echo $((($1-7)*($1-7))) > "$2/v"', "sh", "{a}", "{out}"]
[stage.params]
a = { int = [0, 20] }

[[stage]]
name = "second"
cost = 3
run = ["sh", "-c", 'read v < "$3/v"; echo "second $1 $3" >> ../outside/runs; sleep 0.002; echo $((v+($1-11)*($1-11))) > "$2/v"', "sh", "{b}", "{out}", "{first}"]
[stage.params]
b = { int = [0, 20] }

[[stage]]
name = "third"
cost = 1
run = ["sh", "-c", 'read v < "$3/v"; echo "third $1 $3 $4" >> ../outside/runs; echo "{{\"f\": $((v+($1-23)*($1-23)))}}" > "$2/result.json"', "sh", "{c}", "{out}", "{second}", "{mode}"]
[stage.params]
c = { int = [0, 50] }
mode = { choice = ["plain", "$(touch ../outside/hacked); `touch ../outside/hacked`"] }
"#;

impl Lab {
    pub fn new(pipeline: &str) -> Self {
        let lab = Self { dir: tempfile::tempdir().unwrap() };
        fs::create_dir(lab.root()).unwrap();
        fs::create_dir(lab.outside()).unwrap();
        lab.write(pipeline);
        lab
    }

    pub fn root(&self) -> PathBuf {
        self.dir.path().join("study")
    }

    pub fn outside(&self) -> PathBuf {
        self.dir.path().join("outside")
    }

    pub fn write(&self, pipeline: &str) {
        fs::write(self.root().join("pipeline.toml"), pipeline).unwrap();
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_stagetune"));
        command.args(arguments).current_dir(self.root()).stdin(Stdio::null());
        command
    }

    pub fn stagetune(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Runs a command that must succeed, and gives back what it printed.
    pub fn done(&self, arguments: &[&str]) -> String {
        let output = self.stagetune(arguments);
        assert!(output.status.success(), "{arguments:?}: {}{}", said(&output), text(&output.stderr));
        said(&output)
    }

    pub fn json(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.done(arguments)).unwrap()
    }

    pub fn start(&self, arguments: &[&str]) -> Child {
        self.command(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    pub fn records(&self, study: &str) -> Vec<Stamped> {
        let path = self.root().join(".stagetune/journal.db");
        if !path.exists() {
            return Vec::new();
        }
        // A journal that was killed while it was made has no tables yet.
        Sqlite::open(&path, study, Disk::default()).unwrap().read(0).unwrap()
    }

    /// How often each line was written to the file outside.
    pub fn runs(&self) -> BTreeMap<String, usize> {
        let text = fs::read_to_string(self.outside().join("runs")).unwrap_or_default();
        let mut runs = BTreeMap::new();
        for line in text.lines() {
            *runs.entry(line.to_owned()).or_default() += 1;
        }
        runs
    }

    pub fn assert_cache_is_whole(&self) {
        let state = self.root().join(".stagetune");
        if !state.join("cache").exists() {
            return;
        }
        let cache = Cache::at(&state, Disk::default(), None);
        for listed in cache.list().unwrap() {
            assert_eq!(cache.verify(&listed), Verdict::Sound, "{:?}", listed.dir);
        }
        for found in fs::read_dir(state.join("cache")).unwrap() {
            let name = found.unwrap().file_name().into_string().unwrap();
            let is_entry = KeyId::try_from(name.clone()).is_ok();
            let is_pack = ["packed.db", "packed.db-wal", "packed.db-shm"].contains(&name.as_str());
            assert!(is_entry || is_pack, "cache/{name} is no entry");
        }
    }
}

/// A story without times and owners: the events of trials, and what each reused output had cost.
pub type Story = Vec<(Event, Option<f64>)>;

pub fn story(records: &[Stamped]) -> Story {
    let of_trials = |record: &Record| match &record.event {
        Event::Started(_)
        | Event::Asked { .. }
        | Event::Attached { .. }
        | Event::Settled { .. }
        | Event::Reported { .. }
        | Event::Ended { .. } => true,
        // Of whom the study belonged to, and which attempts it took, a killed one has more to tell.
        Event::Owned { .. }
        | Event::Released { .. }
        | Event::Launched { .. }
        | Event::Paused { .. }
        | Event::Resumed
        | Event::Noted { .. } => false,
    };
    let kept = records.iter().map(|stamped| &stamped.record).filter(|record| of_trials(record));
    kept.map(|record| (record.event.clone(), record.run.as_ref().map(|run| run.saved))).collect()
}

/// What was told so far, by trial.
pub fn told(records: &[Stamped]) -> Vec<Event> {
    let told = |event: &&Event| matches!(event, Event::Ended { .. });
    records.iter().map(|stamped| &stamped.record.event).filter(told).cloned().collect()
}

pub fn said(output: &Output) -> String {
    text(&output.stdout)
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Numbers that look random and are the same at every run of the tests.
pub struct Dice(pub u64);

impl Dice {
    pub fn below(&mut self, limit: u64) -> u64 {
        // Steele, Lea & Flood's SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % limit
    }
}

pub fn send(child: &Child, signal: &str) {
    let pid = child.id().to_string();
    assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
}

pub fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..1000 {
        if holds() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("waited ten seconds for {what}");
}

/// Whether a file outside has so many lines.
pub fn has_lines(path: &Path, count: usize) -> bool {
    fs::read_to_string(path).is_ok_and(|text| text.lines().count() >= count)
}
