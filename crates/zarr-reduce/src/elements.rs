//! Elements of a box in memory, aligned for each data type that can be reduced.

/// Bytes of the elements of a box in memory, in C order, aligned to 8 bytes.
#[derive(Clone, Debug, Default)]
pub struct Elements {
    words: Vec<u64>,
    len: usize,
}

/// Error for elements that cannot be had in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{bytes} bytes of elements have no room in memory")]
pub struct NoRoom {
    /// Number of bytes that were asked for.
    pub bytes: usize,
}

impl Elements {
    /// Sets the number of bytes. What was there stays, and bytes that are added are zero.
    ///
    /// # Errors
    /// [`NoRoom`] if the memory is not to be had; the bytes are as before.
    pub fn resize(&mut self, len: usize) -> Result<(), NoRoom> {
        let count = len.div_ceil(size_of::<u64>());
        let missing = count.saturating_sub(self.words.len());
        self.words.try_reserve_exact(missing).map_err(|_| NoRoom { bytes: len })?;
        if let (true, Some(bytes)) = (len > self.len, bytemuck::cast_slice_mut(&mut self.words).get_mut(self.len..)) {
            // Those of the last word, and of elements that were longer.
            bytes.fill(0_u8);
        }
        self.words.resize(count, 0);
        self.len = len;
        Ok(())
    }

    /// Returns the bytes of the elements.
    pub fn bytes(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[..self.len]
    }

    /// Returns the bytes of the elements, to be set.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut bytemuck::cast_slice_mut(&mut self.words)[..self.len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_added_are_zero() -> Result<(), NoRoom> {
        let mut elements = Elements::default();
        elements.resize(13)?;
        elements.bytes_mut().fill(7);
        elements.resize(3)?;
        assert_eq!(elements.bytes(), [7; 3]);
        elements.resize(20)?;
        assert_eq!(elements.bytes()[..3], [7; 3]);
        assert_eq!(elements.bytes()[3..], [0; 17]);
        assert_eq!(elements.resize(usize::MAX), Err(NoRoom { bytes: usize::MAX }));
        assert_eq!(elements.bytes().len(), 20);
        Ok(())
    }
}
