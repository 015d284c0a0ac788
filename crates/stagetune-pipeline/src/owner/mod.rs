//! The owner: one process that asks, has stages run, writes down what happened, and tells the study.
//!
//! ```text
//! dispatcher   one thread; has the study to itself, and never waits for a fit, a stage or a disk               dispatcher.rs
//! log writer   one thread; appends what the dispatcher enters, and reads what others appended                  log_writer.rs
//! syncer       one thread; waits until what was appended would survive a power cut                            log_writer.rs
//! proposers    two threads; compute proposals and later values on snapshots of the study                       proposer.rs
//! trials       one thread for each open trial; finds outputs, has stages run, hands reports in at the desk      trial.rs
//! attempts     run by an executor; what they leave on disk is adopted by the next owner                        stage.rs
//! ```
//!
//! Opening an owner reads the log, so that trials which were open when the last owner ended are run
//! first, and then what would have been proposed is proposed. Others may append control records
//! meanwhile (a trial withdrawn, a pause, a note); an owner that reads of a newer owner stops.

mod blame;
mod book;
mod control;
mod definition;
mod desk;
mod dispatcher;
mod error;
mod hold;
mod keys;
mod live;
mod log_writer;
mod news;
mod old_logs;
mod open;
mod outlook;
mod patience;
mod proposer;
mod provenance;
mod rehearsal;
mod replay;
mod result;
mod stage;
mod trial;
mod written;

pub use control::{append_control, control};
pub use definition::definition;
pub use error::RunError;
pub use hold::{Hold, Holder};
pub use keys::{Keys, values};
pub use live::{Live, Now, RunningStage};
pub use news::{News, Quiet, Reached, Standing, Watcher};
pub use open::{Ended, NewStudy, Owner, OwnerOptions, Parts};
pub use outlook::{Outlook, outlook, too_long, unit};
pub use patience::Waiting;
pub use rehearsal::{Rehearsal, StagePlan, plan, rehearse};
pub use replay::study;
pub use result::MOST_NUMBERS;
// For the fuzzer.
#[doc(hidden)]
pub use result::{number_in, numbers_in};
