//! Why a run ends before its budget does.

use std::path::PathBuf;

use stagetune::study::StudyError;

use super::hold::Holder;
use crate::disk::DiskError;
use crate::executor::{EndError, NoIdea};
use crate::file::Unfilled;
use crate::log::LogError;
use crate::outputs::{InputError, OutputError};

/// Why a run ends before its budget does. Whatever it is, what was told is in the journal, and what finished is in the cache.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// Another process runs this study.
    #[error(
        "study `{study}` is being run by {holder}; wait for it, watch it with `stagetune status`, or stop it first"
    )]
    Held {
        /// The study.
        study: String,
        /// Who runs it.
        holder: Holder,
    },
    /// The pipeline is not the one that the earlier trials ran.
    #[error(
        "study `{study}` has results of another pipeline: {}\ngive the study a new `name` to begin afresh (stages that did not change are reused), or go on with `--accept-changes` if old and new results can be compared",
        changes.join("; ")
    )]
    Changed {
        /// The study.
        study: String,
        /// What differs.
        changes: Vec<String>,
    },
    /// The study's events do not fit the file.
    #[error(
        "study `{study}` cannot be continued with this file: {source}\nrestore the file, or give the study a new `name` to begin afresh (stages that did not change are reused){}",
        options_hint(.source)
    )]
    Replay {
        /// The study.
        study: String,
        /// Why.
        source: Box<StudyError>,
    },
    /// No trial has ever worked.
    #[error("all {failed} trials failed, so the study gives up; the last one: {reason}{}", log_hint(.log))]
    EverythingFailed {
        /// How many.
        failed: usize,
        /// Why the last one did.
        reason: String,
        /// Its log.
        log: Option<PathBuf>,
    },
    /// An input changed while the study ran.
    #[error(
        "the input `{input}` of stage `{stage}` changed while the study ran, so that results cannot be compared any more; restore it and run again, or begin a study of another name"
    )]
    InputChanged {
        /// The stage.
        stage: String,
        /// The input.
        input: String,
    },
    /// The system has no room for a process or its log.
    #[error("stage `{stage}` cannot be started: {problem}; its trial goes on with the next run")]
    NoRoom {
        /// The stage.
        stage: String,
        /// Why, and what to do about it.
        problem: String,
    },
    /// An attempt that is gone without a trace.
    #[error(
        "stage `{stage}` is gone without a trace (attempt {token}): its supervisor was killed; run the same command again, and the stage runs again"
    )]
    Lost {
        /// The stage.
        stage: String,
        /// The attempt.
        token: String,
    },
    /// Another process owns the study now.
    #[error(
        "study `{study}` is now run by process {} on {}, which took it over; this process stops, and nothing told is lost",
        by.process, by.host
    )]
    Superseded {
        /// The study.
        study: String,
        /// Who owns it now.
        by: Box<stagetune::study::Owner>,
    },
    /// An event that only an owner appends.
    #[error("only the owner of a study may write that it owns it, or that it starts stages")]
    NotOurs,
    /// A trial that can neither go on nor end.
    #[error("no stage of an open trial can run, although some have not; this is a fault of stagetune")]
    NothingReady,
    /// The end of an attempt cannot be read.
    #[error(transparent)]
    End(#[from] EndError),
    /// The executor does not know about an attempt.
    #[error(transparent)]
    NoIdea(#[from] NoIdea),
    /// An argument has nothing to put in.
    #[error(transparent)]
    Unfilled(#[from] Unfilled),
    /// The engine refused.
    #[error(transparent)]
    Study(#[from] StudyError),
    /// The journal cannot be read or written.
    #[error(transparent)]
    Journal(#[from] LogError),
    /// The cache cannot be read or written.
    #[error(transparent)]
    Cache(#[from] OutputError),
    /// An input cannot be read.
    #[error(transparent)]
    Input(#[from] InputError),
    /// A file cannot be written.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// A worker thread ended without a word.
    #[error(
        "a worker ended unexpectedly; this is a fault of stagetune, and nothing told is lost: run the same command again"
    )]
    Worker,
}

/// Other options are the user's to accept; another space or seed makes another study.
fn options_hint(source: &StudyError) -> &'static str {
    match source {
        StudyError::Differs { what: "options", .. } => {
            "; with `--accept-changes` it goes on with the options of now"
        }
        StudyError::Event { problem, .. } => options_hint(problem),
        _ => "",
    }
}

fn log_hint(log: &Option<PathBuf>) -> String {
    log.as_ref().map_or(String::new(), |log| format!("\nits words are in {}", log.display()))
}
