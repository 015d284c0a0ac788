//! The engine of lambo: Bayesian optimisation of pipelines whose early stages are dear to run again.
//!
//! A [`space::Space`] says what can be tuned: modules in order, each with parameters and a cost. Its points live in the unit cube.
//! A [`surrogate::GaussianProcess`], fitted by [`surrogate::Fit`], says what we believe about the objective there. An
//! [`acquisition::Acquisition`] says what looks promising under that belief, and the [`acquisition::Maximiser`] finds where, in any
//! [`acquisition::Region`]: a box, with the values of early modules frozen so that their stages need not run again. The
//! [`bandit`] decides where to stay, on a tree of regions whose upper levels move rarely.
//!
//! Everything is minimised. Nothing here touches files, clocks, processes or global randomness: the same seed and the same answers give
//! the same proposals, bit for bit, whatever the number of threads. Threads are those of the caller's rayon pool.
//!
//! ```
//! use lambo::acquisition::{LogEi, Maximiser, Region, Surface};
//! use lambo::space::{Batch, Cost, Module, Param, Space, Value};
//! use lambo::surrogate::{Family, Fit, OutputScale};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let space = Space::new([
//!     Module::new("denoise", [Param::float("strength", 1.0, 15.0)?])?.cost(Cost::Given(10.0))?,
//!     Module::new("train", [Param::float("lr", 1e-5, 1e-1)?.log()?, Param::int("batch", 2, 14)?])?.cost(Cost::Given(1.0))?,
//! ])?;
//!
//! // Three trials and their errors.
//! let point = |strength: f64, lr: f64, batch: i64| {
//!     space.point([("strength", Value::from(strength)), ("lr", lr.into()), ("batch", batch.into())])
//! };
//! let trials = [point(3.0, 1e-3, 4)?, point(12.0, 1e-2, 8)?, point(7.0, 1e-4, 12)?];
//! let errors = [0.31, 0.42, 0.27];
//!
//! // What we believe: a Gaussian process on standardised errors.
//! let coded = trials.iter().map(|p| space.encode(p)).collect::<Result<Vec<_>, _>>()?;
//! let x = Batch::from_slices(space.dim(), &coded).ok_or("rows of one space have one length")?;
//! let y = OutputScale::of(&errors).standardise_all(&errors);
//! let gp = Fit::with_priors(Family::Matern52, space.dim()).run(&x, &y)?.gp;
//!
//! // What to try next if `denoise` stays as it was in the last trial and only `train` runs again.
//! let lowest = y.iter().copied().fold(f64::INFINITY, f64::min);
//! let region = Region::of(&space).freeze(0, &coded[2][space.module_coordinates(0)])?;
//! let surface = Surface::new(&gp, LogEi::new(lowest)?);
//! let best = Maximiser::default().maximise(&surface, &region, &gp.lowest(3))?;
//! let next = space.decode_after(&trials[2], 1, &best.x)?;
//! assert_eq!(next.get("strength"), trials[2].get("strength"));
//! assert_eq!(space.movement(Some(&trials[2]), &next)?.cost(&space.given_costs()?)?, 1.0);
//! # Ok(())
//! # }
//! ```
//!
//! Papers: Lin, Miano & Dyer, "Bayesian optimization for modular black-box systems with switching costs" (UAI 2021), the method;
//! Rasmussen & Williams, *Gaussian Processes for Machine Learning* (2006), the surrogate; Ament et al., "Unexpected improvements to
//! expected improvement" (NeurIPS 2023), LogEI; Wang & Jegelka, "Max-value entropy search" (ICML 2017); Xie et al., "Cost-aware Bayesian
//! optimization via the Pandora's box Gittins index" (NeurIPS 2024).

pub mod acquisition;
pub mod bandit;
pub mod numeric;
pub mod space;
pub mod strategy;
pub mod study;
pub mod surrogate;
pub mod trial;
