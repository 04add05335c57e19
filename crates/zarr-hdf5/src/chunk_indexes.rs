//! Bounds on the work of reading chunk indexes, which the headers of any number of data sets may share.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::fault::Refusal;

/// Maximum number of entries of the chunk indexes that are read, of a file and of those to which its links lead together: of data sets that
/// are left out as well, and once for each data set that has the index.
const MAX_ENTRIES: u64 = 1 << 25;

/// Chunk indexes of a file that were read.
#[derive(Debug)]
pub(crate) struct ChunkIndexes {
    /// Remaining number of entries, out of [`MAX_ENTRIES`], which the files share.
    left: Arc<AtomicU64>,
    /// Reasons why indexes cannot be read, by their addresses in the file.
    refused: Mutex<HashMap<u64, Refusal>>,
}

impl Default for ChunkIndexes {
    fn default() -> Self {
        Self { left: Arc::new(AtomicU64::new(MAX_ENTRIES)), refused: Mutex::default() }
    }
}

impl ChunkIndexes {
    /// Returns the bounds of another file, which shares the number of entries.
    pub(crate) fn beside(&self) -> Self {
        Self { left: Arc::clone(&self.left), refused: Mutex::default() }
    }

    /// Calls `read`, which reads the index at `address`, unless that was found unreadable before, or too many entries were read.
    pub(crate) fn read<T>(
        &self,
        address: u64,
        read: impl FnOnce() -> Result<Vec<T>, Refusal>,
    ) -> Result<Vec<T>, Refusal> {
        let refused = || self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(refusal) = refused().get(&address) {
            return Err(refusal.clone());
        }
        if self.left.load(Ordering::Relaxed) == 0 {
            return Err(exceeded());
        }
        let entries = read().inspect_err(|refusal| drop(refused().insert(address, refusal.clone())))?;
        let count = entries.len() as u64;
        let spent =
            self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| Some(left.saturating_sub(count)));
        match spent.is_ok_and(|left| left >= count) {
            true => Ok(entries),
            false => Err(exceeded()),
        }
    }
}

fn exceeded() -> Refusal {
    Refusal::new(format!("the chunk indexes that were read have more than {MAX_ENTRIES} entries, which is the limit"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn indexes_are_read_until_the_limit() {
        let first = ChunkIndexes { left: Arc::new(AtomicU64::new(10)), refused: Mutex::default() };
        let (second, count) = (first.beside(), Cell::new(0));
        let entries = |number: usize| {
            count.set(count.get() + 1);
            Ok(vec![0; number])
        };
        assert_eq!(first.read(0, || entries(6)).unwrap().len(), 6);
        assert_eq!(second.read(0, || entries(4)).unwrap().len(), 4);
        for indexes in [&first, &second] {
            assert_eq!(indexes.read(0, || entries(1)).unwrap_err(), exceeded());
        }
        assert_eq!(count.get(), 2);
        // An index that exceeds the limit is the last one that is read.
        let first = ChunkIndexes { left: Arc::new(AtomicU64::new(10)), refused: Mutex::default() };
        assert!(first.read(0, || entries(11)).is_err() && first.read(0, || entries(1)).is_err());
        assert_eq!(count.get(), 3);
    }

    #[test]
    fn unreadable_indexes_are_read_once() {
        let (indexes, count) = (ChunkIndexes::default(), Cell::new(0));
        let fail = || {
            count.set(count.get() + 1);
            Err::<Vec<u8>, _>(Refusal::new("broken"))
        };
        for address in [5, 5, 6] {
            assert_eq!(indexes.read(address, fail).unwrap_err(), Refusal::new("broken"));
        }
        assert_eq!(count.get(), 2);
        // Another file has other indexes there.
        assert!(indexes.beside().read(5, || Ok(vec![1])).is_ok());
    }
}
