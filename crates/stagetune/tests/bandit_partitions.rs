//! Laws of partitions and joint regions over random spaces: cells are disjoint, cover what is allowed, and know where they come from.

#![expect(clippy::unwrap_used, reason = "helpers of tests stand outside of what clippy takes for a test")]

use proptest::prelude::*;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stagetune::acquisition::Region;
use stagetune::bandit::{Partition, PartitionError, PriorScore, Regions};
use stagetune::space::{Module, Param, Space};

const TEXTS: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

fn unit(rng: &mut impl Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

fn param(kind: usize, name: &str) -> Param {
    match kind {
        0 => Param::float(name, 0.0, 1.0),
        1 => Param::float(name, 1e-5, 10.0).unwrap().log(),
        2 => Param::int(name, -3, 11),
        3 => Param::int(name, 1, 500).unwrap().log(),
        4 => Param::stepped(name, 2, 14, 4),
        5 => Param::int(name, 7, 7),
        6 => Param::bool(name),
        k => Param::choice(name, &TEXTS[..(k - 6).min(6)]),
    }
    .unwrap()
}

/// Something that holds of some values of a parameter: a condition of one kind for every draw.
fn condition(param: &Param, rng: &mut impl Rng) -> String {
    let (name, t) = (param.name(), unit(rng));
    match param.kind() {
        "float" => format!("{name} < {:?}", t * t),
        "int" => format!("{name} >= {}", (t * 12.0) as i64),
        "choice" => format!("{name} == '{}'", TEXTS[(t * param.count().unwrap() as f64) as usize]),
        _ => format!("{name}"),
    }
}

/// Two to four modules of up to three parameters of any kind, with cuts, and forbidden regions where they leave something.
fn spaces() -> impl Strategy<Value = Space> {
    let modules = prop::collection::vec(prop::collection::vec(0..13usize, 0..4), 2..5);
    (modules.prop_filter("a space needs a parameter", |m| m.iter().any(|k| !k.is_empty())), any::<u64>())
        .prop_map(|(kinds, seed)| {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let mut count = 0;
            let mut modules = Vec::new();
            for (m, kinds) in kinds.iter().enumerate() {
                let params: Vec<Param> = kinds
                    .iter()
                    .map(|k| {
                        count += 1;
                        param(*k, &format!("p{count}"))
                    })
                    .collect();
                let mut module = Module::new(&format!("m{m}"), params.clone()).unwrap();
                for param in &params {
                    for _ in 0..(unit(&mut rng) * 3.0) as usize {
                        let cut = condition(param, &mut rng);
                        module = module.clone().cut_where(&cut).unwrap_or(module);
                    }
                }
                modules.push(module);
            }
            let mut space = Space::new(modules).unwrap();
            for _ in 0..(unit(&mut rng) * 4.0) as usize {
                let mut pick = || {
                    let p = (unit(&mut rng) * space.params().len() as f64) as usize;
                    condition(&space.params()[p], &mut rng)
                };
                let joint = format!("{} and {}", pick(), pick());
                space = space.clone().forbid(&joint).unwrap_or(space);
            }
            space
        })
}

/// A coded point, with coordinates at the ends of cells, and beside them, as often as anywhere.
fn coded(space: &Space, partitions: &[Partition], rng: &mut impl Rng) -> Vec<f64> {
    let mut u: Vec<f64> = (0..space.dim()).map(|_| unit(rng)).collect();
    for partition in partitions {
        let cells = partition.cells();
        for (i, at) in space.module_coordinates(partition.module()).enumerate() {
            let cell = &cells[(unit(rng) * cells.len() as f64) as usize];
            u[at] = match (unit(rng) * 6.0) as usize {
                0 => cell.lower()[i],
                1 => cell.upper()[i],
                2 => cell.upper()[i].next_up().min(1.0),
                3 => cell.lower()[i].next_down().max(0.0),
                _ => u[at],
            };
        }
    }
    space.snap(&mut u).unwrap();
    u
}

/// A partition of a module by any of the constructors.
fn partition(space: &Space, module: usize, rng: &mut impl Rng) -> Partition {
    match (unit(rng) * 4.0) as usize {
        0 => Partition::whole(space, module).unwrap(),
        1 => Partition::bisected(space, module, rng).unwrap(),
        2 => Partition::by_cuts(space, module).unwrap(),
        _ => Partition::by_diameter(space, module, 2.0 * unit(rng), 64).unwrap(),
    }
}

fn holders(partition: &Partition, space: &Space, u: &[f64]) -> Vec<usize> {
    let u = &u[space.module_coordinates(partition.module())];
    (0..partition.len()).filter(|cell| partition.cells()[*cell].contains(u)).collect()
}

proptest! {
    #[test]
    fn every_allowed_point_is_in_one_cell(space in spaces(), seed in any::<u64>()) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        for m in 0..space.modules().len() {
            let mut partition = partition(&space, m, &mut rng);
            for _ in 0..3 {
                for _ in 0..20 {
                    let u = coded(&space, std::slice::from_ref(&partition), &mut rng);
                    let holders = holders(&partition, &space, &u);
                    prop_assert!(holders.len() <= 1, "{:?} is in {:?}", u, holders);
                    prop_assert!(holders.len() == 1 || !space.allows_coded(&u), "{:?} is lost", u);
                    prop_assert_eq!(partition.locate(&u[space.module_coordinates(m)]), holders.first().copied());
                }
                partition = partition.bisect(&space, &mut rng).0;
            }
        }
    }

    #[test]
    fn halves_know_their_parents(space in spaces(), seed in any::<u64>()) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        for m in 0..space.modules().len() {
            let whole = partition(&space, m, &mut rng);
            let (halves, parents) = whole.bisect(&space, &mut rng);
            prop_assert_eq!(halves.len(), parents.len());
            prop_assert!(parents.is_sorted() && (0..whole.len()).all(|cell| parents.contains(&cell)));
            for (half, parent) in halves.cells().iter().zip(&parents) {
                let parent = &whole.cells()[*parent];
                prop_assert!(half.lower().iter().zip(parent.lower()).all(|(h, p)| h >= p));
                prop_assert!(half.upper().iter().zip(parent.upper()).all(|(h, p)| h <= p));
                prop_assert!(half.lower().iter().zip(half.upper()).all(|(l, h)| l <= h));
            }
            for _ in 0..20 {
                let u = coded(&space, std::slice::from_ref(&halves), &mut rng);
                let u = &u[space.module_coordinates(m)];
                if let Some(half) = halves.locate(u) {
                    prop_assert_eq!(whole.locate(u), Some(parents[half]));
                }
            }
        }
    }

    #[test]
    fn cells_that_are_kept_are_found_and_the_others_are_not(space in spaces(), seed in any::<u64>()) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        for m in 0..space.modules().len() {
            let all = partition(&space, m, &mut rng).bisect(&space, &mut rng).0;
            let keep: Vec<bool> = (0..all.len()).map(|_| unit(&mut rng) < 0.6).collect();
            let Ok(kept) = all.keep(&keep) else {
                prop_assert!(!keep.contains(&true));
                continue;
            };
            prop_assert_eq!(kept.len(), keep.iter().filter(|k| **k).count());
            for _ in 0..20 {
                let u = coded(&space, std::slice::from_ref(&all), &mut rng);
                let u = &u[space.module_coordinates(m)];
                let wanted = all.locate(u).filter(|cell| keep[*cell]).map(|cell| &all.cells()[cell]);
                prop_assert_eq!(kept.locate(u).map(|cell| &kept.cells()[cell]), wanted);
            }
        }
    }

    #[test]
    fn cells_have_allowed_points_and_descriptions_of_their_own(space in spaces(), seed in any::<u64>()) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        for m in 0..space.modules().len() {
            let partition = partition(&space, m, &mut rng).bisect(&space, &mut rng).0;
            let described: std::collections::BTreeSet<String> =
                (0..partition.len()).map(|cell| partition.describe(&space, cell)).collect();
            prop_assert_eq!(described.len(), partition.len(), "{:?}", described);
            prop_assert!(described.iter().all(|text| !text.is_empty()));
            let (mut lower, mut upper) = (vec![0.0; space.dim()], vec![1.0; space.dim()]);
            for cell in partition.cells() {
                lower[space.module_coordinates(m)].copy_from_slice(cell.lower());
                upper[space.module_coordinates(m)].copy_from_slice(cell.upper());
                let mut u = space.find_allowed(&lower, &upper).unwrap();
                prop_assert!(Region::of(&space).within(&lower, &upper).unwrap().contains(&u), "{:?}", u);
                // The point found is a coded one, so it is not moved by snapping.
                let found = u.clone();
                space.snap(&mut u).unwrap();
                prop_assert_eq!(found, u);
            }
        }
    }

    #[test]
    fn no_cell_is_wider_than_asked_unless_they_would_be_too_many(space in spaces(), diameter in 0.05..2.0f64, most in 1..200usize) {
        for m in 0..space.modules().len() {
            let partition = Partition::by_diameter(&space, m, diameter, most).unwrap();
            prop_assert!(partition.len() <= most);
            if partition.len() * 2 > most || !space.forbidden().is_empty() {
                continue;
            }
            for cell in partition.cells() {
                let square: f64 = space.module_params(m).map(|p| {
                    let start = space.module_coordinates(m).start;
                    let range = space.param_coordinates(p);
                    let (lower, upper) = (&cell.lower()[range.start - start..range.end - start], &cell.upper()[range.start - start..range.end - start]);
                    // Two options are √2 apart, and codes of a grid no farther than the ends of their box.
                    if range.len() > 1 {
                        if upper.iter().sum::<f64>() > 1.0 { 2.0 } else { 0.0 }
                    } else {
                        match space.params()[p].count() {
                            None => (upper[0] - lower[0]).powi(2),
                            Some(n) => {
                                let codes: Vec<f64> = (0..n).filter_map(|k| space.grid_code(range.start, k)).filter(|c| lower[0] <= *c && *c <= upper[0]).collect();
                                (codes[codes.len() - 1] - codes[0]).powi(2)
                            }
                        }
                    }
                }).sum();
                prop_assert!(square.sqrt() <= diameter + 1e-12, "{:?}", cell);
            }
        }
    }

    #[test]
    fn every_allowed_point_is_in_a_live_arm(space in spaces(), seed in any::<u64>()) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let last = space.modules().len() - 1;
        let partitions: Vec<Partition> = (0..last).map(|m| Partition::bisected(&space, m, &mut rng).unwrap()).collect();
        let regions = Regions::new(&space, partitions.clone()).unwrap();
        let (finer, parents) = regions.refine(&space, usize::MAX, &mut rng).unwrap();
        prop_assert_eq!(regions.counts().iter().product::<usize>(), regions.arms());
        prop_assert_eq!(regions.alive().iter().filter(|alive| **alive).count(), regions.live());
        prop_assert_eq!(parents.len(), finer.arms());
        for _ in 0..30 {
            let u = coded(&space, finer.partitions(), &mut rng);
            let (held, finer_held) = (regions.locate(&space, &u), finer.locate(&space, &u));
            let arm = held.iter().copied().collect::<Option<Vec<_>>>().and_then(|r| regions.arm_of(&r));
            let finer_arm = finer_held.iter().copied().collect::<Option<Vec<_>>>().and_then(|r| finer.arm_of(&r));
            if let Some(arm) = finer_arm {
                let (lower, upper) = finer.corners(&space, arm).unwrap();
                prop_assert!((0..space.dim()).all(|i| lower[i] <= u[i] && u[i] <= upper[i]));
                prop_assert_eq!(finer.first_difference(&finer_held, arm), last);
                prop_assert!(!finer.alive()[arm] || regions.alive()[parents[arm]]);
            }
            if space.allows_coded(&u) {
                prop_assert!(arm.is_some_and(|arm| regions.alive()[arm]), "{:?}", u);
                prop_assert!(finer_arm.is_some_and(|arm| finer.alive()[arm]), "{:?}", u);
                prop_assert_eq!(arm, finer_arm.map(|arm| parents[arm]));
            }
            let other = (unit(&mut rng) * regions.arms() as f64) as usize;
            let cells = regions.regions_of(other).unwrap();
            let differs = (0..last).find(|m| held[*m] != Some(cells[*m])).unwrap_or(last);
            prop_assert_eq!(regions.first_difference(&held, other), differs);
        }
    }

    #[test]
    fn dropped_arms_are_dead_and_cells_without_arms_are_gone(space in spaces(), seed in any::<u64>(), share in 0.0..1.0f64) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let partitions = (0..space.modules().len() - 1).map(|m| Partition::bisected(&space, m, &mut rng).unwrap()).collect();
        let regions = Regions::new(&space, partitions).unwrap();
        let dropped: Vec<bool> = (0..regions.arms()).map(|_| unit(&mut rng) < share).collect();
        let stays = |arm: usize| regions.alive()[arm] && !dropped[arm];
        match regions.drop_arms(&dropped) {
            Err(error) => {
                prop_assert_eq!(error, PartitionError::NothingLeft { what: "arms" });
                prop_assert!(!(0..regions.arms()).any(stays));
            }
            Ok((left, olds)) => {
                prop_assert_eq!(left.live(), (0..regions.arms()).filter(|arm| stays(*arm)).count());
                for (arm, old) in olds.iter().enumerate() {
                    prop_assert_eq!(left.alive()[arm], stays(*old));
                    prop_assert_eq!(left.corners(&space, arm), regions.corners(&space, *old));
                }
                for (m, partition) in left.partitions().iter().enumerate() {
                    for cell in 0..partition.len() {
                        prop_assert!((0..left.arms()).any(|arm| left.alive()[arm] && left.regions_of(arm).unwrap()[m] == cell));
                    }
                }
                let (again, same) = left.drop_arms(&vec![false; left.arms()]).unwrap();
                prop_assert_eq!((&again, same), (&left, (0..left.arms()).collect()));
            }
        }
    }

    #[test]
    fn a_condition_and_its_opposite_share_every_arm(space in spaces(), seed in any::<u64>()) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let partitions = (0..space.modules().len() - 1).map(|m| Partition::bisected(&space, m, &mut rng).unwrap()).collect();
        let regions = Regions::new(&space, partitions).unwrap();
        let p = (unit(&mut rng) * space.params().len() as f64) as usize;
        let holds = condition(&space.params()[p], &mut rng);
        let score = |source: &str, score| vec![PriorScore { condition: space.condition(source).unwrap(), score }];
        let with = regions.scores(&space, &score(&holds, 1.0)).unwrap();
        let without = regions.scores(&space, &score(&format!("not ({holds})"), -2.0)).unwrap();
        for arm in 0..regions.arms() {
            let whole = if regions.alive()[arm] { 1.0 } else { 0.0 };
            prop_assert!((0.0..=1.0).contains(&with[arm]));
            prop_assert!((with[arm] - 0.5 * without[arm] - whole).abs() < 1e-12, "{} {} {}", holds, with[arm], without[arm]);
        }
    }

    #[test]
    fn regions_of_another_space_never_panic(
        space in spaces(), other in spaces(), seed in any::<u64>(), diameter in any::<f64>(), most in any::<usize>(), number in any::<usize>(),
    ) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let m = number % space.modules().len();
        let _ = (Partition::whole(&space, number), Partition::by_cuts(&space, number));
        let _ = Partition::by_diameter(&space, m, diameter, most % 1000);
        let all: Vec<Partition> = (0..space.modules().len()).map(|m| partition(&space, m, &mut rng)).collect();
        let foreign = all[m].bisect(&other, &mut rng).0;
        let _ = (foreign.describe(&other, 0), foreign.describe(&space, number), foreign.locate(&[diameter; 3]), foreign.keep(&[]));
        let _ = Regions::new(&other, all.clone());
        let _ = Regions::new(&space, vec![foreign; space.modules().len() - 1]);
        let Ok(regions) = Regions::new(&space, all[..all.len() - 1].to_vec()) else { return Ok(()) };
        let _ = (regions.corners(&other, 0), regions.corners(&space, number), regions.locate(&other, &[diameter]), regions.drop_arms(&[]));
        let _ = (regions.refine(&other, number, &mut rng), regions.first_difference(&[], number), regions.arm_of(&[number]));
        let condition = other.condition("true").unwrap();
        let _ = regions.scores(&space, &[PriorScore { condition: condition.clone(), score: diameter }]);
        let _ = regions.scores(&other, &[PriorScore { condition, score: 1.0 }]);
    }
}
