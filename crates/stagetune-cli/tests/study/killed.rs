//! A process that is killed at any instant loses nothing.

use crate::harness::{Dice, Lab, Story, THREE, has_lines, story, told, wait_until};
use std::time::Duration;

/// As many as were promised.
const KILLS: usize = 200;

#[test]
fn a_study_that_is_killed_two_hundred_times_is_the_study_that_was_not() {
    let undisturbed = Lab::new(THREE);
    undisturbed.done(&["run", "--quiet"]);
    let reference = story(&undisturbed.records("three"));
    assert_eq!(told(&undisturbed.records("three")).len(), 40);

    let mut dice = Dice(1);
    let mut kills = 0;
    while kills < KILLS {
        kills += kill_until_finished(&reference, &mut dice, KILLS - kills);
    }
}

/// Kills a new study again and again until it comes to its end; how often it was killed.
fn kill_until_finished(reference: &Story, dice: &mut Dice, most: usize) -> usize {
    let lab = Lab::new(THREE);
    let mut before = Vec::new();
    let mut kills = 0;
    loop {
        let mut child = lab.start(&["run", "--quiet", "--workers", "1"]);
        // From before the journal exists to several trials later.
        std::thread::sleep(Duration::from_micros(dice.below(120_000)));
        let ended = child.try_wait().unwrap();
        if kills < most && ended.is_none() {
            child.kill().unwrap();
            kills += 1;
        }
        let status = child.wait().unwrap();
        let records = lab.records("three");
        let now = told(&records);
        assert_eq!(
            now.get(..before.len()),
            Some(&before[..]),
            "something told is missing after kill {kills}"
        );
        let so_far = story(&records);
        assert_eq!(reference.get(..so_far.len()), Some(&so_far[..]), "another study after kill {kills}");
        lab.assert_cache_is_whole();
        before = now;
        if status.success() {
            assert_eq!(&so_far, reference);
            // A stage may have been running at a kill; nothing else ever ran twice.
            let twice: usize = lab.runs().values().map(|runs| runs - 1).sum();
            assert!(twice <= kills, "{twice} runs too many after {kills} kills");
            assert!(!lab.outside().join("hacked").exists());
            return kills;
        }
    }
}

#[test]
fn four_workers_that_are_killed_lose_nothing_either() {
    let lab = Lab::new(&THREE.replace("\"lambo\"", "\"random\"").replace("trials = 40", "trials = 150"));
    let mut dice = Dice(2);
    let mut before = Vec::new();
    let mut kills = 0;
    loop {
        let mut child = lab.start(&["run", "--quiet", "--workers", "4"]);
        std::thread::sleep(Duration::from_micros(dice.below(150_000)));
        if kills < 30 && child.try_wait().unwrap().is_none() {
            child.kill().unwrap();
            kills += 1;
        }
        let status = child.wait().unwrap();
        let now = told(&lab.records("three"));
        assert_eq!(
            now.get(..before.len()),
            Some(&before[..]),
            "something told is missing after kill {kills}"
        );
        lab.assert_cache_is_whole();
        before = now;
        if status.success() {
            break;
        }
    }
    assert_eq!(before.len(), 150);
    // Of each kill at most four stages were running.
    let twice: usize = lab.runs().values().map(|runs| runs - 1).sum();
    assert!(twice <= 4 * kills, "{twice} runs too many after {kills} kills");
}

#[test]
fn stages_do_not_outlive_a_killed_stagetune() {
    let lab = Lab::new(
        r#"
[study]
name = "slow"
metric = "f"
direction = "minimize"
budget = { trials = 3 }
[[stage]]
name = "slow"
run = ["sh", "-c", '(sleep 1; echo late >> ../outside/late) & echo begun >> ../outside/begun; sleep 1; echo late >> ../outside/late', "sh", "{out}", "{x}"]
[stage.params]
x = { float = [0, 1] }
"#,
    );
    let mut child = lab.start(&["run", "--quiet"]);
    wait_until("the stage", || has_lines(&lab.outside().join("begun"), 1));
    child.kill().unwrap();
    child.wait().unwrap();
    std::thread::sleep(Duration::from_millis(1500));
    assert!(!lab.outside().join("late").exists(), "the stage went on");
}
