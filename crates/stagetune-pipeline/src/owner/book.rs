//! The book: a study, its log, and what they come to, kept in step.

use stagetune::study::{Event, Owner, Study, StudyError};
use stagetune::trial::TrialId;

use super::error::RunError;
use super::open::NewStudy;
use super::replay::continued;
use crate::clock;
use crate::ledger::Ledger;
use crate::log::{Log, LogError, Record, Session, Stamped};

/// Waits a while after the log could not be written; whether to try again.
pub(super) type Wait<'a> = &'a dyn Fn(&LogError) -> bool;

/// A study, its log, and what they come to.
pub(super) struct Book {
    name: String,
    fresh: NewStudy,
    log: Box<dyn Log>,
    pub(super) study: Study,
    pub(super) ledger: Ledger,
    position: u64,
    epoch: u64,
    /// Trials that others attached, and nobody has begun yet.
    attached: Vec<TrialId>,
}

impl Book {
    /// The study that a log tells of.
    pub(super) fn new(
        name: String,
        fresh: NewStudy,
        log: Box<dyn Log>,
        records: &[Stamped],
    ) -> Result<Self, RunError> {
        let study = continued(&name, fresh()?, records)?;
        let (ledger, position) = (Ledger::of(&name, records), records.len() as u64);
        Ok(Self { name, fresh, log, study, ledger, position, epoch: 0, attached: Vec::new() })
    }

    /// Writes down that this process owns the study from now on.
    pub(super) fn take_ownership(&mut self, by: Owner, session: Session) -> Result<(), RunError> {
        self.commit(&|_| false, |study| {
            let mut records = Vec::new();
            if study.events().is_empty() {
                records.push(Record::from(study.started()));
            }
            let owned = Event::Owned { epoch: study.epoch() + 1, by: by.clone() };
            records.push(Record { event: owned, session: Some(session.clone()), run: None });
            Ok(records)
        })?;
        self.epoch = self.study.epoch();
        Ok(())
    }

    /// Reads what others have appended since the last time, and takes it in.
    pub(super) fn follow(&mut self) -> Result<Vec<Stamped>, RunError> {
        let news = self.log.read(self.position)?;
        self.check_epoch(&news)?;
        for stamped in &news {
            let failed = |source| RunError::Replay { study: self.name.clone(), source: Box::new(source) };
            self.study.apply(&stamped.record.event).map_err(failed)?;
            self.ledger.apply(stamped);
            self.position += 1;
        }
        self.attached.extend(attached(&news));
        Ok(news)
    }

    /// The trials that others attached since the last time, and that are open.
    pub(super) fn take_attached(&mut self) -> Vec<stagetune::trial::Proposed> {
        let attached = std::mem::take(&mut self.attached);
        self.study.open().filter(|open| attached.contains(&open.id())).cloned().collect()
    }

    /// Whether a trial is open.
    pub(super) fn is_open(&self, trial: TrialId) -> bool {
        self.study.open().any(|open| open.id() == trial)
    }

    /// The name of a stage.
    pub(super) fn stage_name(&self, stage: usize) -> String {
        self.study.space().modules().get(stage).map(|module| module.name().to_string()).unwrap_or_default()
    }

    /// An owner that reads of a newer one stops.
    fn check_epoch(&self, news: &[Stamped]) -> Result<(), RunError> {
        for stamped in news {
            if let Event::Owned { epoch, by } = &stamped.record.event
                && self.epoch > 0
                && *epoch > self.epoch
            {
                return Err(RunError::Superseded { study: self.name.clone(), by: Box::new(by.clone()) });
            }
        }
        Ok(())
    }

    /// The same as [`Book::commit`] for a trial; `false` if somebody else has ended it.
    pub(super) fn try_commit(
        &mut self,
        trial: TrialId,
        wait: Wait<'_>,
        make: impl Fn(&Study) -> Result<Vec<Record>, RunError>,
    ) -> Result<bool, RunError> {
        if !self.is_open(trial) {
            return Ok(false);
        }
        match self.commit(wait, make) {
            Ok(()) => Ok(true),
            Err(RunError::Study(StudyError::Closed { id })) if id == trial => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Takes records in and appends them to the log. If somebody else appended first, their records are read and the records are made again.
    ///
    /// Where the log cannot be written, `wait` says whether to try again; nothing else goes on meanwhile.
    pub(super) fn commit(
        &mut self,
        wait: Wait<'_>,
        make: impl Fn(&Study) -> Result<Vec<Record>, RunError>,
    ) -> Result<(), RunError> {
        loop {
            let at = clock::now();
            let records = make(&self.study)?;
            let stamped: Vec<Stamped> = records.into_iter().map(|record| Stamped { at, record }).collect();
            for (number, stamped) in stamped.iter().enumerate() {
                if let Err(error) = self.study.apply(&stamped.record.event) {
                    // Only the first can be refused without a trace; later ones follow from it.
                    if number > 0 {
                        self.start_over()?;
                    }
                    return Err(error.into());
                }
            }
            match self.append(&stamped, wait) {
                Ok(()) => {
                    self.position += stamped.len() as u64;
                    stamped.iter().for_each(|record| self.ledger.apply(record));
                    return Ok(());
                }
                Err(LogError::Moved { .. }) => self.start_over()?,
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Appends, and tries again for as long as `wait` says.
    fn append(&mut self, records: &[Stamped], wait: Wait<'_>) -> Result<(), LogError> {
        let mut failed = false;
        loop {
            let error = match self.log.append(self.position, records) {
                // A commit may reach the disk although it was said to have failed.
                Err(LogError::Moved { .. }) if failed && self.is_there(records)? => return Ok(()),
                Err(error) if error.is_of_the_world() => error,
                done => return done,
            };
            if !wait(&error) {
                return Err(error);
            }
            failed = true;
        }
    }

    /// Whether the log goes on with these very records.
    fn is_there(&self, records: &[Stamped]) -> Result<bool, LogError> {
        let found = self.log.read(self.position)?;
        Ok(found.get(..records.len()) == Some(records))
    }

    /// Reads the whole log anew, after somebody else has appended.
    fn start_over(&mut self) -> Result<(), RunError> {
        let records = self.log.read(0)?;
        let known = usize::try_from(self.position).unwrap_or(usize::MAX);
        self.check_epoch(records.get(known..).unwrap_or_default())?;
        self.study = continued(&self.name, (self.fresh)()?, &records)?;
        self.ledger = Ledger::of(&self.name, &records);
        self.attached.extend(attached(records.get(known..).unwrap_or_default()));
        self.position = records.len() as u64;
        Ok(())
    }

    /// Writes down that the owner ends its work.
    pub(super) fn release(&mut self, finished: bool, reason: String) -> Result<(), RunError> {
        let epoch = self.epoch;
        self.commit(&|_| false, |_| {
            Ok(vec![Record::from(Event::Released { epoch, finished, reason: reason.clone() })])
        })
    }
}

/// The trials that these records attached.
fn attached(records: &[Stamped]) -> Vec<TrialId> {
    let attached = records.iter().filter(|stamped| matches!(stamped.record.event, Event::Attached { .. }));
    attached.filter_map(|stamped| stamped.record.event.trial()).collect()
}
