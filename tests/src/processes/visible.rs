//! Arrays whose shape changes again and again, compared with a simple model. Elements that were cut off, or that an interrupted append
//! wrote, must never be read again.

use super::steps::{Steps, Stopping};
use super::{Result, Scale, Tally, folder_in_memory, text};
use crate::Random;
use std::sync::Arc;
use zarr::codec::View;
use zarr::store::{FilesystemStore, MemoryStore};
use zarr::{Array, Dialect, NewArray, Store};

const FILL: i32 = -1;

/// Expected elements, in C order.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Model {
    shape: [usize; 2],
    elements: Vec<i32>,
}

impl Model {
    fn at(&self, row: usize, column: usize) -> i32 {
        let [rows, columns] = self.shape;
        if row < rows && column < columns { self.elements[row * columns + column] } else { FILL }
    }

    /// Returns the model with another shape, without elements outside of it.
    fn resized(&self, shape: [usize; 2]) -> Self {
        let rows = (0..shape[0]).flat_map(|row| (0..shape[1]).map(move |column| self.at(row, column)));
        Self { shape, elements: rows.collect() }
    }

    /// Returns the model with the block of `shape` at `from` set to `element`.
    fn with(&self, from: [usize; 2], shape: [usize; 2], element: i32) -> Self {
        let mut model = self.clone();
        for row in from[0]..from[0] + shape[0] {
            for column in from[1]..from[1] + shape[1] {
                model.elements[row * self.shape[1] + column] = element;
            }
        }
        model
    }
}

/// Change of an array.
#[derive(Clone, Copy, Debug)]
enum Change {
    Resize([usize; 2]),
    /// Append of equal rows or columns: the axis, their number, and the element.
    Append(usize, usize, i32),
    /// Write of a block of equal elements: its first index, its shape, and the element.
    Write([usize; 2], [usize; 2], i32),
}

impl Change {
    fn random(shape: [usize; 2], random: &mut Random, element: i32) -> Self {
        let [rows, columns] = shape;
        match random.below(5) {
            0 | 1 => Self::Resize([random.below(14), random.below(10)]),
            2 if columns > 0 => Self::Append(0, 1 + random.below(6), element),
            3 if rows > 0 => Self::Append(1, 1 + random.below(4), element),
            _ => {
                let from = [random.below(rows), random.below(columns)];
                let mut len = |axis: usize| (1 + random.below(5)).min(shape[axis] - from[axis]);
                Self::Write(from, [len(0), len(1)], element)
            }
        }
    }

    fn of_model(self, model: &Model) -> Model {
        match self {
            Self::Resize(shape) => model.resized(shape),
            Self::Append(axis, len, element) => {
                let (mut shape, mut from, mut added) = (model.shape, [0, 0], model.shape);
                shape[axis] += len;
                from[axis] = model.shape[axis];
                added[axis] = len;
                model.resized(shape).with(from, added, element)
            }
            Self::Write(from, shape, element) => model.with(from, shape, element),
        }
    }

    fn of_array(self, array: &mut Array) -> zarr::Result<()> {
        let len = |shape: [usize; 2]| shape[0] * shape[1];
        match self {
            Self::Resize(shape) => array.resize(&shape.map(|len| len as u64)),
            Self::Append(axis, count, element) => {
                let mut shape = [0, 1].map(|axis: usize| array.shape()[axis] as usize);
                shape[axis] = count;
                let bytes = element.to_ne_bytes().repeat(len(shape));
                array.append(axis, View::new(&bytes, 4, &shape)?)
            }
            Self::Write(from, shape, element) => {
                let range = |axis: usize| from[axis] as u64..(from[axis] + shape[axis]) as u64;
                array.write((range(0), range(1)), &vec![element; len(shape)])
            }
        }
    }
}

/// Changes arrays of all layouts at random, and reads them after each change. If `interrupted`, some changes stop at one of their steps;
/// then the state before or the state after must be read.
pub(super) fn check(interrupted: bool, scale: Scale) -> Result<Tally> {
    let mut tally = Tally::default();
    for seed in 0..scale.of(40, 4000) {
        let mut random = Random::new(seed);
        let folder = folder_in_memory()?;
        let store: Arc<dyn Store> = if seed % 4 == 0 {
            Arc::new(FilesystemStore::create(text(folder.path())?)?)
        } else {
            Arc::new(MemoryStore::new())
        };
        let new = NewArray::new(&[7, 5], "int32").fill(FILL);
        let new = match seed % 3 {
            0 => new.chunks(&[3, 2]).dialect(Dialect::V2).codecs("zstd")?,
            1 => new.chunks(&[3, 2]).codecs("bytes")?,
            _ => new.chunks(&[2, 2]).shards(&[4, 4]).codecs("bytes")?,
        };
        zarr::create((&store, "/a")).array(new)?;
        let mut model = Model { shape: [7, 5], elements: vec![FILL; 35] };
        let mut done = Vec::new();
        for number in 1..=12 {
            let change = Change::random(model.shape, &mut random, number);
            let stop = (interrupted && random.below(2) == 0).then(|| random.below(12) as u64);
            let before = model.clone();
            let after = change.of_model(&model);
            let steps = Steps::until(stop.unwrap_or(u64::MAX), true);
            let changed = zarr::open((&Stopping::over(&store, &steps), "/a"))
                .array()
                .and_then(|mut array| change.of_array(&mut array));
            done.push(format!("{change:?}{}", stop.map(|stop| format!(" stopped at {stop}")).unwrap_or_default()));
            tally.done("changes", 1);
            let array = zarr::open((&store, "/a")).array()?;
            let shape = [0, 1].map(|axis: usize| array.shape()[axis] as usize);
            let seen = Model { shape, elements: array.read(..)? };
            if changed.is_err() && stop.is_none() {
                tally.fault("changes that fail", || format!("seed {seed}: {changed:?} of {}", done.join(", ")));
            }
            let is_right = seen == after || changed.is_err() && is_between(change, &seen, &before, &after);
            if !is_right {
                let wrong = seen.elements.iter().zip(&after.resized(shape).elements).filter(|(a, b)| a != b).count();
                tally.fault("changes after which elements are seen that were never there", || {
                    format!("seed {seed}: {wrong} elements after {}", done.join(", "))
                });
                break;
            }
            model = seen;
        }
    }
    Ok(tally)
}

/// Returns whether an interrupted change may leave these elements: the elements before it, or, for a write of several chunks, a part of the
/// new ones.
fn is_between(change: Change, seen: &Model, before: &Model, after: &Model) -> bool {
    let parts = |seen: &Model| {
        let both = before.elements.iter().zip(&after.elements);
        seen.shape == before.shape && seen.elements.iter().zip(both).all(|(seen, (a, b))| seen == a || seen == b)
    };
    seen == before || matches!(change, Change::Write(..)) && parts(seen)
}
