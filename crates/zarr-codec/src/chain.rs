//! Chains of typed codecs, bound to the data type and shape of a chunk. They need neither an array nor a table of codecs.

use crate::value::IntoTypedCodecs;
use crate::{Codecs, ElementSpec, Error, Limits, Pipeline, View, ViewMut, Warnings};
use std::sync::Arc;
use zarr_dtype::{DataType, Element, FillValue, Heap};
use zarr_grid::{Region, Shape};
use zarr_json::NamedConfig;

/// Builder of a [`ChunkCodec`]: typed codecs in the order in which a chunk is encoded. [`build`](Self::build) binds them to the data type
/// and shape of a chunk.
///
/// ```
/// # // Codec crates build on this one.
/// # use zarr_codec::{Chain, Error, IntoTypedCodecs};
/// # fn chain(transpose: impl IntoTypedCodecs, bytes: impl IntoTypedCodecs, zstd: impl IntoTypedCodecs) -> Result<(), Error> {
/// use zarr_dtype::DataType;
///
/// // transpose = Transpose::new([1, 0])?, bytes = Bytes::little_endian(), zstd = Zstd::level(3)?
/// let codec = Chain::new(&DataType::Float32, &[100, 200]).then(transpose).then(bytes).then(zstd).build()?;
/// let encoded = codec.encode_elements(&vec![1.5_f32; 20_000])?;
/// assert_eq!(codec.decode_elements::<f32>(&encoded)?, [1.5; 20_000]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Chain {
    element: ElementSpec,
    shape: Shape,
    codecs: Vec<NamedConfig>,
    /// Table with the entries of the typed codecs that were added.
    table: Codecs,
    limits: Limits,
}

impl Chain {
    /// Returns an empty chain for chunks of `shape` with elements of `data_type`.
    pub fn new(data_type: &DataType, shape: &[u64]) -> Self {
        let mut table = Codecs::default();
        table.add_hint("crc32c", "a chain has only the typed codecs in it: name the codecs of the index, too");
        table.add_hint("bytes", "a chain has only the typed codecs in it: name the codecs of the index, too");
        Self {
            element: ElementSpec::new(data_type.clone(), FillValue::zero(data_type)),
            shape: Shape::from_slice(shape),
            codecs: Vec::new(),
            table,
            limits: Limits::default(),
        }
    }

    /// Appends `codecs` to the chain.
    #[must_use]
    pub fn then(mut self, codecs: impl IntoTypedCodecs) -> Self {
        for codec in codecs.into_typed_codecs() {
            codec.entries().for_each(|entry| self.table.add(entry));
            self.codecs.push(codec.into_config());
        }
        self
    }

    /// Sets the fill value; zero by default. Inner chunks of a shard that contain only the fill value are not stored.
    #[must_use]
    pub fn fill_value(mut self, fill: FillValue) -> Self {
        self.element.fill = fill;
        self
    }

    /// Sets the limits on sizes while decoding.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Binds the codecs to the data type and the shape of the chunk.
    ///
    /// # Errors
    /// [`Error::Argument`] for a wrong configuration or order of codecs, [`Error::Unsupported`] for elements that a codec does not
    /// take.
    pub fn build(&self) -> Result<ChunkCodec, Error> {
        let warnings = Warnings::default();
        let built = Pipeline::build(&self.codecs, &self.element, &self.table, &self.limits, 0, &warnings);
        let built = built.and_then(|pipeline| warnings.check().map(|()| pipeline));
        let pipeline = built.and_then(|pipeline| pipeline.check(&self.shape).map(|()| pipeline));
        let pipeline = pipeline.map_err(|error| error.of_codecs(&self.codecs))?;
        let dims = self.shape.iter().map(|&len| usize::try_from(len)).collect::<Result<_, _>>();
        let size = pipeline.decoded_size(&self.shape);
        let (Ok(dims), true) = (dims, size <= self.limits.max_chunk) else {
            return Err(Error::Limit { what: "decoded chunk", found: size, limit: self.limits.max_chunk });
        };
        Ok(ChunkCodec { pipeline: Arc::new(pipeline), shape: self.shape.clone(), dims })
    }
}

/// Codecs that are bound to the data type and the shape of a chunk. Made by [`Chain::build`].
///
/// Decoded chunks are their elements in C order: as native-endian bytes, or as values of a Rust type.
#[derive(Clone, Debug)]
pub struct ChunkCodec {
    pipeline: Arc<Pipeline>,
    shape: Shape,
    dims: Vec<usize>,
}

impl ChunkCodec {
    /// Returns the bound codecs as a [`Pipeline`], which works on views and decodes regions of chunks.
    pub fn pipeline(&self) -> &Arc<Pipeline> {
        &self.pipeline
    }

    /// Returns the number of bytes of a decoded chunk. An element of variable length counts with the size of its reference into the heap.
    pub fn decoded_size(&self) -> usize {
        // `Chain::build` refuses sizes that memory does not hold.
        usize::try_from(self.pipeline.decoded_size(&self.shape)).unwrap_or(usize::MAX)
    }

    /// Encodes a chunk whose elements are given as native-endian bytes in C order.
    ///
    /// # Errors
    /// [`Error::Buffer`] unless `items` has [`decoded_size`](Self::decoded_size), [`Error::Encode`] for values that cannot be encoded,
    /// [`Error::Argument`] for elements of variable length, which
    /// [`encode_elements`](Self::encode_elements) takes.
    pub fn encode(&self, items: &[u8]) -> Result<Vec<u8>, Error> {
        self.check_fixed()?;
        self.encode_items(items, None)
    }

    /// Decodes a chunk and returns its elements as native-endian bytes in C order.
    ///
    /// # Errors
    /// [`Error::Truncated`], [`Error::TooLong`], [`Error::Checksum`] or [`Error::Corrupt`] if `encoded` is not an encoded
    /// chunk, [`Error::Argument`] for elements of variable length, which [`decode_elements`](Self::decode_elements) returns.
    pub fn decode(&self, encoded: &[u8]) -> Result<Vec<u8>, Error> {
        self.check_fixed()?;
        let mut items = u8::zeroed_vec(self.decoded_size()).map_err(Error::Element)?;
        self.decode_items(encoded, &mut items, None)?;
        Ok(items)
    }

    /// Decodes a chunk into `items`: the elements as native-endian bytes in C order.
    ///
    /// # Errors
    /// [`Error::Buffer`] unless `items` has [`decoded_size`](Self::decoded_size), and the errors of [`decode`](Self::decode).
    pub fn decode_into(&self, encoded: &[u8], items: &mut [u8]) -> Result<(), Error> {
        self.check_fixed()?;
        self.decode_items(encoded, items, None)
    }

    /// Encodes a chunk whose elements, of fixed or variable length, are given in C order.
    ///
    /// # Errors
    /// [`Error::Element`] if `T` does not fit the data type, and the errors of [`encode`](Self::encode).
    pub fn encode_elements<T: Element>(&self, elements: &[T]) -> Result<Vec<u8>, Error> {
        let data_type = self.data_type().as_taken_by::<T>().map_err(Error::Element)?;
        if let Some(items) = T::as_bytes(elements) {
            return self.encode_items(items, None);
        }
        let heap = Arc::new(Heap::new());
        let items = T::to_items(data_type, elements, &heap).map_err(Error::Element)?;
        self.encode_items(&items, self.data_type().is_variable().then_some(heap))
    }

    /// Decodes a chunk and returns its elements, of fixed or variable length, in C order.
    ///
    /// # Errors
    /// [`Error::Element`] if `T` does not fit the data type or an element is not a value of `T`, and the errors of
    /// [`decode`](Self::decode).
    pub fn decode_elements<T: Element>(&self, encoded: &[u8]) -> Result<Vec<T>, Error> {
        let data_type = self.data_type().as_taken_by::<T>().map_err(Error::Element)?;
        if T::as_bytes_mut(&mut []).is_some() {
            let count = self.dims.iter().product();
            let mut elements = T::zeroed_vec(count).map_err(Error::Element)?;
            if let Some(items) = T::as_bytes_mut(&mut elements) {
                self.decode_items(encoded, items, None)?;
            }
            return Ok(elements);
        }
        let mut items = u8::zeroed_vec(self.decoded_size()).map_err(Error::Element)?;
        let heap = self.pipeline.element().new_heap();
        self.decode_items(encoded, &mut items, heap.clone())?;
        let elements = match heap {
            Some(heap) => T::from_items(data_type, &items, &heap),
            None => T::from_item_vec(data_type, items),
        };
        elements.map_err(Error::Element)
    }

    fn data_type(&self) -> &DataType {
        &self.pipeline.element().data_type
    }

    fn check_fixed(&self) -> Result<(), Error> {
        if !self.data_type().is_variable() {
            return Ok(());
        }
        let what = format!("elements of data type {} are no bytes of one length, but Rust values", self.data_type());
        Err(Error::Argument { what })
    }

    fn encode_items(&self, items: &[u8], heap: Option<Arc<Heap>>) -> Result<Vec<u8>, Error> {
        let chunk = View::new(items, self.pipeline.element().item_size(), &self.dims)?.with_heap(heap);
        let mut encoded = Vec::new();
        self.pipeline.encode(&chunk, &mut encoded)?;
        Ok(encoded)
    }

    fn decode_items(&self, encoded: &[u8], items: &mut [u8], heap: Option<Arc<Heap>>) -> Result<(), Error> {
        let mut chunk = ViewMut::new(items, self.pipeline.element().item_size(), &self.dims)?.with_heap(heap);
        self.pipeline.decode(encoded, &self.shape, &Region::whole(&self.shape), &mut chunk)
    }
}
