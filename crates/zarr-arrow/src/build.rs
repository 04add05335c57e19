//! Arrays of Arrow from elements, without a copy where Arrow has them in the same bytes.

use crate::data::{Buffer, Data, Owner, Validity, packed};
use crate::fault::{self, Fault};
use crate::kind::{Float, Kind};
use crate::words::Words;
use crate::{Error, ErrorKind, Result, texts};
use bytemuck::cast_slice_mut;
use half::f16;
use std::ops::Range;
use std::sync::Arc;
use zarr_dataset::Values;
use zarr_dataset::cf::fill::parts;
use zarr_dataset::cf::textual::trimmed;
use zarr_dtype::{DataType, Heap, HeapRef, print};

/// Count that means "not a time".
const NOT_A_TIME: i64 = i64::MIN;

/// Elements one after another, with the heap of those of variable length, and which of them are missing although no value says so.
#[derive(Clone, Debug)]
pub(crate) struct Elements {
    pub(crate) owner: Arc<Owner>,
    pub(crate) heap: Option<Arc<Heap>>,
    pub(crate) len: usize,
    pub(crate) missing: Option<Vec<bool>>,
}

impl Elements {
    /// Takes values that were read.
    pub(crate) fn of_values(values: Values) -> Self {
        let missing = values.missing().filter(|missing| missing.contains(&true)).map(<[bool]>::to_vec);
        Self { heap: values.data().heap().cloned(), len: values.len(), missing, owner: Arc::new(Owner::Values(values)) }
    }

    pub(crate) fn of_words(words: Words, len: usize) -> Self {
        Self { owner: Arc::new(Owner::Words(words)), heap: None, len, missing: None }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        self.owner.bytes()
    }

    /// Returns the number of bytes of the content of an element of variable length; 0 for other elements.
    pub(crate) fn text_len(&self, index: usize) -> u64 {
        let item = self.heap.as_ref().and_then(|_| self.bytes().as_chunks::<{ HeapRef::SIZE }>().0.get(index));
        item.map_or(0, |&item| HeapRef::from_bytes(item).len.into())
    }

    /// Returns the size of an element in bytes, which follows from the number of elements; 0 if there are none.
    fn item_size(&self) -> usize {
        self.bytes().len().checked_div(self.len).unwrap_or(0)
    }

    /// Splits the bytes into elements.
    fn items(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        let size = self.item_size();
        (0..self.len).map(move |index| self.bytes().get(index * size..(index + 1) * size).unwrap_or_default())
    }

    /// Copies the bytes at `place` of each element.
    fn part(&self, place: &Range<usize>) -> Result<Self> {
        let mut words = Words::items(self.len, place.len())?;
        let parts = words.bytes_mut().chunks_exact_mut(place.len().max(1));
        for (part, item) in parts.zip(self.items()) {
            part.copy_from_slice(item.get(place.clone()).unwrap_or_default());
        }
        Ok(Self::of_words(words, self.len))
    }

    fn numbers<T: bytemuck::AnyBitPattern>(&self) -> Result<&[T]> {
        bytemuck::try_cast_slice(self.bytes()).map_err(|_| Error::internal("elements that are not aligned"))
    }

    /// Makes the bitmap of elements that are missing, or null by `is_null`.
    fn validity(&self, is_null: Option<impl Iterator<Item = bool>>) -> Result<Option<Validity>> {
        match (&self.missing, is_null) {
            (Some(missing), None) => Validity::new(missing.iter().copied()),
            (Some(missing), Some(is_null)) => {
                let either = missing.iter().zip(is_null).map(|(&missing, is_null)| missing | is_null);
                Validity::new(Counted { left: self.len, iter: either })
            }
            (None, None) => Ok(None),
            (None, Some(is_null)) => Validity::new(Counted { left: self.len, iter: is_null }),
        }
    }
}

/// Iterator of a known length.
struct Counted<I> {
    left: usize,
    iter: I,
}

impl<I: Iterator> Iterator for Counted<I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        self.left = self.left.checked_sub(1)?;
        self.iter.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<I: Iterator> ExactSizeIterator for Counted<I> {}

/// Makes an array of elements.
///
/// # Errors
/// [`ErrorKind::CorruptChunk`] for strings that are not UTF-8, [`ErrorKind::NotExpressible`] for a value that the type of Arrow cannot hold,
/// and [`ErrorKind::Limit`] if there is no memory.
pub(crate) fn build(kind: &Kind, elements: &Elements, nan_is_null: bool) -> fault::Result<Data> {
    let len = elements.len;
    let same = || Buffer::whole(Arc::clone(&elements.owner));
    let plain = || elements.validity(None::<std::iter::Empty<bool>>);
    Ok(match kind {
        Kind::Same(_) => Data::new(len, plain()?, [same()]).items(elements.item_size()),
        Kind::Float(float) => {
            let validity = if nan_is_null { not_numbers(*float, elements)? } else { plain()? };
            Data::new(len, validity, [same()]).items(elements.item_size())
        }
        Kind::Widened(data_type) => {
            let mut words = Words::items(len, 4)?;
            let wide: &mut [f32] = cast_slice_mut(words.bytes_mut());
            for (wide, item) in wide.iter_mut().zip(elements.items()) {
                // All of these formats are subsets of float32.
                *wide = data_type.to_f64(item).map_or(f32::NAN, |number| number as f32);
            }
            let wide = Elements { missing: elements.missing.clone(), ..Elements::of_words(words, len) };
            build(&Kind::Float(Float::Single), &wide, nan_is_null)?
        }
        Kind::Bool => {
            let ((bits, _), _) = packed(len, elements.bytes().iter().map(|&byte| byte != 0))?;
            Data::new(len, plain()?, [Buffer::of_words(bits)])
        }
        Kind::Time { factor, .. } => {
            let counts: &[i64] = elements.numbers()?;
            let is_null = counts.contains(&NOT_A_TIME).then(|| counts.iter().map(|&count| count == NOT_A_TIME));
            let validity = elements.validity(is_null)?;
            let buffer = if *factor == 1 { same() } else { Buffer::of_words(multiplied(counts, *factor)?) };
            Data::new(len, validity, [buffer]).items(size_of::<i64>())
        }
        Kind::Variable { is_text, is_view: true } => {
            let buffers = texts::views(elements.bytes(), elements.heap.as_ref(), *is_text)?;
            Data::new(len, plain()?, buffers)
        }
        Kind::Variable { is_text, is_view: false } => {
            let heap = elements.heap.as_ref();
            let buffers = texts::joined(elements.items(), |item, bytes| {
                let reference = HeapRef::from_item(item).unwrap_or_default();
                texts::append(texts::content(heap, reference, *is_text)?, bytes)
            })?;
            Data::new(len, plain()?, buffers)
        }
        Kind::FixedBytes => Data::new(
            len,
            plain()?,
            texts::joined(elements.items(), |item, bytes| texts::append(trimmed(item), bytes))?,
        ),
        Kind::FixedUtf32 => Data::new(len, plain()?, texts::joined(elements.items(), texts::push_utf32)?),
        Kind::Printed(data_type) => {
            let not_a_time = NOT_A_TIME.to_ne_bytes();
            let is_null = elements.items().any(|item| item == not_a_time);
            let validity = elements.validity(is_null.then(|| elements.items().map(|item| item == not_a_time)))?;
            let buffers = texts::joined(elements.items(), |item, bytes| {
                texts::append(print::to_text(data_type, item, None).as_bytes(), bytes)
            })?;
            Data::new(len, validity, buffers)
        }
        Kind::Fields { fields, complex } => {
            let mut children = Vec::with_capacity(fields.len());
            for (name, place, kind) in fields {
                let child = build(kind, &elements.part(place)?, nan_is_null && complex.is_none());
                children.push(child.map_err(|fault| fault.in_field(name))?);
            }
            let validity = match complex.as_ref().filter(|_| nan_is_null) {
                Some(complex) => both_not_numbers(complex, elements)?,
                None => plain()?,
            };
            Data::new(len, validity, []).children(children, 1)
        }
        Kind::Optional { present, place, kind } => {
            let is_missing =
                elements.missing.as_deref().unwrap_or_default().iter().copied().chain(std::iter::repeat(false));
            let is_absent = elements.items().map(|item| item.get(*present) == Some(&0));
            let missing: Vec<bool> = is_absent.zip(is_missing).map(|(absent, missing)| absent | missing).collect();
            let missing = missing.contains(&true).then_some(missing);
            build(kind, &Elements { missing, ..elements.part(place)? }, nan_is_null)?
        }
        Kind::List(count, kind) => {
            let inner = len.checked_mul(*count).ok_or_else(|| crate::words::no_memory(usize::MAX))?;
            let items = Elements { len: inner, missing: None, ..elements.clone() };
            let items = build(kind, &items, nan_is_null).map_err(|fault| fault.in_lists(*count))?;
            Data::new(len, plain()?, []).children(vec![items], *count)
        }
    })
}

/// Makes the bitmap of floats that are no NaN. A first pass, which is fast, looks whether there is any.
fn not_numbers(float: Float, elements: &Elements) -> Result<Option<Validity>> {
    match float {
        Float::Half => {
            let floats: &[f16] = bytemuck::cast_slice(elements.numbers::<u16>()?);
            elements.validity(any(floats, f16::is_nan).then(|| floats.iter().map(|float| float.is_nan())))
        }
        Float::Single => {
            let floats: &[f32] = elements.numbers()?;
            elements.validity(any(floats, f32::is_nan).then(|| floats.iter().map(|float| float.is_nan())))
        }
        Float::Double => {
            let floats: &[f64] = elements.numbers()?;
            elements.validity(any(floats, f64::is_nan).then(|| floats.iter().map(|float| float.is_nan())))
        }
    }
}

/// Whether any of the numbers is NaN, looked up in blocks without a branch for each number.
fn any<T: Copy>(numbers: &[T], is_nan: impl Fn(T) -> bool) -> bool {
    numbers.chunks(1024).any(|block| block.iter().fold(false, |any, &number| any | is_nan(number)))
}

/// Makes the bitmap of complex numbers of which not both parts are NaN.
fn both_not_numbers(complex: &DataType, elements: &Elements) -> Result<Option<Validity>> {
    let is_nan = |item: &[u8]| parts(complex, item).is_some_and(|(real, imag)| real.is_nan() && imag.is_nan());
    let has_any = elements.items().any(is_nan);
    elements.validity(has_any.then(|| elements.items().map(is_nan)))
}

fn multiplied(counts: &[i64], factor: i64) -> fault::Result<Words> {
    let mut words = Words::items(counts.len(), 8)?;
    let products: &mut [i64] = cast_slice_mut(words.bytes_mut());
    for (element, (product, &count)) in products.iter_mut().zip(counts).enumerate() {
        *product = match count {
            NOT_A_TIME => NOT_A_TIME,
            count => count.checked_mul(factor).ok_or_else(|| {
                let message = format!("found the time {count} * {factor}, expected one that fits 64 bits");
                Fault::at(element, Error::new(ErrorKind::NotExpressible, message))
            })?,
        };
    }
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use zarr_dtype::{Field, StructType};

    #[test]
    fn arrays_in_fields_are_lists() {
        let fields = vec![Field::new("id", DataType::Int8), Field::array("pairs", DataType::Int16, &[3, 2])];
        let kind = Kind::of(&DataType::Struct(StructType::new(fields).unwrap())).unwrap();
        let field = kind.field("v", true);
        let [id, pairs] = field.children() else { unreachable!() };
        assert_eq!((id.format(), pairs.format(), pairs.children()[0].format()), ("c", "+w:3", "+w:2"));
        let item = |id: u8| [&[id][..], bytemuck::cast_slice(&[i16::from(id); 6])].concat();
        let items = [item(1), item(2), item(3)].concat();
        let elements = Elements::of_words(Words::copy(&items).unwrap(), 3);
        let built = build(&kind, &elements, true).unwrap();
        // Lists are sliced with their parents.
        for (data, expected) in [(built.clone(), vec![1, 2, 3]), (built.slice(1, 2).unwrap(), vec![2, 3])] {
            let lists = &data.child_data()[1];
            assert_eq!((lists.len(), lists.child_data()[0].len()), (expected.len(), expected.len() * 3));
            let numbers = lists.child_data()[0].child_data()[0].values::<i16>().unwrap();
            assert_eq!(numbers, expected.iter().flat_map(|&id| [id; 6]).collect::<Vec<i16>>());
        }
    }

    #[test]
    fn json_objects_are_strings() {
        assert_eq!(Kind::of(&DataType::Object).unwrap().field("v", true).format(), "vu");
    }
}
