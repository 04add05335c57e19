//! Arrays of the crate `ndarray`.

use ndarray::{ArrayD, ArrayView, Dimension, IxDyn};
use zarr_array::{Array, Error, Result};
use zarr_dtype::Element;
use zarr_grid::IntoSelection;

/// Reading into and writing from `ndarray` arrays.
///
/// ```
/// use zarr::prelude::*;
/// # fn main() -> zarr::Result<()> {
/// let store = zarr::create_store("memory:")?;
/// let array = zarr::create_array(&store, "/a", NewArray::new(&[4, 6], "int32").chunks(&[2, 3]))?;
/// let data = ndarray::Array::from_shape_fn((4, 6), |(y, x)| (10 * y + x) as i32);
/// array.write_nd(.., data.view())?;
/// let part = array.read_nd::<i32>((1..3, ..))?;
/// assert_eq!(part.shape(), [2, 6]);
/// assert_eq!(part[[1, 5]], 25);
/// # Ok(())
/// # }
/// ```
pub trait ArrayNdExt {
    /// Reads a selection, as [`Array::read`].
    ///
    /// # Errors
    /// As [`Array::read`].
    fn read_nd<T: Element>(&self, what: impl IntoSelection) -> Result<ArrayD<T>>;

    /// Writes a view to a selection of its shape, as [`Array::write`].
    ///
    /// # Errors
    /// As [`Array::write`], and if the shape is not that of the selection.
    fn write_nd<T: Element, D: Dimension>(&self, at: impl IntoSelection, data: ArrayView<'_, T, D>) -> Result<()>;
}

impl ArrayNdExt for Array {
    fn read_nd<T: Element>(&self, what: impl IntoSelection) -> Result<ArrayD<T>> {
        let what = what.into_selection()?;
        let shape = self.selected_shape(&what)?;
        let elements = self.read::<T>(what)?;
        ArrayD::from_shape_vec(IxDyn(&shape), elements).map_err(|error| Error::argument(error.to_string()))
    }

    fn write_nd<T: Element, D: Dimension>(&self, at: impl IntoSelection, data: ArrayView<'_, T, D>) -> Result<()> {
        let at = at.into_selection()?;
        let shape = self.selected_shape(&at)?;
        if shape != data.shape() {
            let message = format!("data of shape {:?}, expected {shape:?} for the selection", data.shape());
            return Err(Error::argument(message));
        }
        // Contiguous data is written from where it lies.
        match data.as_slice() {
            Some(elements) => self.write(at, elements),
            None => self.write(at, &data.iter().cloned().collect::<Vec<_>>()),
        }
    }
}
