//! The engine of stagetune: Bayesian optimisation of pipelines whose early stages are dear to run again.
//!
//! A [`space::Space`] says what can be tuned: modules in order, each with parameters and a cost. A [`study::Study`] is asked for
//! a [`trial`] and told what became of it. What to try is the matter of a [`strategy`]: `lambo` keeps the values of early modules bit for bit
//! while it explores late ones, and moves them rarely and on purpose.
//!
//! Below that: a [`surrogate::GaussianProcess`], fitted by [`surrogate::Fit`], says what we believe about the objective. An
//! [`acquisition::Acquisition`] says what looks promising under that belief, and the [`acquisition::Maximiser`] finds where, in any
//! [`acquisition::Region`]: a box, with the values of early modules frozen so that their stages need not run again. The
//! [`bandit`] decides where to stay, on a tree of regions whose upper levels move rarely.
//!
//! The engine minimises; a study turns `maximize` around at its edge. Nothing here touches files, clocks, processes or global randomness: the
//! same seed and the same answers give the same proposals, bit for bit, whatever the number of threads. Threads are those of the caller's
//! rayon pool.
//!
//! ```
//! use stagetune::space::{Cost, Module, Param, Space};
//! use stagetune::study::{StopRules, Study};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let space = Space::new([
//!     Module::new("denoise", [Param::float("strength", 1.0, 15.0)?])?.cost(Cost::Given(10.0))?,
//!     Module::new("train", [Param::float("lr", 1e-5, 1e-1)?.log()?, Param::int("batch", 2, 14)?])?
//!         .forbid("lr > 0.05 and batch < 4")?
//!         .cost(Cost::Given(1.0))?,
//! ])?;
//! let mut study = Study::named(space, "lambo", 7)?
//!     .stop(StopRules { cost: Some(200.0), ..StopRules::default() })?;
//! while study.stopped().is_none() {
//!     let trial = study.ask()?;
//!     let strength = trial.point().get("strength").and_then(|v| v.as_float()).ok_or("a float")?;
//!     let lr = trial.point().get("lr").and_then(|v| v.as_float()).ok_or("a float")?;
//!     // Here a pipeline would run, as far as it must: `study.why(trial.id())` says from which module on.
//!     let error = (strength / 15.0 - 0.4).powi(2) + (lr.log10() / 4.0 + 0.7).powi(2);
//!     study.tell(trial.observe(error)?)?;
//! }
//! let best = study.best().ok_or("at least one trial returned a value")?;
//! assert!(best.value() < 0.02);
//! // Twenty runs of both modules would have spent as much.
//! assert!(study.account().charges().len() > 25);
//! # Ok(())
//! # }
//! ```
//!
//! The parts can be used on their own; here for one suggestion with the first module kept as it is:
//!
//! ```
//! use stagetune::acquisition::{LogEi, Maximiser, Region, Surface};
//! use stagetune::space::{Batch, Cost, Module, Param, Space, Value};
//! use stagetune::surrogate::{Family, Fit, OutputScale};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let space = Space::new([
//!     Module::new("denoise", [Param::float("strength", 1.0, 15.0)?])?.cost(Cost::Given(10.0))?,
//!     Module::new("train", [Param::float("lr", 1e-5, 1e-1)?.log()?, Param::int("batch", 2, 14)?])?.cost(Cost::Given(1.0))?,
//! ])?;
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
//! # Ok(())
//! # }
//! ```
//!
//! Papers: Lin, Miano & Dyer, "Bayesian optimization for modular black-box systems with switching costs" (UAI 2021), the method;
//! Koren, Livni & Mansour, "Bandits with movement costs and adaptive pricing" (COLT 2017), the slowly moving bandit;
//! Rasmussen & Williams, *Gaussian Processes for Machine Learning* (2006), the surrogate; Ament et al., "Unexpected improvements to
//! expected improvement" (NeurIPS 2023), LogEI; Wang & Jegelka, "Max-value entropy search" (ICML 2017); Xie et al., "Cost-aware Bayesian
//! optimization via the Pandora's box Gittins index" (NeurIPS 2024).

pub mod acquisition;
pub mod bandit;
pub mod forecast;
pub mod numeric;
pub mod objective;
pub mod space;
pub mod strategy;
pub mod study;
pub mod surrogate;
pub mod trial;
