//! The news of a run as plain lines, for logs and pipes; and the texts that the bars share.

use super::aside::Aside;
use super::{Facts, View};
use crate::format::{self, clean, duration, number};
use crate::paint::{BAD, FAINT, GOOD, STRONG, WARNING, paint};
use crate::terminal::{self, warn};
use stagetune::space::{Point, Value};
use stagetune::study::Event;
use stagetune::trial::How;
use stagetune_pipeline::ledger::{StageRow, in_words};
use stagetune_pipeline::owner::{News, Standing, Watcher};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// Writes to standard output, warnings and failures to standard error.
#[derive(Debug)]
pub struct Lines {
    facts: Facts,
    quiet: bool,
    trials: Mutex<Trials>,
    aside: Arc<Aside>,
}

/// What is known of the trials that are running.
pub type Trials = BTreeMap<u64, Running>;

/// A trial that is running.
#[derive(Clone, Debug, Default)]
pub struct Running {
    /// Its parameters.
    pub point: String,
    /// What happened to its stages so far.
    pub stages: Vec<StageRow>,
}

impl Lines {
    pub fn new(facts: Facts, quiet: bool) -> Self {
        Self { facts, quiet, trials: Mutex::default(), aside: Arc::new(Aside::new()) }
    }
}

impl View for Lines {
    fn begin(&self, standing: &Standing) {
        if !self.quiet {
            let opening = opening(&self.facts, standing);
            self.aside.run(move || say(&opening));
        }
    }

    fn end(&self, _why: &str) {
        self.aside.finish(None);
    }

    fn teller(&self) -> Box<dyn Fn(&str) + Send + Sync> {
        let aside = self.aside.clone();
        Box::new(move |text| {
            let text = text.to_owned();
            aside.run(move || warn(&text));
        })
    }
}

impl Watcher for Lines {
    fn see(&self, news: &News<'_>) {
        let Ok(mut trials) = self.trials.lock() else { return };
        if let Some(trouble) = trouble(news) {
            self.aside.run(move || warn(&trouble));
        }
        if let Some(line) = line(&self.facts, &mut trials, news)
            && !self.quiet
        {
            self.aside.run(move || say(&line));
        }
    }
}

fn say(text: &str) {
    // Whoever closed the pipe does not want to know; the study goes on.
    let _ = terminal::say(&format!("{text}\n"));
}

/// The first line.
pub fn opening(facts: &Facts, standing: &Standing) -> String {
    let study = paint(STRONG, &facts.study);
    let workers = if facts.workers > 1 { format!(", {} workers", facts.workers) } else { String::new() };
    let stages = &facts.shape;
    if standing.asked == 0 {
        format!("study {study}: {stages}{workers}")
    } else {
        let best =
            standing.best.map_or(String::new(), |best| format!(", best {} {}", facts.metric, number(best)));
        format!("study {study} goes on after {} trials{best}: {stages}{workers}", standing.told)
    }
}

/// What to warn of at once.
pub fn trouble(news: &News<'_>) -> Option<String> {
    match news {
        News::StageFailed { trial, stage, problem, words, log, again } => {
            let next = if *again { "; trying again" } else { "" };
            let problem = clean(problem);
            let mut text = format!("{} trial {trial}: stage {stage} {problem}{next}", paint(BAD, "✗"));
            for word in *words {
                text.push_str(&format!("\n    {}", paint(FAINT, format!("| {word}"))));
            }
            // A stage that said nothing leaves no log.
            if log.exists() {
                text.push_str(&format!("\n    {}", paint(FAINT, clean(&log.display().to_string()))));
            }
            Some(text)
        }
        News::BegunWith { strategy } => {
            let warning = paint(WARNING, "warning");
            Some(format!(
                "{warning}: the study was begun with the strategy {strategy} and goes on with it; give it a new `name` to begin afresh"
            ))
        }
        News::OtherOptions { before, now } => {
            let warning = paint(WARNING, "warning");
            Some(format!(
                "{warning}: the study was begun with other options of its strategy ({before}, and now {now}) and goes on with those of now; give it a new `name` to begin afresh"
            ))
        }
        News::PackUnusable { path, problem } => {
            let (warning, path) = (paint(WARNING, "warning"), clean(&path.display().to_string()));
            let problem = clean(problem);
            Some(format!(
                "{warning}: the small outputs in {path} cannot be used ({problem}); they are made again when they are needed, and `stagetune cache verify --remove` takes a damaged file away"
            ))
        }
        News::Damaged { stage, problem } => {
            let warning = paint(WARNING, "warning");
            Some(format!(
                "{warning}: a cached output of stage {stage} was damaged ({}); it is made again",
                clean(problem)
            ))
        }
        News::Waits { trial, problem, left } => {
            let who = trial.map_or("the journal".to_owned(), |trial| format!("trial {trial}"));
            Some(format!(
                "{} {who} waits, up to {}: {}",
                paint(WARNING, "‖"),
                duration(left.as_secs_f64()),
                clean(problem)
            ))
        }
        News::GoesOn { trial, waited } => {
            let who = trial.map_or("the journal".to_owned(), |trial| format!("trial {trial}"));
            Some(format!(
                "{} {who} goes on after {} of waiting",
                paint(GOOD, "▸"),
                duration(waited.as_secs_f64())
            ))
        }
        News::Control { event } => control(event).map(|text| format!("{}: {text}", paint(STRONG, "note"))),
        News::Asked { .. }
        | News::StageBegan { .. }
        | News::StageEnded { .. }
        | News::Told { .. }
        | News::Reached { .. } => None,
    }
}

/// What somebody else did to the study, in words that steer no terminal.
fn control(event: &Event) -> Option<String> {
    in_words(event).map(|words| clean(&words))
}

/// The line of a trial that has ended; other news only add to what is known.
pub fn line(facts: &Facts, trials: &mut Trials, news: &News<'_>) -> Option<String> {
    match news {
        News::Asked { trial, .. } => {
            let point = short(trial.point());
            trials.insert(trial.id().index(), Running { point, stages: Vec::new() });
            None
        }
        News::StageEnded { trial, row } => {
            trials.entry(*trial).or_default().stages.push((*row).clone());
            None
        }
        News::Told { trial, state, value, reason, improved, charged, standing } => {
            let running = trials.remove(trial).unwrap_or_default();
            let outcome = match (value, improved) {
                (Some(value), true) => paint(GOOD, format!("{:>9} ★", number(*value))),
                (Some(value), false) => format!("{:>9}  ", number(*value)),
                (None, _) => paint(BAD, format!("{:>9}  ", state.as_str())),
            };
            let cost = charged.map_or("?".into(), |cost| format::cost(cost, facts.unit));
            let spent = format::cost(standing.spent, facts.unit);
            let what = if value.is_some() { running.point } else { clean(reason.unwrap_or_default()) };
            Some(format!(
                "{} {outcome} {}  {cost:>9} {}  {}",
                paint(FAINT, format!("{trial:>5}")),
                boxes(facts, &running.stages),
                paint(FAINT, format!("Σ {spent:>9}")),
                paint(FAINT, what),
            ))
        }
        News::BegunWith { .. }
        | News::OtherOptions { .. }
        | News::PackUnusable { .. }
        | News::StageBegan { .. }
        | News::StageFailed { .. }
        | News::Damaged { .. }
        | News::Waits { .. }
        | News::GoesOn { .. }
        | News::Control { .. }
        | News::Reached { .. } => None,
    }
}

/// A point with as many digits as tell trials apart.
fn short(point: &Point) -> String {
    let value = |value: &Value| match value {
        Value::Float(float) => format::digits(*float, 4),
        other => other.to_string(),
    };
    point.iter().map(|(name, v)| format!("{name}={}", value(v))).collect::<Vec<_>>().join(" ")
}

/// A box for each stage: full where it ran, empty where its output was there, a cross where it failed.
fn boxes(facts: &Facts, stages: &[StageRow]) -> String {
    let one = |name: &String| match stages.iter().find(|row| row.stage == *name).map(|row| row.how) {
        Some(How::Ran) => "■",
        Some(How::Reused) => "□",
        Some(How::Failed) => "✗",
        None => "·",
    };
    facts.stages.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use stagetune::trial::{End, TrialId};

    #[test]
    fn what_others_did_to_the_study_is_said_in_one_line_that_steers_nothing() {
        let reason = String::from("bad \u{1b}[2J\ndata");
        let withdrawn = Event::Ended {
            trial: TrialId::new(3),
            end: End::Withdrawn { reason: reason.clone() },
            cost: None,
        };
        assert_eq!(control(&withdrawn).unwrap(), "trial 3 was withdrawn: bad \\u{1b}[2J data");
        let paused = Event::Paused { reason };
        assert!(control(&paused).unwrap().ends_with("no new trials begin: bad \\u{1b}[2J data"));
        assert!(trouble(&News::Control { event: &paused }).unwrap().contains("on hold"));
        assert_eq!(control(&Event::Released { epoch: 1, finished: true, reason: String::new() }), None);
    }
}
