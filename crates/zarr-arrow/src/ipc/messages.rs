//! Messages of the IPC format: members of `Message.fbs`, `Schema.fbs` and `File.fbs` of Arrow, by their numbers.

use super::body::Body;
use super::flat::{Value, buffer};
use crate::schema::{Field, Schema};

/// Version of the metadata: V5, since Arrow 1.0.
const VERSION: i16 = 4;

/// Numbers of schemas and batches in the union of headers of messages.
const SCHEMA: u8 = 1;
const RECORD_BATCH: u8 = 3;

/// Place of a message in a file, with its lengths in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    pub(super) offset: u64,
    pub(super) metadata: usize,
    pub(super) body: usize,
}

pub(super) fn schema(schema: &Schema) -> Vec<u8> {
    message(SCHEMA, schema_table(schema), 0)
}

pub(super) fn batch(rows: usize, body: &Body) -> Vec<u8> {
    let nodes = body.nodes().iter().flat_map(|(len, nulls)| [long(*len), long(*nulls)]).collect();
    let (mut buffers, mut offset) = (Vec::new(), 0);
    for part in body.parts() {
        buffers.extend([long(offset), long(part.len())]);
        offset += part.len().next_multiple_of(super::ALIGNMENT);
    }
    let views: Vec<i64> = body.blocks().iter().map(|count| long(*count)).collect();
    let header = vec![
        Value::Long(long(rows)),
        Value::Structs(body.nodes().len(), nodes),
        Value::Structs(buffers.len() / 2, buffers),
        Value::Absent,
        if views.is_empty() { Value::Absent } else { Value::Structs(views.len(), views) },
    ];
    message(RECORD_BATCH, header, body.len())
}

/// Returns what lies at the end of a file: the schema again, and where the batches are.
pub(super) fn footer(schema: &Schema, blocks: &[Block]) -> Vec<u8> {
    let numbers =
        |block: &Block| [i64::try_from(block.offset).unwrap_or(i64::MAX), long(block.metadata), long(block.body)];
    let places = blocks.iter().flat_map(numbers).collect();
    let none = Value::Structs(0, Vec::new());
    buffer(&[Value::Short(VERSION), Value::Table(schema_table(schema)), none, Value::Structs(blocks.len(), places)])
}

fn message(kind: u8, header: Vec<Value>, body: usize) -> Vec<u8> {
    buffer(&[Value::Short(VERSION), Value::Byte(kind), Value::Table(header), Value::Long(long(body))])
}

fn long(len: usize) -> i64 {
    i64::try_from(len).unwrap_or(i64::MAX)
}

fn schema_table(schema: &Schema) -> Vec<Value> {
    let is_big_endian = i16::from(cfg!(target_endian = "big"));
    vec![Value::Short(is_big_endian), Value::Tables(schema.fields().iter().map(field).collect())]
}

fn field(field: &Field) -> Vec<Value> {
    let (number, members) = data_type(field.format());
    vec![
        Value::Text(field.name().to_owned()),
        Value::Byte(field.is_nullable().into()),
        Value::Byte(number),
        Value::Table(members),
        Value::Absent,
        Value::Tables(field.children().iter().map(self::field).collect()),
    ]
}

/// Returns the number of a type in the union of types, and its members. The formats are those that `kind.rs` makes.
fn data_type(format: &str) -> (u8, Vec<Value>) {
    let int = |bits, is_signed| (2, vec![Value::Int(bits), Value::Byte(u8::from(is_signed))]);
    let float = |precision| (3, vec![Value::Short(precision)]);
    let timestamp = |unit| (10, vec![Value::Short(unit)]);
    let duration = |unit| (18, vec![Value::Short(unit)]);
    match format {
        "c" => int(8, true),
        "C" => int(8, false),
        "s" => int(16, true),
        "S" => int(16, false),
        "i" => int(32, true),
        "I" => int(32, false),
        "l" => int(64, true),
        "L" => int(64, false),
        "e" => float(0),
        "f" => float(1),
        "g" => float(2),
        "b" => (6, Vec::new()),
        "tss:" => timestamp(0),
        "tsm:" => timestamp(1),
        "tsu:" => timestamp(2),
        "tsn:" => timestamp(3),
        "tDs" => duration(0),
        "tDm" => duration(1),
        "tDu" => duration(2),
        "tDn" => duration(3),
        "+s" => (13, Vec::new()),
        "Z" => (19, Vec::new()),
        "U" => (20, Vec::new()),
        "+r" => (22, Vec::new()),
        "vz" => (23, Vec::new()),
        "vu" => (24, Vec::new()),
        sized => {
            let number = |prefix| sized.strip_prefix(prefix).and_then(|len: &str| len.parse().ok());
            match (number("+w:"), number("w:")) {
                (Some(len), _) => (16, vec![Value::Int(len)]),
                (None, len) => (15, vec![Value::Int(len.unwrap_or(0))]),
            }
        }
    }
}
