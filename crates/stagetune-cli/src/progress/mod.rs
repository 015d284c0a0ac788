//! How a run shows itself: bars on a terminal, plain lines elsewhere, JSON for programs.

mod aside;
mod bars;
mod json;
mod lines;
mod notify;

use stagetune_pipeline::file::{Budget, Pipeline, Stage};
use stagetune_pipeline::ledger::CostUnit;
use stagetune_pipeline::owner::{Standing, Watcher, unit};
use std::io::IsTerminal;

/// What does not change while a study runs.
#[derive(Clone, Debug)]
pub struct Facts {
    /// The study.
    pub study: String,
    /// The metric.
    pub metric: String,
    /// Its stages in order.
    pub stages: Vec<String>,
    /// Who comes after whom, in one line.
    pub shape: String,
    /// When it ends.
    pub budget: Budget,
    /// What costs are counted in.
    pub unit: CostUnit,
    /// Trials at a time.
    pub workers: usize,
}

/// Something that shows a run.
pub trait View: Watcher {
    /// The run begins here.
    fn begin(&self, standing: &Standing);

    /// The run has ended, and why.
    fn end(&self, why: &str);

    /// How another thread can say something in between.
    fn teller(&self) -> Box<dyn Fn(&str) + Send + Sync>;
}

impl Facts {
    pub fn of(pipeline: &Pipeline, workers: usize) -> Self {
        Self {
            study: pipeline.study.name.clone(),
            metric: pipeline.study.metric.to_string(),
            stages: pipeline.stages.iter().map(|stage| stage.name.clone()).collect(),
            shape: shape(&pipeline.stages),
            budget: pipeline.study.budget.clone(),
            unit: unit(pipeline),
            workers,
        }
    }

    /// How much of the budget is used, by the limit that is nearest; `None` without a limit.
    pub fn share(&self, standing: &Standing) -> Option<f64> {
        let part = |used: f64, limit: Option<f64>| limit.map(|limit| (used / limit).clamp(0.0, 1.0));
        let parts = [
            part(standing.told as f64, self.budget.trials.map(|trials| trials as f64)),
            part(standing.spent, self.budget.cost),
            part(standing.wall, self.budget.wall.map(|wall| wall.as_secs_f64())),
        ];
        parts.into_iter().flatten().reduce(f64::max)
    }
}

/// `a → b → c` of a chain; of a graph every stage, with those that it comes after.
fn shape(stages: &[Stage]) -> String {
    let is_chain = stages.iter().enumerate().all(|(i, stage)| match i {
        0 => stage.after.is_empty(),
        _ => stage.after == [i - 1],
    });
    let name = |index: &usize| stages.get(*index).map(|stage| stage.name.as_str());
    let one = |stage: &Stage| match stage.after.iter().filter_map(name).collect::<Vec<_>>() {
        after if is_chain || after.is_empty() => stage.name.clone(),
        after => format!("{} (after {})", stage.name, after.join(", ")),
    };
    stages.iter().map(one).collect::<Vec<_>>().join(if is_chain { " → " } else { ", " })
}

/// The view for where the output goes, with the command that is to be run besides.
pub fn choose(facts: &Facts, notify: &[String], json: bool, quiet: bool) -> Box<dyn View> {
    let view = of_the_output(facts, json, quiet);
    if notify.is_empty() { view } else { Box::new(notify::Notifying::new(view, facts, notify.to_vec())) }
}

fn of_the_output(facts: &Facts, json: bool, quiet: bool) -> Box<dyn View> {
    if json {
        Box::new(json::Json::new())
    } else if quiet {
        Box::new(lines::Lines::new(facts.clone(), true))
    } else if std::io::stderr().is_terminal() && std::io::stdout().is_terminal() {
        Box::new(bars::Bars::new(facts.clone()))
    } else {
        Box::new(lines::Lines::new(facts.clone(), false))
    }
}
