//! Attempts under a supervisor: the suite of executors, and what a killed owner or supervisor leaves.

// Clippy lets tests unwrap and panic but not the helpers beside them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../../../stagetune-pipeline/tests/executor/commands.rs"]
mod commands;
mod killed;
#[path = "../../../stagetune-pipeline/tests/executor/suite.rs"]
mod suite;

use stagetune_pipeline::disk::Disk;
use stagetune_pipeline::executor::{Local, LocalOptions};
use std::path::Path;

fn supervised(root: &Path) -> Local {
    let supervisor = Some(env!("CARGO_BIN_EXE_stagetune").into());
    Local::new(LocalOptions { supervisor, attempts: root.join("attempts"), disk: Disk::default() })
}

mod supervisor {
    crate::suite::every_executor!(|root: &std::path::Path| crate::suite::Commands(crate::supervised(root)));
    crate::commands::every_local!(crate::supervised);
}
