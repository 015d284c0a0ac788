//! The two threads that wait for the disk, so that the dispatcher does not.
//!
//! The *log writer* has the log. It appends what the dispatcher orders, everything that has gathered in one go, and
//! reads what others have appended. The *syncer* waits until records that must survive a power cut are on the disk
//! itself, and keeps the file of what runs up to date; appends go on meanwhile. Where the log cannot be written both
//! wait for as long as the study's patience lasts.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{Builder, Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};

use super::desk::Message;
use super::error::RunError;
use super::open::Context;
use super::patience::Then;
use crate::log::{Log, LogError, Stamped, Syncer};

/// How often to look for what others appended, and to bring the file of what runs up to date.
const LOOK: Duration = Duration::from_millis(100);

/// Records to be appended.
pub(super) struct Order {
    /// How often the dispatcher had heard of others' records. An order that was made before it heard the last is
    /// dropped: the dispatcher makes it again.
    pub(super) heard: u64,
    /// After how many records of the log.
    pub(super) position: u64,
    pub(super) records: Vec<Stamped>,
}

/// What the two threads say.
pub(super) enum LogNews {
    /// So many orders are appended, in their order.
    Written(usize),
    /// The first so many records survive a power cut.
    Safe(u64),
    /// Somebody else appended first; orders under way are dropped.
    Others(Vec<Stamped>),
    /// Nothing more can be written.
    Failed(RunError),
}

/// The two threads while they work.
pub(super) struct LogThreads<'scope> {
    /// Where orders go.
    pub(super) orders: Sender<Order>,
    writer: ScopedJoinHandle<'scope, Option<Box<dyn Log>>>,
    syncer: ScopedJoinHandle<'scope, Option<Box<dyn Syncer>>>,
}

impl<'scope> LogThreads<'scope> {
    /// Starts both for a log that has so many records.
    pub(super) fn start<'env: 'scope>(
        scope: &'scope Scope<'scope, 'env>,
        context: &'env Context<'env>,
        mut log: Box<dyn Log>,
        position: u64,
        news: Sender<Message>,
    ) -> Result<Self, RunError> {
        let syncer = log.syncer()?;
        let (orders, ordered) = mpsc::channel();
        let (safe, wanted) = mpsc::channel();
        let syncer_news = news.clone();
        let no_thread = |what| move |source| RunError::NoThread { what, source };
        let keep_safe = move || keep_safe(syncer, context, &wanted, &syncer_news);
        let syncer = spawn(scope, news.clone(), keep_safe).map_err(no_thread("sync the log"))?;
        let writer_news = news.clone();
        let writer = LogWriter { log, position, context, news: writer_news, safe };
        let write = move || writer.work(&ordered);
        let writer = spawn(scope, news, write).map_err(no_thread("write the log"))?;
        Ok(Self { orders, writer, syncer })
    }

    /// Waits for both, to which no orders must go any more; the log, unless one of them ended in a panic.
    pub(super) fn join(self) -> Option<(Box<dyn Log>, Box<dyn Syncer>)> {
        let Self { orders, writer, syncer } = self;
        drop(orders);
        let (log, syncer) = (writer.join().ok().flatten(), syncer.join().ok().flatten());
        log.zip(syncer)
    }
}

/// A thread whose panic is told like any other end: it would be waited for without end.
fn spawn<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    news: Sender<Message>,
    work: impl FnOnce() -> T + Send + 'scope,
) -> std::io::Result<ScopedJoinHandle<'scope, Option<T>>> {
    Builder::new().spawn_scoped(scope, move || {
        let done = catch_unwind(AssertUnwindSafe(work)).ok();
        if done.is_none() {
            let _ = news.send(Message::Log(LogNews::Failed(RunError::Worker)));
        }
        done
    })
}

/// The log, and how far it goes.
struct LogWriter<'a> {
    log: Box<dyn Log>,
    position: u64,
    context: &'a Context<'a>,
    news: Sender<Message>,
    /// Where positions go up to which the log is to survive a power cut.
    safe: Sender<u64>,
}

impl LogWriter<'_> {
    /// Carries out orders until nobody sends any more; gives the log back.
    fn work(mut self, orders: &Receiver<Order>) -> Box<dyn Log> {
        if let Err(error) = self.serve(orders) {
            let _ = self.news.send(Message::Log(LogNews::Failed(error)));
        }
        self.log
    }

    fn serve(&mut self, orders: &Receiver<Order>) -> Result<(), RunError> {
        let mut heard = 0;
        loop {
            let others = match orders.recv_timeout(LOOK) {
                Ok(first) => {
                    let gathered = std::iter::once(first).chain(orders.try_iter());
                    let orders: Vec<Order> = gathered.filter(|order| order.heard == heard).collect();
                    self.carry_out(orders)?
                }
                Err(RecvTimeoutError::Timeout) => self.read()?,
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            };
            if !others.is_empty() {
                self.position += others.len() as u64;
                heard += 1;
                let _ = self.news.send(Message::Log(LogNews::Others(others)));
            }
        }
    }

    /// Appends; what others have appended, if they were first.
    fn carry_out(&mut self, orders: Vec<Order>) -> Result<Vec<Stamped>, RunError> {
        let Some(first) = orders.first() else { return Ok(Vec::new()) };
        if first.position != self.position {
            return Err(LogError::Moved { expected: first.position, found: self.position }.into());
        }
        let count = orders.len();
        let records: Vec<Stamped> = orders.into_iter().flat_map(|order| order.records).collect();
        match self.append(&records) {
            Ok(()) => {}
            Err(RunError::Journal(error @ LogError::Moved { .. })) => {
                let others = self.read()?;
                // Otherwise the log is shorter than it was.
                return if others.is_empty() { Err(error.into()) } else { Ok(others) };
            }
            Err(error) => return Err(error),
        }
        self.position += records.len() as u64;
        let _ = self.news.send(Message::Log(LogNews::Written(count)));
        if records.iter().any(|stamped| stamped.record.must_survive_power_cut()) {
            let _ = self.safe.send(self.position);
        }
        Ok(Vec::new())
    }

    fn append(&mut self, records: &[Stamped]) -> Result<(), RunError> {
        let (log, position) = (&mut self.log, self.position);
        let mut failed = false;
        patiently(self.context, || {
            let appended = match log.append(position, records) {
                // A commit may reach the disk although it was said to have failed.
                Err(LogError::Moved { .. }) if failed && goes_on_with(&**log, position, records)? => Ok(()),
                appended => appended,
            };
            failed = true;
            Ok(appended?)
        })
    }

    fn read(&self) -> Result<Vec<Stamped>, RunError> {
        patiently(self.context, || Ok(self.log.read(self.position)?))
    }
}

/// Whether the log goes on with these very records.
fn goes_on_with(log: &dyn Log, position: u64, records: &[Stamped]) -> Result<bool, LogError> {
    let found = log.read(position)?;
    Ok(found.get(..records.len()) == Some(records))
}

/// Has records survive a power cut until nobody asks any more; gives the syncer back.
fn keep_safe(
    mut syncer: Box<dyn Syncer>,
    context: &Context<'_>,
    wanted: &Receiver<u64>,
    news: &Sender<Message>,
) -> Box<dyn Syncer> {
    let mut last_look = Instant::now();
    loop {
        match wanted.recv_timeout(LOOK) {
            Ok(position) => {
                let position = wanted.try_iter().last().unwrap_or(position);
                let synced = patiently(context, || Ok(syncer.sync()?));
                let failed = synced.is_err();
                let said = synced.map_or_else(LogNews::Failed, |()| LogNews::Safe(position));
                let _ = news.send(Message::Log(said));
                if failed {
                    return syncer;
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return syncer,
        }
        if last_look.elapsed() >= LOOK {
            last_look = Instant::now();
            syncer.rest();
            context.live.write(context.patience.list());
        }
    }
}

/// Tries again while the world is at fault, for as long as the study's patience lasts.
pub(super) fn patiently<T>(
    context: &Context<'_>,
    mut work: impl FnMut() -> Result<T, RunError>,
) -> Result<T, RunError> {
    let mut waited = false;
    loop {
        let error = match work() {
            Err(error) if error.is_of_the_world() => error,
            done => {
                if waited {
                    context.goes_on(None);
                }
                return done;
            }
        };
        waited = true;
        match context.wait(None, &error.to_string()) {
            Then::Again => {}
            Then::Stop | Then::End => return Err(context.lost_patience(None, error)),
        }
    }
}
