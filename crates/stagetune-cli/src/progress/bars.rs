//! The news of a run on a terminal: a bar for the study, a line for each stage at work, and what has happened above them.

use super::aside::Aside;
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

/// Draws to standard error, aside: a terminal that is held (Ctrl-S) holds up no trial.
#[derive(Debug)]
pub struct Bars {
    drawn: Arc<Drawn>,
    trials: Mutex<Trials>,
    aside: Aside,
}

/// What is on the screen.
#[derive(Debug)]
struct Drawn {
    facts: Facts,
    all: MultiProgress,
    study: ProgressBar,
    state: Arc<Mutex<State>>,
    ended: Arc<AtomicBool>,
}

/// What changes on the screen.
enum Change {
    Begins { trial: u64, stage: String, attempt: u32, expected: Option<f64> },
    Ends { trial: u64, stage: String },
    Stands(Standing),
    Nothing,
}

#[derive(Debug, Default)]
struct State {
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
        let drawn = Drawn { facts, all, study, state: Arc::default(), ended: Arc::default() };
        Self { drawn: Arc::new(drawn), trials: Mutex::default(), aside: Aside::new() }
    }
}

impl Drawn {
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
        let (drawn, standing) = (self.drawn.clone(), *standing);
        self.aside.run(move || drawn.begin(&standing));
    }

    fn end(&self, _why: &str) {
        let drawn = self.drawn.clone();
        self.aside.run(move || drawn.end());
        self.aside.finish(None);
    }

    fn teller(&self) -> Box<dyn Fn(&str) + Send + Sync> {
        let all = self.drawn.all.clone();
        Box::new(move |text| drop(all.println(safe(text))))
    }
}

impl Watcher for Bars {
    fn see(&self, news: &News<'_>) {
        let Ok(mut trials) = self.trials.lock() else { return };
        let trouble = trouble(news);
        let line = line(&self.drawn.facts, &mut trials, news);
        let change = change(news);
        let drawn = self.drawn.clone();
        self.aside.run(move || drawn.show(trouble, line, change));
    }
}

fn change(news: &News<'_>) -> Change {
    match news {
        News::StageBegan { trial, stage, attempt, expected } => {
            let (stage, expected) = ((*stage).to_owned(), *expected);
            Change::Begins { trial: *trial, stage, attempt: *attempt, expected }
        }
        News::StageEnded { trial, row } => Change::Ends { trial: *trial, stage: row.stage.clone() },
        News::Told { standing, .. } => Change::Stands(*standing),
        News::BegunWith { .. }
        | News::OtherOptions { .. }
        | News::PackUnusable { .. }
        | News::Asked { .. }
        | News::StageFailed { .. }
        | News::Damaged { .. }
        | News::Waits { .. }
        | News::GoesOn { .. }
        | News::Control { .. }
        | News::Reached { .. } => Change::Nothing,
    }
}

impl Drawn {
    fn begin(&self, standing: &Standing) {
        let _ = self.all.println(safe(&opening(&self.facts, standing)));
        self.study.enable_steady_tick(TICK);
        self.stand(standing);
        let (state, ended) = (self.state.clone(), self.ended.clone());
        // Without a thread the parts that move stand still.
        let _ = std::thread::Builder::new().spawn(move || {
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

    fn end(&self) {
        self.ended.store(true, Ordering::Relaxed);
        if let Ok(state) = self.state.lock() {
            state.slots.iter().for_each(|slot| slot.bar.finish_and_clear());
        }
        self.study.finish_and_clear();
        let _ = self.all.clear();
    }

    fn show(&self, trouble: Option<String>, line: Option<String>, change: Change) {
        if let Some(text) = trouble {
            let _ = self.all.println(safe(&text));
        }
        if let Some(text) = line {
            // A line that wraps would push the bars out of place.
            let width = usize::from(Term::stderr().size().1);
            let _ = self.all.println(truncate_str(&safe(&text), width.saturating_sub(1), "…"));
        }
        let Ok(mut state) = self.state.lock() else { return };
        match change {
            Change::Begins { trial, stage, attempt, expected } => {
                let again = if attempt > 1 { format!(", attempt {attempt}") } else { String::new() };
                state.free(trial, &stage);
                let slot = self.slot(&mut state);
                slot.bar.set_prefix(safe(&format!("trial {trial} · {stage}{again}")));
                slot.shows = Some((trial, stage));
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
            Change::Ends { trial, stage } => state.free(trial, &stage),
            Change::Stands(standing) => self.stand(&standing),
            Change::Nothing => {}
        }
    }
}

fn style(template: &str) -> ProgressStyle {
    let plain = ProgressStyle::default_bar();
    let style = ProgressStyle::with_template(template).unwrap_or(plain);
    style.progress_chars("█▉▊▋▌▍▎▏░").tick_chars("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏ ")
}
