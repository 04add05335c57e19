//! Arrays that advice is given on.

use crate::bench::chunk_codecs;
use crate::sample::{Measured, data_type_text, spread};
use std::sync::Arc;
use zarr_array::{Array, Dialect, Error, ErrorKind, NewArray, Registry, Result, Store};
use zarr_grid::total_size;
use zarr_json::{NamedConfig, Value};
use zarr_store::MemoryStore;

/// Array that advice is given on: one that is stored, or the description of one.
#[derive(Clone, Debug)]
pub struct Subject {
    pub(super) shape: Vec<u64>,
    pub(super) names: Vec<Option<String>>,
    /// Data type, as [`NewArray::new`] takes it.
    pub(super) data_type: String,
    /// Number of bytes of an element.
    pub(super) item: u64,
    pub(super) has_shards: bool,
    pub(super) registry: Arc<Registry>,
    /// Layout of the stored array.
    pub(super) present: Option<Present>,
    /// Array whose elements are measured.
    pub(super) sampled: Option<Sampled>,
}

/// Layout of a stored array.
#[derive(Clone, Debug)]
pub(super) struct Present {
    pub(super) chunks: Vec<u64>,
    pub(super) shards: Option<Vec<u64>>,
    pub(super) codecs: Vec<NamedConfig>,
    /// Number of stored chunks, and of their bytes; `None` if the store cannot list.
    pub(super) stored: Option<(u64, u64)>,
    /// Share of the chunks of the grid that are stored; 1 if the store cannot list.
    pub(super) share: f64,
}

/// Array whose elements are measured.
#[derive(Clone, Debug)]
pub(super) struct Sampled {
    pub(super) array: Array,
    /// Indices of some stored chunks, spread over the array; empty if they are not known.
    pub(super) stored: Vec<Vec<u64>>,
}

impl Subject {
    /// Describes a stored array, whose chunks are listed if the store can list.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if elements are of variable length, and the errors of the listing.
    pub fn of(array: &Array) -> Result<Self> {
        let sizes = match array.store().capabilities().list {
            true => Some(array.stored_chunk_sizes()?),
            false => None,
        };
        let bytes = |sizes: &Vec<(_, u64)>| sizes.iter().fold(0_u64, |sum, (_, size)| sum.saturating_add(*size));
        let outer = array.chunk_shape().to_vec();
        let all = total_size(&array.chunk_grid().grid_shape(), 1);
        let chunks = array.part_shape().to_vec();
        let present = Present {
            shards: array.is_sharded().then_some(outer),
            chunks,
            codecs: chunk_codecs(array),
            stored: sizes.as_ref().map(|sizes| (sizes.len() as u64, bytes(sizes))),
            share: sizes.as_ref().map_or(1.0, |sizes| (sizes.len() as f64 / all.max(1) as f64).min(1.0)),
        };
        let names = array.dimension_names().map_or_else(|| vec![None; array.shape().len()], <[_]>::to_vec);
        let stored = spread(&sizes.unwrap_or_default()).map(|(index, _)| index.to_vec()).collect();
        let described = Self {
            shape: array.shape().to_vec(),
            names,
            data_type: data_type_text(array),
            item: array.data_type().item_size() as u64,
            has_shards: true,
            registry: Arc::clone(array.registry()),
            present: Some(present),
            sampled: Some(Sampled { array: array.clone(), stored }),
        };
        described.checked(array.data_type().is_variable())
    }

    /// Describes an array that is not stored. `data_type` is as for [`zarr_array::NewArray::new`].
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if elements are of variable length, and the errors of [`Array::create`].
    pub fn described(shape: &[u64], data_type: &str, names: &[String], registry: &Arc<Registry>) -> Result<Self> {
        if !names.is_empty() && names.len() != shape.len() {
            let found = format!("found {} names of dimensions, expected {}", names.len(), shape.len());
            return Err(Error::argument(found));
        }
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let new = NewArray::new(shape, data_type);
        let array = Array::create(&store, "/", new, registry)?;
        let names = match names {
            [] => vec![None; shape.len()],
            names => names.iter().cloned().map(Some).collect(),
        };
        let described = Self {
            shape: shape.to_vec(),
            names,
            data_type: data_type_text(&array),
            item: array.data_type().item_size() as u64,
            has_shards: true,
            registry: Arc::clone(registry),
            present: None,
            sampled: None,
        };
        described.checked(array.data_type().is_variable())
    }

    /// Measures codecs on the elements of another array, which are like those of this one.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if that has another number of dimensions or another data type.
    pub fn sampled_from(self, array: &Array) -> Result<Self> {
        let (found, expected) = (array.shape().len(), self.shape.len());
        if found != expected {
            return Err(Error::argument(format!("the sample has {found} dimensions, expected {expected}")));
        }
        let (found, expected) = (data_type_text(array), &self.data_type);
        if found != *expected {
            return Err(Error::argument(format!("the data type of the sample is {found}, expected {expected}")));
        }
        let stored = match array.store().capabilities().list {
            true => spread(&array.stored_chunks()?).map(|index| index.to_vec()).collect(),
            false => Vec::new(),
        };
        Ok(Self { sampled: Some(Sampled { array: array.clone(), stored }), ..self })
    }

    /// Sets the dialect of new arrays, which says whether they may have shards.
    #[must_use]
    pub fn dialect(self, dialect: Dialect) -> Self {
        Self { has_shards: dialect.has_shards(), ..self }
    }

    /// Shape of the array.
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// Names of the dimensions; `None` for a dimension without a name.
    pub fn names(&self) -> &[Option<String>] {
        &self.names
    }

    /// Number of bytes of all elements.
    pub fn bytes(&self) -> u128 {
        total_size(&self.shape, self.item)
    }

    fn checked(self, is_variable: bool) -> Result<Self> {
        if is_variable || self.item == 0 {
            let message = "elements of variable length have no size by which chunks could be planned";
            return Err(Error::new(ErrorKind::Argument, message));
        }
        if self.shape.contains(&0) {
            return Err(Error::argument("the array has no elements, so that no layout is better than another"));
        }
        Ok(self)
    }
}

/// Elements as they are, where there is nothing to measure on. Encoding and decoding take no time.
pub(super) fn unmeasured(subject: &Subject) -> Measured {
    let configs = subject.present.as_ref().map(|present| present.codecs.clone()).unwrap_or_default();
    let codecs = subject.present.as_ref().map_or_else(|| "zstd(1)".to_owned(), |present| chain_json(&present.codecs));
    Measured { codecs, configs, ratio: 1.0, encode: f64::INFINITY, decode: f64::INFINITY, is_lossless: true }
}

/// Codecs as JSON, which [`zarr_codec::CodecList::parse`] takes.
pub(super) fn chain_json(codecs: &[NamedConfig]) -> String {
    Value::from(codecs.iter().map(NamedConfig::to_value).collect::<Vec<_>>()).to_string()
}
