//! The news of a run on a terminal: a bar for the study, a line for each stage at work, and what has happened above them.

use super::lines::{Trials, line, opening, trouble};
use super::{Facts, View};
use crate::format::{self, duration, number};
use crate::terminal::safe;
use console::{Term, truncate_str};
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use stagetune_pipeline::owner::{News, Standing, Watcher};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Draws to standard error.
#[derive(Debug)]
pub struct Bars {
    facts: Facts,
    all: MultiProgress,
    study: ProgressBar,
    state: Arc<Mutex<State>>,
    ended: Arc<AtomicBool>,
}

#[derive(Debug, Default)]
struct State {
    trials: Trials,
    /// One line for each stage that runs at a time; a line that is free is blank, for lines that come and go leave traces.
    slots: Vec<Slot>,
}

#[derive(Debug)]
struct Slot {
    bar: ProgressBar,
    /// The trial and stage that it shows.
    shows: Option<(u64, String)>,
}

/// How finely the study's bar is divided.
const STEPS: u64 = 1000;

/// How often moving parts move.
const TICK: Duration = Duration::from_millis(100);

impl Bars {
    pub fn new(facts: Facts) -> Self {
        let all = MultiProgress::new();
        let study = all.add(ProgressBar::new(STEPS));
        let limited = facts.share(&Standing::default()).is_some();
        study.set_style(style(if limited {
            "{prefix:.bold} {bar:30.green/dim} {msg}"
        } else {
            "{prefix:.bold} {spinner:.green} {msg}"
        }));
        study.set_prefix(safe(&facts.study));
        Self { facts, all, study, state: Arc::default(), ended: Arc::default() }
    }

    fn stand(&self, standing: &Standing) {
        if let Some(share) = self.facts.share(standing) {
            self.study.set_position((share * STEPS as f64) as u64);
        }
        let budget = &self.facts.budget;
        let mut parts = Vec::new();
        let of = |limit: Option<String>| limit.map_or(String::new(), |limit| format!("/{limit}"));
        parts.push(format!("{}{} trials", standing.told, of(budget.trials.map(|limit| limit.to_string()))));
        let unit = self.facts.unit;
        let cost = format::cost(standing.spent, unit);
        parts.push(format!("cost {cost}{}", of(budget.cost.map(|limit| format::cost(limit, unit)))));
        if let Some(wall) = budget.wall {
            parts.push(format!("{}/{}", duration(standing.wall), duration(wall.as_secs_f64())));
        }
        if let Some(best) = standing.best {
            let goal = of(budget.target.map(number));
            parts.push(format!("best {} {}{goal}", self.facts.metric, number(best)));
        }
        self.study.set_message(safe(&parts.join(" · ")));
    }

    /// A free line, a new one if need be.
    fn slot<'s>(&self, state: &'s mut State) -> &'s mut Slot {
        let free = state.slots.iter().position(|slot| slot.shows.is_none());
        let index = free.unwrap_or_else(|| {
            let bar = self.all.add(ProgressBar::new(1));
            bar.enable_steady_tick(TICK);
            state.slots.push(Slot { bar, shows: None });
            state.slots.len() - 1
        });
        &mut state.slots[index]
    }
}

impl State {
    /// Nothing runs on the line of this stage any more.
    fn free(&mut self, trial: u64, stage: &str) {
        let mine = |slot: &&mut Slot| slot.shows.as_ref().is_some_and(|(t, s)| *t == trial && s == stage);
        if let Some(slot) = self.slots.iter_mut().find(mine) {
            slot.shows = None;
            slot.bar.set_style(style(" "));
        }
    }
}

impl View for Bars {
    fn begin(&self, standing: &Standing) {
        let _ = self.all.println(safe(&opening(&self.facts, standing)));
        self.study.enable_steady_tick(TICK);
        self.stand(standing);
        let (state, ended) = (self.state.clone(), self.ended.clone());
        std::thread::spawn(move || {
            while !ended.load(Ordering::Relaxed) {
                std::thread::sleep(TICK);
                let Ok(state) = state.lock() else { return };
                // In tenths of a second; a stage that takes longer than usual stays at its end.
                for Slot { bar, .. } in state.slots.iter().filter(|slot| slot.shows.is_some()) {
                    let tenths = (bar.elapsed().as_secs_f64() * 10.0) as u64;
                    bar.set_position(bar.length().map_or(0, |length| tenths.min(length)));
                }
            }
        });
    }

    fn end(&self, _why: &str) {
        self.ended.store(true, Ordering::Relaxed);
        if let Ok(state) = self.state.lock() {
            state.slots.iter().for_each(|slot| slot.bar.finish_and_clear());
        }
        self.study.finish_and_clear();
        let _ = self.all.clear();
    }

    fn teller(&self) -> Box<dyn Fn(&str) + Send + Sync> {
        let all = self.all.clone();
        Box::new(move |text| drop(all.println(safe(text))))
    }
}

impl Watcher for Bars {
    fn see(&self, news: &News<'_>) {
        let Ok(mut state) = self.state.lock() else { return };
        if let Some(text) = trouble(news) {
            let _ = self.all.println(safe(&text));
        }
        if let Some(text) = line(&self.facts, &mut state.trials, news) {
            // A line that wraps would push the bars out of place.
            let width = usize::from(Term::stderr().size().1);
            let _ = self.all.println(truncate_str(&safe(&text), width.saturating_sub(1), "…"));
        }
        match news {
            News::StageBegan { trial, stage, attempt, expected } => {
                let again = if *attempt > 1 { format!(", attempt {attempt}") } else { String::new() };
                state.free(*trial, stage);
                let slot = self.slot(&mut state);
                slot.shows = Some((*trial, (*stage).to_owned()));
                slot.bar.set_prefix(safe(&format!("trial {trial} · {stage}{again}")));
                slot.bar.reset();
                match expected.filter(|seconds| *seconds >= 0.2) {
                    Some(seconds) => {
                        slot.bar.set_length((seconds * 10.0).ceil() as u64);
                        slot.bar.set_message(format!("of about {}", duration(seconds)));
                        slot.bar
                            .set_style(style("  {spinner} {prefix:28} {bar:20.cyan/dim} {elapsed} {msg}"));
                    }
                    None => slot.bar.set_style(style("  {spinner} {prefix:28} {elapsed}")),
                }
            }
            News::StageEnded { trial, row } => state.free(*trial, &row.stage),
            News::Told { standing, .. } => self.stand(standing),
            News::BegunWith { .. }
            | News::OtherOptions { .. }
            | News::Asked { .. }
            | News::StageFailed { .. }
            | News::Damaged { .. }
            | News::Waits { .. }
            | News::GoesOn { .. }
            | News::Control { .. }
            | News::Reached { .. } => {}
        }
    }
}

fn style(template: &str) -> ProgressStyle {
    let plain = ProgressStyle::default_bar();
    let style = ProgressStyle::with_template(template).unwrap_or(plain);
    style.progress_chars("█▉▊▋▌▍▎▏░").tick_chars("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏ ")
}
