//! Tables: known answers on a small one, and folders that are none.

use super::super::{Problem, ProblemError};
use super::*;
use serde_json::{Value, json};

/// Two modules, 2 × 3 × 2 settings; entry 10·row, but the best is 100 at (1, 0, 1).
fn about() -> Value {
    json!({
        "name": "toy-table", "metric": "f1", "unit": 100, "best": 1.0, "mean": 0.5, "provenance": {"made": "by hand"},
        "modules": [
            {"name": "train", "seconds": {"mean": 8.0, "sd": 1.0}, "params": [{"name": "lr", "values": [1e-7, 0.001]}]},
            {"name": "label", "seconds": {"mean": 0.5, "sd": 0.1}, "params": [
                {"name": "purity", "values": [0.3, 0.5, 0.9]}, {"name": "opening", "values": [2, 1], "note": "falls"},
            ]},
        ],
    })
}

fn entries() -> Vec<u16> {
    vec![5, 10, 20, 30, 40, 50, 95, 100, 94, 60, 20, 10]
}

fn folder(about: &str, entries: &[u16]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(ABOUT), about).unwrap();
    let bytes: Vec<u8> = entries.iter().flat_map(|entry| entry.to_le_bytes()).collect();
    std::fs::write(folder.path().join(ENTRIES), bytes).unwrap();
    folder
}

fn read(about: &Value, entries: &[u16]) -> Result<Table, TableError> {
    Table::read(folder(&about.to_string(), entries).path())
}

#[test]
fn a_small_table_has_the_answers_that_can_be_read_off_it() {
    let table = read(&about(), &entries()).unwrap();
    assert_eq!((table.best(), table.worst(), table.settings()), (1.0, 0.05, 12));
    assert!((table.mean() - 0.445).abs() < 1e-12);
    assert_eq!(table.best_indices(), [1, 0, 1]);
    // The first parameter moves slowest.
    assert_eq!(
        [table.at(&[0, 0, 1]), table.at(&[0, 1, 0]), table.at(&[1, 0, 0])],
        [Some(0.1), Some(0.2), Some(0.95)]
    );
    for outside in [&[2, 0, 0][..], &[0, 3, 0], &[0, 0], &[0, 0, 0, 0]] {
        assert_eq!(table.at(outside), None);
    }
}

#[test]
fn the_regret_is_0_at_the_best_setting_and_1_at_the_worst() {
    let problem = Problem::of_table(read(&about(), &entries()).unwrap());
    let regret = |x: &[f64]| problem.normalise(problem.evaluate(x).unwrap());
    assert_eq!((problem.name(), problem.dim(), problem.minimum()), ("toy-table", 3, -1.0));
    assert_eq!((regret(problem.minimiser()), regret(&[0.0, 0.0, 0.0])), (0.0, 1.0));
    assert_eq!(
        (problem.interval(0), problem.interval(1), problem.interval(2)),
        ((0.0, 1.0), (0.0, 2.0), (0.0, 1.0))
    );
    for outside in
        [[0.5, 0.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 3.0, 0.0], [f64::NAN, 0.0, 0.0], [f64::INFINITY, 0.0, 0.0]]
    {
        assert!(matches!(problem.evaluate(&outside), Err(ProblemError::OffGrid { .. })), "{outside:?}");
    }
    assert!(matches!(problem.evaluate(&[0.0]), Err(ProblemError::WrongLength { .. })));
}

#[test]
fn within_five_percent_is_counted_in_whole_entries() {
    let problem = Problem::of_table(read(&about(), &entries()).unwrap());
    let threshold = problem.normalise(-problem.table().unwrap().within(5));
    let regret = |x: &[f64]| problem.normalise(problem.evaluate(x).unwrap());
    assert!(regret(&[1.0, 0.0, 0.0]) <= threshold, "0.95 is within 5% of 1");
    assert!(regret(&[1.0, 1.0, 0.0]) > threshold, "0.94 is not");
    // 95% of 30 is 28.5, so that 29 is the first within.
    let mut values = vec![0; 12];
    values[..3].copy_from_slice(&[28, 29, 30]);
    let mut changed = about();
    changed["best"] = json!(0.3);
    assert_eq!(read(&changed, &values).unwrap().within(5), 0.29);
}

#[test]
fn a_point_of_the_cube_is_the_setting_whose_cell_it_is_in() {
    let problem = Problem::of_table(read(&about(), &entries()).unwrap());
    assert_eq!(problem.from_unit(&[0.0, 0.34, 1.0]), [0.0, 1.0, 1.0]);
    assert_eq!(problem.from_unit(&[0.49, 0.33, 0.5]), [0.0, 0.0, 1.0]);
}

#[test]
fn a_fingerprint_changes_with_entries_and_grid_but_not_with_notes() {
    let print = |about: &Value, entries: &[u16]| read(about, entries).unwrap().fingerprint().to_owned();
    let plain = print(&about(), &entries());
    let mut noted = about();
    noted["provenance"] = json!("elsewhere");
    assert_eq!(plain, print(&noted, &entries()));
    let mut other = entries();
    other.swap(0, 1);
    assert_ne!(plain, print(&about(), &other));
    let mut turned = about();
    turned["modules"][0]["params"][0]["values"] = json!([1, 2, 3]);
    turned["modules"][1]["params"][0]["values"] = json!([1, 2]);
    assert_ne!(plain, print(&turned, &entries()));
}

#[test]
fn a_folder_that_is_no_table_says_where_what_and_how() {
    let changed = |change: &dyn Fn(&mut Value)| {
        let mut about = about();
        change(&mut about);
        read(&about, &entries()).unwrap_err().to_string()
    };
    let values = |list: Value| changed(&|about| about["modules"][1]["params"][0]["values"] = list.clone());
    let complaints = [
        (changed(&|about| about["unit"] = json!(0)), "table.json: `unit` is 0; give"),
        (changed(&|about| about["unit"] = json!(-1)), "table.json: invalid value"),
        (changed(&|about| about["name"] = json!("../x")), "`name` is \"../x\"; use"),
        (changed(&|about| about["name"] = json!("ackley8")), "test function"),
        (changed(&|about| about["best"] = json!(0.9)), "`best` is 0.9"),
        (changed(&|about| about["modules"] = json!([])), "`modules` is empty"),
        (changed(&|about| about["modules"][0]["params"] = json!([])), "module train has no `params`"),
        (changed(&|about| about["modules"][0]["seconds"]["mean"] = json!(0)), "mean above 0"),
        (changed(&|about| drop(about.as_object_mut().unwrap().remove("metric"))), "missing field `metric`"),
        (values(json!([])), "`values` of purity in module label"),
        (values(json!([1, 2, 2])), "rising or falling"),
        (values(json!([1, 2, "x"])), "invalid type"),
        (values(json!([1, 2])), "f1.u16 has 24 bytes, but 2 × 2 × 2 = 8 settings take 16"),
        (
            read(&about(), &entries()[..11]).unwrap_err().to_string(),
            "has 22 bytes, but 2 × 3 × 2 = 12 settings take 24",
        ),
        (read(&about(), &[7; 12]).unwrap_err().to_string(), "every entry of f1.u16 is 7"),
        (Table::read(folder("{\n  name", &entries()).path()).unwrap_err().to_string(), "line 2"),
        (
            Table::read(Path::new("no/such/folder")).unwrap_err().to_string(),
            "cannot read no/such/folder/table.json",
        ),
    ];
    for (said, wanted) in complaints {
        assert!(said.contains(wanted), "{said} does not say {wanted}");
    }
    let many: Vec<u32> = (0..40_000).collect();
    let huge = json!({"name": "x", "metric": "f1", "unit": 1, "modules": [{"name": "m", "params": [
        {"name": "a", "values": many}, {"name": "b", "values": many}, {"name": "c", "values": many}, {"name": "d", "values": many},
    ]}]});
    assert!(read(&huge, &entries()).unwrap_err().to_string().contains("give fewer"));
    let without = folder(&about().to_string(), &entries());
    std::fs::remove_file(without.path().join(ENTRIES)).unwrap();
    let said = Table::read(without.path()).unwrap_err().to_string();
    assert!(said.contains("f1.u16") && said.contains("a table is a folder"), "{said}");
}
