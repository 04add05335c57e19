//! Selections of all kinds, from random numbers.

use zarr_grid::{AxisRange, AxisSelection, Region, Selection};
use zarr_tests::Random;

/// A selection in an array of `shape`, whose axes have `chunks` chunks. It may have elements more than once.
pub(crate) fn selection(random: &mut Random, shape: &[u64], chunks: &[Vec<u64>]) -> Selection {
    match random.below(12) {
        0 => Selection::all(),
        1 => mask(random, shape),
        2 if !shape.is_empty() => points(random, shape),
        3 => Selection::Region(region(random, shape)),
        4 => blocks(random, chunks),
        _ => axes(random, shape),
    }
}

fn mask(random: &mut Random, shape: &[u64]) -> Selection {
    let len = shape.iter().product::<u64>() as usize;
    let rarity = 1 + random.below(5);
    let mask = (0..len).map(|_| random.below(rarity) == 0).collect();
    Selection::mask(shape, mask).unwrap()
}

fn points(random: &mut Random, shape: &[u64]) -> Selection {
    let count = if shape.contains(&0) { 0 } else { [random.below(8), random.below(100)][random.below(2)] };
    let points: Vec<Vec<u64>> =
        (0..count).map(|_| shape.iter().map(|&len| random.below(len as usize) as u64).collect()).collect();
    let coordinate = |axis: usize| {
        let mut list: Vec<i64> = points.iter().map(|point: &Vec<u64>| point[axis] as i64).collect();
        if random.below(2) == 0 {
            list.iter_mut().for_each(|position| *position -= shape[axis] as i64);
        }
        list
    };
    Selection::coordinates((0..shape.len()).map(coordinate).collect())
}

fn region(random: &mut Random, shape: &[u64]) -> Region {
    let axis = |&len: &u64| {
        let start = random.below(len as usize + 1) as u64;
        let step = 1 + random.below(3) as u64;
        let most = (len - start).div_ceil(step);
        AxisRange { start, len: random.below(most as usize + 1) as u64, step }
    };
    Region::new(shape.iter().map(axis).collect::<Vec<_>>()).unwrap()
}

fn blocks(random: &mut Random, chunks: &[Vec<u64>]) -> Selection {
    let axis = |lengths: &Vec<u64>| match (random.below(3), lengths.len()) {
        (_, 0) | (0, _) => AxisSelection::All,
        (1, len) => AxisSelection::Index(random.below(len) as i64),
        (_, len) => {
            let start = random.below(len) as i64;
            AxisSelection::range(start, start + 1 + random.below(2) as i64)
        }
    };
    Selection::blocks(Selection::Axes(chunks.iter().map(axis).collect())).unwrap()
}

fn axes(random: &mut Random, shape: &[u64]) -> Selection {
    let given = random.below(shape.len() + 1);
    let mut axes: Vec<AxisSelection> = shape[..given].iter().map(|&len| axis(random, len)).collect();
    match random.below(4) {
        // The axes behind an ellipsis are the last ones.
        0 => {
            let front = random.below(given + 1);
            axes.truncate(front);
            axes.push(AxisSelection::Ellipsis);
            let back = random.below(shape.len() - front + 1);
            let last = &shape[shape.len() - back..];
            axes.extend(last.iter().map(|&len| axis(random, len)));
        }
        1 => axes.push(AxisSelection::Ellipsis),
        _ => {}
    }
    Selection::Axes(axes)
}

fn axis(random: &mut Random, len: u64) -> AxisSelection {
    let size = len as usize;
    let end = len as i64;
    match random.below(8) {
        0 if len > 0 => AxisSelection::Index(random.below(2 * size) as i64 - end),
        1 if len > 0 => {
            let mut list: Vec<i64> = (0..random.below(7)).map(|_| random.below(size) as i64).collect();
            if random.below(2) == 0 {
                list.iter_mut().for_each(|position| *position -= end);
            }
            AxisSelection::Indices(list)
        }
        2 => AxisSelection::Mask((0..size).map(|_| random.below(2) == 0).collect()),
        3 => AxisSelection::All,
        _ => {
            let mut bound = || (random.below(4) > 0).then(|| random.below(2 * size + 5) as i64 - end - 2);
            let (start, stop) = (bound(), bound());
            let step = [1, 1, 2, 3, -1, -2, 100][random.below(7)];
            AxisSelection::Range { start, stop, step }
        }
    }
}
