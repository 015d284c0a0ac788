//! The run loop: ask, run what must run, write it down, tell; until a budget is reached or somebody says stop.
//!
//! A [`Session`] is one process at work on one study. Opening it replays the journal, so that trials which were running when the last
//! process ended are run first, and then what would have been proposed is proposed.

mod definition;
mod error;
mod hold;
mod keys;
mod live;
mod news;
mod outlook;
mod rehearsal;
mod result;
mod session;
mod stage;
mod trial;
mod worker;

pub use definition::{definition, record};
pub use error::RunError;
pub use hold::{Hold, Holder};
pub use keys::{Keys, values};
pub use live::{Live, RunningStage};
pub use news::{News, Quiet, Reached, Standing, Watcher};
pub use outlook::{Outlook, outlook, too_long, unit};
pub use rehearsal::{Rehearsal, StagePlan, plan, rehearse};
pub use session::{Session, SessionOptions, study};
pub use worker::Ended;
