//! `stagetune best`: the best trial, and where its outputs are.

use super::{Done, print, print_json, study_of};
use crate::cli::FileArgs;
use crate::exit::Code;
use crate::format::{self, number};
use crate::paint::{FAINT, GOOD, STRONG, paint};
use serde_json::{Map, Value, json};
use stagetune::space::Value as Typed;
use stagetune_pipeline::file::Pipeline;
use stagetune_pipeline::ledger::Ledger;
use stagetune_pipeline::log::Log;
use stagetune_pipeline::owner::{StagePlan, plan};
use stagetune_pipeline::text::escaped;
use std::fmt::Write;

/// Prints it.
pub fn run(args: &FileArgs) -> Done {
    let (pipeline, journal) = study_of(&args.file)?;
    let ledger = Ledger::of(&pipeline.study.name, &journal.read(0)?);
    let Some(best) = &ledger.best else {
        if args.json {
            print_json(&Value::Null)?;
        } else {
            let open = ledger.open().len();
            print(&format!("no trial has a value yet: {} failed, {open} open\n", ledger.failed))?;
        }
        return Ok(Code::Done);
    };
    // Where the file has changed since, the outputs cannot be told.
    let stages =
        point(&pipeline, &best.point).and_then(|point| plan(&pipeline, &point).ok()).unwrap_or_default();
    let out = |stage: &StagePlan| {
        stage
            .cached
            .then(|| pipeline.root.join(".stagetune/cache").join(&stage.id).join("out").display().to_string())
    };
    if args.json {
        let outputs: Map<String, Value> =
            stages.iter().map(|stage| (stage.stage.clone(), json!(out(stage)))).collect();
        print_json(&json!({
            "study": pipeline.study.name, "metric": ledger.metric, "trial": best.trial, "value": best.value,
            "point": best.point, "spent": best.spent, "outputs": outputs,
        }))?;
        return Ok(Code::Done);
    }
    let mut text = String::new();
    let (metric, value) = (&ledger.metric, paint(GOOD, number(best.value)));
    let _ = writeln!(text, "{metric} = {value}  {}", paint(FAINT, format!("trial {}", best.trial)));
    for stage in &pipeline.stages {
        let _ = writeln!(text, "\n{}", paint(STRONG, &stage.name));
        for name in &stage.params {
            if let Some(value) = best.point.get(name) {
                let _ = writeln!(text, "  {name} = {}", escaped(&exact(value)));
            }
        }
        if let Some(out) = stages.iter().find(|plan| plan.stage == stage.name).and_then(out) {
            let _ = writeln!(text, "  {}", paint(FAINT, format!("output: {out}")));
        }
    }
    print(&text)?;
    Ok(Code::Done)
}

/// A point of the journal as one of the space; `None` if the space is another one now.
pub fn point(pipeline: &Pipeline, values: &Map<String, Value>) -> Option<stagetune::space::Point> {
    let typed = |value: &Value| match value {
        Value::Bool(bool) => Some(Typed::from(*bool)),
        Value::String(text) => Some(Typed::from(text.as_str())),
        Value::Number(number) => {
            number.as_i64().map(Typed::from).or_else(|| number.as_f64().map(Typed::from))
        }
        _ => None,
    };
    let pairs: Vec<(&str, Typed)> =
        values.iter().filter_map(|(name, value)| Some((name.as_str(), typed(value)?))).collect();
    pipeline.space.point(pairs).ok()
}

/// All digits, for whoever types it elsewhere.
fn exact(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(_) => value.to_string(),
        other => format::value(other),
    }
}
