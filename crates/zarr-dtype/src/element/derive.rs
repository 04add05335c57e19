//! Functions for the code that `#[derive(zarr::Element)]` generates. They are no public interface, and change with that macro.

pub use super::{Element, FieldValue, Offsets};
pub use crate::{DataType, Error, Heap};

use super::field::text;
use super::{count, mismatch, with_room};
use crate::layout::at;
use crate::{Field, StructType};

/// Number of bytes of items that are made at a time.
const BATCH: usize = 8192;

/// Fields of a data type, in which the fields of a Rust struct are searched.
#[derive(Debug)]
pub struct Fields<'d>(&'d StructType);

impl<'d> Fields<'d> {
    /// Returns the fields of `data_type`, which must have exactly the fields `names`, in any order.
    ///
    /// # Errors
    /// [`Error::Field`] if the fields differ, or `data_type` is no struct.
    pub fn of(data_type: &'d DataType, shape: &[u64], names: &[&str]) -> Result<Self, Error> {
        let fault = |field: &str, found: String, expected: &str| Error::Field {
            element: String::new(),
            field: field.to_owned(),
            found,
            expected: expected.to_owned(),
        };
        let DataType::Struct(fields) = data_type.storage() else {
            return Err(fault("", text(data_type, shape), "a struct"));
        };
        if !shape.is_empty() {
            return Err(fault("", text(data_type, shape), "one struct"));
        }
        match fields.fields().iter().find(|field| !names.contains(&field.name.as_str())) {
            Some(more) => {
                let missing: Vec<&str> = names.iter().copied().filter(|name| fields.get(name).is_none()).collect();
                let expected = match missing.as_slice() {
                    [] => "no such field".to_owned(),
                    missing => format!("no such field, but {}", missing.join(", ")),
                };
                Err(fault(&more.name, text(&more.data_type, &more.shape), &expected))
            }
            None => Ok(Self(fields)),
        }
    }

    /// Appends the offset of the field `name`, of type `T`, and the offsets within the field to `into`.
    ///
    /// # Errors
    /// [`Error::Field`] if there is no such field, or its type does not fit `T`.
    pub fn find<T: FieldValue>(&self, name: &str, into: &mut Vec<usize>) -> Result<(), Error> {
        let Some((range, field)) = self.0.get(name) else {
            let (data_type, shape) = T::field_type()?;
            return Err(Error::Field {
                element: String::new(),
                field: name.to_owned(),
                found: "no such field".to_owned(),
                expected: text(&data_type, &shape),
            });
        };
        into.push(range.start);
        T::offsets(&field.data_type, &field.shape, into).map_err(|error| match error {
            Error::Field { element, field, found, expected } => {
                let field = if field.is_empty() { name.to_owned() } else { format!("{name}.{field}") };
                Error::Field { element, field, found, expected }
            }
            error => error,
        })?;
        if range.len() == T::SIZE {
            return Ok(());
        }
        let (found, expected) = (format!("{} bytes", range.len()), format!("{} bytes", T::SIZE));
        Err(Error::Field { element: String::new(), field: name.to_owned(), found, expected })
    }
}

/// Returns the field `name` with the default data type of `T`.
///
/// # Errors
/// The same errors as [`FieldValue::field_type`].
pub fn field<T: FieldValue>(name: &str) -> Result<Field, Error> {
    let (data_type, shape) = T::field_type()?;
    Ok(Field { name: name.to_owned(), data_type, shape })
}

/// Returns the data type of structs with these fields.
///
/// # Errors
/// The same errors as [`StructType::new`].
pub fn struct_type(fields: Vec<Field>) -> Result<DataType, Error> {
    Ok(DataType::Struct(StructType::new(fields)?))
}

/// Returns the offsets of the fields of `T` in elements of `data_type`.
fn offsets<T: FieldValue + Element>(data_type: &DataType) -> Result<Vec<usize>, Error> {
    if !matches!(data_type, DataType::Struct(_)) || T::SIZE == 0 {
        return Err(mismatch::<T>(data_type));
    }
    let mut offsets = Vec::with_capacity(T::PARTS);
    T::offsets(data_type, &[], &mut offsets).map_err(|error| match error {
        Error::Field { field, found, expected, .. } => Error::Field { element: T::name(), field, found, expected },
        error => error,
    })?;
    Ok(offsets)
}

/// Checks that `T` accepts elements of `data_type`: [`Element::check`] for derived types.
///
/// # Errors
/// [`Error::Mismatch`] if `data_type` is no struct, [`Error::Field`] if a field does not fit.
pub fn check<T: FieldValue + Element>(data_type: &DataType) -> Result<(), Error> {
    offsets::<T>(data_type).map(drop)
}

/// Returns a vector of `len` zero values: [`Element::zeroed_vec`] for derived types.
///
/// # Errors
/// [`Error::Memory`] if memory is missing.
pub fn zeroed_vec<T: FieldValue>(len: usize) -> Result<Vec<T>, Error> {
    let mut elements = with_room(len, size_of::<T>())?;
    elements.resize(len, T::zero());
    Ok(elements)
}

/// Returns whether `offsets` equal those that [`Offsets::AS_DECLARED`] stands for. `T` has at least one field.
fn are_as_declared<T: FieldValue + Element>(offsets: &[usize]) -> bool {
    T::default_data_type().and_then(|own| self::offsets::<T>(&own)).is_ok_and(|own| own == offsets)
}

/// Converts items to values: [`Element::from_items`] for derived types.
///
/// # Errors
/// The same errors as [`Element::from_items`].
pub fn from_items<T: FieldValue + Element>(data_type: &DataType, items: &[u8]) -> Result<Vec<T>, Error> {
    let offsets = offsets::<T>(data_type)?;
    let len = count(data_type, items)?;
    let mut elements = with_room(len, size_of::<T>())?;
    // Two loops: in the first the compiler knows where fields are.
    if are_as_declared::<T>(&offsets) {
        load_all(Offsets::AS_DECLARED, items, &mut elements)?;
    } else {
        load_all(Offsets::new(&offsets), items, &mut elements)?;
    }
    Ok(elements)
}

#[inline(always)]
fn load_all<T: FieldValue>(offsets: Offsets<'_>, items: &[u8], into: &mut Vec<T>) -> Result<(), Error> {
    let mut fault = None;
    // An iterator that knows its length, and no `?` in it: then there is no check for each element where there can be no error.
    into.extend(items.chunks_exact(T::SIZE.max(1)).enumerate().map(|(index, item)| {
        let mut element = T::zero();
        if let Err(error) = element.load(offsets, item) {
            fault.get_or_insert_with(|| at(index, error));
        }
        element
    }));
    fault.map_or(Ok(()), Err)
}

/// Converts values to items: [`Element::to_items`] for derived types.
///
/// # Errors
/// The same errors as [`Element::to_items`].
pub fn to_items<T: FieldValue + Element>(data_type: &DataType, elements: &[T]) -> Result<Vec<u8>, Error> {
    let offsets = offsets::<T>(data_type)?;
    let mut items = with_room(elements.len(), T::SIZE)?;
    if are_as_declared::<T>(&offsets) {
        store_all(Offsets::AS_DECLARED, elements, &mut items)?;
    } else {
        store_all(Offsets::new(&offsets), elements, &mut items)?;
    }
    data_type.layout().check(&items)?;
    Ok(items)
}

#[inline(always)]
fn store_all<T: FieldValue>(offsets: Offsets<'_>, elements: &[T], into: &mut Vec<u8>) -> Result<(), Error> {
    let size = T::SIZE.max(1);
    // Memory of a vector is set to something before it is written to: this much of it stays in the cache meanwhile.
    let batch = BATCH.div_ceil(size);
    let mut items = vec![0; batch.min(elements.len()) * size];
    for (number, elements) in elements.chunks(batch).enumerate() {
        let items = &mut items[..elements.len() * size];
        for (index, (element, item)) in elements.iter().zip(items.chunks_exact_mut(size)).enumerate() {
            element.store(offsets, item).map_err(|error| at(number * batch + index, error))?;
        }
        into.extend_from_slice(items);
    }
    Ok(())
}
