//! Studies for tests, as a pipeline of three stages with a cache would have left them.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use stagetune::study::Direction;
use stagetune_pipeline::record::{
    CostUnit, DomainFacts, How, ParamFacts, StageFacts, StageRecord, StudyRecord, TrialRecord, TrialState,
};

/// The instant at which every sample begins.
pub const BEGAN: f64 = 1_790_000_000.25;

/// A study without trials: denoise, unet, reconstruct; maximises `f1`.
pub fn empty() -> StudyRecord {
    let float = |low, high, log| DomainFacts::Float { low, high, log };
    let stage = |name: &str, after: &[&str]| StageFacts {
        name: name.into(),
        after: after.iter().map(|name| String::from(*name)).collect(),
    };
    let param =
        |stage: &str, name: &str, domain| ParamFacts { name: name.into(), stage: stage.into(), domain };
    StudyRecord {
        study: "microct".into(),
        metric: "f1".into(),
        direction: Direction::Maximize,
        strategy: "lambo".into(),
        seed: 7,
        release: "0.1.0".into(),
        stages: vec![stage("denoise", &[]), stage("unet", &["denoise"]), stage("reconstruct", &["unet"])],
        params: vec![
            param("denoise", "strength", float(1.0, 15.0, false)),
            param("denoise", "contrast", float(1.0, 2.0, false)),
            param("unet", "lr", float(1e-5, 8.192e-2, true)),
            param("unet", "batch", DomainFacts::Int { low: 2, high: 14, step: 2, log: false }),
            param(
                "unet",
                "norm",
                DomainFacts::Choice { values: ["batch", "group", "layer"].map(String::from).into() },
            ),
            param("unet", "augment", DomainFacts::Bool),
            param("reconstruct", "threshold", float(0.1, 0.9, false)),
            param("reconstruct", "closing", DomainFacts::Int { low: 1, high: 64, step: 1, log: true }),
        ],
        cost_unit: CostUnit::Seconds,
        trials: Vec::new(),
        best: None,
        stopped: None,
    }
}

/// A study of so many trials on two workers: reuse, a few failures, a pause, and a last trial that is still open.
pub fn study(trials: usize) -> StudyRecord {
    let mut record = empty();
    let mut dice = Dice(7);
    let mut seen: BTreeMap<String, f64> = BTreeMap::new();
    let mut point = Map::new();
    let mut free_at = [BEGAN; 2];
    for trial in 0..trials {
        // Late stages are moved often, early ones rarely, as a strategy that minds switching costs does.
        let moved = match dice.next() {
            u if trial < 6 || u < 0.1 => 0,
            u if u < 0.35 => 1,
            _ => 2,
        };
        move_from(moved, &mut dice, &mut point);
        let worker = usize::from(free_at[1] < free_at[0]);
        if trial == trials / 2 {
            free_at = [free_at[0].max(free_at[1]) + 8.0 * 3600.0; 2];
        }
        let record_of_trial = run(trial as u64, &point, &mut dice, &mut seen, &mut free_at[worker]);
        record.trials.push(record_of_trial);
    }
    if let Some(last) = record.trials.last_mut().filter(|_| trials > 1) {
        (last.state, last.value, last.cost, last.told, last.reason) =
            (TrialState::Open, None, None, None, None);
        last.stages.truncate(1);
    }
    settle(&mut record);
    record
}

/// A study whose every trial failed.
pub fn all_failed(trials: usize) -> StudyRecord {
    let mut record = study(trials);
    for trial in &mut record.trials {
        (trial.state, trial.value) = (TrialState::Failed, None);
        (trial.cost, trial.told) = (trial.cost.or(Some(1.0)), trial.told.or(Some(trial.asked + 1.0)));
        trial.reason =
            Some(format!("stage `unet` ended with status 1: no such file: weights-{}.pt", trial.trial));
    }
    settle(&mut record);
    record
}

/// A study with the given values in place of its own.
pub fn with_values(values: &[f64], direction: Direction) -> StudyRecord {
    let mut record = study(values.len());
    record.direction = direction;
    for (trial, value) in record.trials.iter_mut().zip(values) {
        (trial.state, trial.value, trial.reason) = (TrialState::Observed, Some(*value), None);
        (trial.cost, trial.told) = (trial.cost.or(Some(1.0)), trial.told.or(Some(trial.asked + 1.0)));
    }
    settle(&mut record);
    record
}

/// A study in which every text that a user can choose is the given one.
pub fn with_text(text: &str) -> StudyRecord {
    let mut record = study(12);
    (record.study, record.metric, record.strategy, record.release) =
        (text.into(), text.into(), text.into(), text.into());
    record.stopped = Some(text.into());
    let rename = |name: &str| format!("{text}{name}");
    for stage in &mut record.stages {
        stage.name = rename(&stage.name);
        stage.after = stage.after.iter().map(|name| rename(name)).collect();
    }
    for param in &mut record.params {
        (param.name, param.stage) = (rename(&param.name), rename(&param.stage));
        if let DomainFacts::Choice { values } = &mut param.domain {
            *values = values.iter().map(|value| rename(value)).collect();
        }
    }
    for trial in &mut record.trials {
        trial.why = text.into();
        trial.reason = (trial.state == TrialState::Failed || trial.trial % 4 == 0).then(|| text.into());
        trial.state = if trial.reason.is_some() { TrialState::Failed } else { trial.state };
        trial.point = trial
            .point
            .iter()
            .map(|(name, value)| {
                (rename(name), value.as_str().map_or_else(|| value.clone(), |value| json!(rename(value))))
            })
            .collect();
        for stage in &mut trial.stages {
            (stage.stage, stage.key) = (rename(&stage.stage), text.into());
        }
    }
    settle(&mut record);
    record
}

/// Makes `spent`, `best` and the best trial agree with the trials, told in the order asked.
pub fn settle(record: &mut StudyRecord) {
    let (mut spent, mut best) = (0.0, None::<f64>);
    record.best = None;
    for trial in &mut record.trials {
        if trial.state != TrialState::Observed {
            trial.value = None;
        }
        if let Some(value) = trial.value {
            let better = match record.direction {
                Direction::Maximize => best.is_none_or(|best| value > best),
                Direction::Minimize => best.is_none_or(|best| value < best),
            };
            if better {
                (best, record.best) = (Some(value), Some(trial.trial));
            }
        }
        spent += trial.cost.unwrap_or(0.0);
        trial.spent = trial.told.map(|_| spent);
        trial.best = trial.told.and(best);
    }
}

fn move_from(first: usize, dice: &mut Dice, point: &mut Map<String, Value>) {
    let round = |value: f64, digits: i32| (value * 10f64.powi(digits)).round() / 10f64.powi(digits);
    if first == 0 {
        point.insert("strength".into(), json!(round(1.0 + 14.0 * dice.next(), 3)));
        point.insert("contrast".into(), json!(round(1.0 + dice.next(), 4)));
    }
    if first <= 1 {
        point.insert("lr".into(), json!(1e-5 * 8192f64.powf(dice.next())));
        point.insert("batch".into(), json!(2 + 2 * (7.0 * dice.next()) as i64));
        point.insert("norm".into(), json!(["batch", "group", "layer"][(3.0 * dice.next()) as usize % 3]));
        point.insert("augment".into(), json!(dice.next() < 0.5));
    }
    point.insert("threshold".into(), json!(round(0.1 + 0.8 * dice.next(), 4)));
    point.insert("closing".into(), json!(64f64.powf(dice.next()).round() as i64));
}

fn run(
    trial: u64,
    point: &Map<String, Value>,
    dice: &mut Dice,
    seen: &mut BTreeMap<String, f64>,
    now: &mut f64,
) -> TrialRecord {
    let get = |name: &str| point.get(name).and_then(Value::as_f64).unwrap_or(0.0);
    let asked = *now;
    *now += 0.05;
    let names = ["denoise", "unet", "reconstruct"];
    let owned: [&[&str]; 3] =
        [&["strength", "contrast"], &["lr", "batch", "norm", "augment"], &["threshold", "closing"]];
    let usual = [95.0, 240.0 + 12.0 * get("batch"), 8.0];
    let fails = [dice.next() < 0.01, get("lr") > 0.04 || dice.next() < 0.02, dice.next() < 0.03];
    let mut key = String::new();
    let (mut stages, mut charged, mut failed) = (Vec::new(), 0.0, None);
    for at in 0..3 {
        key.push_str(&owned[at].iter().map(|name| format!("{name}={};", point[*name])).collect::<String>());
        let began = *now;
        let (how, cost) = match seen.get(&key) {
            Some(cost) => (How::Reused, *cost),
            None if fails[at] => (How::Failed, usual[at] * (0.1 + 0.3 * dice.next())),
            None => (How::Ran, usual[at] * (0.8 + 0.4 * dice.next())),
        };
        *now += if how == How::Reused { 0.004 } else { cost };
        if how == How::Ran {
            seen.insert(key.clone(), cost);
        }
        charged += if how == How::Reused { 0.0 } else { cost };
        let hash = key
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3));
        stages.push(StageRecord {
            stage: names[at].into(),
            how,
            key: format!("{hash:016x}"),
            cost,
            seconds: if how == How::Reused { 0.0 } else { cost },
            began,
            ended: *now,
            attempts: match how {
                How::Ran => 1,
                How::Failed => 2,
                How::Reused => 0,
            },
        });
        if how == How::Failed {
            failed = Some(match at {
                1 => format!("stage `unet` ended with status 1: loss is NaN at step {}", 100 + trial * 7),
                _ => format!("stage `{}` took longer than 10 min and was killed", names[at]),
            });
            break;
        }
    }
    let score = 0.78
        - 0.002 * (get("strength") - 7.0).powi(2)
        - 0.03 * (get("lr") / 1e-3).ln().powi(2) / 4.0
        - 0.5 * (get("threshold") - 0.45).powi(2)
        - 0.015 * (get("closing").ln() - 1.5).powi(2)
        + if point["norm"] == json!("group") { 0.02 } else { 0.0 }
        + 0.01 * dice.next();
    TrialRecord {
        trial,
        point: point.clone(),
        state: if failed.is_some() { TrialState::Failed } else { TrialState::Observed },
        value: failed.is_none().then_some(score),
        reason: failed,
        cost: Some(charged),
        spent: None,
        best: None,
        asked,
        told: Some(*now),
        stages,
        why: "expected improvement per cost, unet kept".into(),
    }
}

/// A small generator whose numbers are the same everywhere.
struct Dice(u64);

impl Dice {
    /// The next number of [0, 1).
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}
