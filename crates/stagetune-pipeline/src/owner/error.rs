//! Why a run ends before its budget does.

use std::path::PathBuf;
use std::time::Duration;

use stagetune::study::StudyError;

use super::hold::Holder;
use crate::disk::DiskError;
use crate::executor::{EndError, NoIdea};
use crate::file::Unfilled;
use crate::log::LogError;
use crate::outputs::{InputError, OutputError};

/// Why a run ends before its budget does. Whatever it is, what was told is in the journal, and what
/// finished is in the cache.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// Another process runs this study.
    #[error(
        "study `{study}` is being run by {holder}; wait for it, watch it with `stagetune status`, \
            or stop it first"
    )]
    Held {
        /// The study.
        study: String,
        /// Who runs it.
        holder: Holder,
    },
    /// The pipeline is not the one that the earlier trials ran.
    #[error(
        "study `{study}` has results of another pipeline: {}\ngive the study a new `name` to begin \
            afresh (stages that did not change are reused), or go on with `--accept-changes` if old \
            and new results can be compared",
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
        "study `{study}` cannot be continued with this file: {source}\nrestore the file, or give \
            the study a new `name` to begin afresh (stages that did not change are reused){}",
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
        "the input `{input}` of stage `{stage}` changed while the study ran, so that results cannot \
            be compared any more; restore it, and the trial goes on, or begin a study of another name"
    )]
    InputChanged {
        /// The stage.
        stage: String,
        /// The input.
        input: String,
    },
    /// An input was written to while a stage ran.
    #[error(
        "the input `{input}` was written to while stage `{stage}` ran, so that what the stage read \
            is not known; its result is not kept, and it runs again"
    )]
    InputTouched {
        /// The stage.
        stage: String,
        /// The input.
        input: String,
    },
    /// An output that a stage was given changed or vanished while it ran.
    #[error(
        "the output of stage `{above}` changed or vanished while stage `{stage}` used it \
            ({problem}); if `{stage}` writes into it, let it work on a copy"
    )]
    OutputChanged {
        /// The stage that used it.
        stage: String,
        /// The stage that had made it.
        above: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A stage failed while there was no room on the disk.
    #[error(
        "stage `{stage}` {problem} while the disk of {} was full; make room, and it runs again by \
            itself; where the trial's own settings need more than there is, `stagetune forget \
            {trial}` leaves it out", .path.display()
    )]
    DiskFull {
        /// The stage.
        stage: String,
        /// The trial.
        trial: u64,
        /// How it failed.
        problem: String,
        /// Where there is no room.
        path: PathBuf,
    },
    /// A stage failed and said that a disk is full, where ours has room.
    #[error(
        "stage `{stage}` {problem}; make room where it writes, and it runs again by itself; if \
            there is room and it ends like this all the same, `stagetune forget {trial}` leaves it out"
    )]
    SaidFull {
        /// The stage.
        stage: String,
        /// The trial.
        trial: u64,
        /// How it failed, and what it said.
        problem: String,
    },
    /// The directory of an attempt vanished while it ran.
    #[error(
        "{} was removed while stage `{stage}` ran in it; leave `.stagetune` alone while a \
            study runs", .path.display()
    )]
    AttemptRemoved {
        /// The stage.
        stage: String,
        /// The directory.
        path: PathBuf,
    },
    /// A fault of the world lasted for longer than the study's patience.
    #[error(
        "{problem}\nwaited {:.1} s for it (`patience`); the trial is still open: mend it, and the \
            same command continues",
        waited.as_secs_f64()
    )]
    PatienceOver {
        /// How long it was waited for.
        waited: Duration,
        /// What was waited for.
        problem: Box<RunError>,
    },
    /// The system has no room for a process or its log.
    #[error("stage `{stage}` cannot be run: {problem}")]
    NoRoom {
        /// The stage.
        stage: String,
        /// Why, and what to do about it.
        problem: String,
    },
    /// An attempt that is gone without a trace.
    #[error(
        "stage `{stage}` is gone without a trace (attempt {token}): its supervisor was killed; the \
            stage runs again"
    )]
    Lost {
        /// The stage.
        stage: String,
        /// The attempt.
        token: String,
    },
    /// Another process owns the study now.
    #[error(
        "study `{study}` is now run by process {} on {}, which took it over; this process stops, \
            and nothing told is lost",
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
    /// The system has no thread for a part of the owner.
    #[error(
        "cannot start a thread to {what}: {source}; too many processes or too little memory: use \
            fewer workers"
    )]
    NoThread {
        /// What for.
        what: &'static str,
        /// Why.
        source: std::io::Error,
    },
    /// A worker thread ended without a word.
    #[error(
        "a worker ended unexpectedly; this is a fault of stagetune, and nothing told is lost: run \
            the same command again"
    )]
    Worker,
}

impl RunError {
    /// Whether the world is at fault, which may mend: then a trial waits for it.
    pub(super) fn is_of_the_world(&self) -> bool {
        match self {
            Self::InputChanged { .. }
            | Self::InputTouched { .. }
            | Self::OutputChanged { .. }
            | Self::DiskFull { .. }
            | Self::SaidFull { .. }
            | Self::AttemptRemoved { .. }
            | Self::NoRoom { .. }
            | Self::Lost { .. }
            | Self::End(_)
            | Self::NoIdea(_)
            | Self::Unfilled(_)
            | Self::Input(_)
            | Self::Disk(_) => true,
            Self::Cache(error) => error.is_of_the_world(),
            Self::Journal(error) => error.is_of_the_world(),
            Self::Held { .. }
            | Self::Changed { .. }
            | Self::Replay { .. }
            | Self::EverythingFailed { .. }
            | Self::Superseded { .. }
            | Self::PatienceOver { .. }
            | Self::NoThread { .. }
            | Self::NotOurs
            | Self::NothingReady
            | Self::Study(_)
            | Self::Worker => false,
        }
    }
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
