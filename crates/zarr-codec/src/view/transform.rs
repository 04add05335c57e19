//! Conversion of the elements of one view to the elements of another.

use super::{View, ViewMut};
use crate::{Error, Scratch};

impl View<'_> {
    /// Calls `f` once with the elements of this view and the bytes of `out`, both contiguous in C order. Elements of a view with gaps are
    /// gathered before the call, and scattered to an `out` with gaps after the call.
    ///
    /// ```
    /// use zarr_codec::{View, ViewMut};
    ///
    /// let (bytes, mut doubled) = ([1, 2, 3, 4], [0_u8; 8]);
    /// let columns = View::new(&bytes, 1, &[2, 2])?.permuted(&[1, 0]);
    /// columns.transform_into(&mut ViewMut::new(&mut doubled, 2, &[2, 2])?, |from, to| {
    ///     to.chunks_exact_mut(2).zip(from).for_each(|(item, byte)| item.fill(*byte));
    ///     Ok(())
    /// })?;
    /// assert_eq!(doubled, [1, 1, 3, 3, 2, 2, 4, 4]);
    /// # Ok::<(), zarr_codec::Error>(())
    /// ```
    ///
    /// # Errors
    /// The errors of `f`; an error if memory to gather or scatter cannot be allocated.
    pub fn transform_into(
        &self,
        out: &mut ViewMut<'_>,
        f: impl FnOnce(&[u8], &mut [u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut gathered = Scratch::empty();
        let from = match self.as_contiguous() {
            Some(items) => items,
            None => {
                self.append_to(&mut gathered)?;
                &gathered
            }
        };
        if let Some(to) = out.as_contiguous() {
            return f(from, to);
        }
        let mut scratch = Scratch::take();
        let to = scratch.sized(out.size())?;
        f(from, to)?;
        let shape = out.shape().to_vec();
        out.copy_from(&View::new(to, out.item_size(), &shape)?);
        Ok(())
    }
}
