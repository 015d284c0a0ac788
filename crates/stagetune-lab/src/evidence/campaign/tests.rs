//! What the oracle finds in a log, and that the same case is the same pipeline.

use super::dice::Dice;
use super::oracle::{self, Outcome};
use super::sketch::{MODULUS, Shape, Sketch};
use super::tally::{Finding, Kind, Tally};
use serde_json::{Value, json};
use stagetune_pipeline::log::{Stamped, read_record};

const SHAPE: Shape = Shape { most_stages: 4, trials: (3, 9), hangs_one_in: 2 };

/// A pipeline of one stage without parameters whose value is 5.
fn five() -> Sketch {
    let draw = |case| Sketch::draw(&mut Dice::of(1, "five", case), Shape { most_stages: 1, ..SHAPE });
    let mut sketch = draw(0);
    let stage = &mut sketch.stages[0];
    (stage.salt, stage.params, stage.fails, stage.hangs, stage.stumbles) = (5, Vec::new(), None, None, false);
    sketch
}

fn asked(trial: u64) -> Value {
    let why = json!({"source": "random", "first_changed": null, "first_changed_module": null, "first_to_run": null});
    json!({"study": {"event": "asked", "trial": trial, "proposal": {"point": {}, "why": why}}})
}

fn reported(trial: u64, key: &str, v: f64) -> Value {
    let report = json!({"how": "reused", "metrics": {"v": v}});
    let study = json!({"event": "reported", "trial": trial, "stage": "s0", "report": report});
    json!({"study": study, "run": {"key": key, "seconds": 1.0, "began": 1.0, "ended": 1.0, "attempts": 0}})
}

fn ended(trial: u64, how: &Value) -> Value {
    json!({"study": {"event": "ended", "trial": trial, "end": how}})
}

fn finished(trial: u64) -> Value {
    ended(trial, &json!({"how": "finished"}))
}

/// What the oracle finds in these records.
fn found(records: &[Value]) -> Vec<Kind> {
    let stamped = |value: &Value| Stamped { at: 1.0, record: read_record(&value.to_string()).unwrap() };
    let records: Vec<Stamped> = records.iter().map(stamped).collect();
    let mut found: Vec<Finding> = Vec::new();
    oracle::check(&five(), &records, &mut Tally::default(), &mut found);
    found.into_iter().map(|finding| finding.kind).collect()
}

#[test]
fn the_oracle_accepts_what_is_right_and_names_what_is_not() {
    let right = [asked(0), reported(0, "k", 5.0), finished(0), asked(1), reported(1, "k", 5.0), finished(1)];
    assert_eq!(found(&right), []);
    // Off by one.
    assert_eq!(found(&[asked(0), reported(0, "k", 6.0), finished(0)]), [Kind::Wrong]);
    // The output of another key.
    assert_eq!(found(&[asked(0), reported(0, "k", 5.0), asked(1), reported(1, "other", 5.0)]), [Kind::Wrong]);
    assert_eq!(found(&[asked(0), reported(0, "k", 5.0), finished(0), finished(0)]), [Kind::Twice]);
    assert_eq!(found(&[asked(0), reported(0, "k", 5.0), reported(0, "k", 5.0)]), [Kind::Twice]);
    assert_eq!(found(&[asked(0), asked(0)]), [Kind::Wrong]);
    assert_eq!(found(&[finished(0)]), [Kind::Wrong]);
    let failed =
        json!({"how": "failed", "stage": "s0", "finished": 0, "reason": "stage `s0` ended with exit code 3"});
    assert_eq!(found(&[asked(0), reported(0, "k", 5.0), ended(0, &failed)]), [Kind::Wrong]);
}

#[test]
fn a_value_is_worked_out_from_the_point_and_the_stages_before() {
    let mut sketch = five();
    let mut second = sketch.stages[0].clone();
    (second.name, second.salt, second.reads) = ("s1".into(), 7, vec![0]);
    sketch.stages.push(second);
    let outcomes = oracle::outcomes(&sketch, &serde_json::Map::new()).unwrap();
    assert_eq!(outcomes, [Outcome::Value(5), Outcome::Value((7 * 31 + 5) % MODULUS)]);
    assert_eq!(oracle::value(&outcomes), Some(222));
}

#[test]
fn the_same_case_is_the_same_pipeline_and_others_are_others() {
    let file = |case| Sketch::draw(&mut Dice::of(3, "kills", case), SHAPE).file("s", "1");
    assert_eq!(file(7), file(7));
    let files: std::collections::BTreeSet<String> = (0..50).map(file).collect();
    assert_eq!(files.len(), 50);
}

#[test]
fn the_width_of_a_pipeline_is_the_most_stages_that_need_not_wait_for_each_other() {
    let mut sketch = five();
    let stage = sketch.stages[0].clone();
    let graph = |reads: &[&[usize]]| {
        let stages =
            reads.iter().map(|reads| super::sketch::Stage { reads: reads.to_vec(), ..stage.clone() });
        stages.collect::<Vec<_>>()
    };
    for (reads, width) in [
        (&[&[][..], &[0], &[1]][..], 1),
        (&[&[], &[0], &[0], &[1, 2]], 2),
        (&[&[], &[], &[], &[0, 1, 2]], 3),
        (&[&[], &[0], &[0], &[1], &[2, 3]], 2),
    ] {
        sketch.stages = graph(reads);
        assert_eq!(sketch.width(), width, "{reads:?}");
    }
}
