//! What cases count, and what they find.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A result that was told, or a record, is missing.
    Lost,
    /// A value, an end or a reuse is not the right one.
    Wrong,
    /// Something was told twice.
    Twice,
    /// Exit code 101, or the words of a panic.
    Panic,
    /// A process of a stage outlived its owner.
    Survivor,
    /// A command took longer than it may.
    Hang,
    /// A run that could have gone on did not.
    Refused,
    /// Damage that `cache verify` did not see.
    Unseen,
}

impl Kind {
    pub const ALL: [Self; 8] = [
        Self::Lost,
        Self::Wrong,
        Self::Twice,
        Self::Panic,
        Self::Survivor,
        Self::Hang,
        Self::Refused,
        Self::Unseen,
    ];

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Lost => "lost",
            Self::Wrong => "wrong",
            Self::Twice => "twice",
            Self::Panic => "panics",
            Self::Survivor => "survivors",
            Self::Hang => "hangs",
            Self::Refused => "refused",
            Self::Unseen => "unseen",
        }
    }
}

/// Something that must not be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    pub kind: Kind,
    pub what: String,
}

/// What was done and looked at.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Tally {
    /// Times that an owner was killed.
    pub kills: u64,
    /// Of these, at a certain write.
    pub kills_at_writes: u64,
    /// Files damaged.
    pub damages: u64,
    /// Writes that failed.
    pub failed_writes: u64,
    /// Times that a command was started.
    pub commands: u64,
    /// Ends of trials that were compared with what they must be, over and over as logs grew.
    pub trials: u64,
    /// Reports of stages that were compared.
    pub reports: u64,
    /// Of these, reused outputs.
    pub reused: u64,
    /// Stages that ran to their end, as they counted themselves outside.
    pub executions: u64,
    /// Refusals that were right: a damaged journal that was named as such.
    pub named: u64,
    /// Other counts by name, such as damages by what was damaged.
    #[serde(default)]
    pub by: BTreeMap<String, u64>,
}

impl Tally {
    /// Adds another.
    pub fn add(&mut self, other: &Self) {
        let Self {
            kills,
            kills_at_writes,
            damages,
            failed_writes,
            commands,
            trials,
            reports,
            reused,
            executions,
            named,
            by,
        } = other;
        self.kills += kills;
        self.kills_at_writes += kills_at_writes;
        self.damages += damages;
        self.failed_writes += failed_writes;
        self.commands += commands;
        self.trials += trials;
        self.reports += reports;
        self.reused += reused;
        self.executions += executions;
        self.named += named;
        for (name, count) in by {
            *self.by.entry(name.clone()).or_default() += count;
        }
    }

    /// Counts one of this name.
    pub fn count(&mut self, name: &str) {
        *self.by.entry(name.to_owned()).or_default() += 1;
    }
}
