//! An array that is too simple to be wrong: all elements in one vector.

use zarr_dtype::Element;
use zarr_grid::{AxisSelection, Region, Selection};
use zarr_json::Value;

/// An array as a vector of all its elements in C order.
#[derive(Clone, Debug)]
pub(crate) struct Model<T> {
    pub(crate) shape: Vec<u64>,
    pub(crate) elements: Vec<T>,
    pub(crate) fill: T,
}

impl<T: Clone> Model<T> {
    /// An array of nothing but `fill`.
    pub(crate) fn new(shape: &[u64], fill: &T) -> Self {
        let len = shape.iter().product::<u64>() as usize;
        Self { shape: shape.to_vec(), elements: vec![fill.clone(); len], fill: fill.clone() }
    }

    /// Changes the shape, to or from one that ends with chunks: removed elements are forgotten.
    pub(crate) fn resize(&mut self, shape: &[u64]) {
        let old = std::mem::replace(self, Self::new(shape, &self.fill.clone()));
        let common: Vec<_> = shape.iter().zip(&old.shape).map(|(&new, &old)| 0..new.min(old)).collect();
        let region = Selection::Region(Region::from_ranges(&common));
        let kept = old.read(&region, &[]);
        self.write(&region, &[], |i| kept[i].clone());
    }

    /// The selected elements.
    pub(crate) fn read(&self, what: &Selection, chunks: &[Vec<u64>]) -> Vec<T> {
        offsets(what, &self.shape, chunks).into_iter().map(|index| self.elements[index].clone()).collect()
    }

    /// Replaces the selected elements by `element(0)`, `element(1)`..., and returns these.
    pub(crate) fn write(&mut self, at: &Selection, chunks: &[Vec<u64>], element: impl Fn(usize) -> T) -> Vec<T> {
        let offsets = offsets(at, &self.shape, chunks);
        let written: Vec<T> = (0..offsets.len()).map(element).collect();
        for (index, element) in offsets.into_iter().zip(&written) {
            self.elements[index] = element.clone();
        }
        written
    }
}

/// The offsets, in C order, that a selection takes in an array of `shape`. `chunks` has the lengths of all chunks of each
/// axis, for selections of blocks.
pub(crate) fn offsets(selection: &Selection, shape: &[u64], chunks: &[Vec<u64>]) -> Vec<usize> {
    let axes: Vec<Vec<u64>> = match selection {
        Selection::Axes(axes) => {
            let mut all = axes.clone();
            let given = axes.iter().filter(|axis| **axis != AxisSelection::Ellipsis).count();
            let index = axes.iter().position(|axis| *axis == AxisSelection::Ellipsis);
            let end = index.map_or(all.len()..all.len(), |index| index..index + 1);
            all.splice(end, vec![AxisSelection::All; shape.len() - given]);
            all.iter().zip(shape).map(|(axis, &len)| positions(axis, len)).collect()
        }
        Selection::Region(region) => {
            region.axes().iter().map(|axis| (0..axis.len).map(|i| axis.start + i * axis.step).collect()).collect()
        }
        Selection::Blocks(axes) => {
            let block = |(axis, (selection, &len)): (usize, (&AxisSelection, &u64))| {
                let chunks = &chunks[axis];
                let picked = positions(selection, chunks.len() as u64);
                let start = |chunk: u64| chunks[..chunk as usize].iter().sum::<u64>();
                picked.into_iter().flat_map(|chunk| start(chunk).min(len)..start(chunk + 1).min(len)).collect()
            };
            let mut axes = axes.clone();
            axes.resize(shape.len(), AxisSelection::All);
            axes.iter().zip(shape).enumerate().map(block).collect()
        }
        Selection::Coordinates(lists) => {
            let count = lists.first().map_or(0, Vec::len);
            let point = |i: usize| {
                let position = lists.iter().zip(shape).map(|(list, &len)| wrapped(list[i], len));
                flat(&position.collect::<Vec<_>>(), shape)
            };
            return (0..count).map(point).collect();
        }
        Selection::Mask { mask, .. } => {
            return mask.iter().enumerate().filter(|(_, taken)| **taken).map(|(index, _)| index).collect();
        }
    };
    let mut offsets = vec![Vec::new()];
    for positions in &axes {
        let longer = |start: &Vec<u64>| {
            let start = start.clone();
            positions.iter().map(move |&position| [start.as_slice(), &[position]].concat()).collect::<Vec<_>>()
        };
        offsets = offsets.iter().flat_map(longer).collect();
    }
    offsets.iter().map(|position| flat(position, shape)).collect()
}

fn flat(position: &[u64], shape: &[u64]) -> usize {
    position.iter().zip(shape).fold(0, |index, (&position, &len)| index * len as usize + position as usize)
}

fn wrapped(position: i64, len: u64) -> u64 {
    (if position < 0 { position + len as i64 } else { position }) as u64
}

/// Python's slices, one position after the other.
fn positions(selection: &AxisSelection, len: u64) -> Vec<u64> {
    match selection {
        AxisSelection::Index(position) => vec![wrapped(*position, len)],
        AxisSelection::Indices(list) => list.iter().map(|&position| wrapped(position, len)).collect(),
        AxisSelection::Mask(mask) => (0..len).filter(|&position| mask[position as usize]).collect(),
        AxisSelection::Ellipsis | AxisSelection::All => (0..len).collect(),
        AxisSelection::Range { start, stop, step } => {
            let len = len as i64;
            let (low, high) = if *step > 0 { (0, len) } else { (-1, len - 1) };
            let bound = |bound: Option<i64>, default: i64| match bound {
                None => default,
                Some(bound) => (if bound < 0 { bound + len } else { bound }).clamp(low, high),
            };
            let (first, end) = if *step > 0 { (low, high) } else { (high, low) };
            let (mut at, stop) = (bound(*start, first), bound(*stop, end));
            let mut all = Vec::new();
            while if *step > 0 { at < stop } else { at > stop } {
                all.push(at as u64);
                at += step;
            }
            all
        }
    }
}

/// Elements for tests, made from small numbers.
pub(crate) trait Sample: Element + PartialEq + std::fmt::Debug {
    /// The data type.
    const TYPE: &'static str;

    /// One of a few elements.
    fn sample(number: usize) -> Self;

    /// The element in the notation of fill values.
    fn json(&self) -> Value;
}

macro_rules! numbers {
    ($($type:ident $name:literal),*) => { $(
        impl Sample for $type {
            const TYPE: &'static str = $name;

            fn sample(number: usize) -> Self {
                [0 as $type, 1 as $type, $type::MAX, $type::MIN, 77 as $type][number % 5]
            }

            fn json(&self) -> Value {
                Value::from(*self)
            }
        }
    )* };
}
numbers!(u8 "uint8", i16 "int16", u32 "uint32", i64 "int64", f64 "float64");

impl Sample for bool {
    const TYPE: &'static str = "bool";

    fn sample(number: usize) -> Self {
        number % 3 == 1
    }

    fn json(&self) -> Value {
        Value::from(*self)
    }
}

impl Sample for [u8; 3] {
    const TYPE: &'static str = "r24";

    fn sample(number: usize) -> Self {
        [[0, 0, 0], [1, 2, 3], [255, 0, 255]][number % 3]
    }

    fn json(&self) -> Value {
        Value::from(self.to_vec())
    }
}

impl Sample for String {
    const TYPE: &'static str = "string";

    fn sample(number: usize) -> Self {
        match number % 5 {
            0 => Self::new(),
            1 => "a".to_owned(),
            2 => "Zürich, 東京".to_owned(),
            3 => "x".repeat(300),
            _ => "n/a".to_owned(),
        }
    }

    fn json(&self) -> Value {
        Value::from(self.as_str())
    }
}
