//! Structs with the derive, beside the struct of the same fields that lies in memory as elements do.

#![allow(clippy::panic, reason = "a test that cannot go on says so")]

use half::{bf16, f16};
use num_complex::Complex;
use proptest::prelude::*;
use zarr::dtype::{DataType, Element, Error, Field, FieldValue, Heap, Offsets, StructType, struct_element};

/// A struct with padding, whose fields the compiler lays out as it likes.
#[derive(Clone, Copy, Debug, PartialEq, zarr::Element)]
struct Record {
    flag: bool,
    time: i64,
    points: [[Point; 2]; 3],
    tag: [u8; 3],
    small: i8,
    half: f16,
    brain: bf16,
    #[zarr(name = "re, im")]
    number: Complex<f32>,
    word: [u32; 2],
    flags: [bool; 2],
    plain: Plain,
}

#[derive(Clone, Copy, Debug, PartialEq, zarr::Element)]
struct Point {
    kind: u8,
    #[zarr(name = "x")]
    position: f64,
}

/// As it lies in memory, within the derived one.
#[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Plain {
    a: u16,
    b: i16,
}
struct_element!(Plain { a, b });

/// The same fields in memory form.
#[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, packed)]
struct Packed {
    flag: u8,
    time: i64,
    points: [[PackedPoint; 2]; 3],
    tag: [u8; 3],
    small: i8,
    half: f16,
    brain: bf16,
    number: Complex<f32>,
    word: [u32; 2],
    flags: [u8; 2],
    plain: Plain,
}
struct_element!(Packed { flag, time, points, tag, small, half, brain, number as "re, im", word, flags, plain });

#[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, packed)]
struct PackedPoint {
    kind: u8,
    x: f64,
}
struct_element!(PackedPoint { kind, x });

impl From<Record> for Packed {
    fn from(record: Record) -> Self {
        Self {
            flag: record.flag.into(),
            time: record.time,
            points: record.points.map(|row| row.map(|Point { kind, position }| PackedPoint { kind, x: position })),
            tag: record.tag,
            small: record.small,
            half: record.half,
            brain: record.brain,
            number: record.number,
            word: record.word,
            flags: record.flags.map(u8::from),
            plain: record.plain,
        }
    }
}

fn records() -> impl Strategy<Value = Vec<Record>> {
    let point = (any::<u8>(), -1e300..1e300).prop_map(|(kind, position)| Point { kind, position });
    let points = prop::array::uniform3(prop::array::uniform2(point));
    let numbers = (any::<i8>(), -9_i8..9, -9_i8..9, -1e30_f32..1e30, any::<[u32; 2]>());
    let record = (any::<[bool; 3]>(), any::<i64>(), points, any::<[u8; 3]>(), numbers, any::<(u16, i16)>()).prop_map(
        |([flag, flags @ ..], time, points, tag, (small, half, brain, number, word), (a, b))| Record {
            flag,
            time,
            points,
            tag,
            small,
            half: f16::from(half),
            brain: bf16::from(brain),
            number: Complex::new(number, -number),
            word,
            flags,
            plain: Plain { a, b },
        },
    );
    prop::collection::vec(record, 0..300)
}

fn fields(data_type: &DataType) -> Vec<Field> {
    let DataType::Struct(fields) = data_type else { panic!("{data_type} is no struct") };
    fields.fields().to_vec()
}

fn of(fields: Vec<Field>) -> DataType {
    DataType::Struct(StructType::new(fields).unwrap())
}

/// The bytes of each field of `items`, in the order of `from`, in that of `to`, whose fields are the same.
fn reordered(from: &DataType, to: &DataType, items: &[u8]) -> Vec<u8> {
    let (DataType::Struct(from), DataType::Struct(to)) = (from, to) else { return items.to_vec() };
    let element = |item: &[u8]| -> Vec<u8> {
        let of_field = |field: &Field| {
            let (range, own) = from.get(&field.name).unwrap();
            let count = usize::try_from(own.shape.iter().product::<u64>()).unwrap();
            let size = range.len() / count;
            item[range]
                .chunks(size)
                .flat_map(|item| reordered(&own.data_type, &field.data_type, item))
                .collect::<Vec<_>>()
        };
        to.fields().iter().flat_map(of_field).collect()
    };
    items.chunks(from.item_size()).flat_map(element).collect()
}

proptest! {
    #[test]
    fn elements_equal_the_packed_struct(records in records()) {
        let (heap, own) = (Heap::new(), Record::default_data_type().unwrap());
        let items = Record::to_items(&own, &records, &heap).unwrap();
        prop_assert_eq!(items.len(), records.len() * size_of::<Packed>());
        let packed: Vec<Packed> = records.iter().copied().map(Packed::from).collect();
        prop_assert_eq!(&Packed::from_items(&with_bools_of_bytes(&own), &items, &heap).unwrap(), &packed);
        prop_assert_eq!(Record::from_items(&own, &items, &heap).unwrap(), records);
    }

    #[test]
    fn fields_go_by_name(records in records(), order in Just((0..11_usize).collect::<Vec<_>>()).prop_shuffle()) {
        let (heap, own) = (Heap::new(), Record::default_data_type().unwrap());
        let own_fields = fields(&own);
        let mut shuffled: Vec<Field> = order.iter().map(|&index| own_fields[index].clone()).collect();
        // The struct within it is the other way round as well.
        let points = shuffled.iter_mut().find(|field| field.name == "points").unwrap();
        points.data_type = of(fields(&points.data_type).into_iter().rev().collect());
        let other = of(shuffled);
        let items = Record::to_items(&other, &records, &heap).unwrap();
        prop_assert_eq!(&reordered(&other, &own, &items), &Record::to_items(&own, &records, &heap).unwrap());
        prop_assert_eq!(Record::from_items(&other, &items, &heap).unwrap(), records);
    }
}

/// The arrays of bools of the packed struct, which has none.
fn with_bools_of_bytes(own: &DataType) -> DataType {
    let mut fields = fields(own);
    for field in fields.iter_mut().filter(|field| field.name == "flags") {
        *field = Field::new("flags", DataType::RawBytes { len: 2 });
    }
    of(fields)
}

fn refused(change: impl Fn(&mut Vec<Field>)) -> String {
    let mut fields = fields(&Record::default_data_type().unwrap());
    change(&mut fields);
    let data_type = of(fields);
    assert!(!Record::accepts(&data_type));
    let error = Record::from_items(&data_type, &[], &Heap::new()).unwrap_err();
    assert_eq!(Record::to_items(&data_type, &[], &Heap::new()).unwrap_err(), error);
    let text = error.to_string();
    let begin = format!("elements do not fit the Rust type {}: ", std::any::type_name::<Record>());
    text.strip_prefix(&begin).unwrap_or_else(|| panic!("{text}")).to_owned()
}

#[test]
fn errors_name_the_field() {
    assert_eq!(refused(|fields| drop(fields.remove(1))), "field time: found no such field, expected int64");
    assert_eq!(
        refused(|fields| fields.push(Field::array("more", DataType::UInt8, &[4]))),
        "field more: found uint8 in shape [4], expected no such field"
    );
    assert_eq!(refused(|fields| fields[0].data_type = DataType::UInt8), "field flag: found uint8, expected bool");
    assert_eq!(refused(|fields| fields[0].shape = vec![2]), "field flag: found bool in shape [2], expected bool");
    assert!(refused(|fields| fields[2].shape = vec![2, 3]).starts_with("field points: found"));
    assert_eq!(refused(|fields| fields[2].data_type = DataType::Bool), "field points: found bool, expected a struct");
    assert_eq!(
        refused(|fields| {
            let mut inner = self::fields(&fields[2].data_type);
            inner[1].data_type = DataType::Float32;
            fields[2].data_type = of(inner);
        }),
        "field points.x: found float32, expected float64"
    );
    let error = Record::check(&DataType::Float32).unwrap_err().to_string();
    let name = std::any::type_name::<Record>();
    assert_eq!(error, format!("elements of data type float32 do not fit the Rust type {name}"));
}

#[test]
fn fields_take_all_data_types_of_their_type() {
    let mut fields = fields(&Record::default_data_type().unwrap());
    for (name, data_type) in
        [("tag", DataType::FixedBytes { len: 3 }), ("small", DataType::Int4), ("word", DataType::FixedUtf32 { len: 2 })]
    {
        let field = fields.iter_mut().find(|field| field.name == name).unwrap();
        (field.data_type, field.shape) = (data_type, Vec::new());
    }
    let (data_type, heap) = (of(fields), Heap::new());
    let zeros = Record::zeroed_vec(2).unwrap();
    let items = Record::to_items(&data_type, &zeros, &heap).unwrap();
    assert_eq!(items, vec![0; 2 * data_type.item_size()]);
    assert_eq!(Record::from_items(&data_type, &items, &heap).unwrap(), zeros);

    let wrong = Record { small: 8, ..zeros[0] };
    let error = Record::to_items(&data_type, &[zeros[0], wrong], &heap).unwrap_err();
    assert_eq!(error.to_string(), "element 1: found byte 0x08, expected an int4: -8 to 7");
    let mut items = items;
    items[data_type.item_size()] = 2;
    let error = Record::from_items(&data_type, &items, &heap).unwrap_err();
    assert_eq!(error.to_string(), "element 1: found byte 0x02, expected a bool: 0x00 or 0x01");
    assert!(matches!(Record::from_items(&data_type, &items[1..], &heap), Err(Error::Size { .. })));
}

#[derive(Clone, Debug, PartialEq, zarr::Element)]
struct Ranged<T: Copy, const N: usize>
where
    T: PartialOrd,
{
    low: T,
    high: [T; N],
    r#type: u8,
}

#[derive(Clone, Debug, PartialEq, zarr::Element)]
struct Tuple(#[zarr(name = "a")] i16, #[zarr(name = "b")] Sky);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Sky {
    Clear,
    Overcast,
}

impl FieldValue for Sky {
    const SIZE: usize = 1;
    const PARTS: usize = 0;

    fn offsets(data_type: &DataType, shape: &[u64], into: &mut Vec<usize>) -> Result<(), Error> {
        bool::offsets(data_type, shape, into)
    }

    fn field_type() -> Result<(DataType, Vec<u64>), Error> {
        bool::field_type()
    }

    fn zero() -> Self {
        Self::Clear
    }

    fn load(&mut self, offsets: Offsets<'_>, bytes: &[u8]) -> Result<(), Error> {
        let mut overcast = false;
        overcast.load(offsets, bytes)?;
        *self = if overcast { Self::Overcast } else { Self::Clear };
        Ok(())
    }

    fn store(&self, offsets: Offsets<'_>, bytes: &mut [u8]) -> Result<(), Error> {
        matches!(self, Self::Overcast).store(offsets, bytes)
    }
}

#[test]
fn parameters_tuples_and_own_types() {
    let heap = Heap::new();
    let data_type = Ranged::<f32, 2>::default_data_type().unwrap();
    let ranged = [Ranged { low: 1.5_f32, high: [2.5, 3.5], r#type: 7 }];
    let items = Ranged::to_items(&data_type, &ranged, &heap).unwrap();
    assert_eq!(Ranged::from_items(&data_type, &items, &heap).unwrap(), ranged);
    let expected = [
        Field::new("low", DataType::Float32),
        Field::array("high", DataType::Float32, &[2]),
        Field::new("type", DataType::UInt8),
    ];
    assert_eq!(fields(&data_type), expected);
    assert!(!Ranged::<f64, 2>::accepts(&data_type));

    let data_type = Tuple::default_data_type().unwrap();
    let tuples = [Tuple(-1, Sky::Overcast), Tuple(2, Sky::Clear)];
    let items = Tuple::to_items(&data_type, &tuples, &heap).unwrap();
    assert_eq!(items, [&(-1_i16).to_ne_bytes()[..], &[1], &2_i16.to_ne_bytes(), &[0]].concat());
    assert_eq!(Tuple::from_items(&data_type, &items, &heap).unwrap(), tuples);
    let error = Tuple::from_items(&data_type, &[0, 0, 0, 0, 0, 7], &heap).unwrap_err();
    assert_eq!(error.to_string(), "element 1: found byte 0x07, expected a bool: 0x00 or 0x01");
}
