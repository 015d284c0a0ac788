//! With a proposal or a disk that does not come to an end, workers get their answers all the same.

use std::sync::{Arc, Condvar, Mutex};

use stagetune::objective::{Direction, Metric, Objectives};
use stagetune::strategy::{Past, Proposal, Random, Strategy, StrategyError, View};
use stagetune::study::{Event, StopRules, Study};
use stagetune_pipeline::executor::Scripted;
use stagetune_pipeline::log::{Log, LogError, Memory, Stamped, Syncer};
use stagetune_pipeline::owner::{Owner, Quiet};
use stagetune_pipeline::stop::Stop;

use crate::harness::{LONG, Notes, TWO, count, finish, options, parts, pipeline, until};

/// Proposes at random, but from the eighth trial on only when it is let go.
#[derive(Clone, Debug)]
struct Blocking {
    random: Random,
    gate: Arc<Gate>,
    /// How many stages have their values at once; the others are settled later.
    settled: Option<usize>,
}

#[derive(Debug, Default)]
struct Gate {
    waits: Mutex<(bool, bool)>,
    changed: Condvar,
}

impl Gate {
    /// Says that somebody waits, and waits until it is open.
    fn pass(&self) {
        let mut state = self.waits.lock().unwrap();
        state.0 = true;
        while !state.1 {
            state = self.changed.wait(state).unwrap();
        }
    }

    fn is_waited_at(&self) -> bool {
        self.waits.lock().unwrap().0
    }

    fn open(&self) {
        self.waits.lock().unwrap().1 = true;
        self.changed.notify_all();
    }
}

impl Strategy for Blocking {
    fn propose(&self, view: &View<'_>) -> Result<Proposal, StrategyError> {
        if view.trials.len() >= 7 {
            self.gate.pass();
        }
        Ok(Proposal { settled: self.settled, ..self.random.propose(view)? })
    }

    fn accept(&mut self, past: &Past<'_>, proposal: &Proposal) -> Result<(), StrategyError> {
        self.random.accept(past, proposal)
    }

    fn boxed(&self) -> Box<dyn Strategy> {
        Box::new(self.clone())
    }
}

#[test]
fn results_are_told_and_stages_start_while_a_proposal_is_computed() {
    trials_end_while_a_proposal_is_computed(None);
}

#[test]
fn later_values_are_settled_while_a_proposal_is_computed() {
    trials_end_while_a_proposal_is_computed(Some(1));
}

fn trials_end_while_a_proposal_is_computed(settled: Option<usize>) {
    let dir = tempfile::tempdir().unwrap();
    let pipeline = pipeline(&TWO.replace("trials = 8", "trials = 9"), dir.path());
    let (gate, log, executor) = (Arc::new(Gate::default()), Memory::default(), Arc::new(Scripted::new()));
    let stop = Stop::new();
    let mut made = parts(&pipeline, &log, &executor);
    let (space, blocked) = (pipeline.space.clone(), gate.clone());
    made.study = Box::new(move || {
        let strategy = Blocking { random: Random::new(3), gate: blocked.clone(), settled };
        let study = Study::new(space.clone(), Box::new(strategy))
            .objectives(Objectives::one(Metric::of_last("f"), Direction::Minimize))?
            .stop(StopRules { trials: Some(9), ..StopRules::default() })?;
        Ok(study)
    });
    let ended = std::thread::scope(|scope| {
        let run = scope.spawn(|| Owner::with(&pipeline, options(8, &stop), made, &Quiet)?.run());
        // Seven trials are running, and the eighth is being computed without end.
        assert!(executor.wait_for_running(7, LONG));
        until("the proposal that blocks", || gate.is_waited_at());
        let is_told = |event: &Event| matches!(event, Event::Ended { .. });
        let running = executor.running();
        assert_eq!(running.len(), 7);
        // First stages end: their second stages start. They end, too: the trials are told.
        running.iter().for_each(|token| finish(&executor, token));
        until("seven second stages", || {
            executor.running().iter().filter(|token| !running.contains(token)).count() == 7
        });
        executor.running().iter().for_each(|token| finish(&executor, token));
        until("seven results", || count(&log, is_told) == 7);
        assert!(gate.is_waited_at() && count(&log, |event| matches!(event, Event::Asked { .. })) == 7);

        gate.open();
        while !run.is_finished() {
            executor.running().iter().for_each(|token| finish(&executor, token));
            std::thread::yield_now();
        }
        run.join().unwrap()
    });
    let ended = ended.unwrap();
    assert_eq!((ended.ledger.observed, ended.ledger.trials.len()), (9, 9));
}

/// A log whose disk never answers before it is let go; or, if `appends` says so, one that cannot
/// even be appended to when a trial is asked for.
struct Slow {
    log: Memory,
    gate: Arc<Gate>,
    appends: bool,
}

impl Log for Slow {
    fn append(&mut self, position: u64, records: &[Stamped]) -> Result<(), LogError> {
        let asks = |stamped: &Stamped| matches!(stamped.record.event, Event::Asked { .. });
        if self.appends && records.iter().any(asks) {
            self.gate.pass();
        }
        self.log.append(position, records)
    }

    fn read(&self, position: u64) -> Result<Vec<Stamped>, LogError> {
        self.log.read(position)
    }

    fn syncer(&mut self) -> Result<Box<dyn Syncer>, LogError> {
        Ok(Box::new(SlowDisk(self.gate.clone())))
    }
}

struct SlowDisk(Arc<Gate>);

impl Syncer for SlowDisk {
    fn sync(&mut self) -> Result<(), LogError> {
        self.0.pass();
        Ok(())
    }
}

#[test]
fn trials_run_while_the_disk_does_not_answer_and_results_are_told_when_it_has_them() {
    let dir = tempfile::tempdir().unwrap();
    let pipeline = pipeline(TWO, dir.path());
    let (gate, log, executor) = (Arc::new(Gate::default()), Memory::default(), Arc::new(Scripted::new()));
    let (stop, notes) = (Stop::new(), Notes::default());
    let mut made = parts(&pipeline, &log, &executor);
    made.log = Box::new(Slow { log: log.clone(), gate: gate.clone(), appends: false });
    let told = || notes.0.lock().unwrap().iter().filter(|news| news.starts_with("Told")).count();
    let ended = std::thread::scope(|scope| {
        let run = scope.spawn(|| Owner::with(&pipeline, options(4, &stop), made, &notes)?.run());
        // All eight trials are asked, launched, reported and ended.
        until("eight results in the log", || {
            executor.running().iter().for_each(|token| finish(&executor, token));
            count(&log, |event| matches!(event, Event::Ended { .. })) == 8
        });
        until("the disk that blocks", || gate.is_waited_at());
        assert_eq!((executor.launched().len(), told()), (16, 0));
        gate.open();
        run.join().unwrap()
    });
    assert_eq!((ended.unwrap().ledger.observed, told()), (8, 8));
}

/// Proposes at random, and counts.
#[derive(Clone, Debug)]
struct Counting {
    random: Random,
    proposed: Arc<Mutex<usize>>,
}

impl Strategy for Counting {
    fn propose(&self, view: &View<'_>) -> Result<Proposal, StrategyError> {
        *self.proposed.lock().unwrap() += 1;
        self.random.propose(view)
    }

    fn accept(&mut self, past: &Past<'_>, proposal: &Proposal) -> Result<(), StrategyError> {
        self.random.accept(past, proposal)
    }

    fn boxed(&self) -> Box<dyn Strategy> {
        Box::new(self.clone())
    }
}

#[test]
fn while_the_log_cannot_be_appended_to_trials_are_proposed_and_none_starts_that_it_does_not_have() {
    let dir = tempfile::tempdir().unwrap();
    let pipeline = pipeline(TWO, dir.path());
    let (gate, log, executor) = (Arc::new(Gate::default()), Memory::default(), Arc::new(Scripted::new()));
    let (stop, proposed) = (Stop::new(), Arc::new(Mutex::new(0)));
    let mut made = parts(&pipeline, &log, &executor);
    made.log = Box::new(Slow { log: log.clone(), gate: gate.clone(), appends: true });
    let (space, counted) = (pipeline.space.clone(), proposed.clone());
    made.study = Box::new(move || {
        let strategy = Counting { random: Random::new(3), proposed: counted.clone() };
        let study = Study::new(space.clone(), Box::new(strategy))
            .objectives(Objectives::one(Metric::of_last("f"), Direction::Minimize))?
            .stop(StopRules { trials: Some(8), ..StopRules::default() })?;
        Ok(study)
    });
    let ended = std::thread::scope(|scope| {
        let run = scope.spawn(|| Owner::with(&pipeline, options(4, &stop), made, &Quiet)?.run());
        until("the append that blocks", || gate.is_waited_at());
        // The dispatcher goes on: there are four proposals for four workers.
        until("four proposals", || *proposed.lock().unwrap() == 4);
        assert_eq!((executor.launched().len(), count(&log, |event| event.trial().is_some())), (0, 0));
        gate.open();
        while !run.is_finished() {
            executor.running().iter().for_each(|token| finish(&executor, token));
            std::thread::yield_now();
        }
        run.join().unwrap()
    });
    assert_eq!(ended.unwrap().ledger.observed, 8);
}
