//! Codec `packbits` of Zarr v3.

use crate::bits::{Field, Numbers};
use crate::config::{PackbitsConfig, Padding};
use crate::packed::{NAME, PackBits};
use crate::partial::Part;
use crate::positions::Positions;
use std::sync::Arc;
use zarr_codec::{Access, ArrayToBytes, BuildContext, CodecEntry, Decode, Error, Scratch, Size, View, ViewMut};
use zarr_grid::Region;

/// Codec `packbits`: the bits of each number, least significant first, without gaps between elements.
///
/// By default these are all the bits that a number has: 1 of a bool, 4 of an `int4`. `first_bit` and `last_bit` cut out some of
/// them; the others are lost, and come back as the sign or as 0. Part of a chunk is decoded from part of its bytes.
pub const PACKBITS: CodecEntry = CodecEntry::array_to_bytes("packbits", build).arguments(&[("padding_encoding", None)]);

fn build(context: &BuildContext<'_>) -> Result<Arc<dyn ArrayToBytes>, Error> {
    let config = PackbitsConfig::from_context(context)?;
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
    Ok(Arc::new(PackBits { layout: context.element.layout(), field, count: numbers.count, padding: config.padding }))
}

impl ArrayToBytes for PackBits {
    fn encoded_size(&self, shape: &[u64]) -> Size {
        PackBits::encoded_size(self, shape).map_or(Size::Unknown, |whole| Size::Exact(whole.size))
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
        let whole = PackBits::encoded_size(self, &shape).ok_or(Error::Allocation { size: u64::MAX })?;
        let size = usize::try_from(whole.size).map_err(|_| Error::Allocation { size: whole.size })?;
        out.try_reserve(size).map_err(|_| Error::Allocation { size: whole.size })?;
        if self.padding == Padding::FirstByte {
            out.push(whole.padding);
        }
        self.field.pack(items, out);
        if self.padding == Padding::LastByte {
            out.push(whole.padding);
        }
        Ok(())
    }

    fn decode(&self, encoded: &[u8], shape: &[u64], region: &Region, out: &mut ViewMut<'_>) -> Result<(), Error> {
        let elements = self.elements(encoded, shape)?;
        self.unpack(elements, 0, Positions::new(shape, region), out)
    }

    fn partial(self: Arc<Self>, shape: &[u64], region: &Region, _: &Access) -> Option<Box<dyn Decode>> {
        let size = PackBits::encoded_size(&self, shape)?.size;
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
