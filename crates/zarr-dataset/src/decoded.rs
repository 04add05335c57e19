//! Array of the decoded values of a variable: a stored array that is read through the CF codec.

use crate::codec::{self, Decoding};
use crate::decoder::Decoder;
use crate::{Error, Result, decoder};
use std::sync::Arc;
use zarr_array::{Array, MissingChunks, Registry};
use zarr_cf::encoding::{Encoding, TimeEncoding};
use zarr_cf::time::{Numbers, TimeKind};
use zarr_dtype::FillValue;
use zarr_meta::Node;
use zarr_store::{ReadOnly, Store};

/// Returns the kind of times to which `array` is decoded, which the first and the last element decide, as in xarray.
///
/// # Errors
/// If these elements cannot be read, or are no times.
fn time_kind(array: &Array, encoding: &Encoding) -> Result<TimeKind> {
    let TimeEncoding::Since(units, calendar) = &encoding.times else { return Ok(TimeKind::Nanoseconds) };
    let units = decoder::time_units(units, calendar.as_deref())?;
    let in_units = |error: zarr_cf::time::Error| {
        Error::new(zarr_array::ErrorKind::InvalidMetadata, format!("attribute units: {error}"))
            .at(|location| location.pointer = Some("/attributes/units".to_owned()))
    };
    if array.shape().contains(&0) {
        return units.kind(Numbers::I64(&[])).map_err(in_units);
    }
    let first = vec![0; array.shape().len()];
    let last: Vec<i64> = array.shape().iter().map(|&len| i64::try_from(len).unwrap_or(i64::MAX) - 1).collect();
    // Only counts are needed, so the kind of this decoder does not matter.
    let counter = Decoder::new(array.data_type(), encoding, TimeKind::Nanoseconds)?;
    let mut items = Vec::new();
    for index in [&first, &last] {
        let axes = index.iter().map(|&index| zarr_grid::AxisSelection::Index(index)).collect();
        items.extend_from_slice(array.read_data(zarr_grid::Selection::Axes(axes))?.items());
    }
    counter.count(&units, &items).map_err(in_units)
}

/// Returns the decoder of the elements of `array`.
///
/// # Errors
/// For an encoding that the elements cannot have, with the attribute.
pub(crate) fn decoder(array: &Array, encoding: &Encoding) -> Result<Decoder> {
    Decoder::new(array.data_type().storage(), encoding, time_kind(array, encoding)?)
}

/// Returns the array of decoded values; `None` if the elements are the values. `registry` must have the CF codec.
///
/// # Errors
/// For an encoding that the elements cannot have, with the attribute.
pub(crate) fn array(array: &Array, encoding: &Encoding, registry: &Arc<Registry>) -> Result<Option<Array>> {
    let stored = array.data_type().storage();
    let kind = time_kind(array, encoding)?;
    let decoder = Decoder::new(stored, encoding, kind)?;
    if decoder.is_identity(stored) {
        return Ok(None);
    }
    let mut found = array.found().clone();
    let Node::Array(metadata) = &mut found.node else { return Ok(None) };
    let fill = array.fill_value().bytes();
    let fill = FillValue::from_bytes(stored, fill)?;
    codec::insert(&mut metadata.codecs);
    let data_type = decoder.data_type();
    let mut options = array.options().clone();
    let mut decoded = vec![0; data_type.item_size()];
    let is_decoded = decoder.decode(fill.bytes(), &mut decoded).is_ok();
    if !is_decoded {
        // The fill value cannot be decoded, so missing chunks are an error.
        options = options.missing_chunks(MissingChunks::Error);
    }
    metadata.fill_value = Some(FillValue::from_bytes(data_type, &decoded)?.to_json(data_type));
    metadata.data_type = data_type.to_config();
    // Chunks of nothing but fill values would be erased without being encoded.
    let store: Arc<dyn Store> = match array.store().capabilities().write {
        true => Arc::new(ReadOnly(Arc::clone(array.store()))),
        // The same store, by which a cache recognizes the array.
        false => Arc::clone(array.store()),
    };
    let registry = Decoding { stored: stored.clone(), fill, decoder }.in_table(registry);
    Array::from_found(&store, found, &registry, options).map(Some)
}

/// Adds to `registry` what decoded arrays need: the codec and the data types of this crate. A registry that has them is returned unchanged.
///
/// Each data set extends the registry of its group in this way. A program that opens its groups with an extended registry, from a read-only
/// store ([`ReadOnly`]), can use one [cache](zarr_array::ChunkCache) for decoded chunks of variables, however often their data sets are
/// opened.
///
/// ```
/// # use std::sync::Arc;
/// # use zarr_array::Registry;
/// let table = zarr_dataset::registry(&Arc::new(Registry::default()));
/// assert!(Arc::ptr_eq(&table, &zarr_dataset::registry(&table)));
/// ```
#[must_use]
pub fn registry(registry: &Arc<Registry>) -> Arc<Registry> {
    if codec::is_in(&registry.codecs) {
        return Arc::clone(registry);
    }
    let mut registry = Registry::clone(registry);
    registry.codecs.add(codec::CF);
    crate::calendar_time::add_to(&mut registry.data_types);
    Arc::new(registry)
}
