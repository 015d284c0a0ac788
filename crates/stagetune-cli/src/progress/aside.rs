//! A thread for what may take its time: a run never waits for a terminal that is held, a full pipe,
//! or a message that is being sent.

use std::fmt;
use std::sync::Mutex;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

type Job = Box<dyn FnOnce() + Send>;

/// Does one thing after the other, in the order given.
pub struct Aside {
    /// Dropped at the end.
    jobs: Mutex<Option<Sender<Job>>>,
    over: Mutex<Receiver<()>>,
}

impl Aside {
    /// A thread that has nothing to do yet.
    pub fn new() -> Self {
        let (jobs, to_do) = mpsc::channel::<Job>();
        let (tell, over) = mpsc::channel();
        let thread = std::thread::Builder::new().spawn(move || {
            to_do.into_iter().for_each(|job| job());
            let _ = tell.send(());
        });
        // Without a thread it is done at once, by whoever asks for it.
        let jobs = thread.ok().map(|_| jobs);
        Self { jobs: Mutex::new(jobs), over: Mutex::new(over) }
    }

    /// Has something done.
    pub fn run(&self, job: impl FnOnce() + Send + 'static) {
        let jobs = self.jobs.lock().ok();
        match jobs.as_ref().and_then(|jobs| jobs.as_ref()) {
            Some(jobs) => drop(jobs.send(Box::new(job))),
            None => job(),
        }
    }

    /// Takes nothing more, and waits until all is done, or for so long; whether it is done.
    pub fn finish(&self, limit: Option<Duration>) -> bool {
        let Ok(mut jobs) = self.jobs.lock() else { return true };
        if jobs.take().is_none() {
            return true;
        }
        drop(jobs);
        match limit {
            Some(limit) => self.wait(limit),
            None => self.over.lock().is_ok_and(|over| over.recv().is_ok()),
        }
    }

    /// Waits for so long at most until all is done, after nothing more is taken; whether it is done.
    pub fn wait(&self, limit: Duration) -> bool {
        let Ok(over) = self.over.lock() else { return true };
        !matches!(over.recv_timeout(limit), Err(RecvTimeoutError::Timeout))
    }
}

impl fmt::Debug for Aside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Aside").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn nobody_waits_for_what_takes_its_time_and_the_order_stays() {
        let (aside, done) = (Aside::new(), Arc::new(Mutex::new(Vec::new())));
        let (open, gate) = mpsc::channel::<()>();
        let first = done.clone();
        aside.run(move || {
            gate.recv().unwrap();
            first.lock().unwrap().push(1);
        });
        let second = done.clone();
        aside.run(move || second.lock().unwrap().push(2));
        assert!(done.lock().unwrap().is_empty());
        aside.finish(Some(Duration::from_millis(1)));
        open.send(()).unwrap();
        // What comes after the end is done at once.
        aside.run(|| {});
        let timer = std::time::Instant::now();
        while done.lock().unwrap().len() < 2 {
            assert!(timer.elapsed() < Duration::from_secs(60));
            std::thread::yield_now();
        }
        assert_eq!(*done.lock().unwrap(), [1, 2]);
    }
}
