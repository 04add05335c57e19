//! Where the bytes of variable-length elements are.
//!
//! A view of such elements has the references, and the heap travels with it. So strings go through the same views, transposes and
//! shards as numbers.

use bytemuck::{Pod, Zeroable};
use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// One element of variable length: where its bytes are in a [`Heap`].
///
/// Arrays of such elements hold these 16 bytes for each, in the byte order of the machine. All zero is the empty
/// element, whatever the heap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct HeapRef {
    /// The block, as [`Heap::add`] counted it.
    pub block: u32,
    /// How many bytes.
    pub len: u32,
    /// Where they begin in the block.
    pub offset: u64,
}

impl HeapRef {
    /// Bytes of a reference.
    pub const SIZE: usize = 16;

    /// The reference as it lies in an array.
    #[inline]
    pub fn to_bytes(self) -> [u8; Self::SIZE] {
        bytemuck::cast(self)
    }

    /// The reference that lies in an array as `bytes`.
    #[inline]
    pub fn from_bytes(bytes: [u8; Self::SIZE]) -> Self {
        bytemuck::cast(bytes)
    }

    /// The reference that the element `item` is; `None` if that has not 16 bytes.
    #[inline]
    pub fn from_item(item: &[u8]) -> Option<Self> {
        bytemuck::try_pod_read_unaligned(item).ok()
    }
}

/// The bytes of variable-length elements, in blocks that are added and never changed.
///
/// Typically every chunk that is decoded adds one block, and the elements refer to parts of it. Any number of threads
/// may add and read; reading takes no lock and copies nothing.
///
/// ```
/// # use zarr_dtype::{Heap, HeapRef};
/// let heap = Heap::new();
/// let block = heap.add(b"onetwo".to_vec());
/// assert_eq!(heap.get(HeapRef { block, offset: 3, len: 3 }), Some(&b"two"[..]));
/// assert_eq!(heap.get(HeapRef::default()), Some(&b""[..]));
/// ```
pub struct Heap {
    /// Block `b` (from 1) is slot `b - 2^k` of segment `k`, the position of its highest bit. Segments double, so slots
    /// never move and can be lent while others are added.
    segments: [OnceLock<Segment>; 32],
    blocks: AtomicU32,
    size: AtomicU64,
}

impl Heap {
    /// A heap with nothing in it but block 0, which is empty.
    pub const fn new() -> Self {
        Self { segments: [const { OnceLock::new() }; 32], blocks: AtomicU32::new(0), size: AtomicU64::new(0) }
    }

    /// Adds a block and returns its number; 0 for an empty one, which takes no slot.
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

    /// The bytes that `element` refers to; `None` if they are not in this heap.
    #[inline]
    pub fn get(&self, element: HeapRef) -> Option<&[u8]> {
        if element.len == 0 {
            return Some(&[]);
        }
        let start = usize::try_from(element.offset).ok()?;
        let end = start.checked_add(usize::try_from(element.len).ok()?)?;
        self.block(element.block)?.get(start..end)
    }

    /// Calls `read` with the bytes that `element` refers to; `None` if they are not in this heap.
    #[inline]
    pub fn get_with<R>(&self, element: HeapRef, read: impl FnOnce(&[u8]) -> R) -> Option<R> {
        self.get(element).map(read)
    }

    /// The bytes of a whole block; `None` if there is no such block.
    #[inline]
    pub fn block(&self, block: u32) -> Option<&[u8]> {
        let Some((segment, slot)) = slot_of(block) else { return Some(&[]) };
        self.segments.get(segment)?.get()?.get(slot)?.get().map(Vec::as_slice)
    }

    /// How many bytes all blocks have together.
    pub fn size(&self) -> u64 {
        self.size.load(Ordering::Relaxed)
    }
}

/// The content of an element of variable length.
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

/// Segment and slot of a block; `None` for block 0, which has none.
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
