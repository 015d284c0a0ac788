//! Partitions and joint regions in small spaces that can be checked by hand.

#![expect(clippy::unwrap_used, reason = "helpers of tests stand outside of what clippy takes for a test")]

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use stagetune::acquisition::Region;
use stagetune::bandit::{MAX_ARMS, Partition, PartitionError, PriorScore, Regions};
use stagetune::space::{Module, Param, Space};

fn floats(names: &[&str]) -> Vec<Param> {
    names.iter().map(|name| Param::float(name, 0.0, 1.0).unwrap()).collect()
}

fn with_last(first: Module) -> Space {
    Space::new([first, Module::new("last", floats(&["last"])).unwrap()]).unwrap()
}

#[test]
fn cuts_of_a_choice_take_values_out_one_by_one() {
    let norm = Param::choice("norm", ["a", "b", "c", "d"]).unwrap();
    let module =
        Module::new("m", [norm]).unwrap().cut_where("norm == 'b'").unwrap().cut_where("norm != 'd'").unwrap();
    let space = with_last(module.clone());
    let partition = Partition::by_cuts(&space, 0).unwrap();
    let described: Vec<String> = (0..3).map(|cell| partition.describe(&space, cell)).collect();
    assert_eq!(described, ["norm in {a, c}", "norm = b", "norm = d"]);
    for (cell, values) in [vec![0, 2], vec![1], vec![3]].into_iter().enumerate() {
        let cell = &partition.cells()[cell];
        let (mut lower, mut upper) = (cell.lower().to_vec(), cell.upper().to_vec());
        lower.push(0.0);
        upper.push(1.0);
        let region = Region::of(&space).within(&lower, &upper).unwrap();
        for k in 0..4 {
            let u: Vec<f64> = (0..5).map(|i| f64::from(u8::from(i == k))).collect();
            assert_eq!(region.contains(&u), values.contains(&k));
        }
    }
    let all = with_last(module.cut_where("norm == 'a'").unwrap().cut_where("norm == 'c'").unwrap());
    assert_eq!(Partition::by_cuts(&all, 0).unwrap().len(), 4);
}

#[test]
fn cuts_of_several_parameters_make_a_grid_in_order() {
    let params =
        [Param::float("x", 1.0, 15.0).unwrap(), Param::int("n", 1, 8).unwrap(), Param::bool("on").unwrap()];
    let module = Module::new("m", params).unwrap().cut("x", [8.0]).unwrap().cut("n", [3.0, 7.0]).unwrap();
    let space = with_last(module.cut_where("on").unwrap());
    let partition = Partition::by_cuts(&space, 0).unwrap();
    assert_eq!(partition.len(), 12);
    assert_eq!(partition.describe(&space, 0), "x in [1, 8) and n in 1..=2 and on = false");
    assert_eq!(partition.describe(&space, 3), "x in [1, 8) and n in 3..=6 and on = true");
    assert_eq!(partition.describe(&space, 11), "x in [8, 15] and n in 7..=8 and on = true");
}

#[test]
fn a_module_without_a_choice_stays_whole() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for params in [vec![], vec![Param::int("n", 3, 3).unwrap(), Param::choice("c", ["a"]).unwrap()]] {
        let space = with_last(Module::new("m", params).unwrap());
        let partition = Partition::bisected(&space, 0, &mut rng).unwrap();
        assert_eq!((partition.len(), partition.describe(&space, 0).as_str()), (1, "anything"));
        assert_eq!(partition.bisect(&space, &mut rng).1, [0]);
    }
}

#[test]
fn every_parameter_is_halved_as_often_as_any_other() {
    let mut params = floats(&["x", "y"]);
    params.push(Param::choice("c", ["a", "b", "c", "d", "e", "f"]).unwrap());
    let space = with_last(Module::new("m", params).unwrap());
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let mut counts = std::collections::BTreeMap::new();
    for _ in 0..3000 {
        let partition = Partition::bisected(&space, 0, &mut rng).unwrap();
        *counts.entry(partition.describe(&space, 1)).or_insert(0) += 1;
    }
    assert_eq!(counts.keys().collect::<Vec<_>>(), ["c in {d, e, f}", "x in [0.5, 1]", "y in [0.5, 1]"]);
    // Five standard errors of a third of 3000 draws.
    assert!(counts.values().all(|n| (*n - 1000_i32).abs() < 130), "{counts:?}");
}

#[test]
fn forbidden_cells_are_no_cells_and_forbidden_arms_are_dead() {
    let module = |name, x: &str| Module::new(name, floats(&[x])).unwrap().cut(x, [0.25, 0.5]).unwrap();
    let first = module("first", "x").forbid("x < 0.25").unwrap();
    let last = Module::new("last", floats(&["z"])).unwrap();
    let space = Space::new([first, module("second", "y"), last]).unwrap();
    let space = space
        .forbid("x >= 0.5 and y < 0.5")
        .unwrap()
        .forbid("x > 0.2 and x < 0.5 and y + z > -1 and y >= 0.5")
        .unwrap();
    let partitions = vec![Partition::by_cuts(&space, 0).unwrap(), Partition::by_cuts(&space, 1).unwrap()];
    assert_eq!((partitions[0].len(), partitions[1].len()), (2, 3));
    let regions = Regions::new(&space, partitions).unwrap();
    assert_eq!(regions.alive(), [true, true, false, false, false, true]);
    let (left, olds) = regions.drop_arms(&[true, true, false, false, false, false]).unwrap();
    assert_eq!((left.counts(), olds), (vec![1, 1], vec![5]));
    assert_eq!(left.locate(&space, &[0.3, 0.9, 0.5]), [None, Some(0)]);
    assert_eq!(left.first_difference(&[None, Some(0)], 0), 0);
    // Halves of a dead arm are dead, even where nothing forbids them.
    let free = Space::new([module("first", "x"), Module::new("last", floats(&["z"])).unwrap()]).unwrap();
    let regions = Regions::new(&free, vec![Partition::by_cuts(&free, 0).unwrap()]).unwrap();
    let (kept, _) = regions.drop_arms(&[false, true, false]).unwrap();
    assert_eq!(kept.counts(), [2]);
    let (finer, parents) = kept.refine(&free, usize::MAX, &mut ChaCha8Rng::seed_from_u64(2)).unwrap();
    assert_eq!((finer.counts(), parents), (vec![4], vec![0, 0, 1, 1]));
}

#[test]
fn scores_are_whole_where_a_condition_holds_throughout() {
    let module = Module::new("m", floats(&["x"])).unwrap().cut("x", [0.25, 0.5]).unwrap();
    let space = with_last(module);
    let regions = Regions::new(&space, vec![Partition::by_cuts(&space, 0).unwrap()]).unwrap();
    let score = |source, score| PriorScore { condition: space.condition(source).unwrap(), score };
    let scores = regions
        .scores(&space, &[score("x < 0.25", 3.0), score("x >= 0.75", -1.0), score("true", 0.5)])
        .unwrap();
    assert_eq!(scores, [3.5, 0.5, 0.0]);
    let share = regions.scores(&space, &[score("x + last < 1", 1.0)]).unwrap();
    assert!(share.iter().zip([0.875, 0.625, 0.25]).all(|(got, want)| (got - want).abs() < 0.02), "{share:?}");
    let refused = regions.scores(&space, &[score("true", f64::NAN)]);
    assert!(matches!(refused, Err(PartitionError::Score { .. })));
}

#[test]
fn too_many_regions_are_refused_before_they_are_made() {
    let thresholds: Vec<f64> = (1..200).map(|k| f64::from(k) / 200.0).collect();
    let mut module = Module::new("m", floats(&["x", "y", "z"])).unwrap();
    for name in ["x", "y", "z"] {
        module = module.cut(name, thresholds.clone()).unwrap();
    }
    let space = with_last(module);
    assert!(matches!(
        Partition::by_cuts(&space, 0),
        Err(PartitionError::TooManyCells { limit: MAX_ARMS, .. })
    ));
    assert!(Partition::by_diameter(&space, 0, 0.0, 1000).unwrap().len() <= 1000);
    assert!(matches!(Partition::by_diameter(&space, 0, f64::NAN, 10), Err(PartitionError::Diameter { .. })));

    let cut =
        |name: &str, x: &str| Module::new(name, floats(&[x])).unwrap().cut(x, thresholds.clone()).unwrap();
    let space =
        Space::new([cut("a", "x"), cut("b", "y"), cut("c", "z"), Module::new("d", []).unwrap()]).unwrap();
    let partitions: Vec<Partition> = (0..3).map(|m| Partition::by_cuts(&space, m).unwrap()).collect();
    assert_eq!(Regions::new(&space, partitions), Err(PartitionError::TooManyArms { counts: vec![200; 3] }));
    assert_eq!(Regions::new(&space, vec![]), Err(PartitionError::Partitions { found: 0, modules: 4 }));
}
