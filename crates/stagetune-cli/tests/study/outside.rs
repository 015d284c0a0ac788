//! Text from outside: what stages write, how long it is and what it would do to a terminal.

use crate::harness::{Lab, said, text};
use std::process::{Command, Stdio};

/// One stage with the metric `f` that runs a script with `{out}` as `$1`.
fn one_stage(script: &str, more: &str) -> Lab {
    Lab::new(&format!(
        r#"
[study]
name = "one"
metric = "f"
direction = "minimize"
strategy = "random"
budget = {{ trials = 2 }}

[[stage]]
name = "only"
{more}
run = ["sh", "-c", '''{script}''', "sh", "{{out}}", "{{x}}"]
[stage.params]
x = {{ int = [0, 30] }}
"#
    ))
}

/// What no text for people may hold: escapes, control characters, marks that turn the direction or
/// have no width.
fn steers(text: &str) -> bool {
    text.chars().any(|c| {
        (c.is_control() && !matches!(c, '\n' | '\t'))
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}')
    })
}

#[test]
fn nothing_that_a_stage_leaves_steers_the_terminal() {
    let evil = r#"e=$(printf "\033[2J\033]0;evil\007\302\233\342\200\256"); "#;
    let scripts = [
        // Keys and texts of the result.
        r#"printf "{{\"k%s\": 1}}" "$e" > "$1/result.json""#,
        r#"printf "{{\"f\": \"v%s\"}}" '\\u001b[2J' > "$1/result.json""#,
        r#"printf "%s" "$e" > "$1/result.json""#,
        // Names of files, targets of links, last words.
        r#"echo '{{"f": 1}}' > "$1/result.json"; mkfifo "$1/pipe$e""#,
        r#"echo '{{"f": 1}}' > "$1/result.json"; ln -s "$1/a$e" "$1/b""#,
        r#"echo "out$e"; echo "word$e" >&2; exit 3"#,
    ];
    for script in scripts {
        let lab = one_stage(&format!("{evil}{script}"), "");
        let run = lab.stagetune(&["run"]);
        for shown in [text(&run.stderr), said(&run)] {
            assert!(!steers(&shown), "{script}: {shown:?}");
        }
        assert!(text(&run.stderr).contains("trial 0: stage only"), "{script}: {}", text(&run.stderr));
        for arguments in
            [&["trials"][..], &["trials", "--trial", "0"], &["status"], &["best"], &["cache", "ls"]]
        {
            let output = lab.stagetune(arguments);
            assert!(!steers(&said(&output)) && !steers(&text(&output.stderr)), "{script}: {arguments:?}");
        }
    }
}

#[test]
fn names_of_files_in_the_cache_and_arguments_are_escaped_too() {
    let lab = one_stage(r#"echo '{{"f": 1}}' > "$1/result.json"; : > "$1/a$(printf "\033[2J")""#, "");
    lab.done(&["run", "--quiet"]);
    let entry = std::fs::read_dir(lab.root().join(".stagetune/cache")).unwrap().next().unwrap().unwrap();
    std::fs::remove_file(entry.path().join("out").join("a\u{1b}[2J")).unwrap();
    let verified = said(&lab.stagetune(&["cache", "verify"]));
    assert!(verified.contains("`a\\u{1b}[2J` is missing"), "{verified}");
    for arguments in [&["check", "no\u{1b}[2Jfile"][..], &["cache", "why", "--stage", "\u{1b}]0;x\u{7}"]] {
        let said = text(&lab.stagetune(arguments).stderr);
        assert!(!steers(&said) && said.contains("\\u{1b}"), "{said:?}");
    }
    let misused = lab.stagetune(&["\u{1b}[2J\u{9b}2J\u{202e}", "--color", "always"]);
    assert!(!steers(&text(&misused.stderr)) && misused.status.code() == Some(2));
}

#[test]
fn colours_stay_where_they_are_wanted() {
    let lab = one_stage(r#"echo '{{"f": 1}}' > "$1/result.json""#, "");
    let coloured = lab.done(&["run", "--color", "always"]);
    assert!(coloured.contains("\u{1b}[1m\u{1b}[32m") && !coloured.contains("\\u{1b}"), "{coloured}");
    assert!(lab.done(&["trials", "--color", "always"]).contains("\u{1b}[0m"));
}

#[test]
fn a_metric_that_is_megabytes_of_text_does_not_go_into_the_journal() {
    let lab = one_stage(
        r#"(printf '{{"f": "'; head -c 9000000 /dev/zero | tr "\0" x; printf '"}}') > "$1/result.json""#,
        "",
    );
    let run = lab.stagetune(&["run"]);
    assert!(text(&run.stderr).len() < 4_000 && said(&run).len() < 4_000);
    let trials = lab.json(&["trials", "--all", "--json"]);
    let reason = trials[0]["reason"].as_str().unwrap();
    assert!(reason.contains("`f` is the text \"xxx") && reason.len() < 300, "{reason}");
    let journal = std::fs::metadata(lab.root().join(".stagetune/journal.db")).unwrap().len();
    assert!(journal < 1_000_000, "{journal}");
}

#[test]
fn a_result_with_a_byte_order_mark_is_read_and_a_long_one_has_its_metric() {
    let script = r#"(printf '\357\273\277{{"f": %s' "$2"; i=0; while [ $i -lt 1500 ]; do printf ', "a%s": 1' $i; i=$((i+1)); done; echo '}}') > "$1/result.json""#;
    let lab = one_stage(script, "");
    lab.done(&["run", "--quiet"]);
    let trials = lab.json(&["trials", "--all", "--json"]);
    assert_eq!(trials[0]["value"].as_f64(), trials[0]["point"]["x"].as_f64(), "{}", trials[0]["reason"]);
    assert!(lab.done(&["trials", "--trial", "0"]).contains("1000 are kept; others are left out"));
}

#[test]
fn logs_are_counted_and_go_with_finished_studies_if_that_is_asked_for() {
    let lab = one_stage(r#"echo words; echo '{{"f": 1}}' > "$1/result.json""#, "");
    lab.done(&["run", "--quiet"]);
    let logs = lab.root().join(".stagetune/logs");
    std::fs::create_dir(logs.join("other")).unwrap();
    std::fs::write(logs.join("other/0000-a.log"), "of a study that the journal does not know").unwrap();
    let counted = lab.json(&["cache", "gc", "--json"])["logs"].clone();
    assert_eq!((&counted["files"], &counted["removed"]), (&3.into(), &0.into()), "{counted}");
    assert!(counted["bytes"].as_u64().unwrap() > 0, "{counted}");
    let told = lab.done(&["cache", "gc", "--logs", "--dry-run"]);
    assert!(told.contains("in 3 files; would free") && told.contains("2 logs of finished studies"), "{told}");
    assert!(logs.join("one").exists());
    lab.done(&["cache", "gc", "--logs"]);
    assert!(!logs.join("one").exists() && logs.join("other/0000-a.log").exists());
}

#[test]
fn a_stage_that_reads_from_the_terminal_fails_and_says_so() {
    // The second one is in a group of its own: nobody waits for that group.
    for asks in ["read answer < /dev/tty", "set -m; (read answer < /dev/tty) & wait $! || exit 3"] {
        it_fails_and_says_so(asks);
    }
}

fn it_fails_and_says_so(asks: &str) {
    let lab = one_stage(asks, "");
    // `script` (util-linux) gives what it runs a terminal.
    let arguments = ["-qec", &format!("{} run --color never", env!("CARGO_BIN_EXE_stagetune")), "/dev/null"];
    let mut command = Command::new("timeout");
    command.args(["60", "script"]).args(arguments).current_dir(lab.root()).stdin(Stdio::null());
    if Command::new("script").arg("--version").output().is_err() {
        return;
    }
    let output = command.output().unwrap();
    assert_ne!(output.status.code(), Some(124), "it stands still");
    let reasons = lab.done(&["trials", "--trial", "0"]);
    assert!(reasons.contains("no stage has a terminal"), "{reasons}");
}
