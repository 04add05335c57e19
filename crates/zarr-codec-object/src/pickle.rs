//! Pickled arrays of plain values: read without executing anything, and only if a program adds the codec.

mod array;
mod item;
mod machine;
mod reader;

use crate::objects::{self, check_type};
use array::Fault;
use machine::Machine;
use std::sync::Arc;
use zarr_codec::{
    ArrayToBytes, BuildContext, CodecEntry, ElementOffsets, Error, Protection, Size, View, ViewMut, write_variable,
};
use zarr_dtype::DataType;
use zarr_grid::{Region, element_count};

const NAME: &str = "pickle";

/// Codec `pickle` for reading, which tables of codecs lack unless a program adds it. The codec takes arrays of strings, bytes, integers,
/// floats, bools, `None`, and lists, tuples and dicts of such values, pickled by Python or numpy. Tuples become lists; ordered dicts, and
/// the references to objects of hdmf-zarr (`hdmf_zarr.utils.ZarrReference`), become dicts. Everything else is an error, and encoding always
/// fails.
///
/// A pickle is a program that calls functions by name. Nothing of it is executed: only the calls by which numpy builds an array are
/// recognized, as a description of that array, and any other name ends decoding with an error.
pub const PICKLE: CodecEntry = CodecEntry::array_to_bytes("numcodecs.pickle", build).id("pickle");

fn build(context: &BuildContext<'_>) -> Result<Arc<dyn ArrayToBytes>, Error> {
    check_type(NAME, &context.element.data_type)?;
    // How a writer would write.
    context.config.value("protocol");
    let data_type = context.element.data_type.clone();
    Ok(Arc::new(Pickle { data_type, max_chunk: context.limits.max_chunk }))
}

#[derive(Debug)]
struct Pickle {
    data_type: DataType,
    max_chunk: u64,
}

impl ArrayToBytes for Pickle {
    fn protection(&self, _: Option<&[u8]>) -> Protection {
        Protection::Form
    }

    fn encoded_size(&self, _shape: &[u64]) -> Size {
        Size::Unknown
    }

    fn encode(&self, _chunk: &View<'_>, _out: &mut Vec<u8>) -> Result<(), Error> {
        Err(Error::Encode { codec: NAME, what: "pickles are read, not written".to_owned() })
    }

    fn decode(&self, encoded: &[u8], shape: &[u64], region: &Region, out: &mut ViewMut<'_>) -> Result<(), Error> {
        let corrupt = |what: String| Error::Corrupt { codec: NAME, what };
        objects::check_size(encoded, self.max_chunk)?;
        let array = Machine::run(encoded).map_err(corrupt)?;
        let count = element_count(shape);
        if element_count(&array.shape) != count || count != Some(array.len() as u64) {
            let what = format!("found {} values of shape {:?}, expected {shape:?}", array.len(), array.shape);
            return Err(corrupt(what));
        }
        let mut offsets = ElementOffsets::new(shape, region);
        write_variable(NAME, out, Vec::new(), |block| {
            let index =
                offsets.next().map(|index| if array.is_fortran { c_offset(index, &array.shape) } else { index });
            let index = index.map_or(usize::MAX, |index| usize::try_from(index).unwrap_or(usize::MAX));
            let limit = self.max_chunk;
            let value = array.value(index, &mut { limit }).map_err(|fault| match fault {
                Fault::NotPlain(what) => corrupt(what.to_owned()),
                Fault::Memory => Error::Limit { what: "an element", found: limit.saturating_add(1), limit },
            })?;
            let content = objects::content(&self.data_type, &value).map_err(corrupt)?;
            // A value may be there once and be referred to often.
            let found = (block.len() as u64).saturating_add(content.len() as u64);
            if found > self.max_chunk {
                return Err(Error::Limit { what: "decoded chunk", found, limit: self.max_chunk });
            }
            block.extend(content);
            Ok(())
        })
    }
}

/// Returns the offset, in C order of an array of `shape`, of the element with offset `index` in Fortran order.
fn c_offset(index: u64, shape: &[u64]) -> u64 {
    let (mut rest, mut found) = (index, 0);
    let mut strides: Vec<u64> = shape.to_vec();
    let mut stride = 1;
    for slot in strides.iter_mut().rev() {
        (*slot, stride) = (stride, stride * *slot);
    }
    for (&len, stride) in shape.iter().zip(strides) {
        found += rest % len.max(1) * stride;
        rest /= len.max(1);
    }
    found
}

#[cfg(test)]
mod tests;
