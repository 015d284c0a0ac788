//! Control records: what somebody who does not own a study may append to its log.

use stagetune::study::{Event, Study};

use super::error::RunError;
use super::replay::{begun_with, continued, study};
use crate::clock;
use crate::disk::Disk;
use crate::file::Pipeline;
use crate::log::{Log, LogError, Sqlite, Stamped};
use crate::state_dir::StateDir;

/// The same for the study of a pipeline on this machine, which must have been begun.
pub fn control(
    pipeline: &Pipeline,
    disk: Disk,
    make: &dyn Fn(&Study) -> Result<Vec<Event>, RunError>,
) -> Result<u64, RunError> {
    let (journal, name) = (StateDir::of(&pipeline.root).journal(), &pipeline.study.name);
    // A journal or a study that is not there is not made.
    let look = Sqlite::look(&journal, name)?;
    look.check_begun()?;
    let records = look.read(0)?;
    let strategy = begun_with(pipeline, &records).unwrap_or(pipeline.study.engine_strategy());
    let fresh = || Ok(study(pipeline, strategy)?.with_any_options());
    append_control(&mut Sqlite::open(&journal, name, disk)?, name, &fresh, make)
}

/// How often to try again where the owner was quicker.
const TRIES: usize = 100;

/// Appends events without owning the study: a trial attached, reported or withdrawn, a pause, a note. The owner, if there is one, reads them
/// and goes on. `fresh` makes a new study of the same kind, against which the events are checked first.
///
/// `make` is asked for the events with the study as it stands; it is asked again if somebody else was quicker.
pub fn append_control(
    log: &mut dyn Log,
    name: &str,
    fresh: &dyn Fn() -> Result<Study, RunError>,
    make: &dyn Fn(&Study) -> Result<Vec<Event>, RunError>,
) -> Result<u64, RunError> {
    let mut moved = None;
    for _ in 0..TRIES {
        let records = log.read(0)?;
        let position = records.len() as u64;
        let mut study = continued(name, fresh()?, &records)?;
        let events = make(&study)?;
        for event in &events {
            if !event.is_anybodys() {
                return Err(RunError::NotOurs);
            }
            study.apply(event)?;
        }
        let at = clock::now();
        let stamped: Vec<Stamped> =
            events.into_iter().map(|event| Stamped { at, record: event.into() }).collect();
        match log.append(position, &stamped) {
            Ok(()) => return Ok(position + stamped.len() as u64),
            Err(error @ LogError::Moved { .. }) => moved = Some(error),
            Err(error) => return Err(error.into()),
        }
    }
    Err(moved.map_or(RunError::Worker, RunError::from))
}
