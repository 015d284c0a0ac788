//! Threads, interruption and continuation leave no trace in the results.

use super::files::{TOY, folder, plan, rows, run, timeless};
use stagetune_lab::experiment::run::execute;
use stagetune_lab::experiment::store::Store;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

fn finished(folder: &Path) -> usize {
    let Ok(files) = std::fs::read_dir(folder.join("runs")) else { return 0 };
    files.filter(|file| file.as_ref().unwrap().file_name().to_string_lossy().ends_with(".json")).count()
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let plan = plan(TOY);
    let (one, three) = (run(&plan, "one-thread", 1), run(&plan, "three-threads", 3));
    assert_eq!(timeless(&one), timeless(&three));
    assert_eq!(rows(&one, "points.csv"), rows(&three, "points.csv"));
}

#[test]
fn a_killed_experiment_goes_on_and_ends_with_the_same_curves() {
    let folder = folder("killed");
    let file = folder.join("plan.toml");
    std::fs::write(&file, TOY).unwrap();
    let start = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_stagetune-lab"));
        command.arg("run").arg(&file).args(["--threads", "1"]).stderr(Stdio::null());
        command.spawn().unwrap()
    };
    let mut child = start();
    // After the first finished run, somewhere in the middle of a later one.
    while finished(&folder) == 0 && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!((1..9).contains(&finished(&folder)) && !folder.join("curves.csv").exists());
    // What a process leaves that is killed while it writes.
    std::fs::write(folder.join("runs/.stagetune-0003.json.1.unfinished"), "{\"format\":1,\"str").unwrap();

    assert!(start().wait().unwrap().success());
    let whole = run(&plan(TOY), "never-killed", 2);
    assert_eq!(timeless(&folder), timeless(&whole));
}

#[test]
fn finished_runs_are_kept_and_more_can_join_them() {
    let mut fewer = plan(TOY);
    fewer.sims = 2;
    fewer.select(&["random".to_owned(), "lambo".to_owned()]).unwrap();
    let folder = run(&fewer, "extended", 2);
    let run_file = folder.join("runs/lambo-0001.json");
    let before = std::fs::read(&run_file).unwrap();
    let store = Store::open(&folder).unwrap();
    execute(&plan(TOY), &store, 2).unwrap();
    assert_eq!(before, std::fs::read(&run_file).unwrap());
    assert_eq!(timeless(&folder), timeless(&run(&plan(TOY), "at-once", 2)));
}

#[test]
fn a_changed_plan_is_refused_and_the_change_named() {
    let folder = run(&plan(TOY), "changed", 2);
    let store = Store::open(&folder).unwrap();
    let complaint = |text: &str| format!("{:#}", execute(&plan(text), &store, 1).unwrap_err());
    let text = complaint(&TOY.replace("budget = 5", "budget = 6"));
    assert!(text.contains("budget was 5.0 and is 6.0") && text.contains("--out"), "{text}");
    assert!(complaint(&format!("seed = 2\n{TOY}")).contains("seed was 1 and is 2"));

    std::fs::write(folder.join("runs/random-0001.json"), "{").unwrap();
    let text = complaint(TOY);
    assert!(text.contains("random-0001.json") && text.contains("delete it"), "{text}");
}
