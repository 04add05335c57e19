//! Arrays of arrow-rs over the buffers of arrays.

use crate::data::{Buffer, Data};
use arrow_array::types::{
    ArrowPrimitiveType, BinaryViewType, ByteArrayType, ByteViewType, DurationMicrosecondType, DurationMillisecondType,
    DurationNanosecondType, DurationSecondType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, LargeBinaryType, LargeUtf8Type, StringViewType, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, FixedSizeBinaryArray, FixedSizeListArray, GenericByteArray,
    GenericByteViewArray, PrimitiveArray, RunArray, StructArray,
};
use arrow_buffer::{ArrowNativeType, BooleanBuffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType, Field, TimeUnit};
use bytes::Bytes;
use std::sync::Arc;

impl AsRef<[u8]> for Buffer {
    fn as_ref(&self) -> &[u8] {
        self.bytes()
    }
}

/// Makes the array of a column, or of a part of it.
///
/// # Errors
/// Errors of an array that has not the buffers of its type, which would be a fault of this crate.
pub(super) fn array(field: &Field, data: &Data) -> Result<ArrayRef, ArrowError> {
    Ok(match field.data_type() {
        DataType::Boolean => Arc::new(BooleanArray::new(bits(data, 1)?, nulls(data))),
        DataType::Int8 => primitive::<Int8Type>(data)?,
        DataType::Int16 => primitive::<Int16Type>(data)?,
        DataType::Int32 => primitive::<Int32Type>(data)?,
        DataType::Int64 => primitive::<Int64Type>(data)?,
        DataType::UInt8 => primitive::<UInt8Type>(data)?,
        DataType::UInt16 => primitive::<UInt16Type>(data)?,
        DataType::UInt32 => primitive::<UInt32Type>(data)?,
        DataType::UInt64 => primitive::<UInt64Type>(data)?,
        DataType::Float16 => primitive::<Float16Type>(data)?,
        DataType::Float32 => primitive::<Float32Type>(data)?,
        DataType::Float64 => primitive::<Float64Type>(data)?,
        DataType::Timestamp(TimeUnit::Second, _) => primitive::<TimestampSecondType>(data)?,
        DataType::Timestamp(TimeUnit::Millisecond, _) => primitive::<TimestampMillisecondType>(data)?,
        DataType::Timestamp(TimeUnit::Microsecond, _) => primitive::<TimestampMicrosecondType>(data)?,
        DataType::Timestamp(TimeUnit::Nanosecond, _) => primitive::<TimestampNanosecondType>(data)?,
        DataType::Duration(TimeUnit::Second) => primitive::<DurationSecondType>(data)?,
        DataType::Duration(TimeUnit::Millisecond) => primitive::<DurationMillisecondType>(data)?,
        DataType::Duration(TimeUnit::Microsecond) => primitive::<DurationMicrosecondType>(data)?,
        DataType::Duration(TimeUnit::Nanosecond) => primitive::<DurationNanosecondType>(data)?,
        DataType::LargeUtf8 => byte_strings::<LargeUtf8Type>(data)?,
        DataType::LargeBinary => byte_strings::<LargeBinaryType>(data)?,
        DataType::Utf8View => views::<StringViewType>(data)?,
        DataType::BinaryView => views::<BinaryViewType>(data)?,
        DataType::FixedSizeBinary(len) => {
            let size = usize::try_from(*len).unwrap_or(0);
            let items = buffer(data, 1)?.slice_with_length(data.offset * size, data.len * size);
            Arc::new(FixedSizeBinaryArray::try_new_with_len(*len, items, nulls(data), data.len)?)
        }
        DataType::FixedSizeList(items, len) => {
            let [child] = data.child_data() else { return Err(malformed(field)) };
            let child = array(items, child)?;
            Arc::new(FixedSizeListArray::try_new_with_length(Arc::clone(items), *len, child, nulls(data), data.len)?)
        }
        DataType::Struct(fields) => {
            let children = fields.iter().zip(data.child_data()).map(|(field, child)| array(field, child));
            let children = children.collect::<Result<Vec<_>, _>>()?;
            Arc::new(StructArray::try_new_with_length(fields.clone(), children, nulls(data), data.len)?)
        }
        DataType::RunEndEncoded(_, values) => {
            let [ends, runs] = data.child_data() else { return Err(malformed(field)) };
            Arc::new(RunArray::try_new(&numbers::<Int32Type>(ends)?, &array(values, runs)?)?)
        }
        DataType::Dictionary(_, values) => {
            let dictionary = data.dictionary().ok_or_else(|| malformed(field))?;
            let values = array(&Field::new("", values.as_ref().clone(), true), dictionary)?;
            Arc::new(DictionaryArray::try_new(numbers::<Int32Type>(data)?, values)?)
        }
        _ => return Err(malformed(field)),
    })
}

fn malformed(field: &Field) -> ArrowError {
    ArrowError::InvalidArgumentError(format!("found an array without what the type {} has", field.data_type()))
}

/// Shares a buffer with arrow-rs.
fn shared(buffer: &Buffer) -> arrow_buffer::Buffer {
    arrow_buffer::Buffer::from(Bytes::from_owner(buffer.clone()))
}

fn buffer(data: &Data, number: usize) -> Result<arrow_buffer::Buffer, ArrowError> {
    let found = data.buffers().get(number).and_then(Option::as_ref).map(shared);
    found.ok_or_else(|| ArrowError::InvalidArgumentError(format!("found an array without buffer {number}")))
}

fn nulls(data: &Data) -> Option<NullBuffer> {
    let validity = data.buffers().first().filter(|_| data.has_validity)?.as_ref()?;
    Some(NullBuffer::new(BooleanBuffer::new(shared(validity), data.offset, data.len)))
}

fn bits(data: &Data, number: usize) -> Result<BooleanBuffer, ArrowError> {
    Ok(BooleanBuffer::new(buffer(data, number)?, data.offset, data.len))
}

/// Returns `len` items of a buffer from the first one that the array has; a copy of these, if they are not aligned.
fn items<T: ArrowNativeType>(data: &Data, number: usize, len: usize) -> Result<ScalarBuffer<T>, ArrowError> {
    let found = buffer(data, number)?;
    if found.as_ptr().align_offset(align_of::<T>()) == 0 {
        return Ok(ScalarBuffer::new(found, data.offset, len));
    }
    let part = found.slice_with_length(data.offset * size_of::<T>(), len * size_of::<T>());
    Ok(ScalarBuffer::new(arrow_buffer::Buffer::from_slice_ref(part.as_slice()), 0, len))
}

fn numbers<T: ArrowPrimitiveType>(data: &Data) -> Result<PrimitiveArray<T>, ArrowError> {
    PrimitiveArray::try_new(items(data, 1, data.len)?, nulls(data))
}

fn primitive<T: ArrowPrimitiveType>(data: &Data) -> Result<ArrayRef, ArrowError> {
    Ok(Arc::new(numbers::<T>(data)?))
}

fn byte_strings<T: ByteArrayType<Offset = i64>>(data: &Data) -> Result<ArrayRef, ArrowError> {
    let offsets = OffsetBuffer::new(items(data, 1, data.len + 1)?);
    Ok(Arc::new(GenericByteArray::<T>::try_new(offsets, buffer(data, 2)?, nulls(data))?))
}

fn views<T: ByteViewType>(data: &Data) -> Result<ArrayRef, ArrowError> {
    // Views, then blocks, then the sizes of the blocks.
    let blocks = data.buffers().iter().skip(2).take(data.buffers().len().saturating_sub(3));
    let blocks: Vec<_> = blocks.flatten().map(shared).collect();
    Ok(Arc::new(GenericByteViewArray::<T>::try_new(items(data, 1, data.len)?, blocks, nulls(data))?))
}
