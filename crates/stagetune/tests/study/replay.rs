//! Events: written, read, and lived through again.

use std::sync::Arc;

use proptest::prelude::*;
use stagetune::space::{Cost, CostModel, Module, Param, Space};
use stagetune::strategy::{Identity, Random};
use stagetune::study::{Direction, Event, FORMAT, StopRules, Study, StudyError};
use stagetune::trial::{End, StageReport, Trial, TrialId};

use crate::script::*;

fn mixed() -> Space {
    let first = Module::new("first", [Param::float("x", 1e-5, 1.0).unwrap().log().unwrap()]).unwrap();
    let second = [Param::int("n", 0, 9).unwrap(), Param::choice("c", ["a", "b", "c d"]).unwrap()];
    let second = Module::new("second", second).unwrap().cost(Cost::Measured).unwrap();
    let third =
        Module::new("third", [Param::float("y", -5.0, 5.0).unwrap(), Param::bool("b").unwrap()]).unwrap();
    let (first, third) = (first.cost(Cost::Given(10.0)).unwrap(), third.cost(Cost::Given(0.1)).unwrap());
    Space::new([first, second, third]).unwrap().forbid("x > 0.5 and n < 3").unwrap()
}

/// A label with one option, if there is one.
fn named(name: &str, seed: u64, option: &str) -> Identity {
    let mut options = serde_json::Map::new();
    if !option.is_empty() {
        options.insert("pace".into(), option.into());
    }
    Identity { name: name.into(), seed, options }
}

fn random(direction: Direction, model: CostModel) -> Study {
    let study = Study::new(mixed(), Box::new(Random::new(11)));
    study.direction(direction).unwrap().cost_model(model).unwrap().label(named("random", 11, "")).unwrap()
}

fn through_json(events: &[Event]) -> Vec<Event> {
    let lines: Vec<String> = events.iter().map(|event| serde_json::to_string(event).unwrap()).collect();
    lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// All that can be seen of a study; the debug form of a float is exact.
fn facts(study: &Study) -> String {
    let trials: Vec<Trial> = study.trials().collect();
    let open: Vec<_> = study.open().collect();
    format!("{:?} {trials:?} {open:?} {:?} {:?}", study.events(), study.account(), study.best())
}

/// What to do with a study: ask, or tell one of the open trials.
fn live(study: &mut Study, deeds: &[(u8, usize, f64)]) {
    for &(deed, which, value) in deeds {
        let open: Vec<_> = study.open().cloned().collect();
        let chosen = open.get(which % open.len().max(1)).cloned();
        let asked = study.trials().len() as u64;
        match (deed % 10, chosen) {
            (6, Some(trial)) => study.withdraw(trial.id(), "not meant").unwrap(),
            // One that had ended; if it was withdrawn before, that is refused and changes nothing.
            (7, _) if asked > 0 => drop(study.withdraw(TrialId::new(which as u64 % asked), "a full disk")),
            (8, Some(trial)) => drop(study.attach(trial.point().clone(), None).unwrap()),
            (9, Some(trial)) => {
                let report = StageReport::ran(Some(value.abs())).with_metric("loss", value);
                let event = Event::Reported { trial: trial.id(), stage: "first".into(), report };
                // A stage reports once.
                drop(study.apply(&event));
            }
            (3, Some(trial)) => study.tell(trial.observe(value).unwrap()).unwrap(),
            (4, Some(trial)) => {
                let stages = vec![None, Some(value.abs()), Some(0.3)];
                study.tell(trial.observe(value).unwrap().measured(stages).unwrap()).unwrap();
            }
            (5, Some(trial)) => study.tell(trial.fail("broke").after(which % 4)).unwrap(),
            _ => drop(study.ask().unwrap()),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_replayed_study_is_the_live_one_and_goes_on_as_it_does(
        deeds in prop::collection::vec((any::<u8>(), any::<usize>(), -1e6..1e6f64), 0..40),
        maximise: bool,
        cache: bool,
    ) {
        let direction = if maximise { Direction::Maximize } else { Direction::Minimize };
        let model = if cache { CostModel::Cache } else { CostModel::Previous };
        let mut study = random(direction, model);
        live(&mut study, &deeds);
        let events = through_json(study.events());
        prop_assert_eq!(&events[..], study.events());
        let mut again = random(direction, model).replay(events).unwrap();
        prop_assert_eq!(facts(&again), facts(&study));
        for _ in 0..3 {
            prop_assert_eq!(again.ask().unwrap(), study.ask().unwrap());
        }
        live(&mut again, &deeds);
        live(&mut study, &deeds);
        prop_assert_eq!(facts(&again), facts(&study));
    }
}

#[test]
fn a_strategy_sees_in_a_replay_what_it_saw_live() {
    let points: Vec<[i64; 3]> = (0..12).map(|i| [i / 6, i / 3 % 2, i % 3]).collect();
    let new = || {
        let (study, seen) = watched(space([Cost::Given(10.0), Cost::Measured, Cost::Given(1.0)]), &points);
        (study.stop(StopRules { cost: Some(1e9), ..StopRules::default() }).unwrap(), seen)
    };
    let (mut study, live_seen) = new();
    live(
        &mut study,
        &[
            (0, 0, 0.0),
            (0, 0, 0.0),
            (4, 1, 2.5),
            (0, 0, 0.0),
            (5, 0, 0.0),
            (0, 0, 0.0),
            (0, 0, 0.0),
            (4, 2, -1.0),
            (0, 0, 0.0),
        ],
    );
    let (again, seen) = new();
    let again = again.replay(through_json(study.events())).unwrap();
    assert_eq!(again.open().count(), 3);
    assert_eq!(*seen.lock().unwrap(), *live_seen.lock().unwrap());
}

#[test]
fn a_replay_never_asks_the_strategy() {
    let mut study = scripted(given(), &[[0, 0, 0], [1, 0, 0]]);
    step(&mut study, 1.0);
    step(&mut study, 2.0);
    // This one has nothing to propose.
    let mut again = scripted(given(), &[]).replay(study.events().to_vec()).unwrap();
    assert_eq!(again.trials().len(), 2);
    assert!(matches!(again.ask(), Err(StudyError::Strategy(_))));
}

#[test]
fn a_study_continues_under_other_rules() {
    let rules = |trials| StopRules { trials: Some(trials), ..StopRules::default() };
    let mut study = random(Direction::Minimize, CostModel::Previous).stop(rules(2)).unwrap();
    step(&mut study, 1.0);
    step(&mut study, 1.0);
    assert!(study.ask().is_err());
    let again = random(Direction::Minimize, CostModel::Previous).stop(rules(3)).unwrap();
    let mut again = again.replay(study.events().to_vec()).unwrap();
    assert!(again.ask().is_ok() && again.stopped().is_some());
}

#[test]
fn events_are_lines_that_a_person_can_read() {
    let script = [[0, 0, 0], [1, 0, 0], [2, 0, 0]];
    let mut study = scripted(given(), &script).label(named("script", 7, "slow")).unwrap();
    let trial = study.ask().unwrap();
    study.tell(trial.observe(0.1).unwrap()).unwrap();
    let trial = study.ask().unwrap();
    study.tell(trial.fail("disk full").after(1).measured(vec![Some(2.5), Some(1.0), None]).unwrap()).unwrap();
    let lines: Vec<String> = study.events().iter().map(|e| serde_json::to_string(e).unwrap()).collect();
    let version = env!("CARGO_PKG_VERSION");
    let started = format!(
        r#"{{"event":"started","format":2,"release":"{version}","strategy":{{"name":"script","seed":7,"options":{{"pace":"slow"}}}},"objectives":{{"goals":[{{"metric":"value","direction":"minimize"}}]}},"cost_model":"previous","space":{{"stages":[{{"name":"first","cost":{{"given":100.0}},"params":[{{"name":"a","kind":"int","low":0,"high":9,"step":1}}]}},"#
    );
    assert!(lines[0].starts_with(&started), "{}", lines[0]);
    assert!(
        lines[1].starts_with(r#"{"event":"asked","trial":0,"proposal":{"point":{"a":0,"b":0,"c":0},"why":{"#)
    );
    assert_eq!(
        lines[2..4],
        [
            r#"{"event":"reported","trial":0,"stage":"third","report":{"how":"ran","metrics":{"value":0.1}}}"#,
            r#"{"event":"ended","trial":0,"end":{"how":"finished"},"cost":111.0}"#,
        ]
    );
    assert_eq!(
        lines[5..],
        [
            r#"{"event":"reported","trial":1,"stage":"first","report":{"how":"ran","cost":2.5}}"#,
            r#"{"event":"reported","trial":1,"stage":"second","report":{"how":"failed","cost":1.0}}"#,
            r#"{"event":"ended","trial":1,"end":{"how":"failed","finished":1,"reason":"disk full"},"cost":3.5}"#,
        ]
    );
    let trial = study.ask().unwrap();
    study.tell(trial.fail("killed").broken_in(2)).unwrap();
    let last = serde_json::to_string(study.events().last().unwrap()).unwrap();
    assert_eq!(
        last,
        r#"{"event":"ended","trial":2,"end":{"how":"failed","stage":"third","finished":0,"reason":"killed"},"cost":100.0}"#
    );
    let again = scripted(given(), &script).label(named("script", 7, "slow")).unwrap();
    assert_eq!(again.replay(study.events().to_vec()).unwrap().events(), study.events());
    assert_eq!(study.events_since(8).len(), 2);
    assert!(study.events_since(10).is_empty() && study.events_since(usize::MAX).is_empty());
}

#[test]
fn a_whole_number_stands_for_a_float_that_another_tool_shortened() {
    let space = Space::new([Module::new("m", [Param::float("x", 0.0, 4.0).unwrap()]).unwrap()]).unwrap();
    let points = vec![space.point([("x", 2.0)]).unwrap()];
    let new = |points| {
        Study::new(
            space.clone(),
            Box::new(Script {
                points,
                refuses: None,
                says: None,
                seen: Arc::default(),
                viewed: Arc::default(),
            }),
        )
    };
    let mut study = new(points);
    study.ask().unwrap();
    let line = serde_json::to_string(&study.events()[1]).unwrap().replace("2.0", "2");
    let events = [study.events()[0].clone(), serde_json::from_str(&line).unwrap()];
    assert_eq!(new(Vec::new()).replay(events).unwrap().events(), study.events());
}

#[test]
fn events_of_another_study_are_refused_with_what_differs() {
    let mut study = random(Direction::Minimize, CostModel::Previous);
    study.ask().unwrap();
    let events = study.events().to_vec();
    let refused = |study: Study| study.replay(events.clone()).unwrap_err().to_string();
    let new = || Study::new(mixed(), Box::new(Random::new(11)));
    let cases = [
        (new().label(named("lambo", 11, "")).unwrap(), "strategy is `random`, but here it is `lambo`"),
        (new().label(named("random", 12, "")).unwrap(), "seed is `11`, but here it is `12`"),
        (new().label(named("random", 11, "x")).unwrap(), "options is "),
        (
            random(Direction::Maximize, CostModel::Previous),
            "direction is `minimize`, but here it is `maximize`",
        ),
        (random(Direction::Minimize, CostModel::Cache), "cost model is `previous`, but here it is `cache`"),
        (
            Study::new(mixed().forbid("y > 4").unwrap(), Box::new(Random::new(11)))
                .label(named("random", 11, ""))
                .unwrap(),
            "space is at its end, but here it is `forbid y > 4`",
        ),
    ];
    for (study, expected) in cases {
        let error = refused(study);
        assert!(error.starts_with("event 0") && error.contains(expected), "{error}");
        assert!(error.contains("make it the same, or begin a new study"), "{error}");
    }
    let mut later = events.clone();
    if let Event::Started(started) = &mut later[0] {
        (started.format, started.release) = (FORMAT + 1, "9.0.0".into());
    }
    let error = random(Direction::Minimize, CostModel::Previous).replay(later).unwrap_err().to_string();
    assert!(error.contains("format 3") && error.contains("stagetune 9.0.0 or later"), "{error}");
}

#[test]
fn events_that_do_not_follow_each_other_are_refused_with_their_position() {
    let mut study = scripted(given(), &[[0, 0, 0], [1, 0, 0]]);
    step(&mut study, 1.0);
    study.ask().unwrap();
    let events = study.events().to_vec();
    let refused = |events: Vec<Event>| match scripted(given(), &[]).replay(events) {
        Err(StudyError::Event { position, problem }) => (position, *problem),
        other => unreachable!("{other:?}"),
    };
    let with = |at: usize, event: Event| {
        let mut events = events.clone();
        events.insert(at, event);
        events
    };
    let ended = |trial: u64| Event::Ended { trial: TrialId::new(trial), end: End::Finished, cost: None };

    assert_eq!(refused(events[1..].to_vec()), (0, StudyError::NotStarted));
    assert_eq!(refused(with(2, events[0].clone())), (2, StudyError::StartedTwice));
    let out_of_order = StudyError::OutOfOrder { expected: TrialId::new(1), found: TrialId::new(0) };
    assert_eq!(refused(with(4, events[1].clone())), (4, out_of_order));
    assert_eq!(refused(with(4, ended(0))), (4, StudyError::Closed { id: TrialId::new(0) }));
    let unknown = StudyError::UnknownTrial { id: TrialId::new(9), asked: 2 };
    assert_eq!(refused(with(5, ended(9))), (5, unknown));
    let report = |stage: &str, cost| Event::Reported {
        trial: TrialId::new(1),
        stage: stage.into(),
        report: StageReport::ran(Some(cost)),
    };
    assert!(matches!(refused(with(5, report("first", -1.0))), (5, StudyError::Report { .. })));
    assert!(matches!(refused(with(5, report("fourth", 1.0))), (5, StudyError::UnknownStage { .. })));
    let twice = [&events[..], &[report("first", 1.0), report("first", 1.0)]].concat();
    assert!(matches!(refused(twice), (6, StudyError::ReportedTwice { .. })));
    assert!(matches!(refused(with(5, ended(1))), (5, StudyError::NoValue { .. })));

    let mut outside = events.clone();
    outside[4] =
        serde_json::from_str(&serde_json::to_string(&events[4]).unwrap().replace(r#""a":1"#, r#""a":10"#))
            .unwrap();
    let (position, problem) = refused(outside);
    assert_eq!(
        (position, problem.to_string()),
        (4, "parameter `a` cannot be 10; give a whole number from 0 to 9".into())
    );
}

#[test]
fn a_thousand_trials_replay() {
    let mut study = random(Direction::Minimize, CostModel::Cache);
    for i in 0..1_000 {
        let trial = study.ask().unwrap();
        match i % 10 {
            9 => study.tell(trial.fail("broke").after(1)).unwrap(),
            _ => study.tell(trial.observe(f64::from(i)).unwrap()).unwrap(),
        }
    }
    let mut again =
        random(Direction::Minimize, CostModel::Cache).replay(through_json(study.events())).unwrap();
    assert_eq!(again.ask().unwrap(), study.ask().unwrap());
}
