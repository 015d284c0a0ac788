//! Small trees by hand; laws of all trees are in `tests/bandit_properties.rs`.

use super::*;

#[test]
fn levels_count_from_the_leaves_and_modules_fork_where_their_depths_say() {
    let tree = Tree::new(&[2, 3], &[2, 3]).unwrap();
    assert_eq!((tree.arms(), tree.height()), (6, 5));
    assert_eq!([tree.fork_level(0), tree.fork_level(1), tree.fork_level(2)], [Some(5), Some(3), None]);
    let subtrees: Vec<_> = (0..=5).map(|h| tree.subtree(h, 4).unwrap()).collect();
    assert_eq!(subtrees, [4..5, 4..5, 4..5, 3..6, 3..6, 0..6]);
}

#[test]
fn subtrees_are_the_arms_that_agree_on_every_module_that_forks_above() {
    let tree = Tree::new(&[3, 1, 2, 2], &[1, 2, 1, 3]).unwrap();
    for h in 0..=tree.height() {
        for i in 0..tree.arms() {
            let fixed = (0..4).filter(|m| tree.fork_level(*m).unwrap() > h).count();
            let agrees =
                |j: &usize| tree.regions_of(i).unwrap()[..fixed] == tree.regions_of(*j).unwrap()[..fixed];
            assert!((0..tree.arms()).filter(agrees).eq(tree.subtree(h, i).unwrap()));
        }
    }
}

#[test]
fn arms_are_in_lexicographic_order() {
    let tree = Tree::new(&[2, 3], &[1, 1]).unwrap();
    assert_eq!(tree.regions_of(4), Some(vec![1, 1]));
    assert!((0..6).all(|arm| tree.arm_of(&tree.regions_of(arm).unwrap()) == Some(arm)));
    assert_eq!([tree.arm_of(&[0, 3]), tree.arm_of(&[0])], [None, None]);
    assert_eq!((tree.regions_of(6), tree.subtree(0, 6)), (None, None));
    assert_eq!([(0, 5), (3, 5), (5, 5)].map(|(a, b)| tree.first_difference(a, b)), [Some(0), Some(1), None]);
}

#[test]
fn trees_that_make_no_sense_are_refused() {
    assert_eq!(Tree::new(&[], &[]), Err(TreeError::NoModules));
    assert_eq!(Tree::new(&[2], &[]), Err(TreeError::Lengths { regions: 1, depths: 0 }));
    assert_eq!(Tree::new(&[2, 0], &[1, 1]), Err(TreeError::NoRegions { module: 1 }));
    assert_eq!(Tree::new(&[2, 2], &[0, 1]), Err(TreeError::NoDepth { module: 0 }));
    assert!(matches!(Tree::new(&[usize::MAX; 3], &[1; 3]), Err(TreeError::TooManyArms { .. })));
    assert!(matches!(Tree::new(&[2; 21], &[1; 21]), Err(TreeError::TooManyArms { .. })));
    assert!(matches!(Tree::new(&[2, 2], &[usize::MAX, 1]), Err(TreeError::TooHigh { .. })));
}

/// Arms 0 to 6: {0} {1, 2} {3, 4, 5, 6}, the first two twice so, then {0, 1, 2} {3, 4, 5, 6}.
fn uneven() -> Tree {
    Tree::from_levels(7, &[vec![1, 2, 4], vec![1, 2, 4], vec![3, 4]]).unwrap()
}

#[test]
fn a_tree_from_levels_has_the_subtrees_that_were_given() {
    let tree = uneven();
    assert_eq!((tree.arms(), tree.height()), (7, 4));
    let subtrees: Vec<_> = (0..=5).map(|h| tree.subtree(h, 2).unwrap()).collect();
    assert_eq!(subtrees, [2..3, 1..3, 1..3, 0..3, 0..7, 0..7]);
    assert!(tree.subtrees(1).eq([0..1, 1..3, 3..7]));
    assert!(tree.families(1).eq([0..1, 1..3, 3..7]));
    assert!(tree.families(2).eq([0..1, 1..2, 2..3]));
    assert!(tree.families(3).eq([0..2, 2..3]));
    assert!(tree.families(4).eq([0..2; 1]));
    for h in 0..=tree.height() {
        for arm in 0..7 {
            assert_eq!(tree.subtree(h, arm), tree.subtrees(h).find(|run| run.contains(&arm)));
        }
    }
    assert_eq!(tree.subtree(1, 7), None);
}

#[test]
fn levels_that_are_the_same_are_kept_once() {
    let tree = uneven();
    let [_, Level::Runs(first), Level::Runs(second), ..] = &tree.levels[..] else { panic!("{tree:?}") };
    assert!(std::sync::Arc::ptr_eq(first, second));
    let leaves = Tree::from_levels(3, &[vec![1; 3]]).unwrap();
    assert_eq!(leaves.levels[0], leaves.levels[1]);
}

#[test]
fn a_tree_without_levels_in_between_is_flat() {
    let flat = Tree::from_levels(4, &[]).unwrap();
    assert_eq!((flat.height(), flat.subtree(0, 3), flat.subtree(1, 3)), (1, Some(3..4), Some(0..4)));
}

#[test]
fn a_tree_from_levels_knows_of_no_modules() {
    let tree = uneven();
    assert!(tree.regions().is_empty() && tree.depths().is_empty());
    assert_eq!((tree.fork_level(0), tree.regions_of(0), tree.first_difference(0, 6)), (None, None, None));
    assert_eq!([tree.arm_of(&[]), tree.arm_of(&[0])], [None, None]);
}

#[test]
fn levels_that_make_no_tree_are_refused() {
    let error = |arms, levels: &[&[usize]]| {
        Tree::from_levels(arms, &levels.iter().map(|l| l.to_vec()).collect::<Vec<_>>()).unwrap_err()
    };
    assert_eq!(error(0, &[]), TreeError::Arms { arms: 0 });
    assert_eq!(error(MAX_ARMS + 1, &[]), TreeError::Arms { arms: MAX_ARMS + 1 });
    assert_eq!(error(1, &[&[1][..]; MAX_HEIGHT]), TreeError::Levels { levels: MAX_HEIGHT });
    assert!(Tree::from_levels(1, &vec![vec![1]; MAX_HEIGHT - 1]).is_ok());
    assert_eq!(error(2, &[&[1, 0, 1]]), TreeError::EmptySubtree { level: 1, subtree: 1, arm: 1 });
    let size = usize::MAX;
    let past = TreeError::PastTheEnd { level: 2, subtree: 1, arm: 2, size, arms: 3 };
    assert_eq!(error(3, &[&[2, 1], &[2, size]]), past);
    assert_eq!(error(3, &[&[2]]), TreeError::Uncovered { level: 1, arm: 2, arms: 3 });
    assert_eq!(error(3, &[&[]]), TreeError::Uncovered { level: 1, arm: 0, arms: 3 });
    assert_eq!(error(5, &[&[1, 3, 1], &[2, 3]]), TreeError::Torn { level: 2, arm: 2, below: 1..4 });
}

#[test]
fn refusals_say_how_to_mend_the_levels() {
    let says = |arms, levels: &[Vec<usize>]| Tree::from_levels(arms, levels).unwrap_err().to_string();
    assert_eq!(
        says(3, &[vec![2, 2]]),
        "the first 1 subtrees of level 1 hold 2 of the 3 arms, so the next cannot hold 2; make it smaller or leave it out"
    );
    assert_eq!(
        says(3, &[vec![2]]),
        "the sizes of level 1 add up to 2, but there are 3 arms; add a subtree for arm 2 and those after it"
    );
    assert_eq!(
        says(2, &[vec![0, 2]]),
        "subtree 0 (from 0) of level 1, before arm 0, has size 0; leave it out"
    );
    assert_eq!(
        says(3, &[vec![3], vec![1, 2]]),
        "level 2 cuts before arm 1, but arms 0 to 2 are one subtree of level 1; keep them in one of level 2 too"
    );
}
