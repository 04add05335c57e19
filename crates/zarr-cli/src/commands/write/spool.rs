//! Elements that are all read before the first is written: in memory if they are few, else in a temporary file.

use crate::failure::{Failure, Result};
use crate::selection_pieces::Order;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::sync::Arc;
use tempfile::SpooledTempFile;
use zarr::codec::View;
use zarr::dtype::{DataType, Heap, HeapRef};

/// Greatest number of bytes that stay in memory.
const IN_MEMORY: usize = 16 << 20;
/// Size of the buffer between elements and the file, in bytes.
const BUFFER: usize = 64 << 10;

/// Number of elements of variable length in a block, for which the offset in the file and the total size are stored.
const TOGETHER: u64 = 4096;

/// Elements of one data type before they are written to an array. A temporary file is removed by the system when the process ends in any
/// way.
pub(super) struct Spool {
    file: BufWriter<SpooledTempFile>,
    kind: SpoolLayout,
    count: u64,
    /// Total size of the elements in bytes.
    size: u64,
    blocks: Blocks,
}

/// Blocks of [`TOGETHER`] elements of variable length.
#[derive(Default)]
struct Blocks {
    /// Offset in the file of the first element of each block.
    starts: Vec<u64>,
    /// Bytes of the elements of the last block.
    last: u64,
    /// Bytes of the elements of the largest block.
    largest: u64,
}

/// Layout of the elements in the file.
#[derive(Clone, Copy)]
enum SpoolLayout {
    /// Elements of this number of bytes each.
    Fixed(usize),
    /// Elements of variable length, each after its length in 4 bytes.
    Variable,
}

impl Spool {
    pub(super) fn new(data_type: &DataType) -> Self {
        let kind =
            if data_type.is_variable() { SpoolLayout::Variable } else { SpoolLayout::Fixed(data_type.item_size()) };
        let file = BufWriter::with_capacity(BUFFER, tempfile::spooled_tempfile(IN_MEMORY));
        Self { file, kind, count: 0, size: 0, blocks: Blocks::default() }
    }

    /// Returns the number of elements that were added.
    pub(super) fn len(&self) -> u64 {
        self.count
    }

    /// Adds an element: its memory form, or its content if it has variable length.
    pub(super) fn push(&mut self, element: &[u8]) -> Result<()> {
        if matches!(self.kind, SpoolLayout::Variable) {
            let len = u32::try_from(element.len()).map_err(|_| Failure::usage("an element is longer than 4 GiB"))?;
            self.file.write_all(&len.to_ne_bytes()).map_err(|error| broken(&error))?;
            if self.count.is_multiple_of(TOGETHER) {
                // Each element has its length before it.
                self.blocks.starts.push(self.size + self.count * size_of_val(&len) as u64);
                self.blocks.last = 0;
            }
            self.blocks.last += u64::from(len);
            self.blocks.largest = self.blocks.largest.max(self.blocks.last);
        }
        self.count += 1;
        self.size += element.len() as u64;
        self.file.write_all(element).map_err(|error| broken(&error))
    }

    /// Adds elements of fixed size in memory form.
    pub(super) fn extend(&mut self, items: &[u8]) -> Result<()> {
        if let SpoolLayout::Fixed(size) = self.kind {
            self.count += (items.len() / size.max(1)) as u64;
        }
        self.size += items.len() as u64;
        self.file.write_all(items).map_err(|error| broken(&error))
    }

    /// Ends the spool. The elements can then be taken from the first.
    pub(super) fn finish(self) -> Result<SpooledElements> {
        let mut file = self.file.into_inner().map_err(|error| broken(error.error()))?;
        file.rewind().map_err(|error| broken(&error))?;
        let file = BufReader::with_capacity(BUFFER, file);
        Ok(SpooledElements { file, kind: self.kind, count: self.count, blocks: self.blocks, at: 0 })
    }
}

/// Elements that were all read, ready to be taken.
pub(super) struct SpooledElements {
    file: BufReader<SpooledTempFile>,
    kind: SpoolLayout,
    count: u64,
    blocks: Blocks,
    /// Index of the next element.
    at: u64,
}

/// Block of elements in memory.
pub(super) struct Block {
    pub(super) items: Vec<u8>,
    pub(super) heap: Option<Arc<Heap>>,
}

impl Block {
    /// Returns a view of the elements, stored in `order`, with this shape.
    pub(super) fn view_in(&self, order: Order, data_type: &DataType, shape: &[usize]) -> Result<View<'_>> {
        let in_memory = order.of(shape.to_vec());
        let view = View::new(&self.items, data_type.item_size(), &in_memory).map_err(zarr::Error::from)?;
        Ok(view.with_heap(self.heap.clone()).permuted(&order.of((0..shape.len()).collect())))
    }
}

impl SpooledElements {
    /// Returns the size of an element in memory in bytes; for variable length, the greatest mean of a block.
    pub(super) fn item_size(&self) -> u64 {
        match self.kind {
            SpoolLayout::Fixed(size) => (size as u64).max(1),
            SpoolLayout::Variable => (self.blocks.largest / self.count.clamp(1, TOGETHER)).saturating_add(32),
        }
    }

    /// Returns to the first element.
    pub(super) fn rewind(&mut self) -> Result<()> {
        self.file.seek(SeekFrom::Start(0)).map_err(|error| broken(&error))?;
        self.at = 0;
        Ok(())
    }

    /// Takes the next `count` elements.
    pub(super) fn take(&mut self, count: u64) -> Result<Block> {
        self.runs(std::iter::once((self.at, count)))
    }

    /// Takes the elements of `runs`, each given by its start and its length, in ascending order.
    pub(super) fn runs(&mut self, runs: impl Iterator<Item = (u64, u64)>) -> Result<Block> {
        match self.kind {
            SpoolLayout::Fixed(size) => {
                let mut items = Vec::new();
                for (start, count) in runs {
                    self.seek(start)?;
                    let bytes = count.saturating_mul(size as u64);
                    let read =
                        self.file.by_ref().take(bytes).read_to_end(&mut items).map_err(|error| broken(&error))?;
                    if read as u64 != bytes {
                        return Err(broken(&io::ErrorKind::UnexpectedEof.into()));
                    }
                    self.at = start.saturating_add(count);
                }
                Ok(Block { items, heap: None })
            }
            SpoolLayout::Variable => {
                let heap = Arc::new(Heap::new());
                let mut runs = runs;
                let (mut start, mut left) = (0, 0);
                let elements = std::iter::from_fn(|| {
                    while left == 0 {
                        (start, left) = runs.next()?;
                    }
                    left -= 1;
                    let element = self.seek(start).and_then(|()| self.content());
                    start += 1;
                    Some(element)
                });
                Ok(Block { items: in_heap(elements, Some(&heap))?, heap: Some(heap) })
            }
        }
    }

    /// Seeks to element `to`. Elements of variable length are skipped one by one from the beginning of their block.
    fn seek(&mut self, to: u64) -> Result<()> {
        if to == self.at {
            return Ok(());
        }
        match self.kind {
            SpoolLayout::Fixed(size) => {
                let at = |index: u64| i64::try_from(index.saturating_mul(size as u64)).unwrap_or(i64::MAX);
                self.file.seek_relative(at(to) - at(self.at)).map_err(|error| broken(&error))?;
                self.at = to;
            }
            SpoolLayout::Variable => {
                let (from, block) = (self.at / TOGETHER, to / TOGETHER);
                let start = usize::try_from(block).ok().and_then(|block| self.blocks.starts.get(block));
                if let Some(&start) = start.filter(|_| to < self.at || from < block) {
                    self.file.seek(SeekFrom::Start(start)).map_err(|error| broken(&error))?;
                    self.at = block * TOGETHER;
                }
                while self.at < to {
                    let len = self.length()?;
                    self.file.seek_relative(len.into()).map_err(|error| broken(&error))?;
                    self.at += 1;
                }
            }
        }
        Ok(())
    }

    fn content(&mut self) -> Result<Vec<u8>> {
        let len = self.length()?;
        let mut content = vec![0; usize::try_from(len).unwrap_or(usize::MAX)];
        self.file.read_exact(&mut content).map_err(|error| broken(&error))?;
        self.at += 1;
        Ok(content)
    }

    fn length(&mut self) -> Result<u32> {
        let mut len = [0; 4];
        self.file.read_exact(&mut len).map_err(|error| broken(&error))?;
        Ok(u32::from_ne_bytes(len))
    }
}

/// Stores elements of variable length in one block of `heap`, and returns the references to them in memory form; empty without a heap.
pub(super) fn in_heap(elements: impl Iterator<Item = Result<Vec<u8>>>, heap: Option<&Heap>) -> Result<Vec<u8>> {
    let Some(heap) = heap else { return Ok(Vec::new()) };
    let (mut block, mut spans) = (Vec::new(), Vec::new());
    for element in elements {
        let element = element?;
        let len = u32::try_from(element.len()).map_err(|_| Failure::usage("an element is longer than 4 GiB"))?;
        spans.push((block.len() as u64, len));
        block.extend(element);
    }
    let block = heap.add(block);
    let reference = |&(offset, len): &(u64, u32)| match len {
        0 => HeapRef::default().to_bytes(),
        len => HeapRef { block, len, offset }.to_bytes(),
    };
    Ok(spans.iter().flat_map(reference).collect())
}

fn broken(error: &io::Error) -> Failure {
    let folder = std::env::temp_dir();
    Failure::input("a temporary file", error)
        .with_hint(format!("elements are kept in {} until all are read; TMPDIR names another folder", folder.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_elements_come_back() {
        // This is more than stays in memory.
        let count = (IN_MEMORY as u64 + (1 << 20)) / 8;
        let mut spool = Spool::new(&DataType::UInt64);
        (0..count).for_each(|number| spool.push(&number.to_ne_bytes()).unwrap());
        assert_eq!(spool.len(), count);
        let mut spooled = spool.finish().unwrap();
        assert_eq!(spooled.item_size(), 8);
        let numbers = |block: Block| -> Vec<u64> {
            block.items.as_chunks().0.iter().map(|item| u64::from_ne_bytes(*item)).collect()
        };
        assert_eq!(numbers(spooled.take(2).unwrap()), [0, 1]);
        let runs = [(5, 2), (count - 1, 1)];
        assert_eq!(numbers(spooled.runs(runs.into_iter()).unwrap()), [5, 6, count - 1]);
        assert_eq!(numbers(spooled.runs(std::iter::once((3, 1))).unwrap()), [3]);
        assert!(spooled.runs(std::iter::once((count, 1))).is_err());
    }

    #[test]
    fn texts_come_back() {
        let mut spool = Spool::new(&DataType::String);
        ["a", "", "東京", "d"].iter().for_each(|text| spool.push(text.as_bytes()).unwrap());
        let mut spooled = spool.finish().unwrap();
        let texts = |block: Block| -> Vec<String> {
            let heap = block.heap.unwrap();
            let text = |item: &[u8]| heap.get(HeapRef::from_item(item).unwrap()).unwrap().to_vec();
            block.items.chunks(16).map(|item| String::from_utf8(text(item)).unwrap()).collect()
        };
        assert_eq!(texts(spooled.take(2).unwrap()), ["a", ""]);
        assert_eq!(texts(spooled.take(1).unwrap()), ["東京"]);
        assert_eq!(texts(spooled.runs([(0, 1), (3, 1)].into_iter()).unwrap()), ["a", "d"]);
        assert!(spooled.take(1).is_err());
    }

    #[test]
    fn items_are_as_large_as_the_largest_neighbours() {
        let mut spool = Spool::new(&DataType::String);
        (0..10 * TOGETHER).for_each(|_| spool.push(b"a").unwrap());
        (0..TOGETHER).for_each(|_| spool.push(&[b'b'; 1000]).unwrap());
        (0..10 * TOGETHER + 1).for_each(|_| spool.push(b"c").unwrap());
        assert_eq!(spool.finish().unwrap().item_size(), 1032);
        let mut few = Spool::new(&DataType::String);
        (0..2).for_each(|_| few.push(&[b'b'; 1000]).unwrap());
        assert_eq!(few.finish().unwrap().item_size(), 1032);
        assert_eq!(Spool::new(&DataType::String).finish().unwrap().item_size(), 32);
    }

    /// Checks that elements in earlier blocks are not read on the way to later ones.
    #[test]
    fn blocks_of_texts_are_found_by_their_offset() {
        let mut spool = Spool::new(&DataType::String);
        let count = 3 * TOGETHER;
        (0..count).for_each(|number| spool.push(number.to_string().as_bytes()).unwrap());
        let mut spooled = spool.finish().unwrap();
        // Skipping elements from the beginning of the file would now fail.
        spooled.file.get_mut().write_all(&[0xff; 4]).unwrap();
        spooled.file.rewind().unwrap();
        for at in [TOGETHER, count - 1, TOGETHER + 1, 2 * TOGETHER, 2 * TOGETHER - 1, TOGETHER] {
            let block = spooled.runs(std::iter::once((at, 1))).unwrap();
            let reference = HeapRef::from_item(&block.items).unwrap();
            assert_eq!(block.heap.unwrap().get(reference).unwrap().to_vec(), at.to_string().as_bytes());
        }
        assert!(spooled.runs(std::iter::once((count, 1))).is_err());
    }
}
