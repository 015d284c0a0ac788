//! Ctrl-C once and twice, a polite end, and a second process.

use crate::harness::{Lab, has_lines, send, text, told, wait_until};
use std::time::{Duration, Instant};

fn slow(seconds: f64) -> Lab {
    Lab::new(&format!(
        r#"
[study]
name = "slow"
metric = "f"
direction = "minimize"
strategy = "random"
budget = {{ trials = 50 }}
[[stage]]
name = "quick"
run = ["sh", "-c", "echo $1 >> ../outside/quick", "sh", "{{x}}", "{{out}}"]
[stage.params]
x = {{ float = [0, 1] }}
[[stage]]
name = "slow"
run = ["sh", "-c", 'echo $1 >> ../outside/begun; sleep {seconds}; echo "{{{{\"f\": $1}}}}" > "$2/result.json"', "sh", "{{y}}", "{{out}}"]
[stage.params]
y = {{ float = [0, 1] }}
"#
    ))
}

#[test]
fn the_first_ctrl_c_finishes_the_trial_that_is_running() {
    let lab = slow(0.4);
    let mut child = lab.start(&["run"]);
    wait_until("the slow stage", || has_lines(&lab.outside().join("begun"), 2));
    send(&child, "-INT");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let status = lab.json(&["status", "--json"]);
    assert_eq!(
        (&status["trials"], &status["observed"], &status["state"]),
        (&2.into(), &2.into(), &"paused".into())
    );
    assert_eq!(status["open"], serde_json::json!([]));
}

#[test]
fn the_second_ctrl_c_stops_at_once_and_what_had_finished_is_kept() {
    for signals in [&["-INT", "-INT"][..], &["-TERM"]] {
        let lab = slow(30.0);
        let mut child = lab.start(&["run"]);
        wait_until("the slow stage", || has_lines(&lab.outside().join("begun"), 1));
        let asked = Instant::now();
        for signal in signals {
            send(&child, signal);
            std::thread::sleep(Duration::from_millis(100));
        }
        assert_eq!(child.wait().unwrap().code(), Some(130), "{signals:?}");
        assert!(asked.elapsed() < Duration::from_secs(20), "the stage was waited for");
        let status = lab.json(&["status", "--json"]);
        assert_eq!((&status["trials"], &status["open"]), (&1.into(), &serde_json::json!([0])), "{signals:?}");
        // The same trial goes on, with the stage that had finished.
        let text = std::fs::read_to_string(lab.root().join("pipeline.toml")).unwrap();
        lab.write(&text.replace("trials = 50", "trials = 1"));
        let next = lab.json(&["run", "--dry-run", "--json"]);
        assert_eq!((&next["trial"], &next["resumed"]), (&0.into(), &true.into()));
        assert_eq!(
            (&next["stages"][0]["cached"], &next["stages"][1]["cached"]),
            (&true.into(), &false.into())
        );
    }
}

#[test]
fn a_second_process_learns_who_runs_the_study() {
    let lab = slow(0.5);
    let mut child = lab.start(&["run"]);
    wait_until("the slow stage", || has_lines(&lab.outside().join("begun"), 1));
    let second = lab.stagetune(&["run"]);
    assert_eq!(second.status.code(), Some(4));
    let error = text(&second.stderr);
    assert!(error.contains(&format!("process {}", child.id())), "{error}");
    let status = lab.json(&["status", "--json"]);
    assert_eq!((&status["state"], &status["holder"]["process"]), (&"running".into(), &child.id().into()));
    wait_until("the stage in `status`", || lab.json(&["status", "--json"])["running"][0]["stage"] == "slow");
    send(&child, "-INT");
    child.wait().unwrap();
    assert_eq!(lab.json(&["status", "--json"])["state"], "paused");
}

#[test]
fn workers_run_trials_side_by_side() {
    let lab = slow(0.3);
    let text = std::fs::read_to_string(lab.root().join("pipeline.toml")).unwrap();
    lab.write(&text.replace("trials = 50", "trials = 8"));
    lab.done(&["run", "--workers", "4"]);
    let records = lab.records("slow");
    assert_eq!(told(&records).len(), 8);
    let trials = lab.json(&["trials", "--all", "--json"]);
    let spans: Vec<(f64, f64)> = trials
        .as_array()
        .unwrap()
        .iter()
        .map(|t| (t["stages"][1]["began"].as_f64().unwrap(), t["stages"][1]["ended"].as_f64().unwrap()))
        .collect();
    let most = spans.iter().map(|a| spans.iter().filter(|b| b.0 <= a.0 && a.0 < b.1).count()).max();
    assert_eq!(most, Some(4));
}

#[test]
fn the_wall_budget_counts_work_over_all_processes() {
    let lab = slow(0.2);
    let text = std::fs::read_to_string(lab.root().join("pipeline.toml")).unwrap();
    lab.write(&text.replace("trials = 50", "wall = \"1 s\""));
    lab.done(&["run", "--quiet"]);
    let status = lab.json(&["status", "--json"]);
    assert_eq!(status["state"], "finished");
    let trials = status["trials"].as_u64().unwrap();
    assert!((1..=5).contains(&trials), "{status}");
    lab.done(&["run", "--quiet"]);
    assert_eq!(lab.json(&["status", "--json"])["trials"], trials);
}
