//! Arrays of each kind of data type.

use crate::cases::{Case, LITTLE};
use crate::noise::Noise;

/// A kind of elements: how its raw data is made. Elements of variable length are lines.
pub(crate) struct Kind {
    /// The array, and its raw data.
    pub(crate) name: &'static str,
    data_type: Type,
    /// Bytes of an element; 0 if they differ.
    item: u64,
    /// Appends `count` elements.
    pub(crate) raw: fn(&mut Noise, u64, &mut Vec<u8>),
}

/// A data type as it stands in a document.
enum Type {
    /// A data type of Zarr v3, with its fill value and codecs.
    V3(&'static str, &'static str, &'static str),
    /// A data type of Zarr v2, with its fill value and filters.
    V2(&'static str, &'static str, &'static str),
}

/// Elements along the last axis of arrays of elements of fixed size.
const WIDTH: u64 = 4096;

/// All kinds.
pub(crate) const KINDS: [Kind; 11] = [
    Kind {
        name: "bool",
        data_type: Type::V3("\"bool\"", "false", LITTLE),
        item: 1,
        raw: |noise, count, out| bits(noise, count, 0x01, out),
    },
    Kind {
        name: "int8",
        data_type: Type::V3("\"int8\"", "0", LITTLE),
        item: 1,
        raw: |noise, count, out| bits(noise, count, 0xff, out),
    },
    Kind {
        name: "float16",
        data_type: Type::V3("\"float16\"", "0.0", LITTLE),
        item: 2,
        raw: |noise, count, out| words(noise, count, 0x3bff, out),
    },
    Kind {
        name: "complex64",
        data_type: Type::V3("\"complex64\"", "[0.0,0.0]", LITTLE),
        item: 8,
        raw: |noise, count, out| words(noise, 4 * count, 0x3fff, out),
    },
    Kind {
        name: "datetime",
        data_type: Type::V3(
            r#"{"name":"numpy.datetime64","configuration":{"unit":"ns","scale_factor":1}}"#,
            "0",
            LITTLE,
        ),
        item: 8,
        raw: |noise, count, out| words(noise, 4 * count, 0x0fff, out),
    },
    Kind {
        name: "fixed_text",
        data_type: Type::V3(r#"{"name":"fixed_length_utf32","configuration":{"length_bytes":40}}"#, "\"\"", LITTLE),
        item: 40,
        raw: |noise, count, out| (0..10 * count).for_each(|_| out.extend([letter(noise), 0, 0, 0])),
    },
    Kind {
        name: "struct",
        data_type: Type::V2(r#"[["id","<i4"],["value","<f8"]]"#, "null", "null"),
        item: 12,
        raw: |noise, count, out| words(noise, 6 * count, 0x3fff, out),
    },
    Kind {
        name: "bool_packed",
        data_type: Type::V3("\"bool\"", "false", r#"{"name":"packbits"}"#),
        item: 1,
        raw: |noise, count, out| bits(noise, count, 0x01, out),
    },
    Kind {
        name: "uint4",
        data_type: Type::V3("\"uint4\"", "0", LITTLE),
        item: 1,
        raw: |noise, count, out| bits(noise, count, 0x0f, out),
    },
    Kind { name: "text", data_type: Type::V3("\"string\"", "\"\"", r#"{"name":"vlen-utf8"}"#), item: 0, raw: lines },
    Kind { name: "bytes", data_type: Type::V2("\"|O\"", "\"\"", r#"[{"id":"vlen-bytes"}]"#), item: 0, raw: lines },
];

impl Kind {
    /// Elements along each axis: 128 MiB, or 2^22 elements of variable length; of the smaller data an eighth.
    fn shape(&self, small: bool) -> Vec<u64> {
        let shrink = if small { 8 } else { 1 };
        match (128_u64 << 20).checked_div(self.item) {
            Some(count) => vec![(count / WIDTH / shrink).next_multiple_of(256), WIDTH],
            None => vec![(1 << 22) / shrink],
        }
    }

    /// How many elements there are.
    pub(crate) fn count(&self, small: bool) -> u64 {
        self.shape(small).iter().product()
    }

    /// The array.
    pub(crate) fn case(&self, small: bool) -> Case {
        let shape = self.shape(small);
        let chunk = if self.item > 0 { vec![256, 1024] } else { vec![1 << 16] };
        let (document, metadata) = match self.data_type {
            Type::V3(data_type, fill, codecs) => (
                "zarr.json",
                format!(
                    r#"{{"zarr_format":3,"node_type":"array","shape":{shape:?},"data_type":{data_type},"fill_value":{fill},
"chunk_grid":{{"name":"regular","configuration":{{"chunk_shape":{chunk:?}}}}},
"chunk_key_encoding":{{"name":"default","configuration":{{"separator":"/"}}}},"codecs":[{codecs}]}}"#
                ),
            ),
            Type::V2(dtype, fill, filters) => (
                ".zarray",
                format!(
                    r#"{{"zarr_format":2,"shape":{shape:?},"chunks":{chunk:?},"dtype":{dtype},"order":"C","fill_value":{fill},
"compressor":null,"filters":{filters},"dimension_separator":"."}}"#
                ),
            ),
        };
        Case { name: self.name, document, metadata, raw: Some(self.name) }
    }
}

/// Bytes of some random bits.
fn bits(noise: &mut Noise, count: u64, mask: u8, out: &mut Vec<u8>) {
    (0..count.div_ceil(8)).for_each(|_| out.extend(noise.bits().to_le_bytes().map(|byte| byte & mask)));
    out.truncate(usize::try_from(count).unwrap_or(usize::MAX));
}

/// Pairs of bytes, the upper ones such that they make neither NaN nor NaT.
fn words(noise: &mut Noise, count: u64, mask: u16, out: &mut Vec<u8>) {
    (0..count).for_each(|_| out.extend((noise.bits() as u16 & mask).to_le_bytes()));
}

fn letter(noise: &mut Noise) -> u8 {
    b'a' + noise.below(26) as u8
}

/// Lines of 4 to 19 letters.
fn lines(noise: &mut Noise, count: u64, out: &mut Vec<u8>) {
    for number in 0..count {
        if number > 0 {
            out.push(b'\n');
        }
        let len = 4 + noise.below(16);
        let letters = noise.bits();
        out.extend((0..len).map(|at| b'a' + ((letters >> (3 * at)) & 7) as u8 + (at % 3) as u8));
    }
}
