//! Codec `packbits` of Zarr v3.

use crate::bits::{Field, Numbers};
use crate::config::{PackbitsConfig, Padding};
use crate::partial::Part;
use crate::positions::Positions;
use std::sync::Arc;
use zarr_codec::{Access, ArrayToBytes, BuildContext, Codec, CodecEntry, Decode, Error, Scratch, Size, View, ViewMut};
use zarr_dtype::Layout;
use zarr_grid::{Region, element_count};

/// Codec `packbits`: the bits of each number, least significant first, without gaps between elements.
///
/// By default these are all the bits that a number has: 1 of a bool, 4 of an `int4`. `first_bit` and `last_bit` cut out some of
/// them; the others are lost, and come back as the sign or as 0. Part of a chunk is decoded from part of its bytes.
pub const PACKBITS: CodecEntry = CodecEntry { names: &["packbits"], build };

/// The name in errors.
pub(crate) const NAME: &str = "packbits";

fn build(context: &BuildContext<'_>) -> Result<Codec, Error> {
    let config = PackbitsConfig::from_config(context.config)?;
    let data_type = &context.element.data_type;
    let Some(numbers) = Numbers::of(data_type) else {
        return Err(Error::Unsupported { codec: NAME, what: format!("elements of data type {data_type}") });
    };
    let first = config.first_bit.unwrap_or(0);
    let last = config.last_bit.unwrap_or(numbers.bits - 1);
    for (name, bit) in [("first_bit", first), ("last_bit", last)] {
        if bit >= numbers.bits || last < first {
            let what = format!("found bits {first} to {last}, expected some of 0 to {}", numbers.bits - 1);
            return Err(context.config.error(name, what));
        }
    }
    let field = Field { size: numbers.size, first, width: last - first + 1, signed: numbers.signed };
    Ok(Codec::ArrayToBytes(Arc::new(PackBits {
        layout: context.element.layout(),
        field,
        count: numbers.count,
        padding: config.padding,
    })))
}

/// The codec, bound to a data type: built from metadata, used for every chunk.
#[derive(Debug)]
pub(crate) struct PackBits {
    layout: Layout,
    field: Field,
    /// Numbers of one element.
    count: u32,
    padding: Padding,
}

/// The bytes of an encoded chunk.
#[derive(Clone, Copy, Debug)]
struct Extent {
    /// All of them.
    size: u64,
    /// Bits that fill up the last byte of elements.
    padding: u8,
}

impl PackBits {
    /// Bits of one element.
    fn element_bits(&self) -> u64 {
        u64::from(self.field.width) * u64::from(self.count)
    }

    /// Bytes in front of the elements.
    pub(crate) fn header(&self) -> u64 {
        u64::from(self.padding == Padding::FirstByte)
    }

    /// `None` if a chunk of `shape` has more bits than can be counted.
    fn extent(&self, shape: &[u64]) -> Option<Extent> {
        let bits = element_count(shape)?.checked_mul(self.element_bits())?;
        let size = bits.div_ceil(8).checked_add(u64::from(self.padding != Padding::None))?;
        Some(Extent { size, padding: (bits.next_multiple_of(8) - bits) as u8 })
    }

    /// The packed elements in the bytes of a chunk.
    fn elements<'b>(&self, encoded: &'b [u8], shape: &[u64]) -> Result<&'b [u8], Error> {
        let found = encoded.len() as u64;
        let extent = self.extent(shape).unwrap_or(Extent { size: u64::MAX, padding: 0 });
        let expected = extent.size;
        let truncated = Error::Truncated { codec: NAME, found, expected };
        if found > expected {
            return Err(Error::TooLong { codec: NAME, found, expected });
        }
        if found < expected {
            return Err(truncated);
        }
        let (padding, elements) = match self.padding {
            Padding::None => return Ok(encoded),
            Padding::FirstByte => encoded.split_first().ok_or(truncated)?,
            Padding::LastByte => encoded.split_last().ok_or(truncated)?,
        };
        if *padding != extent.padding {
            let what = format!("{padding} bits of padding, expected {}", extent.padding);
            return Err(Error::Corrupt { codec: NAME, what });
        }
        Ok(elements)
    }

    /// Writes the elements at `positions` to `out`. `packed` are the bytes of packed elements from byte `start` on.
    pub(crate) fn unpack(
        &self,
        packed: &[u8],
        start: u64,
        positions: Positions,
        out: &mut ViewMut<'_>,
    ) -> Result<(), Error> {
        let each = self.element_bits();
        let size = positions.run().saturating_mul(out.item_size() as u64);
        let size = usize::try_from(size).unwrap_or(usize::MAX).max(1);
        let all = |items: &mut [u8]| {
            for (items, position) in items.chunks_exact_mut(size).zip(positions) {
                // The bits of the chunk were counted when its size was.
                self.field.unpack(packed, position * each - start * 8, items);
            }
        };
        if let Some(items) = out.as_contiguous() {
            all(items);
            return Ok(());
        }
        let mut scratch = Scratch::empty();
        let items = scratch.sized(out.size())?;
        all(items);
        out.copy_from(&View::new(items, out.item_size(), out.shape())?);
        Ok(())
    }
}

impl ArrayToBytes for PackBits {
    fn encoded_size(&self, shape: &[u64]) -> Size {
        self.extent(shape).map_or(Size::Unknown, |extent| Size::Exact(extent.size))
    }

    fn encode(&self, chunk: &View<'_>, out: &mut Vec<u8>) -> Result<(), Error> {
        let mut gathered = Scratch::empty();
        let items = match chunk.as_contiguous() {
            Some(items) => items,
            None => {
                chunk.append_to(&mut gathered)?;
                &gathered
            }
        };
        self.layout.check(items).map_err(|error| Error::Encode { codec: NAME, what: error.to_string() })?;
        let shape: zarr_grid::Shape = chunk.shape().iter().map(|&len| len as u64).collect();
        let extent = self.extent(&shape).ok_or(Error::Allocation { size: u64::MAX })?;
        let size = usize::try_from(extent.size).map_err(|_| Error::Allocation { size: extent.size })?;
        out.try_reserve(size).map_err(|_| Error::Allocation { size: extent.size })?;
        if self.padding == Padding::FirstByte {
            out.push(extent.padding);
        }
        self.field.pack(items, out);
        if self.padding == Padding::LastByte {
            out.push(extent.padding);
        }
        Ok(())
    }

    fn decode(&self, encoded: &[u8], shape: &[u64], region: &Region, out: &mut ViewMut<'_>) -> Result<(), Error> {
        let elements = self.elements(encoded, shape)?;
        self.unpack(elements, 0, Positions::new(shape, region), out)
    }

    fn partial(self: Arc<Self>, shape: &[u64], region: &Region, _: &Access) -> Option<Box<dyn Decode>> {
        let size = self.extent(shape)?.size;
        let positions = Positions::new(shape, region);
        let bytes = match positions.ends() {
            None => 0..0,
            Some((first, last)) => {
                let each = self.element_bits();
                first * each / 8..((last + 1) * each).div_ceil(8)
            }
        };
        // Nearly all of it is better read and checked as a whole.
        if bytes.end - bytes.start >= size - size / 8 {
            return None;
        }
        Some(Box::new(Part::new(self, bytes, positions)))
    }
}
