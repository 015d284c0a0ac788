//! Owners made of parts in memory, with stages that end when a test says so.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use stagetune::study::Event;
use stagetune_pipeline::disk::Disk;
use stagetune_pipeline::executor::{Exit, Scripted, Token};
use stagetune_pipeline::file::Pipeline;
use stagetune_pipeline::log::{Log, Memory};
use stagetune_pipeline::outputs;
use stagetune_pipeline::owner::{News, OwnerOptions, Parts, Watcher, study};
use stagetune_pipeline::stop::Stop;

/// Far longer than anything here takes.
pub const LONG: Duration = Duration::from_secs(60);

/// Two stages; the metric is one of the last.
pub const TWO: &str = r#"
[study]
name = "two"
metric = "f"
direction = "minimize"
strategy = "random"
budget = { trials = 8 }
[[stage]]
name = "first"
cost = 10
run = ["first", "{a}", "{out}"]
[stage.params]
a = { float = [0, 1] }
[[stage]]
name = "second"
cost = 1
run = ["second", "{b}", "{first}", "{out}"]
[stage.params]
b = { float = [0, 1] }
"#;

pub fn pipeline(text: &str, root: &Path) -> Pipeline {
    Pipeline::parse(text, Path::new("pipeline.toml"), root).unwrap()
}

/// The parts of an owner in memory.
pub fn parts(pipeline: &Pipeline, log: &Memory, executor: &Arc<Scripted>) -> Parts {
    let outputs = outputs::Memory::new(&pipeline.root.join("outputs"), Disk::default());
    parts_with(pipeline, log, executor, &Arc::new(outputs))
}

/// The same with the outputs of an earlier owner.
pub fn parts_with(
    pipeline: &Pipeline,
    log: &Memory,
    executor: &Arc<Scripted>,
    outputs: &Arc<outputs::Memory>,
) -> Parts {
    let plan = pipeline.clone();
    Parts {
        study: Box::new(move || Ok(study(&plan, plan.study.engine_strategy())?)),
        log: Box::new(log.clone()),
        outputs: outputs.clone(),
        executor: executor.clone(),
        identity: "two@1".into(),
    }
}

pub fn options(workers: usize, stop: &Stop) -> OwnerOptions {
    OwnerOptions { workers, stop: stop.clone(), ..OwnerOptions::default() }
}

/// What an attempt writes that ends well.
pub fn finish(executor: &Scripted, token: &Token) {
    executor.end(token, Exit::Success, &[("result.json", br#"{"f": 0.5, "loss": 2}"#)]).unwrap();
}

/// Waits until something holds; a test that waits for nothing fails.
pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let timer = Instant::now();
    while !holds() {
        assert!(timer.elapsed() < LONG, "{what} never came");
        std::thread::sleep(Duration::from_millis(2));
    }
}

pub fn events(log: &Memory) -> Vec<Event> {
    log.read(0).unwrap().into_iter().map(|stamped| stamped.record.event).collect()
}

/// How many events of a log are of a kind.
pub fn count(log: &Memory, is: impl Fn(&Event) -> bool) -> usize {
    events(log).iter().filter(|event| is(event)).count()
}

/// Keeps the kinds of news.
#[derive(Default)]
pub struct Notes(pub Mutex<Vec<String>>);

impl Watcher for Notes {
    fn see(&self, news: &News<'_>) {
        let text = format!("{news:?}");
        self.0.lock().unwrap().push(text);
    }
}
