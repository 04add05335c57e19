//! Variable of a data set: an array with named dimensions, an encoding and a selection.

use crate::attribute::{FILL_VALUE, in_metadata, invalid, take_encoding};
use crate::dimensions::Axis;
use crate::indexer::Indexer;
use crate::values::Values;
use crate::{Error, ErrorKind, Result, decoded, fault, gather, strings};
use std::fmt;
use std::num::NonZeroUsize;
use std::sync::{Arc, OnceLock};
use zarr_array::{Array, ArrayData, Options, Registry, Store};
use zarr_cf::encoding::{Encoding, TimeEncoding};
use zarr_cf::textual::is_textual;
use zarr_dtype::{Class, DataType};
use zarr_grid::{AxisRange, AxisSelection, Region, Selection};
use zarr_json::Map;

/// Variable of a [`Dataset`](crate::Dataset). No values are read before [`read`](Self::read), except the first and the last element of a
/// variable of times, which decide its data type.
#[derive(Clone)]
pub struct Variable {
    inner: Arc<Inner>,
    /// Selection along each axis of the stored array.
    indexers: Vec<Indexer>,
}

struct Inner {
    name: String,
    stored: Array,
    axes: Vec<Axis>,
    /// CF encoding; `None` if the attributes are no valid encoding.
    encoding: Option<Encoding>,
    attributes: Map,
    /// Attributes that name other variables, which are coordinates therefore.
    related: Map,
    registry: Arc<Registry>,
    way: OnceLock<Way>,
}

/// Way in which values are read.
enum Way {
    /// Values that are the stored elements.
    Stored,
    /// Values of an array that decodes chunks.
    Decoded(Array),
    /// Strings and bools that may be missing, and strings that are joined or decoded after the read.
    Strings,
}

impl Variable {
    /// Returns the variable of an array. The encoding is taken from `attributes`, the attributes of the user; `related` were taken already.
    pub(crate) fn new(
        name: &str,
        stored: Array,
        axes: Vec<Axis>,
        mut attributes: Map,
        related: Map,
        registry: &Arc<Registry>,
    ) -> Self {
        let original = attributes.clone();
        let encoding = take_encoding(&stored, &mut attributes).ok();
        if encoding.is_none() {
            attributes = original;
        }
        let all = |(axis, &len): (&Axis, &u64)| match axis {
            Axis::Scalar => Indexer::One(0),
            Axis::Named(_) | Axis::Characters => Indexer::all(len),
        };
        let indexers = axes.iter().zip(stored.shape()).map(all).collect();
        let registry = Arc::clone(registry);
        let (name, way) = (name.to_owned(), OnceLock::new());
        let inner = Inner { name, stored, axes, encoding, attributes, related, registry, way };
        Self { inner: Arc::new(inner), indexers }
    }

    /// Returns the variable with reads through `store`, which must have the same values.
    pub(crate) fn through(&self, store: &Arc<dyn Store>) -> Self {
        let Inner { name, stored, axes, encoding, attributes, related, registry, way } = &*self.inner;
        let way = way.get().map(|way| match way {
            Way::Stored => Way::Stored,
            Way::Decoded(array) => Way::Decoded(array.through(store)),
            Way::Strings => Way::Strings,
        });
        let inner = Inner {
            name: name.clone(),
            stored: stored.through(store),
            axes: axes.clone(),
            encoding: encoding.clone(),
            attributes: attributes.clone(),
            related: related.clone(),
            registry: Arc::clone(registry),
            way: way.map_or_else(OnceLock::new, OnceLock::from),
        };
        Self { inner: Arc::new(inner), indexers: self.indexers.clone() }
    }

    /// Returns the variable with reads on at most `threads` threads.
    ///
    /// # Errors
    /// The errors of [`Array::with`].
    pub fn with_threads(&self, threads: NonZeroUsize) -> Result<Self> {
        self.with_options(|options| options.threads(Some(threads)))
    }

    /// Returns the variable with changed options of its arrays.
    ///
    /// # Errors
    /// The errors of [`Array::with`].
    pub(crate) fn with_options(&self, change: impl Fn(Options) -> Options) -> Result<Self> {
        let with = |array: &Array| array.with(change(array.options().clone()));
        let Inner { name, stored, axes, encoding, attributes, related, registry, way } = &*self.inner;
        let way = match way.get() {
            Some(Way::Stored) => OnceLock::from(Way::Stored),
            Some(Way::Decoded(array)) => OnceLock::from(Way::Decoded(with(array)?)),
            Some(Way::Strings) => OnceLock::from(Way::Strings),
            None => OnceLock::new(),
        };
        let inner = Inner {
            name: name.clone(),
            stored: with(stored)?,
            axes: axes.clone(),
            encoding: encoding.clone(),
            attributes: attributes.clone(),
            related: related.clone(),
            registry: Arc::clone(registry),
            way,
        };
        Ok(Self { inner: Arc::new(inner), indexers: self.indexers.clone() })
    }

    /// Returns the name of the variable.
    pub fn name(&self) -> &str {
        &self.inner.name
    }

    /// Iterates over the names of the dimensions.
    pub fn dimensions(&self) -> impl Iterator<Item = &str> {
        self.axes().map(|(name, _)| name)
    }

    /// Returns the number of values along each dimension.
    pub fn shape(&self) -> Vec<u64> {
        self.axes().map(|(_, indexer)| indexer.len().unwrap_or(1)).collect()
    }

    /// Iterates over the remaining dimensions with their selected indices; for points, with the indexer of the first axis.
    fn axes(&self) -> impl Iterator<Item = (&str, &Indexer)> {
        let named = self.inner.axes.iter().zip(&self.indexers).enumerate();
        named.filter_map(|(number, (axis, indexer))| match axis {
            Axis::Named(_) if indexer.len().is_none() => None,
            Axis::Named(name) => match indexer.points() {
                Some(points) if self.indexers.iter().take(number).any(|other| other.points() == Some(points)) => None,
                points => Some((points.unwrap_or(name), indexer)),
            },
            Axis::Scalar | Axis::Characters => None,
        })
    }

    /// Returns the attributes without those of the encoding.
    pub fn attributes(&self) -> &Map {
        &self.inner.attributes
    }

    /// Returns the attributes of the encoding (`scale_factor`, `units` of times...) and those that name other variables (`coordinates`...).
    /// If the attributes are no valid encoding, which a [`read`](Self::read) reports, only the latter.
    ///
    /// Like `encoding` of xarray, it includes `_FillValue` in every dialect, even if it is the fill value of the array, as in version 2.
    /// It is a value of the stored data type: a number, `"NaN"`, a list of two of these for a complex number, a string, a bool.
    /// [`NewVariable::like`](crate::NewVariable::like) copies the whole encoding to a new variable.
    pub fn encoding(&self) -> Map {
        let mut encoding = self.inner.encoding.as_ref().map_or_else(Map::new, |encoding| encoding.taken.clone());
        for (name, value) in self.inner.related.iter() {
            encoding.insert(name, value.clone());
        }
        encoding
    }

    /// Returns the units and the calendar of times that are stored as integers without scale and offset; `None` for other variables.
    pub(crate) fn integer_time_units(&self) -> Option<(&str, Option<&str>)> {
        let encoding = self.inner.encoding.as_ref()?;
        let is_integer = matches!(self.inner.stored.data_type().class(), Some(Class::Signed | Class::Unsigned));
        match &encoding.times {
            TimeEncoding::Since(units, calendar)
                if is_integer && encoding.scale.is_none() && encoding.offset.is_none() =>
            {
                Some((units, calendar.as_deref()))
            }
            _ => None,
        }
    }

    /// Returns the stored array, without selection and decoding.
    pub fn stored(&self) -> &Array {
        &self.inner.stored
    }

    /// Returns the selection as a selection of the [stored](Self::stored) array; `None` if points are selected along several of its axes at
    /// once.
    pub fn stored_selection(&self) -> Option<Selection> {
        let is_points = |indexer: &Indexer| matches!(indexer, Indexer::Points { .. });
        let axes = || self.indexers.iter().map(Indexer::to_axis).collect();
        (!self.indexers.iter().any(is_points)).then(|| Selection::Axes(axes()))
    }

    /// Returns the data type of the values.
    ///
    /// # Errors
    /// The errors of [`read`](Self::read).
    pub fn data_type(&self) -> Result<DataType> {
        match self.way()? {
            Way::Stored => Ok(self.inner.stored.data_type().clone()),
            Way::Decoded(array) => Ok(array.data_type().clone()),
            Way::Strings => {
                let encoding = self.inner.encoding.as_ref();
                let characters = self.inner.axes.iter().zip(self.inner.stored.shape()).next_back();
                Ok(match (encoding.and_then(|encoding| encoding.strings.as_ref()), characters) {
                    (Some(_), _) => DataType::String,
                    (None, Some((Axis::Characters, &len))) => {
                        DataType::FixedBytes { len: u32::try_from(len.max(1)).unwrap_or(u32::MAX) }
                    }
                    (None, _) => self.inner.stored.data_type().clone(),
                })
            }
        }
    }

    /// Returns the array of decoded values, which has all ways to read an array: into memory of the caller, several selections at once,
    /// chunk by chunk. `None` for strings that are joined from characters or decoded from bytes, and if values may be missing without a
    /// value of the data type that marks them.
    ///
    /// An array has no selection, so the variable must have none. To read a part, use [`part`](Self::part), or read
    /// [`stored_selection`](Self::stored_selection) from [`decoded_whole`](Self::decoded_whole).
    ///
    /// # Errors
    /// [`ErrorKind::Argument`](crate::ErrorKind::Argument) if a part is selected, and the errors of [`read`](Self::read).
    pub fn decoded(&self) -> Result<Option<&Array>> {
        if self.is_selected() {
            let (found, whole) = (self.shape(), self.inner.stored.shape());
            let message =
                format!("found a selection of shape {found:?}, expected all of {whole:?}, which the decoded array has");
            return Err(self.locate(Error::argument(message)).with_hint("`decoded_whole` is the array of all values"));
        }
        self.decoded_whole()
    }

    /// Returns the array of all decoded values of the variable, regardless of the selection. `None` in the same cases as for
    /// [`decoded`](Self::decoded): joined or decoded strings, and missing data that no value marks.
    ///
    /// # Errors
    /// The errors of [`read`](Self::read).
    pub fn decoded_whole(&self) -> Result<Option<&Array>> {
        Ok(match self.way()? {
            Way::Stored => Some(&self.inner.stored),
            Way::Decoded(array) => Some(array),
            Way::Strings => None,
        })
    }

    /// Reads and decodes the selected values.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidMetadata`](crate::ErrorKind::InvalidMetadata) with the variable and its attribute for an invalid encoding,
    /// [`ErrorKind::CorruptChunk`](crate::ErrorKind::CorruptChunk) for a number that is no valid time; and the errors of reading arrays.
    pub fn read(&self) -> Result<Values> {
        let (data, missing) = match self.way()? {
            Way::Stored => (gather::read(&self.inner.stored, &self.indexers)?, None),
            Way::Decoded(array) => match gather::read(array, &self.indexers) {
                Err(error) if error.kind() == ErrorKind::CorruptChunk => (self.decode_selected(error)?, None),
                read => (read?, None),
            },
            Way::Strings => self.read_strings()?,
        };
        Ok(Values { dimensions: self.dimensions().map(str::to_owned).collect(), data, missing })
    }

    /// Selects a region of the [`shape`](Self::shape) of the variable; nothing is read. So a part of a data set can be copied chunk by
    /// chunk:
    ///
    /// ```
    /// # use std::sync::Arc;
    /// use zarr_dataset::{Dataset, NewDataset, NewVariable};
    /// # use zarr_array::{Registry, Store};
    /// # let mut registry = Registry::default();
    /// # zarr_codec_bytes::CODECS.iter().for_each(|entry| registry.codecs.add(*entry));
    /// # let registry = Arc::new(registry);
    /// # let memory = || -> Arc<dyn Store> { Arc::new(zarr_store::MemoryStore::new()) };
    /// let depth = NewVariable::new("depth", &["x"], [0.0, 1.0, 2.0, 3.0, 4.0])?.codecs("bytes")?.chunks(&[2]);
    /// let source = Dataset::create(&memory(), "/", NewDataset::new().variable(depth), &registry)?.isel("x", 1..5)?;
    /// let depth = source.variable("depth")?;
    /// let new = NewDataset::new().variable(NewVariable::like(depth)?.codecs("bytes")?);
    /// let copy = Dataset::create(&memory(), "/", new, &registry)?;
    /// let target = copy.variable("depth")?.stored();
    /// target.for_each_chunk(.., |region| target.write(region, &depth.part(region)?.read_stored()?))?;
    /// assert_eq!(target.read::<f64>(..)?, [1.0, 2.0, 3.0, 4.0]);
    /// # Ok::<(), zarr_dataset::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Argument`](crate::ErrorKind::Argument) if the region has another number of dimensions, or ends behind the shape.
    pub fn part(&self, region: &Region) -> Result<Self> {
        let (shape, axes) = (self.shape(), region.axes());
        let end = |range: &AxisRange| range.last().map_or(range.start, |last| last.saturating_add(1));
        let is_within = |(range, &len): (&AxisRange, &u64)| end(range) <= len;
        if axes.len() != shape.len() || !axes.iter().zip(&shape).all(is_within) {
            let found: Vec<String> = axes.iter().map(|range| format!("{}..{}", range.start, end(range))).collect();
            let message = format!("found region [{}], expected one of shape {shape:?}", found.join(", "));
            return Err(self.locate(Error::argument(message)));
        }
        let names: Vec<String> = self.dimensions().map(str::to_owned).collect();
        names.iter().zip(axes).try_fold(self.clone(), |part, (name, range)| {
            let (start, stop) = (range.start as i64, end(range) as i64);
            let step = i64::try_from(range.step).unwrap_or(i64::MAX);
            part.select(name, &AxisSelection::Range { start: Some(start), stop: Some(stop), step })
        })
    }

    /// Reads the selected elements as they are stored, without decoding.
    ///
    /// # Errors
    /// The errors of reading arrays.
    pub fn read_stored(&self) -> Result<ArrayData> {
        gather::read(&self.inner.stored, &self.indexers)
    }

    /// Returns the stored array, and the selection along each of its axes.
    pub(crate) fn selected(&self) -> (&Array, &[Indexer]) {
        (&self.inner.stored, &self.indexers)
    }

    fn read_strings(&self) -> Result<(ArrayData, Option<Vec<bool>>)> {
        let Some(encoding) = &self.inner.encoding else { return Err(Error::internal("a variable without encoding")) };
        let mut data = self.read_stored()?;
        if self.inner.axes.last() == Some(&Axis::Characters) {
            data = strings::join(&data)?;
        }
        if let Some(name) = &encoding.strings {
            let decoded = strings::decode(&data, name).map_err(|error| self.locate(error))?;
            // Missing data is marked by bytes, which decoded strings are never compared with.
            return Ok((decoded, None));
        }
        let missing = strings::missing(&data, encoding);
        Ok((data, missing))
    }

    /// Returns the CF encoding.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidMetadata`] if the attributes are no valid encoding.
    pub(crate) fn checked_encoding(&self) -> Result<&Encoding> {
        let Inner { stored, encoding, attributes, .. } = &*self.inner;
        match encoding {
            Some(encoding) => Ok(encoding),
            // The encoding is read again for its error.
            None => Err(match take_encoding(stored, &mut attributes.clone()) {
                Ok(_) => Error::internal("a variable without encoding"),
                Err(error) => self.locate(error),
            }),
        }
    }

    /// Returns the number of characters per string if strings are stored as characters; `None` otherwise.
    pub(crate) fn characters(&self) -> Option<u64> {
        let last = self.inner.axes.last().filter(|axis| **axis == Axis::Characters);
        last.and_then(|_| self.inner.stored.shape().last().copied())
    }

    /// Iterates over the axes of the stored array: the name of the dimension, if the axis has one, and the selected indices.
    pub(crate) fn axes_of_stored(&self) -> impl Iterator<Item = (Option<&str>, &Indexer)> {
        self.inner.axes.iter().zip(&self.indexers).map(|(axis, indexer)| match axis {
            Axis::Named(name) => (Some(name.as_str()), indexer),
            Axis::Scalar | Axis::Characters => (None, indexer),
        })
    }

    fn way(&self) -> Result<&Way> {
        if let Some(way) = self.inner.way.get() {
            return Ok(way);
        }
        let found = self.find_way().map_err(|error| self.locate(error))?;
        Ok(self.inner.way.get_or_init(|| found))
    }

    fn find_way(&self) -> Result<Way> {
        let Inner { stored, axes, registry, .. } = &*self.inner;
        let encoding = self.checked_encoding()?;
        let data_type = stored.data_type().storage();
        let is_bytes = matches!(data_type, DataType::FixedBytes { .. } | DataType::Bytes { .. });
        if axes.last() == Some(&Axis::Characters) || (is_bytes && encoding.strings.is_some()) {
            return Ok(Way::Strings);
        }
        if encoding.unpacker(data_type).map_err(in_metadata)?.is_some() {
            return Ok(decoded::array(stored, encoding, registry)?.map_or(Way::Stored, Way::Decoded));
        }
        let may_miss = *data_type == DataType::Bool || is_textual(data_type);
        // Float formats that are not unpacked, and types that cannot be scaled: undecoded elements would be wrong values.
        let is_float = matches!(data_type.class(), Some(Class::Float | Class::Complex));
        let changing = [
            ("scale_factor", encoding.scale.is_some()),
            ("add_offset", encoding.offset.is_some()),
            (FILL_VALUE, is_float && !encoding.fills.is_empty()),
        ];
        if let Some((name, _)) = changing.into_iter().find(|(_, is_there)| *is_there) {
            let found = format!("an array of {data_type}");
            return Err(invalid(name, &found, "an array of integers, or of floats of 16, 32 or 64 bits"));
        }
        Ok(if may_miss && !encoding.fills.is_empty() { Way::Strings } else { Way::Stored })
    }

    /// Decodes only the selected elements, after chunks could not be decoded because of `error`: other elements of the chunks may be
    /// invalid. If a selected element is invalid, returns `error` with its index.
    fn decode_selected(&self, error: Error) -> Result<ArrayData> {
        let (stored, encoding) = (&self.inner.stored, self.checked_encoding()?);
        let decode = || {
            let decoder = decoded::decoder(stored, encoding).ok()?;
            let data = self.read_stored().ok()?;
            let data_type = decoder.data_type();
            let mut values = zarr_codec::Scratch::take();
            let values = values.sized(data.len().checked_mul(data_type.item_size())?).ok()?;
            decoder.decode(data.items(), values).ok()?;
            ArrayData::from_items(data_type, data.shape(), values, None).ok()
        };
        decode().ok_or_else(|| fault::with_index(error, stored, encoding))
    }

    /// Adds the store and the path of the stored array to an error.
    #[must_use]
    pub fn locate(&self, error: Error) -> Error {
        locate(&self.inner.stored, error)
    }

    /// Selects along a dimension, if the variable has it.
    pub(crate) fn select(&self, dimension: &str, axis: &AxisSelection) -> Result<Self> {
        let mut indexers = self.indexers.clone();
        for (named, indexer) in self.inner.axes.iter().zip(&mut indexers) {
            // An axis of which an index was selected has no dimension any more.
            let is_left = indexer.len().is_some();
            if is_left && matches!(named, Axis::Named(name) if indexer.points().unwrap_or(name) == dimension) {
                *indexer = indexer.select(dimension, axis)?;
            }
        }
        Ok(Self { inner: Arc::clone(&self.inner), indexers })
    }

    /// Selects points along those of its dimensions that are in `chosen`; they become the dimension `points`. All indices must be less than
    /// the lengths.
    pub(crate) fn select_points(&self, points: &Arc<str>, chosen: &[(String, Arc<[u64]>)]) -> Self {
        let mut indexers = self.indexers.clone();
        for (named, indexer) in self.inner.axes.iter().zip(&mut indexers) {
            let Axis::Named(name) = named else { continue };
            let dimension = indexer.points().unwrap_or(name);
            let selected = chosen.iter().find(|(selected, _)| selected == dimension && indexer.len().is_some());
            if let Some((_, indices)) = selected {
                *indexer = indexer.select_points(points, indices);
            }
        }
        Self { inner: Arc::clone(&self.inner), indexers }
    }
}

/// Adds the store and the path of an array to an error.
pub(crate) fn locate(array: &Array, error: Error) -> Error {
    let (store, path) = (array.store().to_string(), array.path().to_string());
    error.at(|location| {
        location.store = Some(store);
        location.path = Some(path);
    })
}

impl fmt::Debug for Variable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Variable")
            .field("name", &self.inner.name)
            .field("dimensions", &self.dimensions().collect::<Vec<_>>())
            .field("shape", &self.shape())
            .finish_non_exhaustive()
    }
}
