//! `microct table`: F1 over a whole grid of settings, by training every U-Net of it.
//!
//! Trainings run side by side, each on one core, which is better use of the cores than sharing one training. What a core has finished is a
//! row on disk; a computation that was stopped goes on where it was. The table is put together when all rows are there.

mod command;
mod grid;
mod rows;
mod summary;

pub use command::{Options, run};
pub use grid::{Axis, Grid, Training};
pub use rows::{Row, Rows, UNIT};
pub use summary::{Seconds, Spread, Table, spread_of};

use crate::denoise::{self, denoise};
use crate::reconstruct::{self, Truth};
use crate::unet;
use anyhow::{Context, Result, anyhow};
use ndarray::{Array3, Axis as Dimension};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Instant;

/// To be raised when stages give other numbers for the same data and settings: rows of another format are not mixed in.
const FORMAT: u32 = 1;
/// Weights and crops of all trainings come from it.
const SEED: u64 = 1;

/// The data of a table.
#[derive(Debug)]
pub struct Data {
    /// Grey levels.
    pub volume: Array3<u8>,
    /// Classes.
    pub truth: Array3<u8>,
    /// True cells.
    pub cells: Array3<u16>,
}

/// Computes the missing rows of a grid on `jobs` threads, at most `limit` of them, and gives the number that is still missing.
pub fn compute(
    data: &Data,
    grid: &Grid,
    rows: &Rows,
    jobs: usize,
    limit: usize,
    crops: usize,
) -> Result<usize> {
    let truth = Truth::new(data.cells.view());
    truth.check()?;
    let trainings = grid.trainings();
    let (keys, length) = (keys(data, grid, crops), row_length(grid));
    rows.check(&keys)?;
    let missing: Vec<usize> =
        (0..trainings.len()).filter(|&row| rows.find(row, &keys[row], length).is_none()).collect();
    let todo = &missing[..missing.len().min(limit)];
    eprintln!("{}: {} of {} trainings are done", grid.name, trainings.len() - missing.len(), trainings.len());

    let denoised = Denoised::new(data, &trainings);
    let (next, started, trouble) = (AtomicUsize::new(0), Instant::now(), Mutex::new(None));
    let work = || -> Result<()> {
        loop {
            let turn = next.fetch_add(1, Ordering::Relaxed);
            let Some(&number) = todo.get(turn) else { return Ok(()) };
            let training = trainings[number];
            let volume = denoised.of(training)?;
            let row = row(&volume, data, &truth, grid, training, crops, &keys[number])?;
            rows.keep(number, &row)?;
            let best = row.f1.iter().max().map_or(0.0, |&best| f64::from(best) / f64::from(UNIT));
            let left = started.elapsed().as_secs_f64() / (turn + 1) as f64 * (todo.len() - turn - 1) as f64;
            eprintln!(
                "{} {}/{}: {training}, {:.1} s, best F1 {best:.3}{}; {:.0} min to go",
                grid.name,
                turn + 1,
                todo.len(),
                row.unet_seconds,
                row.failure.as_ref().map_or_else(String::new, |failure| format!(" ({failure})")),
                left / 60.0
            );
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..jobs.max(1) {
            scope.spawn(|| {
                // A pool of one thread: whatever the stages would share among cores stays on this one.
                let done = rayon::ThreadPoolBuilder::new()
                    .num_threads(1)
                    .build()
                    .map_err(anyhow::Error::from)
                    .and_then(|pool| pool.install(work));
                if let (Err(error), Ok(mut trouble)) = (done, trouble.lock()) {
                    // The others have no need to go on.
                    next.store(usize::MAX / 2, Ordering::Relaxed);
                    trouble.get_or_insert(error);
                }
            });
        }
    });
    match trouble.into_inner() {
        Ok(None) => Ok(missing.len() - todo.len()),
        Ok(Some(error)) => Err(error),
        Err(_) => Err(anyhow!("a thread of the table has panicked")),
    }
}

/// Row by row, what its numbers belong to.
pub fn keys(data: &Data, grid: &Grid, crops: usize) -> Vec<String> {
    let bytes = data.volume.iter().chain(&data.truth).copied();
    let data = fingerprint(bytes.chain(data.cells.iter().flat_map(|cell| cell.to_le_bytes())));
    let trainings = grid.trainings();
    let (purities, openings, extents) = grid.reconstructions();
    let settings = purities.iter().chain(&extents).flat_map(|share| share.to_le_bytes());
    let settings = fingerprint(settings.chain(openings.iter().map(|&opening| opening as u8)));
    let key = |training: &Training| {
        format!("format {FORMAT} data {data:016x} settings {settings:016x} crops {crops}: {training}")
    };
    trainings.iter().map(key).collect()
}

/// FNV-1a, which is the same everywhere and for ever.
fn fingerprint(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// Entries of a row.
pub fn row_length(grid: &Grid) -> usize {
    let (purities, openings, extents) = grid.reconstructions();
    purities.len() * openings.len() * extents.len()
}

fn row(
    volume: &Array3<u8>,
    data: &Data,
    truth: &Truth,
    grid: &Grid,
    training: Training,
    crops: usize,
    key: &str,
) -> Result<Row> {
    let settings = unet::Settings { lr: training.lr, batch: training.batch, crops, seed: SEED };
    let mut clock = Clock::start();
    let trained = unet::train(volume, &data.truth, &settings);
    let maps = trained.and_then(|trained| Ok((unet::infer(&trained.net, volume)?, trained.validation)));
    let unet_seconds = clock.lap();
    let (purities, openings, extents) = grid.reconstructions();
    let (f1, validation, failure) = match maps {
        Ok((maps, validation)) => {
            let cells = maps.index_axis(Dimension(0), 0);
            let f1 = reconstruct::grid(cells, truth, &purities, &openings, &extents)?;
            (f1.into_iter().map(rows::packed).collect(), Some(validation), None)
        }
        // Only a training that went wrong is a result; anything else is an error.
        Err(error) if error.is::<unet::Diverged>() => {
            (vec![0; row_length(grid)], None, Some(format!("{error:#}")))
        }
        Err(error) => return Err(error),
    };
    let reconstruct_seconds = clock.lap() / row_length(grid) as f64;
    Ok(Row { key: key.to_owned(), unet_seconds, reconstruct_seconds, validation, failure, f1 })
}

/// A volume that was made, or why it was not.
type Made = Result<Arc<Array3<u8>>, String>;

/// Every denoised volume, made when it is first asked for.
struct Denoised<'a> {
    data: &'a Data,
    volumes: BTreeMap<[u64; 2], OnceLock<Made>>,
    plain: Arc<Array3<u8>>,
}

impl<'a> Denoised<'a> {
    fn new(data: &'a Data, trainings: &[Training]) -> Self {
        let names = trainings.iter().filter_map(|training| training.denoise).map(name);
        Self {
            data,
            volumes: names.map(|name| (name, OnceLock::new())).collect(),
            plain: Arc::new(data.volume.clone()),
        }
    }

    fn of(&self, training: Training) -> Result<Arc<Array3<u8>>> {
        let Some((strength, contrast)) = training.denoise else { return Ok(self.plain.clone()) };
        let slot = self.volumes.get(&name((strength, contrast))).context("a training is not of this grid")?;
        let settings = denoise::Settings { strength, contrast };
        let make = || {
            denoise(self.data.volume.view(), &settings).map(Arc::new).map_err(|error| format!("{error:#}"))
        };
        slot.get_or_init(make).clone().map_err(|error| anyhow!(error))
    }
}

fn name((strength, contrast): (f64, f64)) -> [u64; 2] {
    [strength.to_bits(), contrast.to_bits()]
}

/// Processor time of this thread, which does not depend on what else runs.
struct Clock(std::time::Duration);

impl Clock {
    fn start() -> Self {
        Self(Self::now())
    }

    /// Seconds since the start or the last lap.
    fn lap(&mut self) -> f64 {
        let before = std::mem::replace(&mut self.0, Self::now());
        self.0.saturating_sub(before).as_secs_f64()
    }

    fn now() -> std::time::Duration {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        std::time::Duration::new(time.tv_sec.try_into().unwrap_or(0), time.tv_nsec.try_into().unwrap_or(0))
    }
}

impl std::fmt::Display for Training {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some((strength, contrast)) = self.denoise {
            write!(f, "strength {strength}, contrast {contrast}, ")?;
        }
        write!(f, "lr {}, batch {}", self.lr, self.batch)
    }
}
