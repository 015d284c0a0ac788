//! Events beyond asking and telling: points of others, trials withdrawn, values settled later, owners, pauses, and a study that follows a log.

use std::sync::Arc;

use stagetune::objective::{Direction, Goal, Metric, Objectives};
use stagetune::space::{Cost, CostModel, Module, Param, Space};
use stagetune::strategy::{Past, Proposal, Random, Strategy, StrategyError, View};
use stagetune::study::{Event, Next, NoProgress, Owner, StopReason, StopRules, Study, StudyError};
use stagetune::trial::{End, How, StageReport, Trial, TrialId};

use crate::script::*;

fn trial(number: u64) -> TrialId {
    TrialId::new(number)
}

fn report(study: &mut Study, id: u64, stage: &str, report: StageReport) {
    study.apply(&Event::Reported { trial: trial(id), stage: stage.into(), report }).unwrap();
}

fn withdrawn(id: u64) -> Event {
    Event::Ended { trial: trial(id), end: End::Withdrawn { reason: "a full disk".into() }, cost: None }
}

fn runs(stages: &[usize]) -> Next {
    let mut set = stagetune::space::StageSet::empty();
    stages.iter().for_each(|stage| set.insert(*stage));
    Next::Run(set)
}

#[test]
fn proposing_changes_nothing_and_says_what_asking_would() {
    let mut study = Study::new(given(), Box::new(Random::new(5)));
    for _ in 0..3 {
        let before = format!("{:?}", study.events());
        let proposal = study.propose().unwrap();
        assert_eq!(proposal, study.propose().unwrap());
        assert_eq!(format!("{:?}", study.events()), before);
        let asked = study.ask().unwrap();
        assert_eq!(*asked.point(), proposal.point);
    }
}

#[test]
fn a_proposal_of_a_snapshot_is_taken_after_results_have_come_in() {
    let mut study = Study::named(given(), "gp-ei", 3).unwrap();
    let first = study.ask().unwrap();
    let snapshot = study.snapshot();
    study.tell(first.observe(1.0).unwrap()).unwrap();
    let proposal = Box::new(snapshot.propose().unwrap());
    study.apply(&Event::Asked { trial: trial(1), proposal: proposal.clone() }).unwrap();
    assert_eq!(*study.open().next().unwrap().point(), proposal.point);
    let again = Study::named(given(), "gp-ei", 3).unwrap().replay(study.events().to_vec()).unwrap();
    assert_eq!(again.propose().unwrap(), study.propose().unwrap());
}

#[test]
fn every_strategy_takes_proposals_that_were_made_before_the_last_results() {
    for name in stagetune::strategy::NAMES {
        let new = || Study::named(given(), name, 4).unwrap().cost_model(CostModel::Cache).unwrap();
        let mut study = new();
        let mut waiting: Option<Proposal> = None;
        for number in 0..30_u64 {
            if let Some(proposal) = waiting.take() {
                let id = trial(study.trials().len() as u64);
                study.apply(&Event::Asked { trial: id, proposal: Box::new(proposal) }).unwrap();
            }
            let snapshot = study.snapshot();
            // Results come in while the next proposal is computed, now and then a failure of the last trial.
            if let Some(open) = study.open().last().cloned() {
                match number % 4 {
                    3 => study.tell(open.fail("no")).unwrap(),
                    _ => study.tell(open.observe(number as f64).unwrap()).unwrap(),
                }
            }
            if study.events().is_empty() {
                study.apply(&study.started()).unwrap();
            }
            waiting = Some(snapshot.propose().unwrap());
        }
        let again = new().replay(study.events().to_vec()).unwrap();
        assert_eq!(again.propose().unwrap(), study.propose().unwrap(), "{name}");
    }
}

#[test]
fn a_withdrawn_trial_teaches_nothing_stays_charged_and_keeps_its_number() {
    let costs = [Cost::Measured, Cost::Measured, Cost::Measured];
    let points = [[0, 0, 0], [1, 0, 0], [0, 0, 1], [2, 0, 0]];
    let mut study = scripted(space(costs), &points).cost_model(CostModel::Cache).unwrap();
    let measured = |cost: f64| vec![Some(cost), Some(1.0), Some(1.0)];
    for (value, cost) in [(3.0, 10.0), (1.0, 90.0)] {
        let open = study.ask().unwrap();
        study.tell(open.observe(value).unwrap().measured(measured(cost)).unwrap()).unwrap();
    }
    assert_eq!((study.best().unwrap().value(), study.account().spent()), (1.0, 104.0));

    study.apply(&withdrawn(1)).unwrap();
    assert_eq!((study.best().unwrap().value(), study.account().spent()), (3.0, 104.0));
    assert!(matches!(study.trials().nth(1), Some(Trial::SetAside(trial)) if trial.is_withdrawn()));
    // Only what the first trial measured is expected, and what the second made is at hand.
    let why = |study: &Study| {
        let id = study.open().next().unwrap().id();
        study.why(id).unwrap().clone()
    };
    let open = study.ask().unwrap();
    assert_eq!(open.id(), trial(2), "its number is not used again");
    assert_eq!((why(&study).first_changed, why(&study).expected_cost), (Some(2), Some(1.0)));
    study.tell(open.observe(2.0).unwrap().measured(measured(0.0)).unwrap()).unwrap();
    assert_eq!(study.apply(&withdrawn(1)), Err(StudyError::Closed { id: trial(1) }));
    assert_eq!(study.best().unwrap().value(), 2.0);
}

#[test]
fn an_open_trial_is_withdrawn_with_what_ran_charged_and_at_hand() {
    let costs = [Cost::Measured, Cost::Measured, Cost::Measured];
    let mut study = scripted(space(costs), &[[0, 0, 0], [0, 0, 5]]).cost_model(CostModel::Cache).unwrap();
    let open = study.ask().unwrap();
    report(&mut study, 0, "first", StageReport::ran(Some(7.0)));
    study.withdraw(open.id(), "the disk was full").unwrap();
    assert_eq!(study.account().spent(), 7.0);
    assert!(study.best().is_none() && study.open().next().is_none());
    study.ask().unwrap();
    assert_eq!(study.why(trial(1)).unwrap().first_changed, Some(1), "the first stage is reused");
    assert_eq!(study.tell_value(open.id(), 1.0), Err(StudyError::Closed { id: open.id() }));
}

#[test]
fn a_model_forgets_a_withdrawn_trial() {
    // The design does not look at values, so that only the model could tell the studies apart: the fifth trial was wrong by much, was wrong
    // the other way, or failed. As a worst value, or as a failure, it would leave a mark.
    let play = |study: &mut Study, wrong: Option<f64>| {
        for number in 0..20 {
            let open = study.ask().unwrap();
            let a = open.point().get("a").unwrap().as_int().unwrap() as f64;
            match (number, wrong) {
                (4, None) => study.tell(open.fail("no")).unwrap(),
                (4, Some(wrong)) => study.tell(open.observe(wrong).unwrap()).unwrap(),
                _ => study.tell(open.observe(a).unwrap()).unwrap(),
            }
        }
    };
    let options = serde_json::json!({"design": {"uniform": 20}});
    for name in ["gp-ei", "eipu-prefix", "pbgi", "lambo-paper"] {
        let belief = |wrong: Option<f64>, withdraw: bool| {
            let mut study = Study::configured(given(), name, options.as_object().unwrap(), 9).unwrap();
            play(&mut study, wrong);
            if withdraw {
                study.apply(&withdrawn(4)).unwrap();
            }
            study.propose().unwrap().why.belief.unwrap()
        };
        let forgotten = belief(Some(1e6), true);
        assert_eq!(belief(Some(-1e6), true), forgotten, "{name}");
        assert_eq!(belief(None, true), forgotten, "{name}");
        assert_ne!(belief(None, false), forgotten, "{name}");
    }
}

#[test]
fn a_stage_that_ends_after_its_trial_was_withdrawn_is_charged_and_at_hand() {
    let costs = [Cost::Measured, Cost::Measured, Cost::Measured];
    let mut study = scripted(space(costs), &[[0, 0, 0], [0, 0, 5]]).cost_model(CostModel::Cache).unwrap();
    study.ask().unwrap();
    study.withdraw(trial(0), "not meant").unwrap();
    report(&mut study, 0, "first", StageReport::ran(Some(7.0)));
    assert_eq!(study.account().spent(), 7.0);
    study.ask().unwrap();
    assert_eq!(study.why(trial(1)).unwrap().first_changed, Some(1));
}

#[test]
fn withdrawn_trials_do_not_stop_a_study() {
    let rules = StopRules {
        no_progress: Some(NoProgress { trials: 2, at_least: 0.0 }),
        all_tried: true,
        ..StopRules::default()
    };
    let module = Module::new("only", [Param::int("n", 0, 2).unwrap()]).unwrap();
    let mut study = Study::new(Space::new([module]).unwrap(), Box::new(Random::new(3))).stop(rules).unwrap();
    for number in 0..3 {
        study.ask().unwrap();
        study.withdraw(trial(number), "a full disk").unwrap();
        assert_eq!(study.stopped(), None);
    }
    // Every point is to be had again.
    for number in 3..6 {
        let open = study.ask().unwrap();
        assert_eq!(open.id(), trial(number));
        study.tell(open.observe(-(number as f64)).unwrap()).unwrap();
    }
    assert!(matches!(study.stopped(), Some(StopReason::AllTried { points: 3 })));
}

#[test]
fn an_attached_point_is_a_trial_like_any_other() {
    let mut study = Study::named(given(), "gp-ei", 3).unwrap();
    let known = point(&given(), [1, 2, 3]);
    let attached = study.attach(known.clone(), Some("last year's settings")).unwrap();
    assert_eq!((attached.id(), attached.point()), (trial(0), &known));
    assert!(study.proposal(attached.id()).is_none());
    study.tell(attached.observe(0.5).unwrap()).unwrap();
    assert_eq!(study.best().unwrap().value(), 0.5);
    for _ in 0..25 {
        let open = study.ask().unwrap();
        study.tell(open.observe(1.0).unwrap()).unwrap();
    }
    let again = Study::named(given(), "gp-ei", 3).unwrap().replay(study.events().to_vec()).unwrap();
    assert_eq!(again.propose().unwrap(), study.propose().unwrap());
    let mut bounded = scripted(given().forbid("a > 4").unwrap(), &[]);
    assert!(matches!(bounded.attach(point(&given(), [5, 0, 0]), None), Err(StudyError::Forbidden { .. })));
    assert!(bounded.events().is_empty());
}

#[test]
fn after_every_stage_the_study_says_what_to_run() {
    let graph = given().wired(&[vec![], vec![], vec![0, 1]]).unwrap();
    let mut study = scripted(graph, &[[0, 0, 0], [1, 1, 1]]);
    study.ask().unwrap();
    assert_eq!(study.next(trial(0)), Ok(runs(&[0, 1])));
    report(&mut study, 0, "second", StageReport::ran(Some(1.0)));
    assert_eq!(study.next(trial(0)), Ok(runs(&[0])));
    report(&mut study, 0, "first", StageReport::reused());
    assert_eq!(study.next(trial(0)), Ok(runs(&[2])));
    report(&mut study, 0, "third", StageReport::ran(Some(1.0)).with_metric("value", 2.0));
    assert_eq!(study.next(trial(0)), Ok(Next::Finish));
    let ended = study.ended(trial(0), End::Finished).unwrap();
    study.apply(&ended).unwrap();
    assert_eq!(study.best().unwrap().value(), 2.0);
    assert!(study.next(trial(0)).is_err());

    study.ask().unwrap();
    report(&mut study, 1, "first", StageReport::failed(Some(0.5)));
    assert_eq!(study.next(trial(1)), Ok(Next::Finish), "nothing runs after a failure");
}

#[test]
fn an_abandoned_trial_is_charged_and_teaches_nothing() {
    let mut study = scripted(given(), &[[0, 0, 0], [1, 0, 0]]);
    study.ask().unwrap();
    report(&mut study, 0, "first", StageReport::ran(Some(100.0)).with_metric("psnr", 12.0));
    let end = End::Abandoned { after: "first".into(), reason: "psnr < 20".into() };
    let ended = study.ended(trial(0), end).unwrap();
    study.apply(&ended).unwrap();
    assert_eq!((study.account().spent(), study.best()), (100.0, None));
    assert!(study.ask().is_ok());
}

/// Settles the first stage at once and the others later.
#[derive(Clone, Debug)]
struct Careful(Random);

impl Strategy for Careful {
    fn propose(&self, view: &View<'_>) -> Result<Proposal, StrategyError> {
        Ok(Proposal { settled: Some(1), ..self.0.propose(view)? })
    }

    fn accept(&mut self, past: &Past<'_>, proposal: &Proposal) -> Result<(), StrategyError> {
        self.0.accept(past, proposal)
    }

    fn boxed(&self) -> Box<dyn Strategy> {
        Box::new(self.clone())
    }
}

#[test]
fn later_values_can_be_settled_after_early_stages_have_reported() {
    let new = || Study::new(given(), Box::new(Careful(Random::new(1))));
    let mut study = new();
    let open = study.ask().unwrap();
    assert_eq!(study.next(trial(0)), Ok(runs(&[0])));
    let early = Event::Reported { trial: trial(0), stage: "third".into(), report: StageReport::reused() };
    assert!(matches!(study.apply(&early), Err(StudyError::NotSettled { .. })));
    report(&mut study, 0, "first", StageReport::ran(None));
    assert_eq!(study.next(trial(0)), Ok(Next::Settle));
    assert_eq!(study.settle(trial(0)).as_ref(), Ok(open.point()));

    let a = open.point().get("a").unwrap().as_int().unwrap();
    let other = point(&given(), [(a + 1) % 10, 4, 4]);
    let wrong = Event::Settled { trial: trial(0), point: other };
    assert!(matches!(study.apply(&wrong), Err(StudyError::OtherPoint { .. })));
    let settled = Event::Settled { trial: trial(0), point: point(&given(), [a, 4, 4]) };
    study.apply(&settled).unwrap();
    assert_eq!(study.next(trial(0)), Ok(runs(&[1])));
    assert!(matches!(study.apply(&settled), Err(StudyError::SettledTwice { .. })));
    assert_eq!(*study.open().next().unwrap().point(), point(&given(), [a, 4, 4]));
    let again = new().replay(study.events().to_vec()).unwrap();
    assert_eq!(again.open().next(), study.open().next());
}

#[test]
fn the_objective_may_be_a_number_of_an_earlier_stage() {
    let objectives = Objectives::one(Metric::of("second", "loss"), Direction::Maximize);
    let mut study = scripted(given(), &[[0, 0, 0]]).objectives(objectives).unwrap();
    study.ask().unwrap();
    report(&mut study, 0, "first", StageReport::ran(None).with_metric("loss", 9.0));
    report(&mut study, 0, "second", StageReport::ran(None).with_metric("loss", 0.5));
    report(&mut study, 0, "third", StageReport::ran(None).with_metric("f1", 0.1));
    let ended = study.ended(trial(0), End::Finished).unwrap();
    study.apply(&ended).unwrap();
    let best = study.best().unwrap();
    assert_eq!(best.value(), 0.5);
    let metrics = best.reports().iter().flatten().flat_map(|report| report.metrics.clone());
    assert_eq!(metrics.count(), 3);
    assert!(best.reports().iter().flatten().all(|report| report.how == How::Ran));
    let goal = |metric: &str| Goal { metric: metric.to_owned().into(), direction: Direction::Minimize };
    let two = Objectives { goals: vec![goal("a"), goal("b")], constraints: Vec::new() };
    assert!(matches!(scripted(given(), &[]).objectives(two), Err(StudyError::Objective(_))));
}

#[test]
fn owners_take_ever_larger_epochs_and_anybody_may_pause_and_note() {
    let mut study = scripted(given(), &[[0, 0, 0]]);
    study.ask().unwrap();
    let owned = |epoch| Event::Owned { epoch, by: Owner::default() };
    study.apply(&owned(1)).unwrap();
    study.apply(&owned(3)).unwrap();
    assert_eq!(study.apply(&owned(3)), Err(StudyError::Epoch { found: 3, last: 3 }));
    assert_eq!(study.epoch(), 3);
    study.apply(&Event::Paused { reason: "moving house".into() }).unwrap();
    assert_eq!(study.paused(), Some("moving house"));
    study.apply(&Event::Resumed).unwrap();
    assert_eq!(study.paused(), None);
    study.apply(&Event::Noted { trial: Some(trial(0)), text: "odd".into() }).unwrap();
    let about_nothing = Event::Noted { trial: Some(trial(1)), text: "odd".into() };
    assert!(matches!(study.apply(&about_nothing), Err(StudyError::UnknownTrial { .. })));
}

#[test]
fn a_study_follows_the_events_of_another_while_it_goes_on() {
    let space: Arc<Space> = Arc::new(given());
    let new = || Study::named((*space).clone(), "lambo", 8).unwrap();
    let (mut live, mut follower) = (new(), new());
    for number in 0..25 {
        let open = live.ask().unwrap();
        live.tell(open.observe(f64::from(number % 7)).unwrap()).unwrap();
        for event in live.events_since(follower.events().len()).to_vec() {
            follower.apply(&event).unwrap();
        }
        assert_eq!(follower.propose().unwrap(), live.propose().unwrap());
    }
}
