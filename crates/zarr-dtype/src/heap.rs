//! Storage for the content of elements of variable length.
//!
//! A view of such elements contains references, and has the heap beside it. So strings pass through the same views, transposes and shards
//! as numbers.

use bytemuck::{Pod, Zeroable};
use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Reference to the content of an element of variable length in a [`Heap`].
///
/// Arrays of such elements hold these 16 bytes for each element, in the byte order of the machine. 16 zero bytes are the empty element, in
/// any heap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct HeapRef {
    /// Number of the block, from [`Heap::add`]; 0 is the empty block.
    pub block: u32,
    /// Length of the content in bytes.
    pub len: u32,
    /// Offset of the content in the block, in bytes.
    pub offset: u64,
}

impl HeapRef {
    /// Size of a reference in bytes.
    pub const SIZE: usize = 16;

    /// Returns the reference in memory form.
    #[inline]
    pub fn to_bytes(self) -> [u8; Self::SIZE] {
        bytemuck::cast(self)
    }

    /// Returns the reference with `bytes` as its memory form.
    #[inline]
    pub fn from_bytes(bytes: [u8; Self::SIZE]) -> Self {
        bytemuck::cast(bytes)
    }

    /// Returns the reference that the element `item` holds; `None` if `item` does not have 16 bytes.
    #[inline]
    pub fn from_item(item: &[u8]) -> Option<Self> {
        bytemuck::try_pod_read_unaligned(item).ok()
    }
}

/// Contents of elements of variable length, in blocks that are added and never changed.
///
/// Typically every decoded chunk adds one block, and its elements refer to parts of the block. Any number of threads may add and read;
/// reading takes no lock and copies nothing.
///
/// ```
/// # use zarr_dtype::{Heap, HeapRef};
/// let heap = Heap::new();
/// let block = heap.add(b"onetwo".to_vec());
/// assert_eq!(heap.get(HeapRef { block, offset: 3, len: 3 }), Some(&b"two"[..]));
/// assert_eq!(heap.get(HeapRef::default()), Some(&b""[..]));
/// ```
pub struct Heap {
    /// Slots of the blocks. Block `b` (from 1) is in slot `b - 2^k` of segment `k`, the position of the highest bit of `b`. Each segment is
    /// twice as large as the one before, so slots never move and can be borrowed while others are added.
    segments: [OnceLock<Segment>; 32],
    blocks: AtomicU32,
    size: AtomicU64,
}

impl Heap {
    /// Creates a heap with the empty block 0 only.
    pub const fn new() -> Self {
        Self { segments: [const { OnceLock::new() }; 32], blocks: AtomicU32::new(0), size: AtomicU64::new(0) }
    }

    /// Adds a block and returns its number; 0 for an empty block, which takes no slot.
    pub fn add(&self, bytes: Vec<u8>) -> u32 {
        if bytes.is_empty() {
            return 0;
        }
        let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        let before = self
            .blocks
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |blocks| blocks.checked_add(1))
            .expect("2^32 blocks and their slots take 200 GiB of memory, even at one byte each");
        let block = before + 1;
        let (segment, slot) = slot_of(block).expect("blocks are counted from 1");
        let slots = self.segments[segment].get_or_init(|| (0..1_u64 << segment).map(|_| OnceLock::new()).collect());
        slots[slot].get_or_init(|| bytes);
        self.size.fetch_add(size, Ordering::Relaxed);
        block
    }

    /// Returns the content that `element` refers to; `None` if it is not in this heap.
    #[inline]
    pub fn get(&self, element: HeapRef) -> Option<&[u8]> {
        if element.len == 0 {
            return Some(&[]);
        }
        let start = usize::try_from(element.offset).ok()?;
        let end = start.checked_add(usize::try_from(element.len).ok()?)?;
        self.block(element.block)?.get(start..end)
    }

    /// Calls `read` with the content that `element` refers to; `None` if it is not in this heap.
    #[inline]
    pub fn get_with<R>(&self, element: HeapRef, read: impl FnOnce(&[u8]) -> R) -> Option<R> {
        self.get(element).map(read)
    }

    /// Returns the bytes of a whole block; `None` if there is no such block.
    #[inline]
    pub fn block(&self, block: u32) -> Option<&[u8]> {
        let Some((segment, slot)) = slot_of(block) else { return Some(&[]) };
        self.segments.get(segment)?.get()?.get(slot)?.get().map(Vec::as_slice)
    }

    /// Returns the total size of all blocks in bytes.
    pub fn size(&self) -> u64 {
        self.size.load(Ordering::Relaxed)
    }
}

/// Returns the content of an element of variable length; without a `heap` only that of an empty element.
#[inline]
pub(crate) fn content<'h>(item: &[u8], heap: Option<&'h Heap>) -> Option<&'h [u8]> {
    let reference = HeapRef::from_item(item)?;
    match heap {
        Some(heap) => heap.get(reference),
        None => (reference.len == 0).then_some(&[]),
    }
}

/// Slots of blocks, each filled once.
type Segment = Box<[OnceLock<Vec<u8>>]>;

/// Returns segment and slot of a block; `None` for block 0, which has no slot.
#[inline]
fn slot_of(block: u32) -> Option<(usize, usize)> {
    let segment = block.checked_ilog2()?;
    let slot = block & !(1 << segment);
    Some((usize::try_from(segment).ok()?, usize::try_from(slot).ok()?))
}

impl Default for Heap {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Heap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Heap")
            .field("blocks", &self.blocks.load(Ordering::Relaxed))
            .field("size", &self.size())
            .finish_non_exhaustive()
    }
}
