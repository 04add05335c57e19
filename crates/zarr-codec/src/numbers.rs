//! Views of items as slices of numbers, for codecs whose libraries take slices.

use crate::{Error, Scratch, View, ViewMut};
use bytemuck::Pod;

impl Scratch {
    /// Returns a buffer of `count` numbers with arbitrary values.
    ///
    /// # Errors
    /// [`Error::Allocation`] if memory for the result cannot be allocated.
    pub fn numbers<T: Pod>(&mut self, count: usize) -> Result<&mut [T], Error> {
        let no_memory = Error::Allocation { size: (count as u64).saturating_mul(size_of::<T>() as u64) };
        let Some(size) = count.checked_mul(size_of::<T>()).and_then(|size| size.checked_add(align_of::<T>())) else {
            return Err(no_memory);
        };
        let (_, numbers, _) = bytemuck::pod_align_to_mut(self.sized(size)?);
        numbers.get_mut(..count).ok_or(no_memory)
    }
}

impl<'a> View<'a> {
    /// Returns the elements in C order as numbers of the same size: borrowed if the elements are contiguous and aligned in memory, copied
    /// to `scratch` otherwise.
    ///
    /// # Errors
    /// [`Error::Allocation`] if memory for the copy cannot be allocated.
    ///
    /// # Panics
    /// If the elements are of another size than the numbers.
    pub fn numbers<T: Pod>(&self, scratch: &'a mut Scratch) -> Result<&'a [T], Error> {
        assert_eq!(self.item_size(), size_of::<T>(), "the size of items and of numbers");
        if let Some(numbers) = self.as_contiguous().and_then(|bytes| bytemuck::try_cast_slice(bytes).ok()) {
            return Ok(numbers);
        }
        let numbers = scratch.numbers::<T>(self.len())?;
        ViewMut::new(bytemuck::cast_slice_mut(numbers), size_of::<T>(), self.shape())?.copy_from(self);
        Ok(numbers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zarr_grid::Region;

    #[test]
    fn numbers_come_in_c_order_wherever_items_lie() {
        let values: Vec<u32> = (0..24).collect();
        let bytes: &[u8] = bytemuck::cast_slice(&values);
        let shifted: Vec<u8> = [&[0], bytes].concat();
        let column = |bytes| View::new(bytes, 4, &[4, 6]).unwrap().window(&Region::from_ranges(&[0..4, 1..2]));
        for (view, due) in [
            (View::new(bytes, 4, &[4, 6]).unwrap(), values.clone()),
            (View::new(&shifted[1..], 4, &[4, 6]).unwrap(), values.clone()),
            (column(bytes), vec![1, 7, 13, 19]),
            (column(&shifted[1..]), vec![1, 7, 13, 19]),
        ] {
            assert_eq!(view.numbers::<u32>(&mut Scratch::take()).unwrap(), due);
        }
        assert!(matches!(Scratch::take().numbers::<u64>(usize::MAX / 8), Err(Error::Allocation { .. })));
    }
}
