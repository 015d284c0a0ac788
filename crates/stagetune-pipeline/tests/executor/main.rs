//! Executors: the suite over those that need no supervisor, callables, and what is left behind.

// Clippy lets tests unwrap and panic but not the helpers beside them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod callables;
mod commands;
mod suite;

use stagetune_pipeline::disk::Disk;
use stagetune_pipeline::executor::{Local, LocalOptions};
use std::path::Path;

fn local(root: &Path) -> Local {
    Local::new(LocalOptions { supervisor: None, attempts: root.join("attempts"), disk: Disk::default() })
}

mod scripted {
    use stagetune_pipeline::executor::{Executor, Refused, Scripted, Sight};

    crate::suite::every_executor!(|_: &std::path::Path| Scripted::new());

    #[test]
    fn what_is_held_waits_and_a_busy_executor_refuses() {
        let root = tempfile::tempdir().unwrap();
        let scripted = Scripted::new();
        let (one, two) = (crate::suite::attempt(root.path(), 1), crate::suite::attempt(root.path(), 2));
        scripted.hold_launches(true);
        scripted.launch(&one).unwrap();
        assert_eq!(crate::suite::sight(&scripted, &one.token), Sight::Waiting);
        assert!(scripted.running().is_empty());
        scripted.hold_launches(false);
        assert_eq!(scripted.running(), [one.token]);
        scripted.set_busy(true);
        assert!(matches!(scripted.launch(&two), Err(Refused::Busy)));
        scripted.set_busy(false);
        scripted.launch(&two).unwrap();
        assert!(scripted.wait_for_running(2, crate::suite::LONG));
    }
}

mod threads {
    crate::suite::every_executor!(|root: &std::path::Path| crate::suite::Commands(crate::local(root)));
    crate::commands::every_local!(crate::local);
}
