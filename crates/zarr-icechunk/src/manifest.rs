//! Manifests: the places of the chunks of arrays.

use std::cmp::Ordering;

use zarr_store::Bytes;
use zstd::bulk::Decompressor;
use zstd::dict::DecoderDictionary;

use crate::checksum::Checksum;
use crate::chunk_key::{Index, MAX_RANK};
use crate::fault::IcechunkFault;
use crate::flat::{self, FlatFault, Table, Vector};
use crate::id::Id;

/// Maximum size in bytes of a decompressed URL.
const MAX_URL: usize = 4096;

type Result<T> = std::result::Result<T, IcechunkFault>;

/// Place of the bytes of a chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Bytes of the chunk, which are in the manifest.
    Inline(Bytes),
    /// Range of a file of the repository.
    Native { id: Id, offset: u64, length: u64 },
    /// Range of a file outside of the repository.
    Virtual { url: String, offset: u64, length: u64, checksum: Option<Checksum> },
}

/// Manifest, whose content stays in memory in the encoding of the file. Its arrays and chunks are sorted, which was checked: a binary
/// search finds every chunk.
pub(crate) struct Manifest {
    file: String,
    content: Bytes,
    dictionary: Option<DecoderDictionary<'static>>,
}

impl Manifest {
    /// Makes the manifest `id` from the decompressed content of its file.
    pub(crate) fn parse(file: &str, content: Bytes, id: Id) -> Result<Self> {
        let record = |fault| IcechunkFault::record(file, fault);
        let root = Table::root(&content).map_err(record)?;
        let found = Id(root.required_array(0, "id of the manifest").map_err(record)?);
        if found != id {
            return Err(IcechunkFault::Id { file: file.to_owned(), found: found.to_string() });
        }
        check_order(&content).map_err(record)?;
        let dictionary = match (root.u8_or(3, 1).map_err(record)?, root.bytes(2).map_err(record)?) {
            (1, Some(bytes)) => {
                let bad = |_| record(FlatFault { what: "dictionary of URLs", at: root.offset() });
                Some(DecoderDictionary::try_copy(bytes).map_err(bad)?)
            }
            (0 | 1, _) => None,
            _ => return Err(record(FlatFault { what: "compression of URLs", at: root.offset() })),
        };
        Ok(Self { file: file.to_owned(), content, dictionary })
    }

    /// Returns the number of bytes of memory of the manifest.
    pub(crate) fn size(&self) -> usize {
        self.content.len()
    }

    fn fault(&self, fault: FlatFault) -> IcechunkFault {
        IcechunkFault::record(&self.file, fault)
    }

    /// Returns the chunk references of the array `node`; `None` if the manifest has no chunks of this array.
    fn refs(&self, node: &[u8; 8]) -> flat::Result<Option<Vector<'_>>> {
        let arrays = arrays(&self.content)?;
        let at = position(arrays.len(), |i| Ok(node_of(&arrays.table(i)?)?.cmp(node)))?;
        at.ok().map(|i| refs_of(&arrays.table(i)?)).transpose()
    }

    /// Returns the place of the chunk `index` of the array `node`; `None` if the manifest has no such chunk.
    pub(crate) fn find(&self, node: &[u8; 8], index: &Index) -> Result<Option<Place>> {
        let find = || {
            let Some(refs) = self.refs(node)? else { return Ok(None) };
            let order = |i| Ok(index_of(&refs.table(i)?)?.u32s().cmp(index.iter().copied()));
            position(refs.len(), order)?.ok().map(|i| refs.table(i)).transpose()
        };
        let table = find().map_err(|fault| self.fault(fault))?;
        table.map(|table| self.place(&table)).transpose()
    }

    /// Calls `visit` with the index and the size of each chunk of the array `node` whose index begins with `begin`, in the order of the
    /// indices. The answer of `visit` says where the visit goes on.
    pub(crate) fn visit(
        &self,
        node: &[u8; 8],
        begin: &Index,
        visit: &mut dyn FnMut(Index, u64) -> Onward,
    ) -> Result<()> {
        let record = |fault| self.fault(fault);
        let Some(refs) = self.refs(node).map_err(record)? else { return Ok(()) };
        let from = |begin: &Index| {
            let order = |i| Ok(index_of(&refs.table(i)?)?.u32s().cmp(begin.iter().copied()));
            position(refs.len(), order).map(|at| at.unwrap_or_else(|at| at))
        };
        let mut at = from(begin).map_err(record)?;
        while at < refs.len() {
            let table = refs.table(at).map_err(record)?;
            let index: Index = index_of(&table).map_err(record)?.u32s().collect();
            if !index.starts_with(begin) {
                return Ok(());
            }
            let size = size_of(&table).map_err(record)?;
            at = match visit(index, size) {
                Onward::Next => at + 1,
                // The next position is always greater, so that the loop ends.
                Onward::From(next) => from(&next).map_err(record)?.max(at + 1),
                Onward::End => return Ok(()),
            };
        }
        Ok(())
    }

    fn place(&self, table: &Table<'_>) -> Result<Place> {
        let record = |fault| self.fault(fault);
        let read =
            || Ok((table.u64(2)?, table.u64(3)?, table.array(4)?, table.bytes(8)?, table.str(5)?, table.range(1)?));
        let (offset, length, id, compressed, url, inline) = read().map_err(record)?;
        let bad = |what| record(FlatFault { what, at: table.offset() });
        if offset.checked_add(length).is_none() {
            return Err(bad("range of a chunk"));
        }
        if let Some(id) = id {
            return Ok(Place::Native { id: Id(id), offset, length });
        }
        let url = match (compressed, url, inline) {
            (Some(bytes), ..) => self.decompressed(bytes).ok_or_else(|| bad("compressed URL"))?,
            (None, Some(url), _) => url.to_owned(),
            (None, None, Some(at)) => return Ok(Place::Inline(self.content.slice(at))),
            (None, None, None) => return Err(bad("reference of a chunk")),
        };
        let checksum = match (table.str(6).map_err(record)?, table.u32(7).map_err(record)?) {
            (Some(etag), _) => Some(Checksum::Etag(etag.to_owned())),
            (None, 0) => None,
            (None, seconds) => Some(Checksum::Modified(seconds)),
        };
        Ok(Place::Virtual { url, offset, length, checksum })
    }

    fn decompressed(&self, bytes: &[u8]) -> Option<String> {
        let mut decompressor = Decompressor::with_prepared_dictionary(self.dictionary.as_ref()?).ok()?;
        String::from_utf8(decompressor.decompress(bytes, MAX_URL).ok()?).ok()
    }
}

impl std::fmt::Debug for Manifest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Manifest").field("file", &self.file).field("size", &self.size()).finish_non_exhaustive()
    }
}

/// Continuation of a visit of chunks.
pub(crate) enum Onward {
    Next,
    /// Go on at the first chunk whose index is not less than this index, which may have fewer numbers.
    From(Index),
    End,
}

fn arrays(content: &[u8]) -> flat::Result<Vector<'_>> {
    Table::root(content)?.required(1, 4, "arrays of the manifest")
}

fn node_of(array: &Table<'_>) -> flat::Result<[u8; 8]> {
    array.required_array(0, "id of a node")
}

fn refs_of<'b>(array: &Table<'b>) -> flat::Result<Vector<'b>> {
    array.required(1, 4, "chunks of an array")
}

fn index_of<'b>(reference: &Table<'b>) -> flat::Result<Vector<'b>> {
    reference.required(0, 4, "position of a chunk")
}

fn size_of(reference: &Table<'_>) -> flat::Result<u64> {
    let is_inline =
        reference.array::<12>(4)?.is_none() && reference.bytes(8)?.is_none() && reference.bytes(5)?.is_none();
    match reference.range(1)?.filter(|_| is_inline) {
        Some(inline) => Ok(inline.len() as u64),
        None => reference.u64(3),
    }
}

/// Searches `len` sorted items, and returns the position of the equal item, or the position at which it would be inserted. `order` compares
/// the item at a position with the item that is searched for.
fn position(
    len: usize,
    order: impl Fn(usize) -> flat::Result<Ordering>,
) -> flat::Result<std::result::Result<usize, usize>> {
    let mut range = 0..len;
    while !range.is_empty() {
        let middle = range.start + range.len() / 2;
        match order(middle)? {
            Ordering::Less => range.start = middle + 1,
            Ordering::Equal => return Ok(Ok(middle)),
            Ordering::Greater => range.end = middle,
        }
    }
    Ok(Err(range.start))
}

/// Checks that arrays and chunks are sorted, so that a binary search finds all of them.
fn check_order(content: &[u8]) -> flat::Result<()> {
    let (mut last, mut count) = (None, 0);
    for array in arrays(content)?.tables() {
        let array = array?;
        let (node, refs) = (node_of(&array)?, refs_of(&array)?);
        if last.is_some_and(|last| last >= node) {
            return Err(FlatFault { what: "order of arrays", at: array.offset() });
        }
        last = Some(node);
        // Several arrays could share one vector of chunks: the sum of the lengths is bounded.
        count += refs.len();
        if count > content.len() / 4 {
            return Err(FlatFault { what: "chunks of an array", at: array.offset() });
        }
        let mut before: Option<Vector<'_>> = None;
        for reference in refs.tables() {
            let reference = reference?;
            let index = index_of(&reference)?;
            let is_behind = before.is_none_or(|before| before.len() == index.len() && before.u32s().lt(index.u32s()));
            if index.len() > MAX_RANK || !is_behind {
                return Err(FlatFault { what: "order of chunks", at: reference.offset() });
            }
            before = Some(index);
        }
    }
    Ok(())
}
