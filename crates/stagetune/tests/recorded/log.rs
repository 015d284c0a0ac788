//! A recorded log: what was asked and told, in plain JSON.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// All runs of one scenario.
#[derive(Serialize, Deserialize)]
pub struct Log {
    /// The vector instructions of the machine that recorded it.
    pub instructions: String,
    pub runs: Vec<Run>,
}

/// One strategy at work.
#[derive(Serialize, Deserialize)]
pub struct Run {
    pub strategy: String,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub options: Map<String, Value>,
    pub steps: Vec<Step>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    Asked(Box<Asked>),
    Value { trial: u64, value: f64, costs: Vec<Option<f64>> },
    Failure { trial: u64, finished: usize, broke: Option<usize>, costs: Vec<Option<f64>> },
}

/// A proposal: the point, and all numbers that led to it.
#[derive(Serialize, Deserialize, PartialEq, Debug)]
pub struct Asked {
    pub point: Map<String, Value>,
    pub source: String,
    /// Numbers by name: what the model believes, its hyper-parameters, the bandit's arms.
    #[serde(default)]
    pub numbers: std::collections::BTreeMap<String, Vec<f64>>,
}

impl Step {
    pub fn asked_mut(&mut self) -> Option<&mut Asked> {
        match self {
            Self::Asked(asked) => Some(asked),
            _ => None,
        }
    }
}

impl Log {
    pub fn read(name: &str) -> Self {
        let path = path(name);
        let text =
            std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// One step on a line, so that a diff shows the proposals that changed.
    pub fn write(&self, name: &str) {
        let mut text = format!("{{\"instructions\":{:?},\"runs\":[\n", self.instructions);
        for (i, run) in self.runs.iter().enumerate() {
            let (strategy, options) = (&run.strategy, serde_json::to_string(&run.options).unwrap());
            text += &format!("{{\"strategy\":{strategy:?},\"options\":{options},\"steps\":[\n");
            let steps: Vec<String> =
                run.steps.iter().map(|step| serde_json::to_string(step).unwrap()).collect();
            text += &steps.join(",\n");
            text += if i + 1 < self.runs.len() { "\n]},\n" } else { "\n]}\n" };
        }
        text += "]}\n";
        std::fs::write(path(name), text).unwrap();
    }
}

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/recorded/logs").join(format!("{name}.json"))
}

/// What decides how sums are rounded on this machine.
pub fn instructions() -> String {
    #[cfg(target_arch = "x86_64")]
    {
        let mut found = vec!["x86-64"];
        if is_x86_feature_detected!("avx2") {
            found.push("avx2");
        }
        if is_x86_feature_detected!("fma") {
            found.push("fma");
        }
        if is_x86_feature_detected!("avx512f") {
            found.push("avx512f");
        }
        found.join(" ")
    }
    #[cfg(not(target_arch = "x86_64"))]
    std::env::consts::ARCH.to_owned()
}
