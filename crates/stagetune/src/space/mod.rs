//! What can be tuned: parameters, modules in order, their points, and what moving between points costs.
//!
//! A [`Space`] is a list of [`Module`]s, each with [`Param`]s, a [`Cost`], forbidden regions and cuts. It is checked
//! once, when it is built; after that it turns typed [`Point`]s into points of the unit cube and back. Ints, bools and
//! choices, and every float that a code decodes to, come back bit for bit. A float that a user typed may lie between two
//! codes and comes back as the nearest value that has one; [`Space::decode_after`] keeps it where it must not change.
//!
//! ```
//! use stagetune::space::{Cost, Module, Param, Space, Value};
//! # fn main() -> Result<(), stagetune::space::SpaceError> {
//! let denoise = Module::new("denoise", [Param::float("strength", 1.0, 15.0)?])?.cost(Cost::Given(10.0))?;
//! let unet = Module::new(
//!     "unet",
//!     [
//!         Param::float("lr", 1e-5, 1e-1)?.log()?,
//!         Param::int("batch", 2, 14)?.step(2)?,
//!         Param::choice("norm", ["batch", "group", "none"])?,
//!     ],
//! )?
//! .forbid("lr > 0.05 and batch < 4")?
//! .cut("lr", [1e-3])?;
//! let space = Space::new([denoise, unet])?;
//! assert_eq!(space.dim(), 1 + 1 + 1 + 3);
//!
//! let point = space.point([
//!     ("strength", Value::from(2.5)),
//!     ("lr", 1e-3.into()),
//!     ("batch", 4.into()),
//!     ("norm", "group".into()),
//! ])?;
//! assert_eq!(point.to_string(), "strength=2.5 lr=0.001 batch=4 norm=group");
//! assert!(point > space.decode(&[0.0; 6])?);
//! let proposed = space.decode(&[0.1, 0.2, 0.3, 0.4, 0.5, 0.6])?;
//! assert_eq!(space.decode(&space.encode(&proposed)?)?, proposed);
//! assert!(space.allows(&point));
//! # Ok(())
//! # }
//! ```

mod coding;
mod count;
mod cut;
mod describe;
mod expr;
mod float;
mod int;
mod module;
mod movement;
mod name;
mod param;
mod point;
mod reach;
mod region;
mod slice;
#[allow(clippy::module_inception)]
// The folder is named after the word of the field, and so is its main type.
mod space;
mod stage_set;
mod wiring;

pub use crate::numeric::Batch;
pub use cut::Cut;
pub use describe::{
    CostDescription, DomainDescription, ParamDescription, SpaceDescription, StageDescription,
};
pub use expr::{Expr, ExprError, ExprErrorKind, MAX_DEPTH, MAX_SOURCE, Verdict};
pub use float::FloatRange;
pub use int::IntRange;
pub use module::{Cost, Module, ModuleError};
pub use movement::{CostModel, Movement, MovementError, RunHistory};
pub use name::{MAX_NAME, NameError};
pub use param::{Domain, LARGE_CHOICE, MAX_CHOICES, Param, ParamError};
pub use point::{Point, PointError, Value};
pub use region::RegionError;
pub use space::{Axis, MAX_DIM, MAX_FORBIDDEN, MAX_MODULES, MAX_PARAMS, Space, SpaceError};
pub use stage_set::StageSet;
pub use wiring::{Graph, Wiring};
