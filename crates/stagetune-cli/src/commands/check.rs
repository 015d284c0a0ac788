//! `stagetune check`: what a pipeline file means, or everything that is wrong with it.

use super::{Done, print, print_json};
use crate::cli::FileArgs;
use crate::exit::Code;
use crate::format::count;
use crate::paint::{GOOD, STRONG, WARNING, paint};
use serde_json::json;
use stagetune_pipeline::file::Pipeline;
use std::fmt::Write;

/// Checks the file and says what it found.
pub fn run(args: &FileArgs) -> Done {
    let (pipeline, warnings) = Pipeline::load_with_warnings(&args.file)?;
    let params = pipeline.space.params().len();
    if args.json {
        let stage = |stage: &stagetune_pipeline::file::Stage| {
            let after: Vec<&str> =
                stage.after.iter().filter_map(|&m| Some(pipeline.stages.get(m)?.name.as_str())).collect();
            json!({"name": stage.name, "params": stage.params, "after": after})
        };
        let stages: Vec<_> = pipeline.stages.iter().map(stage).collect();
        let study = &pipeline.study;
        print_json(&json!({
            "ok": true, "study": study.name, "metric": study.metric, "strategy": study.strategy,
            "stages": stages, "warnings": warnings,
        }))?;
        return Ok(Code::Done);
    }
    let mut out = String::new();
    for warning in &warnings {
        let _ = writeln!(out, "{}: {}", paint(WARNING, "warning"), warning.render(&args.file));
    }
    let plural =
        |n: usize, one: &str| if n == 1 { format!("1 {one}") } else { format!("{} {one}s", count(n)) };
    let _ = writeln!(
        out,
        "{} is {}: study `{}`, {}, {}",
        args.file.display(),
        paint(GOOD, "fine"),
        pipeline.study.name,
        plural(pipeline.stages.len(), "stage"),
        plural(params, "parameter"),
    );
    for stage in &pipeline.stages {
        let list = if stage.params.is_empty() { "no parameters".to_owned() } else { stage.params.join(", ") };
        let _ = writeln!(out, "  {}  {list}", paint(STRONG, &stage.name));
    }
    print(&out)?;
    Ok(Code::Done)
}
