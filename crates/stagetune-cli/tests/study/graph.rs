//! Stages as a graph: independent branches side by side, and only what depends on a change runs again.

use crate::harness::Lab;

const DIAMOND: &str = r#"
[study]
name = "diamond"
metric = "f"
direction = "minimize"
strategy = "random"
seed = 2
budget = { trials = 12 }

[[stage]]
name = "source"
after = []
run = ["sh", "-c", 'echo source >> ../outside/runs; echo "$1" > "$2/v"', "sh", "{s}", "{out}"]
[stage.params]
s = { int = [1, 2] }

[[stage]]
name = "left"
after = ["source"]
run = ["sh", "-c", 'echo left >> ../outside/runs; echo begun > ../outside/left; for i in 1 2 3 4 5 6 7 8 9; do [ -e ../outside/right ] && break; sleep 0.1; done; [ -e ../outside/right ] || exit 1; cp "$3/v" "$2/v"', "sh", "{l}", "{out}", "{source}"]
[stage.params]
l = { int = [1, 2] }

[[stage]]
name = "right"
after = ["source"]
run = ["sh", "-c", 'echo right >> ../outside/runs; echo begun > ../outside/right; for i in 1 2 3 4 5 6 7 8 9; do [ -e ../outside/left ] && break; sleep 0.1; done; [ -e ../outside/left ] || exit 1; cp "$3/v" "$2/v"', "sh", "{r}", "{out}", "{source}"]
[stage.params]
r = { int = [1, 2] }

[[stage]]
name = "join"
after = ["left", "right"]
run = ["sh", "-c", 'echo join >> ../outside/runs; read a < "$2/v"; read b < "$3/v"; echo "{{\"f\": $((a+b))}}" > "$1/result.json"', "sh", "{out}", "{left}", "{right}"]
"#;

#[test]
fn branches_run_side_by_side_and_one_does_not_run_for_the_other() {
    // Each branch waits until the other has begun: one after the other they would fail.
    let lab = Lab::new(DIAMOND);
    let said = lab.done(&["run"]);
    let shape = "source, left (after source), right (after source), join (after left, right)";
    assert!(said.contains(shape), "{said}");
    let status = lab.json(&["status", "--json"]);
    assert_eq!((&status["observed"], &status["failed"]), (&12.into(), &0.into()), "{status}");
    let runs = lab.runs();
    // At most two sources, two of each branch for each source, and all pairs of branches.
    assert!(runs["source"] <= 2 && runs["left"] <= 4 && runs["right"] <= 4 && runs["join"] <= 8, "{runs:?}");
    assert!(runs["join"] > runs["left"], "{runs:?}");
}

#[test]
fn an_output_that_nothing_needs_any_more_is_not_made_again() {
    let lab = Lab::new(DIAMOND);
    lab.done(&["run", "--quiet"]);
    let before = lab.runs();
    // All but the last outputs go; what remains answers for them.
    for entry in lab.json(&["cache", "ls", "--json"]).as_array().unwrap() {
        if entry["stage"] != "join" {
            let key = entry["key"].as_str().unwrap();
            std::fs::remove_dir_all(lab.root().join(".stagetune/cache").join(key)).unwrap();
        }
    }
    lab.write(&DIAMOND.replace("\"diamond\"", "\"again\""));
    lab.done(&["run", "--quiet"]);
    assert_eq!(lab.runs(), before);
}
