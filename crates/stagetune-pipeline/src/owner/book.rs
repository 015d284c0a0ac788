//! The book: a study with all that was entered, what its log has of it, and what that comes to.
//!
//! ```text
//! enter      an event is applied to the study at once, and its record is sent to the log's writer
//! written    the writer has appended it: the ledger takes it in, and what waited for it is done
//! others     somebody else appended first: their records come before ours, which are made again
//! ```
//!
//! So nobody waits for the log but those whose own entry must be there first.

use std::collections::VecDeque;
use std::sync::mpsc::Sender;
use std::time::Instant;

use stagetune::study::{Event, Owner, Study};
use stagetune::trial::{End, Proposed, TrialId};

use super::error::RunError;
use super::log_writer::Order;
use super::open::NewStudy;
use super::replay::continued;
use crate::clock;
use crate::ledger::Ledger;
use crate::log::{Log, LogError, Record, Session, Stamped};

/// Makes the records of an entry, for the study as it stands then.
pub(super) type Make = Box<dyn Fn(&Study) -> Result<Vec<Record>, RunError> + Send>;

/// A study, what its log has of it, and what that comes to. `T` is what waits for an entry to be written.
pub(super) struct Book<T> {
    name: String,
    fresh: NewStudy,
    /// With all that was entered, also what is not written yet.
    pub(super) study: Study,
    /// What the log has.
    pub(super) ledger: Ledger,
    /// How many records the log has.
    position: u64,
    /// What is not written yet, in order.
    entries: VecDeque<Entry<T>>,
    /// Where orders go, while a writer has the log.
    orders: Option<Sender<Order>>,
    /// How often the writer told of others' records.
    heard: u64,
    epoch: u64,
    /// Trials that others attached, and nobody has begun yet.
    attached: Vec<TrialId>,
    /// When this process opened it. The clock of the day may be set meanwhile; this one is not.
    began: Instant,
}

/// Records that were entered and are not written yet.
struct Entry<T> {
    make: Make,
    records: Vec<Stamped>,
    then: T,
}

/// An entry that was refused, with what had waited for it.
pub(super) type Refused<T> = (T, RunError);

impl<T> Book<T> {
    /// The study that a log tells of.
    pub(super) fn new(name: String, fresh: NewStudy, records: &[Stamped]) -> Result<Self, RunError> {
        let study = continued(&name, fresh()?, records)?;
        let (ledger, position) = (Ledger::of(&name, records), records.len() as u64);
        let (entries, orders, attached) = (VecDeque::new(), None, Vec::new());
        let began = Instant::now();
        Ok(Self {
            name,
            fresh,
            study,
            ledger,
            position,
            entries,
            orders,
            heard: 0,
            epoch: 0,
            attached,
            began,
        })
    }

    /// Writes down that this process owns the study from now on.
    pub(super) fn take_ownership(
        &mut self,
        log: &mut dyn Log,
        by: Owner,
        session: Session,
    ) -> Result<(), RunError> {
        self.append_now(log, |study| {
            let mut records = Vec::new();
            if study.events().is_empty() {
                records.push(Record::from(study.started()));
            }
            let owned = Event::Owned { epoch: study.epoch() + 1, by: by.clone() };
            records.push(Record { session: Some(session.clone()), ..Record::from(owned) });
            records
        })?;
        self.epoch = self.study.epoch();
        Ok(())
    }

    /// Writes down that the owner ends its work. What was entered and not written is left out.
    pub(super) fn release(
        &mut self,
        log: &mut dyn Log,
        finished: bool,
        reason: &str,
    ) -> Result<(), RunError> {
        self.close();
        if self.study.events().len() as u64 > self.position {
            self.restore(self.position, &[])?;
        }
        let epoch = self.epoch;
        self.append_now(log, |_| {
            vec![Record::from(Event::Released { epoch, finished, reason: reason.to_owned() })]
        })
    }

    /// Appends to a log that no writer has.
    fn append_now(
        &mut self,
        log: &mut dyn Log,
        make: impl Fn(&Study) -> Vec<Record>,
    ) -> Result<(), RunError> {
        loop {
            let records = self.stamped(make(&self.study));
            match log.append(self.position, &records) {
                Ok(()) => return self.follow(&records),
                Err(error @ LogError::Moved { .. }) => {
                    let others = log.read(self.position)?;
                    if others.is_empty() {
                        return Err(error.into());
                    }
                    self.check_epoch(&others)?;
                    self.attached.extend(attached(&others));
                    self.follow(&others)?;
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// From now on a writer has the log.
    pub(super) fn send_to(&mut self, orders: Sender<Order>) {
        self.orders = Some(orders);
    }

    /// How many records the log has.
    pub(super) fn position(&self) -> u64 {
        self.position
    }

    /// Whether all that was entered is written.
    pub(super) fn is_written(&self) -> bool {
        self.entries.is_empty()
    }

    /// Applies what `make` makes to the study, and has it written; `then` comes back when it is.
    pub(super) fn enter(&mut self, make: Make, then: T) -> Result<(), Refused<T>> {
        let records = match self.apply(&make) {
            Ok(records) => records,
            Err(error) => return Err((then, error)),
        };
        let Some(orders) = &self.orders else { return Ok(()) };
        let entered: usize = self.entries.iter().map(|entry| entry.records.len()).sum();
        let position = self.position + entered as u64;
        // A writer that is gone has said why.
        let _ = orders.send(Order { heard: self.heard, position, records: records.clone() });
        self.entries.push_back(Entry { make, records, then });
        Ok(())
    }

    /// The study takes the records in; on an error it is as it was.
    fn apply(&mut self, make: &Make) -> Result<Vec<Stamped>, RunError> {
        let records = self.stamped(make(&self.study)?);
        let before = self.study.events().len();
        for (number, stamped) in records.iter().enumerate() {
            if let Err(error) = self.study.apply(&stamped.record.event) {
                if number > 0 {
                    self.restore(before as u64, &[])?;
                }
                return Err(error.into());
            }
        }
        Ok(records)
    }

    /// The study after its first `events` events and these records.
    fn restore(&mut self, events: u64, records: &[Stamped]) -> Result<(), RunError> {
        let kept = usize::try_from(events).unwrap_or(usize::MAX);
        let kept = self.study.events().iter().take(kept).cloned();
        let events = kept.chain(records.iter().map(|stamped| stamped.record.event.clone()));
        let failed = |source| RunError::Replay { study: self.name.clone(), source: Box::new(source) };
        self.study = (self.fresh)()?.replay(events).map_err(failed)?;
        Ok(())
    }

    fn stamped(&self, records: Vec<Record>) -> Vec<Stamped> {
        let at = clock::now();
        // To the millisecond: more digits would be the longest part of many records.
        let owned_for = Some((self.began.elapsed().as_secs_f64() * 1000.0).round() / 1000.0);
        records.into_iter().map(|record| Stamped { at, record: Record { owned_for, ..record } }).collect()
    }

    /// The first entry is written: what it recorded, and what waited for it.
    pub(super) fn written(&mut self) -> Option<(Vec<Stamped>, T)> {
        let Entry { records, then, .. } = self.entries.pop_front()?;
        records.iter().for_each(|record| self.ledger.apply(record));
        self.position += records.len() as u64;
        Some((records, then))
    }

    /// Nothing more is written: what waits is let go, and so is what is entered from now on.
    pub(super) fn close(&mut self) {
        self.orders = None;
        self.entries.clear();
    }

    /// Takes in what others appended. What was entered and not written comes after it, and is made
    /// again; what is refused now comes back.
    pub(super) fn take_others(&mut self, others: &[Stamped]) -> Result<Vec<Refused<T>>, RunError> {
        self.heard += 1;
        self.check_epoch(others)?;
        self.attached.extend(attached(others));
        if self.entries.is_empty() {
            self.follow(others)?;
            return Ok(Vec::new());
        }
        let entries = std::mem::take(&mut self.entries);
        self.restore(self.position, others)?;
        others.iter().for_each(|record| self.ledger.apply(record));
        self.position += others.len() as u64;
        let again = entries.into_iter().filter_map(|entry| self.enter(entry.make, entry.then).err());
        Ok(again.collect())
    }

    /// Takes in records that stand in the log.
    fn follow(&mut self, records: &[Stamped]) -> Result<(), RunError> {
        for stamped in records {
            let failed = |source| RunError::Replay { study: self.name.clone(), source: Box::new(source) };
            self.study.apply(&stamped.record.event).map_err(failed)?;
            self.ledger.apply(stamped);
            self.position += 1;
        }
        Ok(())
    }

    /// An owner that reads of a newer one stops.
    fn check_epoch(&self, others: &[Stamped]) -> Result<(), RunError> {
        for stamped in others {
            if let Event::Owned { epoch, by } = &stamped.record.event
                && self.epoch > 0
                && *epoch > self.epoch
            {
                return Err(RunError::Superseded { study: self.name.clone(), by: Box::new(by.clone()) });
            }
        }
        Ok(())
    }

    /// The trials that others attached since the last time, and that are open.
    pub(super) fn take_attached(&mut self) -> Vec<Proposed> {
        let attached = std::mem::take(&mut self.attached);
        self.study.open().filter(|open| attached.contains(&open.id())).cloned().collect()
    }

    /// Whether a trial is open.
    pub(super) fn is_open(&self, trial: TrialId) -> bool {
        self.study.open().any(|open| open.id() == trial)
    }

    /// How many trials failed, written or not.
    pub(super) fn failed(&self) -> usize {
        let entered = self.entries.iter().flat_map(|entry| &entry.records);
        let failed =
            |record: &&Stamped| matches!(record.record.event, Event::Ended { end: End::Failed { .. }, .. });
        self.ledger.failed as usize + entered.filter(failed).count()
    }

    /// The name of a stage.
    pub(super) fn stage_name(&self, stage: usize) -> String {
        self.study.space().modules().get(stage).map(|module| module.name().to_string()).unwrap_or_default()
    }
}

/// The trials that these records attached.
fn attached(records: &[Stamped]) -> Vec<TrialId> {
    let attached = records.iter().filter(|stamped| matches!(stamped.record.event, Event::Attached { .. }));
    attached.filter_map(|stamped| stamped.record.event.trial()).collect()
}
