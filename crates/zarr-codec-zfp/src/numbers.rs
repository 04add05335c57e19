//! Conversion of the elements of a view to a stream, and back.

use crate::form::Form;
use crate::item::Item;
use crate::stream;
use zarr_codec::{Error, Scratch, View, ViewMut};
use zarr_grid::Region;
use zfp_rs::ZfpScalar;

/// Appends the elements of `chunk` as a stream.
///
/// # Errors
/// [`Error::Encode`] or [`Error::Allocation`].
pub(crate) fn encode<T: Item>(form: &Form, chunk: &View<'_>, out: &mut Vec<u8>) -> Result<(), Error> {
    let mut scratch = Scratch::take();
    let items = chunk.numbers::<T>(&mut scratch)?;
    let dims = dims(form, chunk.shape())?;
    let config = form.parameters::<T::Number>(chunk.shape().len())?;
    if let Some(numbers) = T::as_numbers(items) {
        return stream::write(form, &config, dims, numbers, out);
    }
    let mut scratch = Scratch::take();
    let numbers = scratch.numbers::<T::Number>(items.len())?;
    for (number, &item) in numbers.iter_mut().zip(items) {
        *number = item.promote().ok_or_else(|| {
            let what = "an unsigned integer with its highest bit set, which the format does not support".to_owned();
            Error::Encode { codec: form.name, what }
        })?;
    }
    stream::write(form, &config, dims, numbers, out)
}

/// Decodes `region` of a chunk of `shape`.
///
/// # Errors
/// [`Error::Truncated`], [`Error::TooLong`], [`Error::Corrupt`] or [`Error::Allocation`].
pub(crate) fn decode<T: Item>(
    form: &Form,
    encoded: &[u8],
    shape: &[usize],
    region: &Region,
    whole: bool,
    out: &mut ViewMut<'_>,
) -> Result<(), Error> {
    let dims = dims(form, shape)?;
    let config = form.parameters::<T::Number>(shape.len())?;
    if whole
        && let Some(bytes) = out.as_contiguous()
        && let Ok(items) = bytemuck::try_cast_slice_mut(bytes)
        && let Some(numbers) = T::as_numbers_mut(items)
    {
        return stream::read(form, &config, dims, encoded, numbers);
    }
    let count = shape.iter().product();
    let mut scratch = Scratch::take();
    let numbers = scratch.numbers::<T::Number>(count)?;
    stream::read(form, &config, dims, encoded, numbers)?;
    let mut scratch = Scratch::take();
    let items = scratch.numbers::<T>(count)?;
    items.iter_mut().zip(numbers).for_each(|(item, number)| *item = T::demote(*number));
    out.copy_from(&View::new(bytemuck::cast_slice(items), size_of::<T>(), shape)?.window(region));
    Ok(())
}

/// Returns the lengths along the axes of zfp, from the last axis of the chunk to the first; 0 for missing axes.
fn dims(form: &Form, shape: &[usize]) -> Result<[usize; 4], Error> {
    let mut dims = [1, 0, 0, 0];
    if shape.len() > dims.len() || shape.contains(&0) {
        let what = format!("a chunk of shape {shape:?}, the format takes 1 to 4 axes that are not empty");
        return Err(Error::Unsupported { codec: form.name, what });
    }
    dims.iter_mut().zip(shape.iter().rev()).for_each(|(to, &from)| *to = from);
    Ok(dims)
}

impl Form {
    fn parameters<T: ZfpScalar>(&self, axes: usize) -> Result<zfp_rs::ZfpConfig, Error> {
        self.mode.parameters(T::SCALAR_TYPE, Self::dimensionality(axes)?)
    }
}
