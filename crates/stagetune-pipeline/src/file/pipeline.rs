//! A checked pipeline: nothing in it needs to be checked again.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Map, Value};
use stagetune::objective::Metric;
use stagetune::space::Space;
use stagetune::study::{Direction, PRICE_SHARE, StopRules};

use super::template::Template;

/// How long a stage has to end by itself unless its file says otherwise.
pub const DEFAULT_GRACE: Duration = Duration::from_secs(2);

/// The largest cost of a stage: sums of larger ones would not be exact.
pub const DEAREST: f64 = 1e15;

/// Stages in order, what can be tuned in them, and how the study goes.
#[derive(Clone, Debug)]
pub struct Pipeline {
    /// The file, as it was named.
    pub file: PathBuf,
    /// The directory that holds the file, made absolute: stages run there, and state lives in
    /// `.stagetune/` below it.
    pub root: PathBuf,
    /// The conversation.
    pub study: StudyPlan,
    /// In the order of the file, in which every stage comes after those that it needs.
    pub stages: Vec<Stage>,
    /// One module for each stage, wired alike.
    pub space: Space,
    /// How many bytes the cache may hold; without a limit if `None`.
    pub cache_limit: Option<u64>,
}

/// How the study goes.
#[derive(Clone, Debug)]
pub struct StudyPlan {
    /// Its name in the journal; letters, digits, `-`, `_` and `.`.
    pub name: String,
    /// A number of the last stage's `result.json`, or of that of another stage.
    pub metric: Metric,
    /// What is better.
    pub direction: Direction,
    /// A name of the engine's catalogue, or `auto`.
    pub strategy: String,
    /// Its options.
    pub options: Map<String, Value>,
    /// What all dice come from.
    pub seed: u64,
    /// When to stop.
    pub budget: Budget,
    /// Trials that may fail from the beginning, before the study gives up on a pipeline that never works.
    pub give_up_after: usize,
    /// How long a fault of the world, such as a full disk, is waited for before the run ends.
    pub patience: Duration,
    /// A command that is run when the study waits, when it ends and when it finds a new best value;
    /// none if empty.
    pub notify: Vec<String>,
}

impl Pipeline {
    /// The same pipeline with a stage that is a function of the embedding program, registered under
    /// this name, instead of a command. The name is part of the key of the stage's outputs, so a
    /// function that changes takes another name. `None` if there is no such stage.
    pub fn with_call(mut self, stage: &str, name: &str) -> Option<Self> {
        let found = self.stages.iter_mut().find(|known| known.name == stage)?;
        found.call = Some(name.to_owned());
        Some(self)
    }
}

/// What `auto` stands for in a study that begins with this release; one that has begun keeps its strategy.
const AUTO: &str = "auto";

impl StudyPlan {
    /// The engine's name of the strategy that a new study begins with.
    pub fn engine_strategy(&self) -> &str {
        if self.is_auto() { AUTO } else { &self.strategy }
    }

    /// Whether the choice is left to stagetune.
    pub fn is_auto(&self) -> bool {
        self.strategy == "auto"
    }
}

impl Budget {
    /// The rules of the engine; time on the clock is a matter of the run loop.
    pub fn rules(&self) -> StopRules {
        StopRules {
            trials: self.trials,
            cost: self.cost,
            target: self.target,
            price: self.price.and_then(|price| match price {
                Price::PerCost(price) => Some(price),
                Price::Auto => None,
            }),
            price_share: self.price.filter(|price| *price == Price::Auto).map(|_| PRICE_SHARE),
            // The cache would answer a repeat with what is known.
            all_tried: true,
            ..StopRules::default()
        }
    }
}

/// When to stop: the first one reached ends the study.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Budget {
    /// Trials asked.
    pub trials: Option<usize>,
    /// What the stages that ran may cost, in seconds where costs are measured.
    pub cost: Option<f64>,
    /// Time with `stagetune run` at work.
    pub wall: Option<Duration>,
    /// A value that is good enough.
    pub target: Option<f64>,
    /// What a unit of cost must bring; without it nobody asks.
    pub price: Option<Price>,
}

/// What a unit of cost must be expected to bring, or the study ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Price {
    /// A thousandth of the spread of values for every full run's worth of cost, see
    /// [`PRICE_SHARE`](stagetune::study::PRICE_SHARE).
    Auto,
    /// So much of the metric for a second, or for a unit of the user's.
    PerCost(f64),
}

/// One command of the pipeline.
#[derive(Clone, Debug)]
pub struct Stage {
    /// Its name: letters, digits, `-` and `_`.
    pub name: String,
    /// The arguments, the program first.
    pub run: Vec<Template>,
    /// A function that the embedding program registered, which runs instead of a command.
    pub call: Option<String>,
    /// Files and directories whose content counts, relative to the root or absolute where declared
    /// as outside.
    pub inputs: Vec<PathBuf>,
    /// Variables that are set for the command; part of the cache key.
    pub env: BTreeMap<String, String>,
    /// Variables of the caller whose values are part of the cache key.
    pub watch_env: Vec<String>,
    /// How long it may take.
    pub timeout: Option<Duration>,
    /// How long it has to end after it was asked to; then it is killed.
    pub grace: Duration,
    /// How often a failed run is tried again.
    pub retries: u32,
    /// What a run costs.
    pub cost: StageCost,
    /// The stages that it needs directly, by number, all lower than its own.
    pub after: Vec<usize>,
    /// Names of its parameters, in the order of the file.
    pub params: Vec<String>,
}

/// What a run of a stage costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StageCost {
    /// The seconds that it took.
    Measured,
    /// The key `cost` of the stage's own `result.json`.
    Reported,
    /// Known beforehand.
    Given(f64),
}
