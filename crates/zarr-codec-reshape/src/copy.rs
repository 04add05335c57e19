//! Copying of elements into another shape.

use zarr_codec::{Error, Scratch, View, ViewMut};

/// Copies all elements in C order. Both views have the same number of elements; strides may be those of a part of a larger chunk.
pub(crate) fn copy(from: &View<'_>, to: &mut ViewMut<'_>) -> Result<(), Error> {
    let mut items = Scratch::empty();
    from.append_to(&mut items)?;
    let reshaped = View::new(&items, to.item_size(), to.shape())?.with_heap(from.heap().cloned());
    to.copy_from(&reshaped);
    Ok(())
}
