//! The seeds of the fuzz target for logs are real events: this test writes them (with `STAGETUNE_UPDATE=1`) and reads them.

use stagetune::space::{Cost, Module, Param, Space};
use stagetune::study::{Event, Owner, Study};
use stagetune::trial::TrialId;
use std::path::Path;

fn new_study() -> Study {
    let clean = Module::new("clean", [Param::float("sigma", 1.0, 15.0).unwrap()]).unwrap();
    let params = [
        Param::int("batch", 2, 14).unwrap(),
        Param::choice("norm", ["a", "b"]).unwrap(),
        Param::bool("flip").unwrap(),
    ];
    let fit = Module::new("fit", params).unwrap().cost(Cost::Measured).unwrap();
    let space = Space::new([clean.cost(Cost::Measured).unwrap(), fit]).unwrap();
    Study::named(space, "random", 7).unwrap()
}

fn events() -> Vec<Event> {
    let mut study = new_study();
    for number in 0..6_u32 {
        let trial = study.ask().unwrap();
        if number == 0 {
            study.apply(&Event::Owned { epoch: 1, by: Owner::default() }).unwrap();
        }
        let (stage, key, token) = ("clean".to_owned(), "k".to_owned(), format!("t{number}"));
        study.apply(&Event::Launched { trial: trial.id(), stage, key, token }).unwrap();
        match number {
            2 => study.tell(trial.fail("no").after(1).measured(vec![Some(1.0), Some(2.0)]).unwrap()).unwrap(),
            5 => study.withdraw(trial.id(), "not meant").unwrap(),
            _ => {
                let value = trial.observe(f64::from(number)).unwrap();
                study.tell(value.measured(vec![None, Some(2.0)]).unwrap()).unwrap();
            }
        }
    }
    let point = study.trials().next().unwrap().point().clone();
    study.attach(point, Some("a friend")).unwrap();
    study.withdraw(TrialId::new(1), "a full disk").unwrap();
    study.apply(&Event::Noted { trial: Some(TrialId::new(0)), text: "odd".into() }).unwrap();
    study.apply(&Event::Paused { reason: "lunch".into() }).unwrap();
    study.apply(&Event::Resumed).unwrap();
    study.events().to_vec()
}

// The seeds are files; the engine itself sees none.
#[allow(clippy::disallowed_methods)]
#[test]
fn the_seeds_of_the_fuzz_target_are_events_of_today() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/journal");
    let lines: Vec<String> = events().iter().map(|event| serde_json::to_string(event).unwrap()).collect();
    let whole = lines.join("\n") + "\n";
    let cut = whole[..whole.len() * 2 / 3].to_owned();
    for (name, text) in [("six-trials", &whole), ("started", &(lines[0].clone() + "\n")), ("cut-short", &cut)]
    {
        let path = folder.join(format!("{name}.jsonl"));
        if std::env::var_os("STAGETUNE_UPDATE").is_some() {
            std::fs::write(&path, text).unwrap();
        }
        assert_eq!(std::fs::read_to_string(&path).unwrap(), *text, "{name}");
    }
    let events = lines.iter().map(|line| serde_json::from_str(line).unwrap());
    let again = new_study().replay(events.collect::<Vec<Event>>()).unwrap();
    assert_eq!(again.events().len(), lines.len());
}

/// Options as an earlier release wrote them: an old name, and a key that was not there yet.
#[test]
fn events_with_an_old_option_name_and_without_a_new_key_go_on() {
    let space = || new_study().space().clone();
    let options = serde_json::json!({"feasibility": false});
    let new = || Study::configured(space(), "auto", options.as_object().unwrap(), 3).unwrap();
    let mut study = new();
    for _ in 0..12 {
        let trial = study.ask().unwrap();
        study.tell(trial.observe(1.0).unwrap().measured(vec![Some(1.0), Some(1.0)]).unwrap()).unwrap();
    }
    let mut events = study.events().to_vec();
    let Event::Started(started) = &mut events[0] else { panic!("the first event") };
    let old = started.strategy.options.remove("feasibility").unwrap();
    started.strategy.options.insert("odds".into(), old);
    started.strategy.options.remove("quantisation").unwrap();
    let again = new().replay(events.clone()).unwrap();
    assert_eq!(again.propose().unwrap(), study.propose().unwrap());
    let Event::Started(started) = &mut events[0] else { panic!("the first event") };
    started.strategy.options.insert("odds".into(), true.into());
    let refused = new().replay(events).unwrap_err().to_string();
    assert!(refused.contains("feasibility"), "{refused}");
}
