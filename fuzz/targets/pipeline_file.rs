//! Any text is a pipeline or an error with a place and a remedy, and what is accepted is consistent.
#![no_main]

use std::ffi::OsString;
use std::path::Path;

use stagetune_pipeline::file::{FileError, Piece, Pipeline, fits_shape};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match Pipeline::parse_with_warnings(text, Path::new("pipeline.toml"), Path::new("/study")) {
        Ok((pipeline, warnings)) => {
            check_pipeline(&pipeline);
            assert_eq!(fits_shape(text), Ok(()));
            for warning in warnings {
                assert!(!warning.render(&pipeline.file).is_empty());
            }
        }
        Err(error) => check_error(&error, text),
    }
});

fn check_error(error: &FileError, text: &str) {
    let lines = text.split('\n').count();
    assert!(!error.problems.is_empty());
    for problem in &error.problems {
        assert!((1..=lines).contains(&problem.line), "{error}");
        assert!(problem.column >= 1 && !problem.message.is_empty() && !problem.help.is_empty(), "{error}");
    }
    assert!(error.problems.is_sorted_by_key(|problem| problem.line), "{error}");
    assert!(error.to_string().contains("help: "));
}

fn check_pipeline(pipeline: &Pipeline) {
    let stages = &pipeline.stages;
    assert_eq!(stages.len(), pipeline.space.modules().len());
    let mut upstream: Vec<Vec<usize>> = Vec::new();
    for (number, (stage, module)) in stages.iter().zip(pipeline.space.modules()).enumerate() {
        assert_eq!(stage.name.as_str(), &**module.name());
        assert!(
            stage.params.iter().map(String::as_str).eq(module.params().iter().map(|param| &**param.name()))
        );
        assert!(stage.after.iter().all(|&needed| needed < number));
        let mut needed = stage.after.clone();
        needed.extend(stage.after.iter().flat_map(|&earlier| upstream[earlier].clone()));
        needed.sort_unstable();
        needed.dedup();
        for template in &stage.run {
            for hole in template.holes() {
                match hole {
                    Piece::Stage(earlier) => assert!(needed.contains(earlier)),
                    Piece::Param(name) => assert!(stage.params.contains(name)),
                    Piece::Out | Piece::Text(_) => {}
                }
            }
            let filled = template.fill(|_| Some(OsString::from("x"))).expect("every hole is filled");
            assert!(!filled.as_encoded_bytes().contains(&0));
        }
        for input in &stage.inputs {
            assert!(!input.components().any(|part| part == std::path::Component::ParentDir));
        }
        upstream.push(needed);
    }
    assert!(
        stages.last().is_some_and(|stage| stage.run.iter().flat_map(|t| t.holes()).any(|h| *h == Piece::Out))
    );
}
