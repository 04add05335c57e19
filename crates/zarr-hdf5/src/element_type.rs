//! Conversion of HDF5 data types, and of the bytes of their elements, to Zarr.

use hdf5_reader::ByteOrder;
use hdf5_reader::messages::datatype::{CompoundField, Datatype, EnumMember, StringPadding, StringSize, VarLenKind};
use zarr_dtype::{DataType, Field, StructType, TimeUnit, Unit};

use crate::fault::Refusal;
use crate::raw_numbers::{check_numbers, known_float, u32_at};

/// Data type of a data set: its layout in the file and its Zarr data type.
#[derive(Clone, Debug)]
pub(crate) struct Stored {
    pub(crate) data_type: DataType,
    /// Number of bytes of an element in the file, of an inner element if `shape` is not empty; 0 if the length is variable.
    pub(crate) size: usize,
    /// Shape of each element of an HDF5 array type, which the Zarr array has as its last axes; empty for other types.
    pub(crate) shape: Vec<u64>,
    pub(crate) content: Content,
}

/// Conversion from the bytes of elements in the file to those of Zarr.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    /// Elements of fixed size, which consist of these parts.
    Fixed(Vec<Part>),
    /// Strings of variable length: elements in the file are references to the global heap.
    Texts,
    /// Lists of variable length: elements in the file are references to the global heap.
    Lists {
        /// Number of bytes of a list item in the file.
        size: usize,
        parts: Vec<Part>,
        /// Data type of the converted list items, in the notation of numpy.
        numpy: String,
    },
}

/// Part of an element: numbers, strings or bytes of one form that follow each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    /// Offset of the part in the element, in bytes.
    at: usize,
    /// Number of bytes of one number or string.
    width: usize,
    /// Number of numbers or strings in the part.
    count: usize,
    form: Form,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// Bytes without a byte order.
    Bytes,
    Number(ByteOrder),
    /// String of fixed length, with its kind of padding.
    Text(StringPadding),
}

/// Byte order of elements that Zarr can read without conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// Single bytes, which have no byte order.
    None,
    Little,
    Big,
}

impl Stored {
    /// Converts the data type of a data set.
    pub(crate) fn new(datatype: &Datatype) -> Result<Self, Refusal> {
        match datatype {
            Datatype::String { size: StringSize::Variable, .. } | Datatype::VarLen { kind: VarLenKind::String, .. } => {
                Ok(Self { data_type: DataType::String, size: 0, shape: Vec::new(), content: Content::Texts })
            }
            Datatype::VarLen { base, .. } => {
                let inner = Self::new(base)?;
                let Content::Fixed(parts) = inner.content else {
                    return Err(Refusal::new("lists of elements of variable length are not read"));
                };
                let numpy = numpy_name(&inner.data_type).filter(|_| inner.shape.is_empty());
                let numpy = numpy.ok_or_else(|| Refusal::new(format!("lists of {} are not read", inner.data_type)))?;
                Ok(Self {
                    data_type: DataType::VlenArray(Box::new(inner.data_type)),
                    size: 0,
                    shape: Vec::new(),
                    content: Content::Lists { size: inner.size, parts, numpy },
                })
            }
            Datatype::Array { base, dims } => {
                let inner = Self::new(base)?;
                if !matches!(inner.content, Content::Fixed(_)) {
                    return Err(Refusal::new("arrays of elements of variable length in elements are not read"));
                }
                Ok(Self { shape: [&dims[..], &inner.shape].concat(), ..inner })
            }
            fixed => {
                let mut parts = Vec::new();
                let (data_type, size) = fixed_type(fixed, 0, &mut parts)?;
                Ok(Self { data_type, size, shape: Vec::new(), content: Content::Fixed(merged(parts)) })
            }
        }
    }

    /// Returns the number of inner elements of an element: 1 for types other than array types. `None` if the number overflows.
    pub(crate) fn count(&self) -> Option<usize> {
        self.shape.iter().try_fold(1_usize, |count, &len| count.checked_mul(usize::try_from(len).ok()?))
    }

    /// Returns the number of JSON values that an element takes in the fill value of a document.
    pub(crate) fn numbers(&self) -> usize {
        let Content::Fixed(parts) = &self.content else { return 1 };
        let numbers = parts.iter().map(|part| match part.form {
            Form::Bytes => part.width.saturating_mul(part.count),
            Form::Number(_) | Form::Text(_) => part.count,
        });
        numbers.fold(0, usize::saturating_add)
    }

    /// Returns the byte order of the elements if Zarr can read them without conversion; `None` if they have gaps, mixed byte orders or
    /// strings whose padding must change.
    pub(crate) fn order(&self) -> Option<Order> {
        let Content::Fixed(parts) = &self.content else { return None };
        let (mut end, mut order) = (0, Order::None);
        for part in parts {
            let of_part = match part.form {
                Form::Bytes => Order::None,
                Form::Number(ByteOrder::LittleEndian) => Order::Little,
                Form::Number(ByteOrder::BigEndian) => Order::Big,
                // A text of one byte has nothing behind its end.
                Form::Text(StringPadding::NullPad) => Order::None,
                Form::Text(StringPadding::NullTerminate) if part.width == 1 => Order::None,
                Form::Text(_) => return None,
            };
            if part.at != end || order != Order::None && of_part != Order::None && order != of_part {
                return None;
            }
            order = if of_part == Order::None { order } else { of_part };
            end += part.width * part.count;
        }
        (end == self.size).then_some(order)
    }
}

/// Returns the number of bytes of an element that [`append_elements`] writes.
pub(crate) fn made_size(parts: &[Part]) -> usize {
    parts.iter().map(|part| part.width * part.count).sum()
}

/// Appends the elements in `items`, of `size` bytes each, to `out` in the form of Zarr: without gaps, with numbers in the byte order `to`.
/// Ignores an incomplete element at the end.
pub(crate) fn append_elements(parts: &[Part], size: usize, items: &[u8], to: ByteOrder, out: &mut Vec<u8>) {
    for item in items.chunks_exact(size.max(1)) {
        for part in parts {
            let bytes = item.get(part.at..part.at + part.width * part.count).unwrap_or_default();
            match part.form {
                Form::Number(order) if order != to => {
                    for number in bytes.chunks_exact(part.width) {
                        out.extend(number.iter().rev());
                    }
                }
                Form::Bytes | Form::Number(_) => out.extend_from_slice(bytes),
                Form::Text(padding) => {
                    for text in bytes.chunks_exact(part.width) {
                        let content = trimmed(text, padding);
                        out.extend_from_slice(content);
                        out.resize(out.len() + text.len() - content.len(), 0);
                    }
                }
            }
        }
    }
}

/// Returns the string `text` without its padding.
pub(crate) fn trimmed(text: &[u8], padding: StringPadding) -> &[u8] {
    let end = |pad: u8| text.iter().rposition(|byte| *byte != pad).map_or(0, |last| last + 1);
    let end = match padding {
        StringPadding::NullTerminate => text.iter().position(|byte| *byte == 0).unwrap_or(text.len()),
        StringPadding::NullPad => end(0),
        StringPadding::SpacePad => end(b' '),
    };
    text.get(..end).unwrap_or(text)
}

/// Byte order of this machine.
pub(crate) const NATIVE: ByteOrder =
    if cfg!(target_endian = "big") { ByteOrder::BigEndian } else { ByteOrder::LittleEndian };

/// Maximum number of bytes of an element.
const MAX_SIZE: usize = 1 << 24;

/// Returns the Zarr data type of an element of fixed size and its number of bytes in the file. Adds its parts, with offsets from `at`, to
/// `parts`.
fn fixed_type(datatype: &Datatype, at: usize, parts: &mut Vec<Part>) -> Result<(DataType, usize), Refusal> {
    let mut part = |width: usize, count: usize, form: Form| parts.push(Part { at, width, count, form });
    let number = |size: usize, order: ByteOrder| if size == 1 { Form::Bytes } else { Form::Number(order) };
    Ok(match datatype {
        Datatype::FixedPoint { size, signed, byte_order, .. } => {
            let size = usize::from(*size);
            part(size, 1, number(size, *byte_order));
            (integer(size, *signed)?, size)
        }
        Datatype::Bitfield { size, byte_order } => {
            let size = usize::from(*size);
            part(size, 1, number(size, *byte_order));
            (integer(size, false)?, size)
        }
        Datatype::FloatingPoint { size, byte_order, .. } => {
            let size = usize::from(*size);
            part(size, 1, number(size, *byte_order));
            (float(size)?, size)
        }
        Datatype::Enum { base, members } => {
            let (data_type, size) = fixed_type(base, at, parts)?;
            (if is_bool(&data_type, members) { DataType::Bool } else { data_type }, size)
        }
        Datatype::String { size: StringSize::Fixed(size), padding, .. } => {
            let len = *size;
            let size = checked(len)?;
            part(size, 1, Form::Text(*padding));
            (DataType::FixedBytes { len }, size)
        }
        Datatype::Opaque { size, tag } => {
            let len = *size;
            let size = checked(len)?;
            match numpy_time(tag).filter(|_| size == 8) {
                Some(data_type) => {
                    part(size, 1, Form::Number(ByteOrder::LittleEndian));
                    (data_type, size)
                }
                None => {
                    part(size, 1, Form::Bytes);
                    (DataType::RawBytes { len }, size)
                }
            }
        }
        Datatype::Compound { size, fields } => (compound(fields, at, parts)?, checked(*size)?),
        Datatype::Array { .. } => return Err(Refusal::new("arrays of arrays in elements are not read")),
        Datatype::Reference { .. } => return Err(Refusal::new("references are not read")),
        Datatype::String { .. } | Datatype::VarLen { .. } => {
            return Err(Refusal::new("fields of variable length in compound elements are not read"));
        }
        #[allow(unreachable_patterns, reason = "a later reader may know more classes")]
        other => return Err(Refusal::new(format!("the data type {other:?} is not read"))),
    })
}

fn checked(size: u32) -> Result<usize, Refusal> {
    let size = size as usize;
    match size {
        0 => Err(Refusal::new("elements without bytes are not read")),
        _ if size > MAX_SIZE => {
            Err(Refusal::new(format!("elements of {size} bytes are not read, at most {MAX_SIZE} are")))
        }
        _ => Ok(size),
    }
}

fn integer(size: usize, signed: bool) -> Result<DataType, Refusal> {
    Ok(match (size, signed) {
        (1, true) => DataType::Int8,
        (2, true) => DataType::Int16,
        (4, true) => DataType::Int32,
        (8, true) => DataType::Int64,
        (1, false) => DataType::UInt8,
        (2, false) => DataType::UInt16,
        (4, false) => DataType::UInt32,
        (8, false) => DataType::UInt64,
        _ => return Err(Refusal::new(format!("integers of {size} bytes are not read"))),
    })
}

fn float(size: usize) -> Result<DataType, Refusal> {
    Ok(match size {
        2 => DataType::Float16,
        4 => DataType::Float32,
        8 => DataType::Float64,
        _ => return Err(Refusal::new(format!("floats of {size} bytes are not read"))),
    })
}

/// Returns whether the enumeration of `base` with `members` is the boolean type of h5py.
pub(crate) fn is_bool(base: &DataType, members: &[EnumMember]) -> bool {
    let has = |name: &str, value: u8| members.iter().any(|member| member.name == name && member.value == [value]);
    *base == DataType::Int8 && members.len() == 2 && has("FALSE", 0) && has("TRUE", 1)
}

/// Returns the data type of numpy times, which h5py stores as opaque bytes with `tag`; `None` for other opaque types.
fn numpy_time(tag: &str) -> Option<DataType> {
    let name = tag.trim_end_matches('\0').strip_prefix("NUMPY:")?;
    let name = name.strip_prefix('<').unwrap_or(name);
    let (kind, unit) = name.strip_suffix(']')?.split_once("8[")?;
    let digits = unit.find(|c: char| !c.is_ascii_digit())?;
    let scale: u32 = if digits == 0 { 1 } else { unit.get(..digits)?.parse().ok().filter(|scale| *scale > 0)? };
    let unit = TimeUnit { unit: Unit::from_code(unit.get(digits..)?)?, scale };
    match kind {
        "M" => Some(DataType::DateTime64(unit)),
        "m" => Some(DataType::TimeDelta64(unit)),
        _ => None,
    }
}

/// Converts a compound type: to a complex number if it has the form that h5py uses for complex numbers, else to a struct.
fn compound(fields: &[CompoundField], at: usize, parts: &mut Vec<Part>) -> Result<DataType, Refusal> {
    let mut typed = Vec::new();
    for field in fields {
        let begin = at.checked_add(field.byte_offset as usize).filter(|begin| *begin <= MAX_SIZE);
        let begin =
            begin.ok_or_else(|| Refusal::new(format!("the field {:?} begins behind all elements", field.name)))?;
        let within = |refusal: Refusal| refusal.within(&field.name);
        let (base, shape) = match &field.datatype {
            Datatype::Array { base, dims } => (&**base, dims.clone()),
            single => (single, Vec::new()),
        };
        let count = shape.iter().try_fold(1_usize, |count, &len| count.checked_mul(usize::try_from(len).ok()?));
        let first = parts.len();
        let (data_type, size) = fixed_type(base, begin, parts).map_err(within)?;
        let bytes = count.and_then(|count| count.checked_mul(size)).filter(|bytes| *bytes <= MAX_SIZE);
        let (Some(count), Some(_)) = (count, bytes) else {
            return Err(Refusal::new(format!("the array {:?} in elements is too large", field.name)));
        };
        repeat(parts, first, size, count).map_err(within)?;
        typed.push(Field::array(&field.name, data_type, &shape));
    }
    if let [r, i] = &typed[..]
        && (r.name.as_str(), i.name.as_str()) == ("r", "i")
        && r.data_type == i.data_type
        && r.shape.is_empty()
        && i.shape.is_empty()
    {
        match r.data_type {
            DataType::Float16 => return Ok(DataType::ComplexFloat16),
            DataType::Float32 => return Ok(DataType::Complex64),
            DataType::Float64 => return Ok(DataType::Complex128),
            _ => {}
        }
    }
    let made = StructType::new(typed).map_err(|error| Refusal::new(error.to_string()))?;
    Ok(DataType::Struct(made))
}

/// Maximum number of parts of an element.
const MAX_PARTS: usize = 4096;

/// Repeats the parts `parts[first..]`, which are one element of `size` bytes, so that `parts` has `count` elements in a row.
fn repeat(parts: &mut Vec<Part>, first: usize, size: usize, count: usize) -> Result<(), Refusal> {
    if let [part] = &mut parts[first..]
        && part.width * part.count == size
    {
        part.count *= count;
        return Ok(());
    }
    let one = parts.len() - first;
    if one.saturating_mul(count) > MAX_PARTS {
        return Err(Refusal::new(format!("an array of {count} structs in elements is not read")));
    }
    for index in 1..count {
        for number in first..first + one {
            let part = Part { at: parts[number].at + index * size, ..parts[number].clone() };
            parts.push(part);
        }
    }
    Ok(())
}

/// Joins neighbouring parts of the same form.
fn merged(parts: Vec<Part>) -> Vec<Part> {
    let mut merged: Vec<Part> = Vec::new();
    for part in parts {
        match merged.last_mut() {
            Some(last)
                if last.form == part.form
                    && last.width == part.width
                    && last.at + last.width * last.count == part.at
                    && !matches!(part.form, Form::Text(_)) =>
            {
                last.count += part.count;
            }
            _ => merged.push(part),
        }
    }
    merged
}

/// Returns the data type in the notation of numpy, in little-endian order; `None` for types that lists cannot have.
fn numpy_name(data_type: &DataType) -> Option<String> {
    Some(match data_type {
        DataType::Bool => "|b1".to_owned(),
        DataType::Int8 => "|i1".to_owned(),
        DataType::UInt8 => "|u1".to_owned(),
        DataType::Int16 => "<i2".to_owned(),
        DataType::Int32 => "<i4".to_owned(),
        DataType::Int64 => "<i8".to_owned(),
        DataType::UInt16 => "<u2".to_owned(),
        DataType::UInt32 => "<u4".to_owned(),
        DataType::UInt64 => "<u8".to_owned(),
        DataType::Float16 => "<f2".to_owned(),
        DataType::Float32 => "<f4".to_owned(),
        DataType::Float64 => "<f8".to_owned(),
        DataType::Complex64 => "<c8".to_owned(),
        DataType::Complex128 => "<c16".to_owned(),
        _ => return None,
    })
}

impl Stored {
    /// Refuses integers that do not use all their bits, and floats of unsupported formats. `raw` is the encoded data type in the file. Sets
    /// `self.data_type` to the format of a float, which `hdf5_reader` does not tell apart.
    pub(crate) fn check(&mut self, raw: &[u8]) -> Result<(), Refusal> {
        if raw.first().is_some_and(|class| class & 15 == 1)
            && let Content::Fixed(_) = self.content
        {
            let data_type = known_float(raw)?;
            if u32_at(raw, 4).is_none_or(|size| size as usize != self.size) {
                return Err(Refusal::new(format!("found floats of another size than {} bytes", self.size)));
            }
            self.data_type = data_type;
            return Ok(());
        }
        check_numbers(raw)
    }
}
