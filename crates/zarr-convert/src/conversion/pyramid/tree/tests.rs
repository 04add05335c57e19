//! Trees of units beside simple counts.

use super::super::super::part::Part;
use super::*;
use proptest::prelude::*;
use std::collections::{HashMap, HashSet};

fn tree() -> impl Strategy<Value = Tree> {
    planned().prop_map(|(tree, ..)| tree)
}

/// A tree, the shape of the parts of its source, and those of the chunks of its levels.
fn planned() -> impl Strategy<Value = (Tree, Vec<u64>, Vec<Vec<u64>>)> {
    let axis = (1_u64..60, 1_u64..9, 1_u64..4, 1_u64..3);
    let levels = proptest::collection::vec(proptest::collection::vec((1_u64..5, 1_u64..9), 3), 1..4);
    (proptest::collection::vec(axis, 1..4), levels).prop_map(|(axes, levels)| {
        let source: Vec<u64> = axes.iter().map(|axis| axis.0).collect();
        let parts: Vec<u64> = axes.iter().map(|axis| axis.1).collect();
        let growth: Vec<u64> = axes.iter().map(|axis| axis.3).collect();
        let mut shape = source.clone();
        let levels: Vec<LevelShape> = levels
            .into_iter()
            .map(|level| {
                let factors: Vec<u64> = level.iter().take(shape.len()).map(|it| it.0).collect();
                let chunk = level.iter().take(shape.len()).map(|it| it.1).collect();
                shape = shape.iter().zip(&factors).map(|(len, factor)| len.div_ceil(*factor)).collect();
                LevelShape { shape: shape.clone(), factors, chunk }
            })
            .collect();
        let tree = Tree::new(&source, &parts, &levels, &growth);
        let chunks = levels.into_iter().map(|level| level.chunk).collect();
        (tree, parts, chunks)
    })
}

/// Units that a run computes: those with leaves in `own`, for which `is_done` is false. Each gets all its parts, each once.
fn computed(
    tree: &Tree,
    own: Range<u64>,
    is_done: impl Fn(Range<u64>) -> bool + Send + Clone,
) -> Result<HashSet<Unit>, TestCaseError> {
    let mut parts: HashMap<Unit, u64> = HashMap::new();
    let mut computed = HashSet::new();
    for task in tree.tasks(own.clone(), is_done.clone(), |_| true) {
        let mut unit = match task {
            Task::BaseUnit(unit, number) => {
                prop_assert_eq!(tree.leaf_range(&unit), number..number + 1);
                prop_assert!(!is_done(number..number + 1) && computed.insert(unit.clone()));
                unit
            }
            Task::Stored(unit) => {
                prop_assert!(is_done(tree.leaf_range(&unit)));
                unit
            }
        };
        while let Some(parent) = tree.parent(&unit) {
            let leaves = tree.leaf_range(&parent);
            if leaves.start < own.start || own.end < leaves.end {
                break;
            }
            let ranges = tree.elements(&unit);
            let below = tree.below(parent.level, &tree.elements(&parent));
            let factors = &tree.levels()[parent.level].factors;
            prop_assert!(ranges.iter().zip(factors).all(|(own, factor)| own.start % factor == 0));
            prop_assert!(ranges.iter().zip(&below).all(|(own, all)| all.start <= own.start && own.end <= all.end));
            let got = parts.entry(parent.clone()).or_default();
            *got += 1;
            if *got < tree.child_count(&parent) {
                break;
            }
            prop_assert!(computed.insert(parent.clone()));
            unit = parent;
        }
    }
    for (unit, got) in parts {
        prop_assert_eq!(got, tree.child_count(&unit), "{:?}", unit);
    }
    Ok(computed)
}

/// Parts of very many leaves are begun and measured without a visit of each leaf.
#[test]
fn parts_of_many_leaves_are_found_at_once() {
    let many = 1 << 50;
    let level = LevelShape { shape: vec![4, many], factors: vec![1, 2], chunk: vec![1, 1] };
    let tree = Tree::new(&[4, 2 * many], &[1, 2], &[level], &[1, 1]);
    assert_eq!(tree.leaves(), 4 * many);
    let own = Part::new(999, 1_000).unwrap().range(tree.leaves());
    let first = tree.tasks(own.clone(), |_| false, |_| true).next().unwrap();
    assert_eq!(first, Task::BaseUnit(Unit { level: 0, index: vec![3, own.start - 3 * many] }, own.start));
    assert_eq!(tree.source_len(own.clone()), 2 * u128::from(own.end - own.start));
    let few = own.end - 1..own.end;
    assert_eq!(tree.tasks(few, |_| false, |_| true).count(), 1);
}

proptest! {
    #[test]
    fn each_unit_is_computed_once_of_whole_units(tree in tree(), done in proptest::collection::vec(any::<bool>(), 64)) {
        let whole = 0..tree.leaves();
        let all: Vec<Task> = tree.tasks(whole.clone(), |_| false, |_| true).collect();
        // All leaves, in the order of their numbers, cover the finest level.
        let mut elements = 0;
        for (place, task) in all.iter().enumerate() {
            let Task::BaseUnit(unit, number) = task else { panic!("{task:?}") };
            prop_assert_eq!(*number, place as u64);
            elements += tree.elements(unit).iter().map(|range| range.end - range.start).product::<u64>();
        }
        prop_assert_eq!(all.len() as u64, tree.leaves());
        prop_assert_eq!(elements, tree.levels()[0].shape.iter().product::<u64>());
        prop_assert_eq!(tree.source_len(whole.clone()), tree.source.iter().map(|&len| u128::from(len)).product());
        computed(&tree, whole, |mut leaves: Range<u64>| leaves.all(|leaf| done[(leaf % 64) as usize]))?;
    }

    #[test]
    fn parts_and_the_end_compute_each_unit_once(tree in tree(), of in 1_u64..9) {
        let leaves = tree.leaves();
        let all = computed(&tree, 0..leaves, |_| false)?;
        let (mut done, mut source) = (HashSet::new(), 0);
        for number in 1..=of {
            let own = Part::new(number, of).unwrap().range(leaves);
            source += tree.source_len(own.clone());
            for unit in computed(&tree, own, |_| false)? {
                prop_assert!(done.insert(unit));
            }
        }
        prop_assert_eq!(source, tree.source_len(0..leaves));
        // What is skipped to get to a part is not visited.
        for number in 1..=of {
            let own = Part::new(number, of).unwrap().range(leaves);
            let of_task = |task: Task| match task {
                Task::BaseUnit(unit, _) | Task::Stored(unit) => tree.source_of(&unit),
            };
            let size = |ranges: Vec<Range<u64>>| ranges.iter().map(|it| u128::from(it.end - it.start)).product::<u128>();
            let each = tree.tasks(own.clone(), |_| false, |_| true).map(of_task).map(size);
            prop_assert_eq!(each.sum::<u128>(), tree.source_len(own));
        }
        let is_done = |range: Range<u64>| Part::is_of_one(&range, leaves, of);
        for unit in computed(&tree, 0..leaves, is_done)? {
            prop_assert!(unit.level > 0 && done.insert(unit));
        }
        prop_assert_eq!(done, all);
    }

    #[test]
    fn units_are_of_whole_parts((tree, parts, chunks) in planned()) {
        for (level, (units, chunks)) in tree.levels().iter().zip(&chunks).enumerate() {
            let finer = if level == 0 { &parts } else { &tree.levels()[level - 1].unit };
            for axis in 0..parts.len() {
                let (unit, len) = (units.unit[axis], units.shape[axis]);
                prop_assert!(unit <= len);
                let is_whole = unit % chunks[axis] == 0 && unit * units.factors[axis] % finer[axis] == 0;
                prop_assert!(unit == len || is_whole, "level {}, axis {}: {:?}", level, axis, units);
            }
        }
    }
}
