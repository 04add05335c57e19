//! Conversion of HDF5 attributes to JSON.

use std::collections::HashSet;
use std::sync::atomic::Ordering;

use hdf5_reader::ByteOrder;
use hdf5_reader::io::Cursor;
use hdf5_reader::messages::HdfMessage;
use hdf5_reader::messages::attribute::{AttributeMessage, parse};
use hdf5_reader::messages::dataspace::DataspaceType;
use hdf5_reader::messages::datatype::{Datatype, StringPadding, StringSize, VarLenKind};
use hdf5_reader::object_header::ObjectHeader;
use zarr_dtype::DataType;
use zarr_json::{Number, Value};

use crate::element_type::{is_bool, trimmed};
use crate::fault::Refusal;
use crate::file::{File, MAX_ATTRIBUTES};
use crate::heap::Reference;
use crate::links::heap_objects;
use crate::raw;
use crate::raw_numbers::check_numbers;

/// Maximum number of bytes of the attributes of one object.
const MAX_BYTES: usize = 16 << 20;
/// Number of bytes that each value counts toward the limits, in addition to its strings and lists.
const OF_VALUE: usize = 16;

/// Returns the attributes of the object at `address`, in the order of the file. Calls `warn` for each attribute that is left out.
pub(crate) fn attributes(
    file: &File,
    address: u64,
    header: &ObjectHeader,
    warn: &mut dyn FnMut(String),
) -> Result<Vec<AttributeMessage>, Refusal> {
    let mut attributes = Vec::new();
    let mut add = |bytes: &[u8]| {
        let own = match raw::with_own_type(file, bytes) {
            Ok(own) => own,
            Err(refusal) => {
                warn(format!("an attribute is left out: {refusal}"));
                return Ok(());
            }
        };
        let bytes = &own[..];
        let attribute =
            file.guard(|| parse(&mut Cursor::new(bytes), file.offset_size(), file.length_size(), bytes.len()))?;
        let datatype = raw::datatype_of_attribute(bytes);
        let checked = datatype.ok_or_else(|| Refusal::new("it is cut off")).and_then(check_numbers);
        match checked {
            Ok(()) => attributes.push(attribute),
            Err(refusal) => warn(format!("attribute {:?} is left out: {refusal}", attribute.name)),
        }
        Ok(())
    };
    for message in raw::messages(file, address, raw::ATTRIBUTE)? {
        if message.is_shared {
            return Err(Refusal::new("one lies in the table of shared messages, where it cannot be checked"));
        }
        add(&message.bytes)?;
    }
    for message in &header.messages {
        if let HdfMessage::AttributeInfo(info) = message
            && !file.is_undefined(info.fractal_heap_address)
        {
            let by_order = info.btree_creation_order_address.filter(|address| !file.is_undefined(*address));
            let index = by_order.unwrap_or(info.btree_name_index_address);
            for bytes in heap_objects(file, info.fractal_heap_address, index)? {
                add(&bytes)?;
            }
        }
    }
    Ok(attributes)
}

/// Converter from attributes to JSON values, which bounds the number of bytes of all values together.
pub(crate) struct Values<'f> {
    file: &'f File,
    left: usize,
    /// Whether an attribute that is a list of one value becomes that value alone, as in netCDF.
    pub(crate) one_is_scalar: bool,
}

impl<'f> Values<'f> {
    pub(crate) fn new(file: &'f File, one_is_scalar: bool) -> Self {
        Self { file, left: MAX_BYTES, one_is_scalar }
    }

    /// Returns the value of `attribute` as JSON.
    pub(crate) fn value(&mut self, attribute: &AttributeMessage) -> Result<Value, Refusal> {
        let datatype = &attribute.datatype;
        if attribute.dataspace.dataspace_type == DataspaceType::Null {
            return Ok(if is_text(datatype) { Value::from("") } else { Value::Array(Vec::new()) });
        }
        let dims = match attribute.dataspace.dataspace_type {
            DataspaceType::Simple => &attribute.dataspace.dims[..],
            _ => &[],
        };
        let dims = if self.one_is_scalar && dims == [1] { &[] } else { dims };
        let size = self.size_of(datatype)?;
        let mut items = attribute.raw_data.chunks_exact(size.max(1));
        self.nested(datatype, dims, &mut items)
    }

    fn nested<'b>(
        &mut self,
        datatype: &Datatype,
        dims: &[u64],
        items: &mut impl Iterator<Item = &'b [u8]>,
    ) -> Result<Value, Refusal> {
        let Some((&len, inner)) = dims.split_first() else {
            let item = items.next().ok_or_else(|| Refusal::new("its value is cut off"))?;
            return self.item(datatype, item);
        };
        let mut list = Vec::new();
        if inner.contains(&0) {
            return Ok(Value::Array(list));
        }
        for _ in 0..len {
            self.spend(OF_VALUE)?;
            list.push(self.nested(datatype, inner, items)?);
        }
        Ok(Value::Array(list))
    }

    fn item(&mut self, datatype: &Datatype, bytes: &[u8]) -> Result<Value, Refusal> {
        self.spend(OF_VALUE)?;
        Ok(match datatype {
            Datatype::FixedPoint { signed, byte_order, .. } => Value::from(integer(bytes, *signed, *byte_order)?),
            Datatype::Bitfield { byte_order, .. } => Value::from(integer(bytes, false, *byte_order)?),
            Datatype::FloatingPoint { byte_order, .. } => float(bytes, *byte_order)?,
            Datatype::Enum { base, members } => match (&**base, bytes) {
                (Datatype::FixedPoint { size: 1, signed: true, .. }, [byte]) if is_bool(&DataType::Int8, members) => {
                    Value::from(*byte != 0)
                }
                (base, bytes) => self.item(base, bytes)?,
            },
            Datatype::String { size: StringSize::Fixed(_), padding, .. } => self.text(bytes, *padding)?,
            Datatype::String { padding, .. } | Datatype::VarLen { kind: VarLenKind::String, padding, .. } => {
                let padding = *padding;
                let reference = self.reference(bytes)?;
                let text = self.file.element(reference, 1, |text| trimmed(text, padding).to_vec())?;
                self.text(&text, StringPadding::NullTerminate)?
            }
            Datatype::VarLen { base, .. } => {
                let size = self.size_of(base)?;
                let reference = self.reference(bytes)?;
                self.spend((reference.len as usize).saturating_mul(size))?;
                let bytes = self.file.element(reference, size, <[u8]>::to_vec)?;
                let items = bytes.chunks_exact(size.max(1)).map(|item| self.item(base, item));
                Value::Array(items.collect::<Result<_, _>>()?)
            }
            Datatype::Array { base, dims } => {
                let size = self.size_of(base)?;
                self.nested(base, dims, &mut bytes.chunks_exact(size.max(1)))?
            }
            Datatype::Compound { fields, .. } => {
                let mut members = Vec::new();
                for field in fields {
                    let begin = field.byte_offset as usize;
                    let end = begin.saturating_add(self.size_of(&field.datatype)?);
                    let part = bytes.get(begin..end).ok_or_else(|| Refusal::new("a field is cut off"))?;
                    self.spend(field.name.len())?;
                    members.push((field.name.clone(), self.item(&field.datatype, part)?));
                }
                match &members[..] {
                    [(r, re), (i, im)] if r == "r" && i == "i" => Value::Array(vec![re.clone(), im.clone()]),
                    _ => {
                        let mut names = HashSet::new();
                        if let Some((name, _)) = members.iter().find(|(name, _)| !names.insert(name.as_str())) {
                            return Err(Refusal::new(format!("two of its fields have the name {name:?}")));
                        }
                        Value::Object(zarr_json::Map::from_unique(members))
                    }
                }
            }
            Datatype::Reference { .. } => return Err(Refusal::new("references are not read")),
            Datatype::Opaque { .. } => return Err(Refusal::new("bytes without a meaning have no form in JSON")),
            #[allow(unreachable_patterns, reason = "a later reader may know more classes")]
            other => return Err(Refusal::new(format!("the data type {other:?} is not read"))),
        })
    }

    fn reference(&self, bytes: &[u8]) -> Result<Reference, Refusal> {
        Reference::parse(self.file.sizes(), bytes).ok_or_else(|| Refusal::new("a reference to the heap is cut off"))
    }

    fn text(&mut self, bytes: &[u8], padding: StringPadding) -> Result<Value, Refusal> {
        let bytes = trimmed(bytes, padding);
        self.spend(bytes.len())?;
        let text = std::str::from_utf8(bytes).map(str::to_owned);
        // Old files have ISO 8859-1, whose bytes are the first code points.
        Ok(Value::from(text.unwrap_or_else(|_| bytes.iter().map(|&byte| char::from(byte)).collect())))
    }

    fn spend(&mut self, bytes: usize) -> Result<(), Refusal> {
        let spend = |left: u64| left.checked_sub(bytes as u64);
        if self.file.values.fetch_update(Ordering::Relaxed, Ordering::Relaxed, spend).is_err() {
            return Err(Refusal::new(format!("the attributes of the file have more than {MAX_ATTRIBUTES} bytes")));
        }
        self.left = self
            .left
            .checked_sub(bytes)
            .ok_or_else(|| Refusal::new(format!("the attributes of the object have more than {MAX_BYTES} bytes")))?;
        Ok(())
    }

    /// Returns the number of bytes of an element of type `datatype` in the file.
    fn size_of(&self, datatype: &Datatype) -> Result<usize, Refusal> {
        let size = match datatype {
            Datatype::FixedPoint { size, .. }
            | Datatype::FloatingPoint { size, .. }
            | Datatype::Bitfield { size, .. } => usize::from(*size),
            Datatype::Reference { size, .. } => usize::from(*size),
            Datatype::String { size: StringSize::Fixed(size), .. }
            | Datatype::Compound { size, .. }
            | Datatype::Opaque { size, .. } => *size as usize,
            Datatype::String { .. } | Datatype::VarLen { .. } => Reference::size(self.file.sizes()),
            Datatype::Enum { base, .. } => self.size_of(base)?,
            Datatype::Array { base, dims } => {
                let count = dims.iter().try_fold(1_usize, |count, &len| count.checked_mul(usize::try_from(len).ok()?));
                let size = self.size_of(base)?;
                let size = count.and_then(|count| count.checked_mul(size));
                size.ok_or_else(|| Refusal::new("an array in it is too large"))?
            }
            #[allow(unreachable_patterns, reason = "a later reader may know more classes")]
            other => return Err(Refusal::new(format!("the data type {other:?} is not read"))),
        };
        Ok(size)
    }
}

/// Returns whether the values of `datatype` are strings.
pub(crate) fn is_text(datatype: &Datatype) -> bool {
    matches!(datatype, Datatype::String { .. } | Datatype::VarLen { kind: VarLenKind::String, .. })
}

fn little(bytes: &[u8], order: ByteOrder) -> Vec<u8> {
    match order {
        ByteOrder::LittleEndian => bytes.to_vec(),
        ByteOrder::BigEndian => bytes.iter().rev().copied().collect(),
    }
}

fn integer(bytes: &[u8], signed: bool, order: ByteOrder) -> Result<i128, Refusal> {
    let bytes = little(bytes, order);
    if bytes.is_empty() || bytes.len() > 8 {
        return Err(Refusal::new(format!("integers of {} bytes are not read", bytes.len())));
    }
    let value = bytes.iter().rev().fold(0_i128, |value, &byte| value << 8 | i128::from(byte));
    let is_negative = signed && bytes.last().is_some_and(|byte| byte & 0x80 != 0);
    Ok(if is_negative { value - (1 << (8 * bytes.len())) } else { value })
}

fn float(bytes: &[u8], order: ByteOrder) -> Result<Value, Refusal> {
    let bytes = little(bytes, order);
    let value = match &bytes[..] {
        &[a, b] => DataType::Float16.to_f64(&u16::from_le_bytes([a, b]).to_ne_bytes()).unwrap_or(f64::NAN),
        &[a, b, c, d] => f64::from(f32::from_le_bytes([a, b, c, d])),
        &[a, b, c, d, e, f, g, h] => f64::from_le_bytes([a, b, c, d, e, f, g, h]),
        other => return Err(Refusal::new(format!("floats of {} bytes are not read", other.len()))),
    };
    Ok(match Number::from_f64(value) {
        Some(number) => Value::Number(number),
        None if value.is_nan() => Value::from("NaN"),
        None if value > 0.0 => Value::from("Infinity"),
        None => Value::from("-Infinity"),
    })
}

/// Returns the address of the first object of each list of references in `attribute`: `DIMENSION_LIST` has a list for each axis. `None`
/// stands for an empty list.
pub(crate) fn references(file: &File, attribute: &AttributeMessage) -> Result<Vec<Option<u64>>, Refusal> {
    let size = Reference::size(file.sizes());
    let mut addresses = Vec::new();
    for item in attribute.raw_data.chunks_exact(size) {
        let reference = Reference::parse(file.sizes(), item).ok_or_else(|| Refusal::new("a reference is cut off"))?;
        let width = usize::from(file.offset_size());
        let address = file.element(reference, width, |bytes| {
            let first = bytes.get(..width)?;
            Some(first.iter().rev().fold(0, |address, &byte| address << 8 | u64::from(byte)))
        })?;
        addresses.push(address);
    }
    Ok(addresses)
}
