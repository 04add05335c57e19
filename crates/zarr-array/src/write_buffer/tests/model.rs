//! Test of writes of any kind, in any order and with any bound of memory, against an array in memory.

use super::stores::{Faults, registry, shards, text_shards};
use crate::{Array, NewArray, Store, WriteFrom, Writer};
use proptest::prelude::*;
use std::sync::Arc;
use zarr_grid::{AxisRange, Region, Selection};

const ROWS: usize = 13;
const COLUMNS: usize = 11;

/// Box with steps, along two axes.
#[derive(Clone, Debug)]
struct Box {
    starts: [usize; 2],
    lens: [usize; 2],
    steps: [usize; 2],
}

#[derive(Clone, Debug)]
enum Act {
    Region(Box),
    /// Write of a box, reversed along the second axis.
    Flipped(Box),
    Fill(Box),
    /// Orthogonal write of the rows and the columns of two lists.
    Lists(Vec<usize>, Vec<usize>),
    /// Write of single elements, in any order and possibly twice.
    Points(Vec<(usize, usize)>),
    /// Write of single elements by another array handle, past the writer.
    Elsewhere(Vec<(usize, usize)>),
    Flush,
}

fn a_box() -> impl Strategy<Value = Box> {
    let axis = |len: usize| {
        (0..len, 1_usize..=3).prop_flat_map(move |(start, step)| {
            (Just(start), 1..=(len - start).div_ceil(step), prop_oneof![4 => Just(1), 1 => Just(step)])
        })
    };
    (axis(ROWS), axis(COLUMNS)).prop_map(|(rows, columns)| {
        let (starts, lens) = ([rows.0, columns.0], [rows.1, columns.1]);
        Box { starts, lens, steps: [rows.2, columns.2] }
    })
}

fn act() -> impl Strategy<Value = Act> {
    let points = || proptest::collection::vec((0..ROWS, 0..COLUMNS), 0..12);
    prop_oneof![
        8 => a_box().prop_map(Act::Region),
        1 => a_box().prop_map(Act::Flipped),
        2 => a_box().prop_map(Act::Fill),
        1 => (proptest::collection::vec(0..ROWS, 1..5), proptest::collection::vec(0..COLUMNS, 1..5))
            .prop_map(|(rows, columns)| Act::Lists(rows, columns)),
        3 => points().prop_map(Act::Points),
        2 => points().prop_map(Act::Elsewhere),
        1 => Just(Act::Flush),
    ]
}

/// Codecs, data type, and shape of chunks.
fn layout() -> impl Strategy<Value = (String, &'static str, [u64; 2])> {
    let plain = r#"[{"name": "bytes", "configuration": {"endian": "big"}}]"#.to_owned();
    let turned = r#"[{"name": "transpose", "configuration": {"order": [1, 0]}}, "bytes"]"#.to_owned();
    let turned_shards =
        shards("[4, 2]").replacen('[', r#"[{"name": "transpose", "configuration": {"order": [1, 0]}}, "#, 1);
    let texts = r#"[{"name": "vlen-utf8"}]"#.to_owned();
    prop_oneof![
        Just((plain, "int32", [4, 5])),
        Just((turned, "int32", [5, 11])),
        Just((shards("[2, 4]"), "int32", [6, 8])),
        Just((turned_shards, "int32", [6, 8])),
        Just((texts, "string", [4, 5])),
        Just((text_shards("[2, 4]"), "string", [6, 8])),
    ]
}

fn texts(elements: &[i32]) -> Vec<String> {
    elements
        .iter()
        .map(
            |&element| {
                if element == 0 { String::new() } else { "t".repeat(element as usize % 40) + &element.to_string() }
            },
        )
        .collect()
}

/// Writer, and an array handle that writes past it, of numbers or of strings.
struct Written {
    writer: Writer,
    array: Array,
    is_text: bool,
}

impl Written {
    fn write(&self, past: bool, selection: Selection, elements: &[i32]) {
        fn write(written: &Written, past: bool, selection: Selection, elements: impl WriteFrom) {
            let done =
                if past { written.array.write(selection, elements) } else { written.writer.write(selection, elements) };
            done.unwrap();
        }
        match self.is_text {
            true => write(self, past, selection, &texts(elements)),
            false => write(self, past, selection, elements),
        }
    }

    fn check(&self, model: &[i32]) -> Result<(), TestCaseError> {
        match self.is_text {
            true => prop_assert_eq!(self.array.read::<String>(..).unwrap(), texts(model)),
            false => prop_assert_eq!(self.array.read::<i32>(..).unwrap(), model),
        }
        Ok(())
    }
}

/// Positions of the elements of a box, in C order.
fn positions(area: &Box) -> Vec<(usize, usize)> {
    let axis = |axis: usize| (0..area.lens[axis]).map(move |at| area.starts[axis] + at * area.steps[axis]);
    axis(0).flat_map(|row| axis(1).map(move |column| (row, column))).collect()
}

fn region(area: &Box) -> Selection {
    let axis = |axis: usize| AxisRange {
        start: area.starts[axis] as u64,
        len: area.lens[axis] as u64,
        step: area.steps[axis] as u64,
    };
    Selection::Region(Region::new([axis(0), axis(1)]).unwrap())
}

fn coordinates(points: &[(usize, usize)]) -> Selection {
    let axis = |of: fn(&(usize, usize)) -> usize| points.iter().map(|point| of(point) as i64).collect();
    Selection::coordinates(vec![axis(|point| point.0), axis(|point| point.1)])
}

/// Whether an element is written only past the writer, if anything is written past it.
fn is_of_others((row, column): (usize, usize)) -> bool {
    (row * 7 + column * 3).is_multiple_of(5)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn an_array_has_what_was_written(
        (codecs, data_type, chunk) in layout(),
        limit in prop_oneof![Just(0_u64), 100_u64..3000, Just(1 << 20)],
        beside_others: bool,
        before: bool,
        acts in proptest::collection::vec(act(), 1..25),
    ) {
        let store: Arc<dyn Store> = Arc::new(Arc::new(Faults::default()).store());
        let new = NewArray::new(&[ROWS as u64, COLUMNS as u64], data_type).chunks(&chunk).codecs(codecs.as_str()).unwrap();
        let array = Array::create(&store, "/a", new, &registry()).unwrap();
        let is_text = data_type == "string";
        let mut model = vec![0; ROWS * COLUMNS];
        if before {
            model = (0..).take(ROWS * COLUMNS).map(|at| at % 50 - 1).map(|at: i32| at.max(0)).collect();
            let written = Written { writer: array.writer(), array: array.clone(), is_text };
            written.write(true, Selection::all(), &model);
        }
        let written = Written { writer: array.writer().buffer_size(limit), array: array.clone(), is_text };
        let most = limit.max(chunk[0] * chunk[1] * 17 + (64 << 10));
        for (number, act) in acts.iter().enumerate() {
            let element = |at: usize| (number * 1000 + at) as i32 % 6007;
            let mut put = |past: bool, selection: Option<Selection>, points: Vec<(usize, usize)>, one: Option<i32>| {
                // Beside others, single elements are written that are not theirs.
                let points: Vec<_> = match (beside_others, past) {
                    (false, true) => return,
                    (false, false) => points,
                    (true, _) => points.into_iter().filter(|&point| is_of_others(point) == past).collect(),
                };
                let elements: Vec<i32> = (0..points.len()).map(|at| one.unwrap_or(element(at))).collect();
                for (&(row, column), &element) in points.iter().zip(&elements) {
                    model[row * COLUMNS + column] = element;
                }
                let selection = selection.filter(|_| !beside_others).unwrap_or_else(|| coordinates(&points));
                written.write(past, selection, &elements);
            };
            match act {
                Act::Region(area) => put(false, Some(region(area)), positions(area), None),
                Act::Flipped(area) => {
                    let mut points = positions(area);
                    points.chunks_mut(area.lens[1]).for_each(<[_]>::reverse);
                    let [rows, columns] = [0, 1].map(|axis| {
                        let (start, step) = (area.starts[axis], area.steps[axis]);
                        (start, start + (area.lens[axis] - 1) * step, step)
                    });
                    let until = columns.0.checked_sub(columns.2).map_or(String::new(), |until| until.to_string());
                    let text = format!("{}:{}:{}, {}:{until}:-{}", rows.0, rows.1 + 1, rows.2, columns.1, columns.2);
                    put(false, Some(text.parse().unwrap()), points, None);
                }
                Act::Fill(area) => {
                    let one = element(0) * i32::from(number % 3 > 0);
                    if beside_others || is_text {
                        put(false, Some(region(area)), positions(area), Some(one));
                    } else {
                        written.writer.fill(region(area), one).unwrap();
                        positions(area).iter().for_each(|(row, column)| model[row * COLUMNS + column] = one);
                    }
                }
                Act::Lists(rows, columns) => {
                    let points = rows.iter().flat_map(|&row| columns.iter().map(move |&column| (row, column)));
                    let text = format!("{rows:?}, {columns:?}");
                    put(false, Some(text.parse().unwrap()), points.collect(), None);
                }
                Act::Points(points) => put(false, None, points.clone(), None),
                Act::Elsewhere(points) => put(true, None, points.clone(), None),
                Act::Flush => {
                    written.writer.flush().unwrap();
                    prop_assert_eq!(written.writer.kept(), 0);
                    written.check(&model)?;
                }
            }
            prop_assert!(written.writer.kept() <= most, "{} of {}", written.writer.kept(), most);
        }
        written.writer.flush().unwrap();
        written.check(&model)?;
    }
}
