//! The codecs.

use crate::elements::Elements;
use crate::places::Places;
use std::sync::Arc;
use zarr_codec::{ArrayToBytes, BuildContext, Codec, CodecEntry, Error, Size, View, ViewMut};
use zarr_dtype::{HeapRef, Layout};
use zarr_grid::{Region, element_count};

/// Codec `vlen-utf8`, for the table of codecs.
pub const VLEN_UTF8: CodecEntry = CodecEntry {
    names: &["vlen-utf8", "numcodecs.vlen-utf8"],
    build: |context| build(context, Vlen { name: "vlen-utf8", utf8: true }),
};

/// Codec `vlen-bytes`, for the table of codecs.
pub const VLEN_BYTES: CodecEntry = CodecEntry {
    names: &["vlen-bytes", "numcodecs.vlen-bytes"],
    build: |context| build(context, Vlen { name: "vlen-bytes", utf8: false }),
};

fn build(context: &BuildContext<'_>, codec: Vlen) -> Result<Codec, Error> {
    if context.element.layout() != (Layout::Variable { utf8: codec.utf8 }) {
        let expected = if codec.utf8 { "string" } else { "bytes" };
        let what = format!("elements of data type {}, expected {expected}", context.element.data_type);
        return Err(Error::Unsupported { codec: codec.name, what });
    }
    Ok(Codec::ArrayToBytes(Arc::new(codec)))
}

/// Either codec.
#[derive(Debug)]
struct Vlen {
    name: &'static str,
    /// Whether elements are texts.
    utf8: bool,
}

impl Vlen {
    /// Why `bytes` are no element, if they are not.
    fn check(&self, bytes: &[u8]) -> Result<(), String> {
        if self.utf8 {
            std::str::from_utf8(bytes).map_err(|error| format!("a text is not UTF-8: {error}"))?;
        }
        Ok(())
    }

    fn without_heap(&self) -> Error {
        Error::Unsupported { codec: self.name, what: "elements of variable length need a view with a heap".to_owned() }
    }
}

impl ArrayToBytes for Vlen {
    fn encoded_size(&self, _shape: &[u64]) -> Size {
        Size::Unknown
    }

    fn encode(&self, chunk: &View<'_>, out: &mut Vec<u8>) -> Result<(), Error> {
        let failed = |what: String| Error::Encode { codec: self.name, what };
        let count = u32::try_from(chunk.len());
        let count = count.map_err(|_| failed(format!("{} elements, the format takes {}", chunk.len(), u32::MAX)))?;
        let heap = chunk.heap().ok_or_else(|| self.without_heap())?;
        let mut size = size_of::<u32>();
        chunk.all(|item| {
            let len = HeapRef::from_item(item).map_or(0, |element| element.len as usize);
            size = size.saturating_add(len).saturating_add(size_of::<u32>());
            true
        });
        out.try_reserve(size).map_err(|_| Error::Allocation { size: size as u64 })?;
        out.extend_from_slice(&count.to_le_bytes());
        let mut result = Ok(());
        chunk.all(|item| {
            let found = HeapRef::from_item(item).and_then(|element| Some((element.len, heap.get(element)?)));
            result = match found {
                None => Err("an element is not in the heap".to_owned()),
                Some((len, bytes)) => {
                    out.extend_from_slice(&len.to_le_bytes());
                    out.extend_from_slice(bytes);
                    self.check(bytes)
                }
            };
            result.is_ok()
        });
        result.map_err(failed)
    }

    fn decode(&self, encoded: &[u8], shape: &[u64], region: &Region, out: &mut ViewMut<'_>) -> Result<(), Error> {
        let heap = out.heap().cloned().ok_or_else(|| self.without_heap())?;
        let mut elements = Elements::new(self.name, encoded, element_count(shape).unwrap_or(u64::MAX))?;
        let mut places = Places::new(shape, region);
        let mut block = Vec::new();
        if region.is_whole(shape) {
            // Never more than what is there to be copied.
            block.try_reserve_exact(encoded.len()).map_err(|_| Error::Allocation { size: encoded.len() as u64 })?;
        }
        let mut result = Ok(());
        out.all_mut(|item| {
            result = places.next().map_or(Ok(()), |place| {
                let bytes = elements.at(place)?;
                self.check(bytes).map_err(|what| Error::Corrupt { codec: self.name, what })?;
                refer(item, bytes.len(), block.len());
                block.extend_from_slice(bytes);
                Ok(())
            });
            result.is_ok()
        });
        result?;
        elements.finish()?;
        // The number of the block is known only when it is complete.
        let block = heap.add(block);
        out.all_mut(|item| {
            if let Some(element) = HeapRef::from_item(item).filter(|element| element.len > 0) {
                item.copy_from_slice(&HeapRef { block, ..element }.to_bytes());
            }
            true
        });
        Ok(())
    }
}

/// Makes `item` refer to `len` bytes at `offset` of a block that has no number yet.
fn refer(item: &mut [u8], len: usize, offset: usize) {
    let element = match u32::try_from(len) {
        // Empty elements are equal, wherever they were found.
        Ok(0) | Err(_) => HeapRef::default(),
        Ok(len) => HeapRef { block: 0, len, offset: offset as u64 },
    };
    item.copy_from_slice(&element.to_bytes());
}
