//! Callables: functions of an embedding program that are stages without a process of their own.

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::{Ended, Exit, capped};
use crate::clock;
use crate::disk::Disk;
use crate::host;
use crate::text::{LONGEST_REASON, bounded};

/// A function that runs a stage: the numbers that it found, or what went wrong.
pub type Callable = Arc<dyn Fn(&Call<'_>) -> Result<BTreeMap<String, f64>, String> + Send + Sync>;

/// What a callable is given.
pub struct Call<'a> {
    /// The stage's parameters.
    pub params: &'a BTreeMap<String, String>,
    /// The outputs of the stages that it needs, by stage.
    pub inputs: &'a BTreeMap<String, PathBuf>,
    /// The fresh directory for its output.
    pub out: &'a Path,
    /// Whether it should end soon: it was cancelled or has had its time. Nobody can kill it.
    pub cancelled: &'a dyn Fn() -> bool,
}

impl fmt::Debug for Call<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { params, inputs, out, cancelled: _ } = self;
        let mut shown = f.debug_struct("Call");
        shown.field("params", params).field("inputs", inputs).field("out", out).finish_non_exhaustive()
    }
}

/// One call with all that it is given.
pub(super) struct CallOrder {
    pub(super) callable: Callable,
    pub(super) params: BTreeMap<String, String>,
    pub(super) inputs: BTreeMap<String, PathBuf>,
    pub(super) out: PathBuf,
    pub(super) log: PathBuf,
    pub(super) timeout: Option<Duration>,
    pub(super) cancelled: Arc<AtomicBool>,
}

/// Calls, and writes what came of it.
pub(super) fn run(order: &CallOrder, disk: &Disk) -> Ended {
    let (began, timer) = (clock::now(), Instant::now());
    let late = || order.timeout.is_some_and(|limit| timer.elapsed() >= limit);
    let cancelled = || order.cancelled.load(Ordering::SeqCst) || late();
    let call = Call { params: &order.params, inputs: &order.inputs, out: &order.out, cancelled: &cancelled };
    let returned = catch_unwind(AssertUnwindSafe(|| (order.callable)(&call)));
    let returned = returned.unwrap_or_else(|panic| Err(format!("panicked: {}", words(&*panic))));
    let exit = match (returned, order.timeout) {
        _ if order.cancelled.load(Ordering::SeqCst) => Exit::Stopped,
        (_, Some(limit)) if late() => Exit::Timeout(limit.as_secs_f64()),
        (Ok(numbers), _) => report(&numbers, &order.out, disk),
        (Err(problem), _) => Exit::Raised(bounded(problem, LONGEST_REASON)),
    };
    let said = exit.problem().map_or(String::new(), |problem| format!("{problem}\n"));
    // The end says the same.
    let _ = capped::create(&order.log, disk).map(|mut log| log.write_all(said.as_bytes()));
    let seconds = timer.elapsed().as_secs_f64();
    // The clock may have been set meanwhile.
    let ended = began + seconds;
    Ended { exit, seconds, began, ended, host: host::name().to_owned(), process: std::process::id() }
}

/// Writes the numbers where commands write theirs, unless the callable has done so.
fn report(numbers: &BTreeMap<String, f64>, out: &Path, disk: &Disk) -> Exit {
    let path = out.join("result.json");
    if path.exists() {
        return Exit::Success;
    }
    if let Some((name, number)) = numbers.iter().find(|(_, number)| !number.is_finite()) {
        return Exit::Raised(format!("it gave `{name}` = {number}, which is not a finite number"));
    }
    // Names and finite numbers only: it cannot fail.
    let text = serde_json::to_vec(numbers).unwrap_or_default();
    disk.write(&path, &text).map_or_else(|error| Exit::NoRoom(error.to_string()), |()| Exit::Success)
}

/// What a panic said.
fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "without a word".into())
}
