//! Codec `packbits` of Zarr v3.

use crate::bits::{Field, Numbers};
use crate::packed::{NAME, PackBits};
use crate::padding::Padding;
use crate::partial::Part;
use crate::positions::Positions;
use std::ops::RangeInclusive;
use std::sync::Arc;
use zarr_codec::{
    Access, ArrayToBytes, BuildContext, CodecEntry, CodecValue, Decode, Error, Scratch, Size, View, ViewMut,
};
use zarr_grid::Region;
use zarr_json::Map;

/// Entry of the codec `packbits` for the table of codecs: the bits of each number, least significant first, without gaps between elements.
///
/// By default all bits of a number are stored: 1 of a bool, 4 of an `int4`. `first_bit` and `last_bit` select a range of bits; the bits
/// below the range are decoded as 0, the bits above it as the sign or as 0. A part of a chunk is decoded from a part of its bytes.
pub const PACKBITS: CodecEntry =
    CodecEntry::array_to_bytes("packbits", |context| Ok(Arc::new(Packbits::from_config(context)?.bind(context)?)))
        .arguments(&[("padding_encoding", None)]);

/// Valid values of `first_bit` and `last_bit`.
const BITS: RangeInclusive<u32> = 0..=63;

/// Codec `packbits`: numbers of few bits without gaps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packbits {
    padding: Padding,
    /// Lowest stored bit of each number, counted from 0; `None` for 0.
    first_bit: Option<u32>,
    /// Highest stored bit of each number; `None` for the highest bit of the data type.
    last_bit: Option<u32>,
}

impl Packbits {
    /// Creates the codec, with all bits of numbers, and without a byte for the number of padding bits.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets where the number of bits that fill up the last byte is stored.
    #[must_use]
    pub fn padding(self, padding: Padding) -> Self {
        Self { padding, ..self }
    }

    /// Sets the range of bits of each number that is stored, counted from the lowest bit, 0.
    ///
    /// # Errors
    /// [`Error::Argument`] for an empty range, and for bits beyond 63.
    pub fn bits(self, bits: RangeInclusive<u32>) -> Result<Self, Error> {
        let first = PACKBITS.in_range("first_bit", *bits.start(), BITS)?;
        let last = PACKBITS.in_range("last_bit", *bits.end(), first..=*BITS.end())?;
        Ok(Self { first_bit: Some(first), last_bit: Some(last), ..self })
    }

    /// Returns the codec for the data type of an array.
    fn bind(&self, context: &BuildContext<'_>) -> Result<PackBits, Error> {
        let data_type = &context.element.data_type;
        let Some(numbers) = Numbers::of(data_type) else {
            return Err(Error::Unsupported { codec: NAME, what: format!("elements of data type {data_type}") });
        };
        let first = self.first_bit.unwrap_or(0);
        let last = self.last_bit.unwrap_or(numbers.bits - 1);
        for (name, bit) in [("first_bit", first), ("last_bit", last)] {
            if bit >= numbers.bits || last < first {
                let what = format!("found bits {first} to {last}, expected some of 0 to {}", numbers.bits - 1);
                return Err(context.config.error(name, what));
            }
        }
        let field = Field { size: numbers.size, first, width: last - first + 1, signed: numbers.signed };
        Ok(PackBits { layout: context.element.layout(), field, count: numbers.count, padding: self.padding })
    }
}

impl CodecValue for Packbits {
    const ENTRY: CodecEntry = PACKBITS;

    fn from_config(context: &BuildContext<'_>) -> Result<Self, Error> {
        let config = context.config;
        let padding = config.one_of("padding_encoding", &Padding::WORDS)?;
        let (first_bit, last_bit) = (config.integer("first_bit", BITS)?, config.integer("last_bit", BITS)?);
        if let (Some(first), Some(last)) = (first_bit, last_bit)
            && last < first
        {
            return Err(config.error("last_bit", format!("found {last}, expected {first}, the first bit, or more")));
        }
        Ok(Self { padding: padding.unwrap_or_default(), first_bit, last_bit })
    }

    fn to_config(&self) -> Map {
        let padding = (self.padding != Padding::None).then(|| self.padding.word().into());
        let [first, last] = [self.first_bit, self.last_bit].map(|bit| bit.map(Into::into));
        Map::from_some([("padding_encoding", padding), ("first_bit", first), ("last_bit", last)])
    }
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
