//! The news of a run as JSON, one object a line.

use super::View;
use super::aside::Aside;
use crate::terminal;
use serde_json::{Value, json};
use stagetune_pipeline::owner::{News, Standing, Watcher};
use std::sync::Arc;

/// Writes to standard output.
#[derive(Debug)]
pub struct Json {
    aside: Arc<Aside>,
}

impl Json {
    pub fn new() -> Self {
        Self { aside: Arc::new(Aside::new()) }
    }
}

impl View for Json {
    fn begin(&self, now: &Standing) {
        say(&self.aside, &json!({"news": "begun", "standing": standing(now)}));
    }

    fn end(&self, _why: &str) {
        self.aside.finish(None);
    }

    fn teller(&self) -> Box<dyn Fn(&str) + Send + Sync> {
        let aside = self.aside.clone();
        Box::new(move |text| say(&aside, &json!({"news": "note", "text": text})))
    }
}

impl Watcher for Json {
    fn see(&self, news: &News<'_>) {
        let what = match news {
            News::Asked { trial, why, resumed } => json!({
                "news": "asked", "trial": trial.id().index(), "why": why, "resumed": resumed,
                "point": trial.point(),
            }),
            News::StageBegan { trial, stage, attempt, expected } => json!({
                "news": "stage-began", "trial": trial, "stage": stage, "attempt": attempt, "expected": expected,
            }),
            News::StageEnded { trial, row } => {
                json!({"news": "stage-ended", "trial": trial, "stage": row})
            }
            News::StageFailed { trial, stage, problem, words, log, again } => json!({
                "news": "stage-failed", "trial": trial, "stage": stage, "problem": problem, "words": words,
                "log": log, "again": again,
            }),
            News::BegunWith { strategy } => json!({"news": "begun-with", "strategy": strategy}),
            News::OtherOptions { before, now } => {
                json!({"news": "other-options", "before": before, "now": now})
            }
            News::PackUnusable { path, problem } => {
                json!({"news": "small-outputs-unusable", "path": path, "problem": problem})
            }
            News::Damaged { stage, problem } => {
                json!({"news": "damaged-output", "stage": stage, "problem": problem})
            }
            News::Waits { trial, problem, left } => json!({
                "news": "waits", "trial": trial, "problem": problem, "patience": left.as_secs_f64(),
            }),
            News::GoesOn { trial, waited } => {
                json!({"news": "goes-on", "trial": trial, "waited": waited.as_secs_f64()})
            }
            News::Told { trial, state, value, reason, improved, charged, standing: now } => json!({
                "news": "told", "trial": trial, "state": state, "value": value, "reason": reason, "improved": improved,
                "charged": charged, "standing": standing(now),
            }),
            News::Control { event } => json!({"news": "control", "event": event}),
            News::Reached { reason } => json!({"news": "reached", "reason": reason.to_string()}),
        };
        say(&self.aside, &what);
    }
}

fn say(aside: &Aside, what: &Value) {
    let line = format!("{what}\n");
    aside.run(move || {
        // Whoever closed the pipe does not want to know; the study goes on.
        let _ = terminal::raw(line.as_bytes());
    });
}

/// How the study stands, as JSON.
fn standing(standing: &Standing) -> Value {
    json!({
        "asked": standing.asked, "told": standing.told, "best": standing.best, "spent": standing.spent,
        "wall": standing.wall,
    })
}
