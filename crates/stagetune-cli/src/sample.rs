//! Studies for tests, as a pipeline of three stages with a cache would have left them.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use stagetune::objective::{Direction, Metric};
use stagetune::space::{DomainDescription, ParamDescription};
use stagetune::study::Owner;
use stagetune::trial::How;
use stagetune_pipeline::ledger::{
    Best, CostUnit, Ledger, OwnerRow, ParamRow, StageRow, StageTally, TrialRow, TrialState,
};

/// The instant at which every sample begins.
pub const BEGAN: f64 = 1_790_000_000.25;

/// A study without trials: denoise, unet, reconstruct; maximises `f1`.
pub fn empty() -> Ledger {
    let float = |low, high, log| DomainDescription::Float { low, high, log };
    let stage = |name: &str, after: &[&str]| StageTally {
        name: name.into(),
        after: after.iter().map(|name| String::from(*name)).collect(),
        ..StageTally::default()
    };
    let param = |stage: &str, name: &str, domain| ParamRow {
        stage: stage.into(),
        param: ParamDescription { name: name.into(), domain },
    };
    let owner = |epoch, release: &str, host: &str, commit: Option<&str>| OwnerRow {
        epoch,
        since: BEGAN,
        owner: Owner {
            release: release.into(),
            host: host.into(),
            process: 4711,
            interpreter: Some("Python 3.12.3 (/usr/bin/python3)".into()),
            commit: commit.map(Into::into),
        },
    };
    let norms = ["batch", "group", "layer"].map(String::from);
    Ledger {
        metric: Metric::of_last("f1"),
        direction: Direction::Maximize,
        strategy: "lambo".into(),
        seed: 7,
        release: "0.1.0".into(),
        stages: vec![stage("denoise", &[]), stage("unet", &["denoise"]), stage("reconstruct", &["unet"])],
        params: vec![
            param("denoise", "strength", float(1.0, 15.0, false)),
            param("denoise", "contrast", float(1.0, 2.0, false)),
            param("unet", "lr", float(1e-5, 8.192e-2, true)),
            param("unet", "batch", DomainDescription::Int { low: 2, high: 14, step: 2, log: false }),
            param("unet", "norm", DomainDescription::Choice { values: norms.into() }),
            param("unet", "augment", DomainDescription::Bool),
            param("reconstruct", "threshold", float(0.1, 0.9, false)),
            param("reconstruct", "closing", DomainDescription::Int { low: 1, high: 64, step: 1, log: true }),
        ],
        cost_unit: CostUnit::Seconds,
        owners: vec![owner(1, "0.1.0", "lab", Some("0123abc")), owner(2, "0.2.0", "attic", None)],
        ..Ledger::new("microct")
    }
}

/// A study of so many trials on two workers: reuse, a few failures, a pause, and a last trial that is still open.
pub fn study(trials: usize) -> Ledger {
    let mut ledger = empty();
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
        ledger.trials.push(record_of_trial);
    }
    if let Some(last) = ledger.trials.last_mut().filter(|_| trials > 1) {
        (last.state, last.value, last.cost, last.told, last.reason) =
            (TrialState::Open, None, None, None, None);
        last.stages.truncate(1);
    }
    settle(&mut ledger);
    ledger
}

/// A study whose every trial failed.
pub fn all_failed(trials: usize) -> Ledger {
    let mut ledger = study(trials);
    for trial in &mut ledger.trials {
        (trial.state, trial.value) = (TrialState::Failed, None);
        (trial.cost, trial.told) = (trial.cost.or(Some(1.0)), trial.told.or(Some(trial.asked + 1.0)));
        trial.reason =
            Some(format!("stage `unet` ended with status 1: no such file: weights-{}.pt", trial.trial));
    }
    settle(&mut ledger);
    ledger
}

/// A study with the given values in place of its own.
pub fn with_values(values: &[f64], direction: Direction) -> Ledger {
    let mut ledger = study(values.len());
    ledger.direction = direction;
    for (trial, value) in ledger.trials.iter_mut().zip(values) {
        (trial.state, trial.value, trial.reason) = (TrialState::Observed, Some(*value), None);
        (trial.cost, trial.told) = (trial.cost.or(Some(1.0)), trial.told.or(Some(trial.asked + 1.0)));
    }
    settle(&mut ledger);
    ledger
}

/// A study in which every text that a user can choose is the given one.
pub fn with_text(text: &str) -> Ledger {
    let mut ledger = study(12);
    (ledger.study, ledger.strategy, ledger.release) = (text.into(), text.into(), text.into());
    ledger.metric = Metric::of_last(text);
    for OwnerRow { owner, .. } in &mut ledger.owners {
        (owner.release, owner.host) = (text.into(), text.into());
        (owner.interpreter, owner.commit) = (Some(text.into()), Some(text.into()));
    }
    (ledger.closed, ledger.finished) = (Some(text.into()), true);
    let rename = |name: &str| format!("{text}{name}");
    for stage in &mut ledger.stages {
        stage.name = rename(&stage.name);
        stage.after = stage.after.iter().map(|name| rename(name)).collect();
    }
    for param in &mut ledger.params {
        (param.param.name, param.stage) = (rename(&param.param.name), rename(&param.stage));
        if let DomainDescription::Choice { values } = &mut param.param.domain {
            *values = values.iter().map(|value| rename(value)).collect();
        }
    }
    for trial in &mut ledger.trials {
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
            stage.metrics = stage.metrics.iter().map(|(name, value)| (rename(name), *value)).collect();
        }
    }
    settle(&mut ledger);
    ledger
}

/// Makes the totals agree with the trials, told in the order asked.
pub fn settle(ledger: &mut Ledger) {
    (ledger.observed, ledger.failed, ledger.spent, ledger.saved) = (0, 0, 0.0, 0.0);
    ledger.best = None;
    for tally in &mut ledger.stages {
        *tally = StageTally { name: tally.name.clone(), after: tally.after.clone(), ..StageTally::default() };
    }
    for trial in &mut ledger.trials {
        if trial.state != TrialState::Observed {
            trial.value = None;
        }
        ledger.observed += u64::from(trial.state == TrialState::Observed);
        ledger.failed += u64::from(trial.state == TrialState::Failed);
        ledger.spent += trial.cost.unwrap_or(0.0);
        trial.spent = trial.told.map(|_| ledger.spent);
        if let Some(value) = trial.value
            && ledger.best.as_ref().is_none_or(|best| ledger.direction.is_better(value, best.value))
        {
            let (point, spent) = (trial.point.clone(), ledger.spent);
            ledger.best = Some(Best { trial: trial.trial, value, point, spent });
        }
        trial.best = trial.told.and(ledger.best.as_ref().map(|best| best.value));
        for stage in &trial.stages {
            let Some(tally) = ledger.stages.iter_mut().find(|tally| tally.name == stage.stage) else {
                continue;
            };
            match stage.how {
                How::Ran => (tally.ran, tally.cost) = (tally.ran + 1, tally.cost + stage.cost),
                How::Failed => (tally.failed, tally.cost) = (tally.failed + 1, tally.cost + stage.cost),
                How::Reused => {
                    (tally.reused, tally.saved) = (tally.reused + 1, tally.saved + stage.cost);
                    ledger.saved += stage.cost;
                }
            }
            tally.seconds += stage.seconds;
        }
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
) -> TrialRow {
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
        stages.push(StageRow {
            stage: names[at].into(),
            how,
            key: format!("{hash:016x}"),
            cost,
            metrics: BTreeMap::new(),
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
    // What each stage that finished reports.
    let reported = [
        &[("psnr", 20.0 + get("strength"))][..],
        &[("loss", 1.0 / (1.0 + get("lr")))],
        &[("f1", score), ("iou", score / 2.0)],
    ];
    for (stage, numbers) in stages.iter_mut().zip(reported).filter(|(stage, _)| stage.how != How::Failed) {
        stage.metrics = numbers.iter().map(|(name, value)| (String::from(*name), *value)).collect();
    }
    TrialRow {
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
        epoch: 1 + u64::from(trial % 20 >= 15),
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
