//! What a run has to say while it goes on.

use std::path::Path;
use std::time::Duration;

use stagetune::study::{Account, Event, StopReason};
use stagetune::trial::Proposed;

use crate::ledger::{StageRow, TrialState};

/// Something that people who watch a run want to know.
#[derive(Debug)]
pub enum News<'a> {
    /// The file leaves the choice of a strategy to stagetune, but the study was begun with one and goes on with it.
    BegunWith {
        /// Its name.
        strategy: &'a str,
    },
    /// The strategy has other options than those that the study was begun with, and goes on with them.
    OtherOptions {
        /// The first that differs, as the study was begun.
        before: &'a str,
        /// The same as it is now.
        now: &'a str,
    },
    /// The file of small outputs cannot be used; what it holds is made again when it is needed.
    PackUnusable {
        /// The file.
        path: &'a Path,
        /// Why.
        problem: &'a str,
    },
    /// A trial begins.
    Asked {
        /// It.
        trial: &'a Proposed,
        /// Why it was proposed.
        why: String,
        /// Whether an earlier process had begun it.
        resumed: bool,
    },
    /// A stage begins.
    StageBegan {
        /// The trial.
        trial: u64,
        /// The stage.
        stage: &'a str,
        /// From 1.
        attempt: u32,
        /// How long its runs took so far, on average.
        expected: Option<f64>,
    },
    /// A stage has ended, or its output was there.
    StageEnded {
        /// The trial.
        trial: u64,
        /// What happened.
        row: &'a StageRow,
    },
    /// A stage failed once, and is tried again or not.
    StageFailed {
        /// The trial.
        trial: u64,
        /// The stage.
        stage: &'a str,
        /// What went wrong.
        problem: &'a str,
        /// The last words of its log.
        words: &'a [String],
        /// Its log.
        log: &'a Path,
        /// Whether it is tried again.
        again: bool,
    },
    /// A cached output was found damaged, and is made again.
    Damaged {
        /// The stage.
        stage: &'a str,
        /// What was wrong.
        problem: &'a str,
    },
    /// The world is at fault: a trial, or the journal, waits.
    Waits {
        /// The trial; `None` for the journal.
        trial: Option<u64>,
        /// What is wrong, and what to do about it.
        problem: &'a str,
        /// How long it is waited for.
        left: Duration,
    },
    /// What waited has got further.
    GoesOn {
        /// The trial; `None` for the journal.
        trial: Option<u64>,
        /// How long it waited.
        waited: Duration,
    },
    /// A trial has its outcome.
    Told {
        /// Its number.
        trial: u64,
        /// What became of it.
        state: TrialState,
        /// Its value.
        value: Option<f64>,
        /// Why it has none.
        reason: Option<&'a str>,
        /// Whether it is the best so far.
        improved: bool,
        /// What it was charged.
        charged: Option<f64>,
        /// How the study stands.
        standing: Standing,
    },
    /// Somebody else appended to the log.
    Control {
        /// What.
        event: &'a Event,
    },
    /// A budget is reached.
    Reached {
        /// Which.
        reason: &'a Reached,
    },
}

/// How a study stands.
#[derive(Clone, Copy, Debug, Default)]
pub struct Standing {
    /// Trials asked.
    pub asked: usize,
    /// Trials told.
    pub told: usize,
    /// The best value.
    pub best: Option<f64>,
    /// What was spent.
    pub spent: f64,
    /// How long processes have worked on it, in seconds.
    pub wall: f64,
}

/// Why no new trial begins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reached {
    /// A rule of the engine.
    Rule(StopReason),
    /// So many seconds of work.
    Wall(f64),
    /// So many proposals in a row had been tried before.
    NothingNew(usize),
    /// Every point of the space is being tried.
    Exhausted,
    /// Somebody said stop.
    Asked,
}

/// Whoever watches.
pub trait Watcher: Sync {
    /// Takes the news; called from the thread that has them.
    fn see(&self, news: &News<'_>);
}

/// Nobody watches.
#[derive(Clone, Copy, Debug, Default)]
pub struct Quiet;

impl Watcher for Quiet {
    fn see(&self, _: &News<'_>) {}
}

impl Reached {
    /// The same with what was spent and found when all trials had ended: those that were running go on after a rule holds.
    pub(super) fn at_last(self, account: &Account) -> Self {
        match (self, account.best()) {
            (Self::Rule(StopReason::Cost { limit, .. }), _) => {
                Self::Rule(StopReason::Cost { limit, spent: account.spent() })
            }
            (Self::Rule(StopReason::Target { target, .. }), Some(best)) => {
                Self::Rule(StopReason::Target { target, best })
            }
            (other, _) => other,
        }
    }

    /// Whether the study is complete, and not merely interrupted.
    pub fn is_finished(&self) -> bool {
        *self != Self::Asked
    }
}

impl std::fmt::Display for Reached {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Rule(StopReason::Cost { limit, spent }) => {
                write!(f, "{} of the budget of {} is spent", rounded(*spent), rounded(*limit))
            }
            Self::Rule(StopReason::Target { target, best }) => {
                write!(f, "{} reaches the target of {}", rounded(*best), rounded(*target))
            }
            Self::Rule(StopReason::NotWorthIt { price, trials, gain, cost }) => {
                let (gain, needed, cost) = (rounded(*gain), rounded(price * cost), rounded(*cost));
                let what = match trials {
                    0 | 1 => "the best next trial is".to_owned(),
                    several => format!("the best {several} next trials are"),
                };
                write!(
                    f,
                    "{what} expected to gain {gain} for a cost of {cost}, less than the {needed} that such a cost is worth"
                )
            }
            Self::Rule(StopReason::NothingCame { price, spent, gain }) => {
                let (needed, spent, gain) = (rounded(price * spent), rounded(*spent), rounded(*gain));
                write!(
                    f,
                    "the last {spent} of cost gained {gain}, less than the {needed} that such a cost is worth, and what is expected of more has been expected for long"
                )
            }
            Self::Rule(reason) => reason.fmt(f),
            Self::Wall(limit) => write!(f, "{limit} s of work were reached"),
            Self::NothingNew(count) => write!(f, "the last {count} proposals had all been tried before"),
            Self::Exhausted => f.write_str("every point of the space has been tried"),
            Self::Asked => f.write_str("it was asked to stop"),
        }
    }
}

/// A number as people say it: four digits or so, with an exponent where it is large or small.
fn rounded(value: f64) -> String {
    let trimmed = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    let size = value.abs();
    if size != 0.0 && !(1e-4..1e6).contains(&size) {
        let text = format!("{value:.3e}");
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        return format!("{}e{exponent}", trimmed(mantissa));
    }
    let digits = 3 - size.max(1e-4).log10().floor().min(3.0) as i32;
    trimmed(&format!("{value:.*}", usize::try_from(digits).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_told_in_few_digits() {
        let spent = Reached::Rule(StopReason::Cost { limit: 30.0, spent: 30.494882491000006 });
        assert_eq!(spent.to_string(), "30.49 of the budget of 30 is spent");
        let target = Reached::Rule(StopReason::Target { target: 1e-3, best: 0.000912345 });
        assert_eq!(target.to_string(), "0.0009123 reaches the target of 0.001");
        let worth = StopReason::NotWorthIt { price: 1e-3, trials: 3, gain: 0.000_123_456, cost: 12.3456 };
        assert_eq!(
            Reached::Rule(worth).to_string(),
            "the best 3 next trials are expected to gain 0.0001235 for a cost of 12.35, less than the 0.01235 that such a \
             cost is worth"
        );
        assert_eq!((rounded(0.0), rounded(-123456.7)), ("0".into(), "-123457".into()));
        let dear = StopReason::NotWorthIt { price: 1e300, trials: 1, gain: 1.5e-7, cost: 11.0 };
        assert_eq!(
            Reached::Rule(dear).to_string(),
            "the best next trial is expected to gain 1.5e-7 for a cost of 11, less than the 1.1e301 that such a cost is worth"
        );
        let dry = StopReason::NothingCame { price: 1e-3, spent: 123.456_789, gain: 0.01 };
        assert_eq!(
            Reached::Rule(dry).to_string(),
            "the last 123.5 of cost gained 0.01, less than the 0.1235 that such a cost is worth, and what is expected of more has been expected for long"
        );
        assert_eq!((rounded(-1_234_567.0), rounded(999_999.0)), ("-1.235e6".into(), "999999".into()));
        assert_eq!((rounded(2e-300), rounded(f64::MAX)), ("2e-300".into(), "1.798e308".into()));
    }
}
