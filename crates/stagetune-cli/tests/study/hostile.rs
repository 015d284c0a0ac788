//! Stages, files and listeners that misbehave: the study says what is wrong, and never hangs.

use crate::harness::{Lab, has_lines, send, text, wait_until};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// One stage that runs `script` with `{x}` and `{out}`.
fn one_stage(script: &str, more: &str) -> Lab {
    Lab::new(&format!(
        r#"
[study]
name = "one"
metric = "f"
direction = "minimize"
strategy = "random"
budget = {{ trials = 12 }}
{more}
[[stage]]
name = "only"
timeout = "5 s"
run = ["sh", "-c", '''{script}''', "sh", "{{x}}", "{{out}}", "{{y}}"]
[stage.params]
x = {{ int = [0, 3] }}
y = {{ float = [0, 1] }}
"#
    ))
}

fn ends(mut child: Child, within: Duration) -> Option<i32> {
    let began = Instant::now();
    while began.elapsed() < within {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    panic!("still running after {within:?}");
}

#[test]
fn an_output_that_cannot_be_kept_is_a_failure_of_the_trial() {
    let script = r#"case $1 in
  0) mkfifo "$2/pipe" ;;
  1) rm -r "$2" ;;
  2) ln -s "$2/a" "$2/b" ;;
esac
[ $1 = 1 ] || echo "{{\"f\": 1}}" > "$2/result.json""#;
    let lab = one_stage(script, "");
    lab.done(&["run", "--quiet"]);
    let trials = lab.json(&["trials", "--all", "--json"]);
    let failed: Vec<&str> = trials.as_array().unwrap().iter().filter_map(|t| t["reason"].as_str()).collect();
    assert!(!failed.is_empty() && failed.len() < 12);
    assert!(failed.iter().all(|reason| reason.contains("cannot be kept")), "{failed:?}");
}

#[test]
fn a_result_that_is_a_pipe_does_not_hang_the_study() {
    let script =
        r#"if [ $1 = 0 ]; then mkfifo "$2/result.json"; else echo "{{\"f\": 1}}" > "$2/result.json"; fi"#;
    let lab = one_stage(script, "");
    assert_eq!(ends(lab.start(&["run", "--quiet"]), Duration::from_secs(30)), Some(0));
    let reasons = lab.done(&["trials", "--all"]);
    assert!(reasons.contains("cannot be kept") || reasons.contains("not a file"), "{reasons}");
}

#[test]
fn workers_under_a_cache_limit_do_not_get_into_each_others_way() {
    let script = r#"head -c 3000 /dev/zero > "$2/v"; echo "{{\"f\": $1}}" > "$2/result.json""#;
    let lab = one_stage(script, "");
    let file = std::fs::read_to_string(lab.root().join("pipeline.toml")).unwrap();
    let file = file.replace("trials = 12", "trials = 80");
    lab.write(&file.replace("[[stage]]", "[cache]\nlimit = \"20 kB\"\n[[stage]]"));
    lab.done(&["run", "--quiet", "--workers", "4"]);
    let held: u64 = lab
        .json(&["cache", "ls", "--json"])
        .as_array()
        .unwrap()
        .iter()
        .map(|e| e["bytes"].as_u64().unwrap())
        .sum();
    assert!(held <= 20_000, "{held}");
}

#[test]
fn an_input_that_changes_while_a_stage_reads_it_ends_the_study_and_is_not_cached() {
    let script = r#"echo begun >> ../outside/begun; sleep 0.5; cp data "$2/data"; echo "{{\"f\": 1}}" > "$2/result.json""#;
    let lab = one_stage(script, "patience = 0");
    let file = std::fs::read_to_string(lab.root().join("pipeline.toml")).unwrap();
    lab.write(&file.replace("timeout", "inputs = [\"data\"]\ntimeout"));
    std::fs::write(lab.root().join("data"), "one").unwrap();
    let child = lab.command(&["run", "--quiet"]).stderr(Stdio::piped()).spawn().unwrap();
    wait_until("the stage", || has_lines(&lab.outside().join("begun"), 1));
    std::fs::write(lab.root().join("data"), "two").unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(text(&output.stderr).contains("`data` of stage `only` changed"), "{}", text(&output.stderr));
    assert_eq!(lab.json(&["cache", "ls", "--json"]), serde_json::json!([]));
}

#[test]
fn nobody_listening_does_not_end_or_hang_a_study() {
    let script = r#"[ $1 = 0 ] && exit 1; sleep 0.02; echo "{{\"f\": 1}}" > "$2/result.json""#;
    let full = || std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let lab = one_stage(script, "");
    let child = lab.command(&["run"]).stdout(full()).stderr(full()).spawn().unwrap();
    assert_eq!(ends(child, Duration::from_secs(30)), Some(1), "only the last words cannot be said");
    assert_eq!(lab.json(&["status", "--json"])["state"], "finished");

    // A reader that does not read: the pipe fills up, and a stop at once still works.
    let lab = one_stage("exit 1", "give_up_after = 1000000");
    let file = std::fs::read_to_string(lab.root().join("pipeline.toml")).unwrap();
    lab.write(&file.replace("trials = 12", "trials = 100000"));
    let mut child =
        lab.command(&["run", "--json"]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let _unread = child.stdout.take();
    std::thread::sleep(Duration::from_secs(2));
    for _ in 0..3 {
        send(&child, "-INT");
        std::thread::sleep(Duration::from_millis(200));
    }
    assert_eq!(ends(child, Duration::from_secs(20)), Some(130));
    assert!(lab.json(&["status", "--json"])["failed"].as_u64().unwrap() > 0);
}

#[test]
fn a_study_goes_on_while_nobody_reads_what_it_prints() {
    let lab = one_stage(r#"echo "{{\"f\": $3}}" > "$2/result.json""#, "");
    let file = std::fs::read_to_string(lab.root().join("pipeline.toml")).unwrap();
    // Far more than a pipe holds.
    lab.write(&file.replace("trials = 12", "trials = 400"));
    let mut child =
        lab.command(&["run", "--json"]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let unread = child.stdout.take().unwrap();
    wait_until("the end of the study", || {
        lab.stagetune(&["status", "--json"]).status.success()
            && lab.json(&["status", "--json"])["observed"] == 400
    });
    // Whoever reads late misses nothing.
    let told = std::io::read_to_string(unread).unwrap().matches("\"news\":\"told\"").count();
    assert_eq!(told, 400);
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_log_that_cannot_be_written_ends_the_run_and_not_the_trial() {
    let script = r#"echo run >> ../outside/begun; rm -rf .stagetune/logs; touch .stagetune/logs
echo "{{\"f\": 1}}" > "$2/result.json""#;
    let lab = one_stage(script, "patience = 0");
    let output = lab.stagetune(&["run", "--quiet"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("logs"), "{}", text(&output.stderr));
    let status = lab.json(&["status", "--json"]);
    assert_eq!((&status["failed"], status["open"].as_array().unwrap().len()), (&0.into(), 1), "{status}");
}

#[test]
fn directories_of_the_study_that_are_removed_while_it_runs_are_made_again() {
    let script =
        r#"rm -rf .stagetune/logs .stagetune/tmp .stagetune/locks; echo "{{\"f\": 1}}" > "$2/result.json""#;
    let lab = one_stage(script, "");
    lab.done(&["run", "--quiet"]);
    let status = lab.json(&["status", "--json"]);
    assert_eq!((&status["failed"], &status["observed"]), (&0.into(), &12.into()), "{status}");
}

#[test]
fn nohup_is_respected() {
    let lab = one_stage(
        r#"echo begun >> ../outside/begun; sleep 0.05; echo "{{\"f\": 1}}" > "$2/result.json""#,
        "",
    );
    let script = "trap '' HUP; exec \"$0\" run --quiet";
    let mut command = std::process::Command::new("sh");
    command.args(["-c", script, env!("CARGO_BIN_EXE_stagetune")]).current_dir(lab.root());
    let child = command.spawn().unwrap();
    wait_until("the stage", || has_lines(&lab.outside().join("begun"), 1));
    send(&child, "-HUP");
    assert_eq!(ends(child, Duration::from_secs(30)), Some(0));
}

#[test]
fn a_study_without_one_value_ends_with_the_code_for_that() {
    let lab = one_stage("exit 1", "");
    let file = std::fs::read_to_string(lab.root().join("pipeline.toml")).unwrap();
    lab.write(&file.replace("trials = 12", "trials = 2"));
    assert_eq!(lab.stagetune(&["run", "--quiet"]).status.code(), Some(5));
}

#[test]
fn editing_the_file_during_a_run_does_not_spoil_its_end() {
    let lab =
        one_stage(r#"echo begun >> ../outside/begun; sleep 0.1; echo "{{\"f\": 1}}" > "$2/result.json""#, "");
    let child = lab.command(&["run"]).stdout(Stdio::piped()).spawn().unwrap();
    wait_until("the stage", || has_lines(&lab.outside().join("begun"), 1));
    lab.write("half a file [");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output.stdout).contains("best"));
}
