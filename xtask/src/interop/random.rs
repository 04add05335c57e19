//! Random shapes, elements, attributes and selections, which are the same for the same seed.

use super::model::turned;
use zarr_dtype::{DataType, Layout, Scalar};
use zarr_grid::AxisSelection;
use zarr_json::{Map, Value};

/// Strings that reveal errors of code that counts bytes instead of characters, or does not escape.
const WORDS: [&str; 10] = [
    "",
    "a",
    "time",
    "zarr",
    "Grüße",
    "温度",
    "\u{1f30d}",
    "a b",
    "quote \" \\ end",
    "a long text, longer than others are",
];

/// Generator of random numbers: SplitMix64 (Steele, Lea and Flood, 2014).
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

/// Selection, and the elements that it selects: their positions along each axis, and the shape of the result.
pub(super) struct Selected {
    pub(super) axes: Vec<AxisSelection>,
    pub(super) positions: Vec<Vec<u64>>,
    pub(super) shape: Vec<u64>,
}

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns any number.
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number less than `end`, which should be small and not 0.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    /// Returns `true` in `percent` of a hundred calls.
    pub(crate) fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// Returns one of the options.
    pub(crate) fn pick<T: Clone>(&mut self, options: &[T]) -> T {
        let index = self.below(options.len() as u64);
        usize::try_from(index).ok().and_then(|index| options.get(index)).expect("there are options").clone()
    }

    /// Returns a string.
    pub(crate) fn word(&mut self) -> &'static str {
        self.pick(&WORDS)
    }

    fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.next().to_le_bytes()[0]).collect()
    }

    /// Returns a shape of up to four dimensions and a few thousand elements; occasionally a dimension has length 0.
    pub(super) fn shape(&mut self) -> Vec<u64> {
        let rank = self.pick(&[0, 1, 1, 2, 2, 2, 3, 3, 4]);
        let mut shape: Vec<u64> = (0..rank).map(|_| 1 + self.below(23)).collect();
        while shape.iter().product::<u64>() > 4000 {
            shape.iter_mut().for_each(|len| *len = (*len * 2 / 3).max(1));
        }
        if self.chance(4)
            && let Some(len) = shape.first_mut()
        {
            *len = 0;
        }
        shape
    }

    /// Returns the shape of chunks, which are occasionally larger than the array.
    pub(super) fn chunks(&mut self, shape: &[u64]) -> Vec<u64> {
        shape.iter().map(|len| 1 + self.below(len + 2)).collect()
    }

    /// Returns a shape whose lengths divide those of `outer`.
    pub(super) fn inner(&mut self, outer: &[u64]) -> Vec<u64> {
        let mut divisor = |len: u64| {
            let divisors: Vec<u64> = (1..=len).filter(|part| len.is_multiple_of(*part)).collect();
            self.pick(&divisors)
        };
        outer.iter().map(|&len| divisor(len)).collect()
    }

    /// Returns a permutation of `rank` axes.
    pub(super) fn permutation(&mut self, rank: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..rank).collect();
        for index in (1..rank).rev() {
            let other = usize::try_from(self.below(index as u64 + 1)).unwrap_or(0);
            order.swap(index, other);
        }
        order
    }

    /// Returns one element, little-endian; its content if it has variable length.
    pub(super) fn element(&mut self, data_type: &DataType) -> Vec<u8> {
        match (data_type, data_type.layout()) {
            (DataType::String, _) => self.word().repeat(self.pick(&[0, 1, 1, 2])).into_bytes(),
            (DataType::FixedUtf32 { len }, _) => {
                let word = self.word().chars().chain(std::iter::repeat('\0'));
                let len = usize::try_from(*len).unwrap_or(0);
                word.take(len).flat_map(|letter| u32::from(letter).to_le_bytes()).collect()
            }
            (_, Layout::Fixed { scalar, count }) => (0..count).flat_map(|_| self.scalar(scalar)).collect(),
            (_, Layout::Bytes { size }) => self.bytes(usize::try_from(size).unwrap_or(0)),
            _ => {
                let len = usize::try_from(self.below(20)).unwrap_or(0);
                self.bytes(len)
            }
        }
    }

    fn scalar(&mut self, scalar: Scalar) -> Vec<u8> {
        let small = self.below(100);
        match scalar {
            Scalar::Bool => vec![u8::from(small < 50)],
            Scalar::I4 => vec![self.pick(&[0xf8, 0xff, 0, 1, 7])],
            // Any bits are a float too; NaNs of all kinds are rare enough among them.
            _ if small < 50 => self.bytes(scalar.size()),
            Scalar::F16 => self.pick(&[0x3c00_u16, 0x8000, 0x7c00, 0x7e00, 0x0001, 0x5640]).to_le_bytes().to_vec(),
            Scalar::BF16 => self.pick(&[0x3f80_u16, 0x8000, 0x7f80, 0x7fc0, 0x0001, 0x42c8]).to_le_bytes().to_vec(),
            Scalar::F32 => self.pick(&[1.0, -0.0, f32::INFINITY, f32::NAN, 0.1, 287.25]).to_le_bytes().to_vec(),
            Scalar::F64 => self.pick(&[1.0, -0.0, f64::INFINITY, f64::NAN, 0.1, 287.25]).to_le_bytes().to_vec(),
            _ => {
                let mut bytes = small.to_le_bytes().to_vec();
                bytes.truncate(scalar.size());
                bytes
            }
        }
    }

    /// Returns a fill value that all dialects and peers can express, in native byte order.
    pub(super) fn fill(&mut self, data_type: &DataType) -> Vec<u8> {
        let zero = vec![0; if data_type.is_variable() { 0 } else { data_type.item_size() }];
        if self.chance(40) {
            return zero;
        }
        let float = |bytes: &[u8]| bytes.to_vec();
        match data_type.layout() {
            Layout::Variable { utf8: true } => self.word().as_bytes().to_vec(),
            Layout::Fixed { scalar: Scalar::F16, .. } => float(&self.pick(&[0x7e00_u16, 0x3c00, 0xfc00]).to_ne_bytes()),
            Layout::Fixed { scalar: Scalar::BF16, .. } => float(&self.pick(&[0x7fc0_u16, 0x3f80]).to_ne_bytes()),
            Layout::Fixed { scalar: Scalar::F32, count } => {
                (0..count).flat_map(|_| self.pick(&[f32::NAN, 1.5, -9999.0, f32::INFINITY]).to_ne_bytes()).collect()
            }
            Layout::Fixed { scalar: Scalar::F64, count } => {
                (0..count).flat_map(|_| self.pick(&[f64::NAN, 0.1, -9999.0, f64::INFINITY]).to_ne_bytes()).collect()
            }
            _ => {
                let element = self.element(data_type);
                if data_type.is_variable() { element } else { turned(data_type, element) }
            }
        }
    }

    /// Returns a JSON object like the attributes that people write.
    pub(crate) fn attributes(&mut self) -> Map {
        let mut map = Map::new();
        for number in 0..self.below(5) {
            let value = self.value(2);
            map.insert(format!("{}{number}", self.word()), value);
        }
        map
    }

    fn value(&mut self, depth: u32) -> Value {
        match self.below(if depth > 0 { 7 } else { 5 }) {
            0 => Value::from(self.word()),
            1 => Value::from(self.pick(&[0_i64, -1, 7, (1 << 53) + 1, i64::MIN])),
            2 => Value::from(self.pick(&[0.1, -2.5e-7, 1e300, 273.15])),
            3 => Value::from(self.chance(50)),
            4 => Value::Null,
            5 => Value::Array((0..self.below(4)).map(|_| self.value(depth - 1)).collect()),
            _ => {
                let mut map = Map::new();
                for _ in 0..self.below(3) {
                    let value = self.value(depth - 1);
                    map.insert(self.word(), value);
                }
                Value::Object(map)
            }
        }
    }

    /// Returns a selection of each axis by an index, a range, a list or a mask.
    pub(super) fn selection(&mut self, shape: &[u64]) -> Selected {
        let mut selected = Selected { axes: Vec::new(), positions: Vec::new(), shape: Vec::new() };
        for &len in shape {
            let (axis, positions) = self.axis(len);
            if !matches!(axis, AxisSelection::Index(_)) {
                selected.shape.push(positions.len() as u64);
            }
            selected.axes.push(axis);
            selected.positions.push(positions);
        }
        selected
    }

    /// Returns a selection of a range with step 1 along each axis.
    pub(super) fn area(&mut self, shape: &[u64]) -> Selected {
        let mut selected = Selected { axes: Vec::new(), positions: Vec::new(), shape: Vec::new() };
        for &len in shape {
            let (start, stop) = self.range(len);
            selected.axes.push(AxisSelection::Range { start: Some(signed(start)), stop: Some(signed(stop)), step: 1 });
            selected.positions.push((start..stop).collect());
            selected.shape.push(stop - start);
        }
        selected
    }

    fn range(&mut self, len: u64) -> (u64, u64) {
        let start = self.below(len + 1);
        (start, start + self.below(len - start + 1))
    }

    fn axis(&mut self, len: u64) -> (AxisSelection, Vec<u64>) {
        let kind = if len == 0 { 0 } else { self.below(6) };
        match kind {
            0 => (AxisSelection::All, (0..len).collect()),
            1 => {
                let position = self.below(len);
                (AxisSelection::Index(self.counted(position, len)), vec![position])
            }
            2 => {
                let (start, stop) = self.range(len);
                let step = 1 + self.below(3);
                let positions = (start..stop).filter(|position| (position - start).is_multiple_of(step)).collect();
                let axis =
                    AxisSelection::Range { start: Some(signed(start)), stop: Some(signed(stop)), step: signed(step) };
                (axis, positions)
            }
            3 => {
                let start = self.below(len);
                let step = 1 + self.below(3);
                let mut positions: Vec<u64> =
                    (0..=start).rev().filter(|position| (start - position).is_multiple_of(step)).collect();
                let mut stop = None;
                if self.chance(50) {
                    let end = self.below(start + 1);
                    positions.retain(|&position| position > end);
                    stop = Some(signed(end));
                }
                (AxisSelection::Range { start: Some(self.counted(start, len)), stop, step: -signed(step) }, positions)
            }
            4 => {
                let positions: Vec<u64> = (0..self.below(6)).map(|_| self.below(len)).collect();
                (
                    AxisSelection::Indices(positions.iter().map(|&position| self.counted(position, len)).collect()),
                    positions,
                )
            }
            _ => {
                let mask: Vec<bool> = (0..len).map(|_| self.chance(40)).collect();
                let positions =
                    (0..len).zip(&mask).filter_map(|(position, &taken)| taken.then_some(position)).collect();
                (AxisSelection::Mask(mask), positions)
            }
        }
    }

    /// Returns the position, or sometimes the same position counted from the end.
    fn counted(&mut self, position: u64, len: u64) -> i64 {
        if self.chance(30) { signed(position) - signed(len) } else { signed(position) }
    }
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
