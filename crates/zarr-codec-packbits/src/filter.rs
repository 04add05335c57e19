//! Codec `packbits` of numcodecs.

use crate::bits::expand;
use smallvec::smallvec;
use std::sync::Arc;
use zarr_codec::{ArrayToArray, BuildContext, CodecEntry, CodecValue, ElementSpec, Error, Scratch, View, ViewMut};
use zarr_dtype::{DataType, FillValue};
use zarr_grid::{Shape, element_count};

/// Entry of the codec `numcodecs.packbits` for the table of codecs: bools, eight per byte, from the most significant bit on.
///
/// A chunk of n bools in C order becomes 1 + ⌈n / 8⌉ elements of type uint8: the number of bits that fill up the last byte, then the bytes.
/// The fill value of the encoded array is 0 or 1, as in zarr-python 3.
pub const NUMCODECS_PACKBITS: CodecEntry =
    CodecEntry::array_to_array("numcodecs.packbits", build).id("packbits").short("numcodecs.packbits");

const NAME: &str = "numcodecs.packbits";

/// Filter `packbits` of numcodecs: eight bools per byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NumcodecsPackbits;

impl CodecValue for NumcodecsPackbits {
    const ENTRY: CodecEntry = NUMCODECS_PACKBITS;

    fn from_config(_: &BuildContext<'_>) -> Result<Self, Error> {
        Ok(Self)
    }
}

fn build(context: &BuildContext<'_>) -> Result<Arc<dyn ArrayToArray>, Error> {
    let data_type = &context.element.data_type;
    if *data_type != DataType::Bool {
        return Err(Error::Unsupported { codec: NAME, what: format!("elements of data type {data_type}") });
    }
    let fill = FillValue::from_bytes(&DataType::UInt8, context.element.fill.bytes());
    let fill = fill.map_err(|error| Error::Metadata { pointer: String::new(), what: error.to_string() })?;
    Ok(Arc::new(PackBits { encoded: context.element.encoded(DataType::UInt8, fill) }))
}

#[derive(Debug)]
struct PackBits {
    encoded: ElementSpec,
}

/// Returns the number of bits that fill up the last byte of `count` bits.
fn padding(count: usize) -> u8 {
    (count.next_multiple_of(8) - count) as u8
}

impl ArrayToArray for PackBits {
    fn encoded(&self) -> &ElementSpec {
        &self.encoded
    }

    fn encoded_shape(&self, shape: &[u64]) -> Result<Shape, Error> {
        let count = element_count(shape).ok_or_else(|| Error::Metadata {
            pointer: String::new(),
            what: format!("chunks of {shape:?} have more elements than can be counted"),
        })?;
        Ok(smallvec![count.div_ceil(8) + 1])
    }

    fn decoded_count(&self, encoded: &[u8]) -> Option<u64> {
        let (&padding, packed) = encoded.split_first()?;
        (packed.len() as u64 * 8).checked_sub(u64::from(padding)).filter(|_| padding < 8)
    }

    fn encode(&self, chunk: &View<'_>, out: &mut ViewMut<'_>) -> Result<(), Error> {
        let mut gathered = Scratch::empty();
        let bools = match chunk.as_contiguous() {
            Some(bools) => bools,
            None => {
                chunk.append_to(&mut gathered)?;
                &gathered
            }
        };
        let byte = |bits: &[u8]| bits.iter().enumerate().fold(0, |byte, (at, bit)| byte | (bit & 1) << (7 - at));
        let mut bytes = std::iter::once(padding(bools.len())).chain(bools.chunks(8).map(byte));
        out.all_mut(|item| {
            let Some(byte) = bytes.next() else { return false };
            item.fill(byte);
            true
        });
        Ok(())
    }

    fn decode(&self, chunk: &View<'_>, out: &mut ViewMut<'_>) -> Result<(), Error> {
        let mut gathered = Scratch::empty();
        let bytes = match chunk.as_contiguous() {
            Some(bytes) => bytes,
            None => {
                chunk.append_to(&mut gathered)?;
                &gathered
            }
        };
        let expected = padding(out.len());
        let (found, packed) = match bytes.split_first() {
            Some((&found, packed)) => (found, packed),
            None => return Err(Error::Truncated { codec: NAME, found: 0, expected: 1 }),
        };
        if found != expected {
            let what = format!("{found} bits of padding, expected {expected}");
            return Err(Error::Corrupt { codec: NAME, what });
        }
        if let Some(bools) = out.as_contiguous() {
            expand(packed, u8::reverse_bits, bools);
            return Ok(());
        }
        let mut scratch = Scratch::empty();
        let bools = scratch.sized(out.size())?;
        expand(packed, u8::reverse_bits, bools);
        out.copy_from(&View::new(bools, out.item_size(), out.shape())?);
        Ok(())
    }
}
