//! Raw results: every published summary follows from them, they are small, and a file that was cut
//! is an error that names it.

use super::files::{TOY, folder, plan, run};
use stagetune_lab::experiment::output;
use stagetune_lab::experiment::raw::{file, place};
use stagetune_lab::experiment::run::execute;
use stagetune_lab::experiment::store::Store;
use stagetune_lab::experiment::summary::Summary;
use stagetune_lab::packed;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn stagetune_lab(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_stagetune-lab")).args(arguments).current_dir(folder).output().unwrap()
}

fn experiments() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments")
}

/// The files below `experiments/` that are, or would be, in the repository.
fn files() -> Vec<PathBuf> {
    let mut list = Command::new("git");
    list.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard", "."])
        .current_dir(experiments());
    let listed = list.output().unwrap();
    assert!(listed.status.success(), "{}", String::from_utf8_lossy(&listed.stderr));
    let text = String::from_utf8(listed.stdout).unwrap();
    let files = text.split('\0').filter(|name| !name.is_empty()).map(|name| experiments().join(name));
    // What was deleted and not yet committed is listed, too.
    files.filter(|path| path.is_file()).collect()
}

#[test]
fn every_summary_is_worked_out_again_from_its_raw_file_to_the_last_bit() {
    let raw = files().into_iter().filter(|path| path.ends_with(file::FILE));
    let mut folders: Vec<PathBuf> = raw.map(|path| path.with_file_name("")).collect();
    folders.sort();
    let digest = |(path, results): (PathBuf, _)| {
        let path = path.strip_prefix(experiments()).unwrap().display().to_string();
        format!("{} {}", path.trim_end_matches('/'), output::digest(&results).unwrap())
    };
    let mut found: Vec<String> = place::parts(&folders, None).unwrap().into_iter().map(digest).collect();
    let published = std::fs::read_to_string(experiments().join("digests.txt")).unwrap();
    let mut published: Vec<&str> = published.lines().filter(|line| !line.starts_with('#')).collect();
    found.sort();
    published.sort_unstable();
    assert!(found.len() >= 600);
    for (found, published) in found.iter().zip(&published) {
        assert_eq!(
            found, published,
            "new results go into digests.txt: `stagetune-lab parts FOLDER --digests` in experiments/"
        );
    }
    assert_eq!(found.len(), published.len());
}

#[test]
fn what_was_measured_is_light_to_clone() {
    let files = files();
    let bytes: u64 = files.iter().map(|path| path.metadata().unwrap().len()).sum();
    assert!(files.len() <= 400, "{} files; put what belongs together into one", files.len());
    assert!(bytes <= 12_000_000, "{bytes} bytes; compress what is large");
    for path in files {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let plain = ["summary.json", "steps.csv", "curves.csv", "points.csv", "f1.u16"];
        assert!(!plain.contains(&name.as_str()), "{} stands in the raw file, or goes there", path.display());
    }
}

#[test]
fn raw_results_give_back_the_files_that_the_run_wrote() {
    let home = run(&plan(TOY), "raw-unpacked", 2);
    let out = stagetune_lab(&home, &["unpack", ".", "--out", "again"]);
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    for name in ["summary.json", "steps.csv"] {
        let [first, again] =
            [home.join(name), home.join("again").join(name)].map(|path| std::fs::read(path).unwrap());
        assert_eq!(first, again, "{name}");
    }
    // Read, and written again, it is the same file.
    let raw = home.join(file::FILE);
    let before = std::fs::read(&raw).unwrap();
    file::write(&raw, &file::read(&raw).unwrap()).unwrap();
    assert_eq!(std::fs::read(&raw).unwrap(), before);
    // The files for people are not needed.
    std::fs::remove_file(home.join("summary.json")).unwrap();
    let table = stagetune_lab(&home, &["table", "."]);
    assert!(String::from_utf8_lossy(&table.stdout).contains("| lambo | 3 |"));
    let none = stagetune_lab(&home, &["unpack", "none", "--out", "again"]);
    assert!(String::from_utf8_lossy(&none.stderr).contains("no raw results at none"));
}

#[test]
fn a_raw_file_that_was_cut_or_changed_is_an_error_that_names_it() {
    let home = run(&plan(TOY), "raw-damaged", 2);
    let raw = home.join(file::FILE);
    let whole = std::fs::read(&raw).unwrap();
    let complaint = |content: &[u8]| {
        std::fs::write(&raw, content).unwrap();
        let said = format!("{:#}", Summary::read(&home).unwrap_err());
        assert!(said.contains(&raw.display().to_string()), "{said}");
        said
    };
    for length in [0, 3, whole.len() / 2, whole.len() - 1] {
        assert!(complaint(&whole[..length]).contains("cut or damaged"), "{length}");
    }
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 1;
    assert!(complaint(&flipped).contains("cut or damaged"));

    std::fs::write(&raw, &whole).unwrap();
    let text = String::from_utf8(packed::unpack(&raw).unwrap()).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let with = |lines: &[&str]| complaint(&packed::pack(lines.join("\n").as_bytes()).unwrap());
    assert!(with(&lines[..1]).contains("not complete"));
    assert!(with(&lines[..2]).contains("not complete"));
    assert!(with(&[]).contains("not complete"));
    assert!(with(&lines[1..]).contains("line 1") && with(&lines[2..]).contains("before any"));
    assert!(with(&[lines[0], lines[1], lines[2], "{\"run\":{"]).contains("line 4"));
    assert!(with(&[lines[0], lines[1], lines[2], lines[2]]).contains("not complete"));
    assert!(with(&[lines, vec![lines_of(&text, 0)]].concat()).contains("there twice"));
    let newer = lines_of(&text, 0).replace("\"format\":1", "\"format\":2");
    assert!(with(&[&newer]).contains("format is 2"));
}

fn lines_of(text: &str, number: usize) -> &str {
    text.lines().nth(number).unwrap()
}

#[test]
fn parts_share_a_file_and_are_named_like_folders_in_it() {
    let home = folder("raw-parts");
    std::fs::write(home.join("plan.toml"), TOY).unwrap();
    let lab = |line: &str| {
        let out = stagetune_lab(&home, &line.split(' ').collect::<Vec<&str>>());
        (out.status.success(), String::from_utf8_lossy(&[out.stdout, out.stderr].concat()).into_owned())
    };
    assert!(lab("run plan.toml --part mine --strategies lambo").0);
    assert!(lab("run plan.toml --part theirs --strategies random,gp-ucb").0);
    let alone = file::read(&home.join(file::FILE)).unwrap();
    // Another strategy takes the place of an older part, and of nothing else.
    assert!(lab("run plan.toml --part mine --strategies gp-ei").0);
    let both = file::read(&home.join(file::FILE)).unwrap();
    let labels = |parts: &[stagetune_lab::experiment::raw::Results], part: usize| -> Vec<String> {
        parts[part].competitors.iter().map(|competitor| competitor.label.clone()).collect()
    };
    assert_eq!((labels(&both, 0), labels(&both, 1)), (vec!["gp-ei".to_owned()], labels(&alone, 1)));
    // What lies in the folders is for people; the file is enough.
    std::fs::remove_dir_all(home.join("mine")).unwrap();
    std::fs::remove_dir_all(home.join("theirs")).unwrap();
    assert_eq!(lab("parts . --only theirs,none"), (true, "./theirs\n".to_owned()));
    assert_eq!(lab("parts .").1, "./mine\n./theirs\n");
    let (done, said) = lab("compare mine theirs/summary.json --labels gp-ei,random");
    assert!(done && said.contains("gp-ei"), "{said}");
    let (done, said) = lab("table plan.toml");
    assert!(!done && said.contains("has the parts mine, theirs") && said.contains("such as mine"), "{said}");
    let (done, said) = lab("table nobody");
    assert!(!done && said.contains("cannot read nobody/summary.json"), "{said}");
    assert!(lab("run plan.toml --part ../x").1.contains("cannot be a part"));
}

#[test]
fn a_run_that_was_made_before_stays_when_the_raw_file_is_gone() {
    let home = run(&plan(TOY), "raw-gone", 2);
    let raw = home.join(file::FILE);
    let labels = |path: &Path| Summary::read(path).unwrap().strategies;
    let before = labels(&home);
    std::fs::remove_file(&raw).unwrap();
    execute(&plan(TOY), &Store::open(&home).unwrap(), 1).unwrap();
    let again = labels(&home);
    for (label, outcome) in &before {
        assert_eq!(outcome.per_sim.final_regret, again[label].per_sim.final_regret);
    }
    assert!(raw.is_file());
}

#[test]
fn a_file_may_hold_several_plans_and_each_has_a_folder_for_its_results() {
    let home = folder("raw-list");
    let plan =
        |name: &str, costs: &str| format!("[[plan]]\nname = \"{name}\"{}", TOY.replace("[10, 1]", costs));
    let list = format!("{}\n{}", plan("one", "[10, 1]"), plan("two", "[2, 1]"));
    std::fs::write(home.join("list.toml"), &list).unwrap();
    let run = |more: &[&str]| {
        let line = [&["run", "list.toml", "--strategies", "random", "--sims", "2"][..], more].concat();
        let out = stagetune_lab(&home, &line);
        (out.status.success(), String::from_utf8_lossy(&out.stderr).into_owned())
    };
    assert!(run(&["--only", "two"]).0 && !home.join("one").exists());
    assert_eq!(Summary::read(&home.join("two")).unwrap().costs, [2.0, 1.0]);
    assert!(run(&[]).0);
    assert_eq!(Summary::read(&home.join("one")).unwrap().costs, [10.0, 1.0]);
    assert!(run(&["--out", "x"]).1.contains("one plan"));
    assert!(run(&["--only", "three"]).1.contains("has no plan of this name"));
    let wrong = |list: &str, wanted: &str| {
        std::fs::write(home.join("list.toml"), list).unwrap();
        let (done, said) = run(&[]);
        assert!(!done && said.contains(wanted), "{said}");
    };
    wrong(&list.replace("\"two\"", "\"one\""), "list.toml:12:8: two plans are called `one`");
    wrong(&list.replace("[2, 1]", "[2]"), "list.toml:15:9: `costs` needs 2 numbers");
    wrong(&list.replace("name = \"two\"\n", ""), "has no `name`");
    wrong(&format!("name = \"x\"\n{TOY}"), "only the plans of a list have a `name`");
}
