use bytemuck::Pod;
use bytemuck::Zeroable;
use zarr_dtype::*;

#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
struct Point {
    x: f32,
    y: f32,
}
struct_element!(Point { x, y });

#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, packed)]
struct Record {
    flag: u8,
    points: [[Point; 2]; 3],
    time: i64,
    tag: [u8; 3],
    word: [u32; 2],
}
struct_element!(Record { flag, points, time, tag, word as "text" });

fn record() -> Vec<Field> {
    let point = StructType::new(vec![Field::new("x", DataType::Float32), Field::new("y", DataType::Float32)]);
    vec![
        Field::new("flag", DataType::Bool),
        Field::array("points", DataType::Struct(point.unwrap()), &[3, 2]),
        Field::new("time", DataType::DateTime64(TimeUnit::new(Unit::Day))),
        Field::new("tag", DataType::FixedBytes { len: 3 }),
        Field::new("text", DataType::FixedUtf32 { len: 2 }),
    ]
}

fn accepted(change: impl Fn(&mut Vec<Field>)) -> bool {
    let mut fields = record();
    change(&mut fields);
    Record::accepts(&DataType::Struct(StructType::new(fields).unwrap()))
}

#[test]
fn fields_have_to_be_the_same() {
    assert!(accepted(|_| ()));
    assert!(!accepted(|fields| fields.swap(3, 4)));
    assert!(!accepted(|fields| fields[0].name = "mark".to_owned()));
    assert!(!accepted(|fields| fields[0].data_type = DataType::Int8));
    assert!(!accepted(|fields| fields[1].shape = vec![2, 3]));
    assert!(!accepted(|fields| fields[1].shape = vec![6]));
    assert!(!accepted(|fields| fields[2].data_type = DataType::Float64));
    assert!(!accepted(|fields| fields[3].data_type = DataType::RawBytes { len: 4 }));
    assert!(!accepted(|fields| drop(fields.pop())));
    assert!(!accepted(|fields| fields.push(Field::new("more", DataType::UInt8))));
    assert!(!Record::accepts(&DataType::RawBits(68)));
}

#[test]
fn elements_come_back() {
    let data_type = DataType::Struct(StructType::new(record()).unwrap());
    let point = |x: f32| Point { x, y: -x };
    let one = Record {
        flag: 1,
        points: [[point(1.0), point(2.0)], [point(3.0), point(4.0)], [point(5.0), point(6.0)]],
        time: -1,
        tag: *b"ab\0",
        word: [0x61, 0],
    };
    let heap = Heap::new();
    let items = Record::to_items(&data_type, &[one, one], &heap).unwrap();
    assert_eq!(Record::from_items(&data_type, &items, &heap).unwrap(), [one, one]);
    assert_eq!(
        print::to_text(&data_type, &items[..68], None),
        r#"(true, [[(1.0, -1.0), (2.0, -2.0)], [(3.0, -3.0), (4.0, -4.0)], [(5.0, -5.0), (6.0, -6.0)]], 1969-12-31, "ab", "a")"#
    );
    let wrong = Record { flag: 2, ..one };
    let error = Record::to_items(&data_type, &[one, wrong], &heap).unwrap_err();
    assert_eq!(error.to_string(), "element 1: found byte 0x02, expected a bool: 0x00 or 0x01");
    let own = Record::default_data_type().unwrap();
    assert!(Record::accepts(&own));
    assert_eq!(own.item_size(), 68);
}
