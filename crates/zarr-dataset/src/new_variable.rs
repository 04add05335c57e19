//! Variables that are to be written: values, attributes and encoding.

use crate::attribute::{FILL_VALUE, encoding_of, given, in_metadata};
use crate::into_values::IntoValues;
use crate::related::RELATED;
use crate::values::Values;
use crate::{Error, Result, calendar_time, encoder, strings};
use zarr_array::{ArrayData, NewArray, Registry};
use zarr_cf::AttributeError;
use zarr_cf::encoding::{factor, number, text};
use zarr_cf::fill;
use zarr_cf::textual::is_textual;
use zarr_cf::time::{Calendar, DeltaUnits, EncodedNumbers, NumberKind};
use zarr_codec::{CodecList, IntoCodecs};
use zarr_dtype::{DataType, FillValue, Scalar, npy_descr};
use zarr_json::{Map, Value};
use zarr_meta::Dialect;

/// Attributes that make up the encoding of a variable, in the order in which they are written.
const ENCODING: [&str; 9] =
    ["units", "calendar", "add_offset", "scale_factor", FILL_VALUE, "missing_value", "_Unsigned", "_Encoding", "dtype"];

/// Attributes that are part of the encoding of times and time spans only; for other values they are ordinary attributes.
pub(crate) const OF_TIMES: [&str; 3] = ["units", "calendar", "dtype"];

/// Variable that is to be written as part of a [`NewDataset`](crate::NewDataset): its dimensions, values and attributes, and how the values
/// are encoded.
///
/// ```
/// use zarr_dataset::NewVariable;
///
/// let packed = NewVariable::new("t2m", &["time", "lat"], ([2, 2], [273.0_f32, 274.5, f32::NAN, 280.0]))?
///     .attribute("units", "K")
///     .stored_as("int16")
///     .encoding("scale_factor", 0.01)
///     .encoding("add_offset", 273.15)
///     .encoding("_FillValue", -32768)
///     .chunks(&[1, 2]);
/// # let _ = packed;
/// # Ok::<(), zarr_dataset::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "nothing is written until it is added to a data set"]
pub struct NewVariable {
    pub(crate) name: String,
    pub(crate) dimensions: Vec<String>,
    pub(crate) shape: Vec<u64>,
    content: Content,
    pub(crate) attributes: Map,
    pub(crate) encoding: Map,
    pub(crate) stored_as: Option<String>,
    pub(crate) chunks: Option<Vec<u64>>,
    shards: Option<Vec<u64>>,
    codecs: Option<CodecList>,
    separator: Option<char>,
    pub(crate) fill: Option<Value>,
    pub(crate) copied: Copied,
}

/// Marks of missing data that were copied from another variable; they are used while the encoding is unchanged.
#[derive(Clone, Debug, Default)]
pub(crate) struct Copied {
    /// `_FillValue` of the encoding, with its element.
    pub(crate) fill: Option<(Value, FillValue)>,
    /// `missing_value` of the encoding, which may be a list, or values that elements cannot have.
    pub(crate) missing: Option<Value>,
}

#[derive(Clone, Debug)]
enum Content {
    Values(Values),
    /// No values; the string is the data type of values that will be written later.
    Empty(String),
}

/// Array as which a variable is stored.
pub(crate) struct Planned {
    pub(crate) new: NewArray,
    pub(crate) attributes: Map,
    /// Encoded elements; `None` if no values are written.
    pub(crate) stored: Option<ArrayData>,
}

impl NewVariable {
    /// Returns a variable with values. Times (`numpy.datetime64` of any unit, and [`Values::of_dates`]), time spans, bools, strings and
    /// numbers are encoded as in xarray. Numbers with `units` of times are taken as counts in these units.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`](crate::ErrorKind::Argument) if the number of dimensions differs from that of the values, and errors of
    /// converting the values. A single value has no dimension or one dimension.
    pub fn new(name: &str, dimensions: &[&str], values: impl IntoValues) -> Result<Self> {
        let mut values = values.into_values().map_err(|error| in_variable(error, name))?;
        if dimensions.is_empty() && values.shape() == [1] {
            let data = values.data();
            let data = ArrayData::from_items(data.data_type(), &[], data.items(), data.heap().cloned())?;
            values = Values { data, ..values };
        }
        let shape = values.shape().to_vec();
        if shape.len() != dimensions.len() {
            let (found, expected) = (dimensions.len(), shape.len());
            return Err(Error::argument(format!(
                "variable {name}: found {found} names of dimensions, expected {expected}, for values of shape {shape:?}"
            )));
        }
        Ok(Self::of_content(name, dimensions, shape, Content::Values(values)))
    }

    /// Returns a variable without values, which will be written later, region by region. `data_type` is the name of the data type of
    /// values; [`stored_as`](Self::stored_as) sets the data type of stored elements.
    pub fn empty(name: &str, dimensions: &[&str], shape: &[u64], data_type: impl Into<String>) -> Self {
        Self::of_content(name, dimensions, shape.to_vec(), Content::Empty(data_type.into()))
    }

    fn of_content(name: &str, dimensions: &[&str], shape: Vec<u64>, content: Content) -> Self {
        Self {
            name: name.to_owned(),
            dimensions: dimensions.iter().map(|&name| name.to_owned()).collect(),
            shape,
            content,
            attributes: Map::new(),
            encoding: Map::new(),
            stored_as: None,
            chunks: None,
            shards: None,
            codecs: None,
            separator: None,
            fill: None,
            copied: Copied::default(),
        }
    }

    /// Returns the name of the variable.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Sets an attribute of the variable.
    pub fn attribute(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.attributes.insert(name, value);
        self
    }

    /// Sets all attributes of the variable.
    pub fn attributes(mut self, attributes: Map) -> Self {
        self.attributes = attributes;
        self
    }

    /// Sets a part of the encoding: `scale_factor`, `add_offset`, `_FillValue`, `missing_value` (a stored value, or null for none),
    /// `_Unsigned`, `units` and `calendar` of times, `_Encoding` of strings, `dtype` of time spans (`"timedelta64[s]"`) and of bools
    /// (`"bool"`) that are stored as numbers, and attributes that name other variables, such as `coordinates`.
    /// [`Variable::encoding`](crate::Variable::encoding) returns the encoding of an existing variable.
    pub fn encoding(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.encoding.insert(name, value);
        self
    }

    /// Sets the data type of stored elements, by its name in Zarr v3 (`"int16"`) or in numpy (`"i2"`); `"S1"` stores strings as bytes in
    /// their encoding. The default is the data type of the values; for times it is `int64` if all are whole numbers of their units.
    pub fn stored_as(mut self, data_type: impl Into<String>) -> Self {
        self.stored_as = Some(data_type.into());
        self
    }

    /// Sets the shape of chunks; of inner chunks if the array is sharded. See [`NewArray::chunks`].
    pub fn chunks(mut self, shape: &[u64]) -> Self {
        self.chunks = Some(shape.to_vec());
        self
    }

    /// Sets the shape of shards. See [`NewArray::shards`].
    pub fn shards(mut self, shape: &[u64]) -> Self {
        self.shards = Some(shape.to_vec());
        self
    }

    /// Sets the codecs. See [`NewArray::codecs`].
    ///
    /// # Errors
    /// The errors of [`NewArray::codecs`].
    pub fn codecs(mut self, codecs: impl IntoCodecs) -> Result<Self> {
        self.codecs = Some(codecs.into_codecs()?);
        Ok(self)
    }

    /// Sets the separator of chunk keys, `'/'` or `'.'`. See [`NewArray::separator`].
    pub fn separator(mut self, separator: char) -> Self {
        self.separator = Some(separator);
        self
    }

    /// Sets the fill value of the array in Zarr v3, where it does not mark missing data. The default is NaN for floats, and 0 otherwise.
    pub fn fill(mut self, value: impl Into<Value>) -> Self {
        self.fill = Some(value.into());
        self
    }

    /// Values of the variable; `None` if it was made by [`empty`](Self::empty).
    pub(crate) fn values(&self) -> Option<&Values> {
        match &self.content {
            Content::Values(values) => Some(values),
            Content::Empty(_) => None,
        }
    }

    /// Attributes that the values need for the encoding of times or time spans; none for other values.
    pub(crate) fn attributes_of_times(&self) -> &'static [&'static str] {
        match self.values().map(Values::data_type) {
            Some(DataType::TimeDelta64(_)) => &["units", "dtype"],
            Some(DataType::DateTime64(_)) => &["units", "calendar"],
            Some(data_type) if calendar_time::calendar(data_type).is_some() => &["units", "calendar"],
            _ => &[],
        }
    }

    /// Converts the variable to an array of `dialect`, with encoded elements.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`](crate::ErrorKind::Argument) with the name of the variable, for an encoding that its values cannot have.
    pub(crate) fn plan(&self, dialect: Dialect, registry: &Registry) -> Result<Planned> {
        self.planned(dialect, registry).map_err(|error| in_variable(error, &self.name))
    }

    fn planned(&self, dialect: Dialect, registry: &Registry) -> Result<Planned> {
        self.check_names()?;
        let mut attributes = self.attributes.clone();
        let data_type = self.stored_type(&mut attributes, dialect, registry)?;
        let mut insert = |name: &str, value: Value| attributes.insert(name, value);
        for name in ["add_offset", "scale_factor"] {
            if let Some(value) = self.encoding.get(name).filter(|value| !value.is_null()) {
                factor(name, value).map_err(refused)?;
                insert(name, value.clone());
            }
        }
        let said = |name: &str| self.encoding.get(name).filter(|value| !value.is_null());
        let mark = |name: &str, value: &Value| fill::parse(name, &data_type, value).map_err(given);
        let own = match (said(FILL_VALUE), &self.copied.fill) {
            (Some(value), Some((same, element))) if value == same => Some(element.clone()),
            (value, _) => value.map(|value| mark(FILL_VALUE, value)).transpose()?,
        };
        let copied = said("missing_value").filter(|value| self.copied.missing.as_ref() == Some(*value));
        let missing = match (said("missing_value"), copied) {
            (Some(value), None) => Some(mark("missing_value", value)?),
            _ => None,
        };
        if let (Some(own), Some(missing)) = (&own, &missing)
            && own.bytes() != missing.bytes()
        {
            let (own, missing) = (own.to_json(&data_type), missing.to_json(&data_type));
            return Err(Error::argument(format!(
                "found {FILL_VALUE} {own} and missing_value {missing}, expected one value for missing data"
            )));
        }
        let is_float = matches!(number(&data_type), Some(Scalar::F16 | Scalar::F32 | Scalar::F64));
        let own = match own {
            None if self.encoding.contains_key(FILL_VALUE) => None,
            // As in xarray, unless the unsigned value would be a different number.
            None if self.encoding.contains_key("_Unsigned") => missing.clone().filter(|missing| {
                let value = number(&data_type).and_then(|scalar| scalar.integer(missing.bytes()));
                value.is_some_and(|value| value >= 0)
            }),
            None if is_float => Some(FillValue::parse(&data_type, &Value::from("NaN"))?),
            own => own,
        };
        if let Some(missing) = &missing {
            // Floats are written with full precision, since the attribute is read as a 64-bit float.
            let value = data_type.to_f64(missing.bytes()).filter(|_| is_float);
            insert("missing_value", value.map_or_else(|| missing.to_json(&data_type), Value::from));
        }
        if let Some(missing) = copied.cloned() {
            let has_literals = dialect.allows_nan_literals();
            insert("missing_value", if has_literals { missing } else { missing.without_nan_literals() });
        }
        for name in ["_Unsigned", "coordinates"].iter().chain(&RELATED) {
            if let Some(value) = self.encoding.get(name).filter(|value| !value.is_null()) {
                insert(name, value.clone());
            }
        }
        let by_fill_value = dialect.fill_value_marks_missing();
        let fill = match (&own, by_fill_value) {
            (Some(own), true) => own.to_json(&data_type),
            (None, true) => Value::Null,
            (own, false) => {
                if let Some(own) = own {
                    insert(FILL_VALUE, fill::to_attribute(&data_type, own));
                }
                self.fill.clone().unwrap_or_else(|| match is_float {
                    true => Value::from("NaN"),
                    false => FillValue::zero(&data_type).to_json(&data_type),
                })
            }
        };
        let document_fill = own.as_ref().filter(|_| by_fill_value);
        let encoding = encoding_of(&data_type, dialect, document_fill, &mut attributes.clone()).map_err(as_argument)?;
        let stored = self.values().map(|values| encoder::encode(values, &data_type, None, &encoding)).transpose()?;
        let new = self.array(&data_type.to_string()).fill(fill).dialect(dialect);
        Ok(Planned { new, attributes, stored })
    }

    /// Returns the array for elements of `data_type`.
    fn array(&self, data_type: &str) -> NewArray {
        let mut new = NewArray::new(&self.shape, data_type).dimension_names(&self.dimensions);
        if let Some(chunks) = &self.chunks {
            new = new.chunks(chunks);
        }
        if let Some(shards) = &self.shards {
            new = new.shards(shards);
        }
        if let Some(separator) = self.separator {
            new = new.separator(separator);
        }
        match &self.codecs {
            // The codecs were checked when they were set.
            Some(codecs) => new.clone().codecs(codecs.clone()).unwrap_or(new),
            None => new,
        }
    }

    fn check_names(&self) -> Result<()> {
        for name in self.encoding.keys() {
            let known = || ENCODING.iter().chain(&RELATED).copied().chain(["coordinates"]);
            if !known().any(|known| known == name) {
                let near = zarr_json::nearest_name(name, known());
                let error = Error::argument(format!("found encoding {name}, expected one of {}", ENCODING.join(", ")));
                return Err(match near {
                    Some(near) => error.with_hint(format!("there is one called {near}")),
                    None => error,
                });
            }
        }
        let others = ENCODING.iter().filter(|name| !OF_TIMES.contains(name));
        let taken = others.chain(self.attributes_of_times()).find(|name| self.attributes.contains_key(name));
        match taken {
            Some(name) => Err(Error::argument(format!("attribute {name} is a part of the encoding"))
                .with_hint("set it by `encoding`")),
            None => Ok(()),
        }
    }

    /// Returns the data type of stored elements. Adds attributes of times and strings to `attributes`.
    fn stored_type(&self, attributes: &mut Map, dialect: Dialect, registry: &Registry) -> Result<DataType> {
        let parse = |text: &str| {
            let metadata = NewArray::new(&[], text).metadata(dialect, registry)?;
            registry.data_types.from_config(&metadata.data_type).map_err(Error::from)
        };
        let values = match &self.content {
            Content::Values(values) => values,
            Content::Empty(data_type) => return self.type_of_empty(&parse(data_type)?, attributes, parse),
        };
        let is_characters = matches!(self.stored_as.as_deref(), Some("S1" | "|S1" | "S" | "|S"));
        if is_textual(values.data_type()) && (is_characters || self.encoding.contains_key("_Encoding")) {
            return self.characters(values, attributes);
        }
        let given = self.stored_as.as_deref().map(parse).transpose()?;
        let is_scaled = self.encoding.contains_key("scale_factor") || self.encoding.contains_key("add_offset");
        let kind = match given.as_ref().and_then(number) {
            _ if is_scaled => NumberKind::Float,
            Some(Scalar::F16 | Scalar::F32 | Scalar::F64) => NumberKind::Float,
            Some(_) => NumberKind::Integer,
            None => NumberKind::Any,
        };
        let encoding = |name: &str| self.encoding.get(name).filter(|value| !value.is_null());
        let calendar = encoding("calendar").map(|value| text("calendar", value)).transpose().map_err(refused)?;
        let units = encoding("units").map(|value| text("units", value)).transpose().map_err(refused)?;
        let parsed =
            calendar.as_deref().map(Calendar::parse).transpose().map_err(|e| Error::argument(e.to_string()))?;
        let counted = if let Some(inferred) = encoder::infer_units(values, parsed)? {
            let units = match &units {
                Some(text) => {
                    crate::decoder::time_units(text, Some(inferred.calendar().name())).map_err(as_argument)?
                }
                None => inferred,
            };
            let counted = encoder::count_times(values, &units, kind)?;
            let name = calendar.unwrap_or_else(|| units.calendar().name().to_owned());
            counted.map(|counted| (counted, "calendar", name))
        } else if let Some(inferred) = encoder::infer_span_units(values)? {
            let units = match &units {
                Some(text) => DeltaUnits::parse(text).map_err(|error| Error::argument(error.to_string()))?,
                None => inferred,
            };
            let resolution = npy_descr(values.data_type()).unwrap_or_default();
            let name = resolution
                .split_once('[')
                .map_or("timedelta64[ns]".to_owned(), |(_, unit)| format!("timedelta64[{unit}"));
            encoder::count_spans(values, &units, kind)?.map(|counted| (counted, "dtype", name))
        } else {
            None
        };
        let Some((counted, name, value)) = counted else {
            // For plain numbers, units are an ordinary attribute.
            for name in OF_TIMES {
                if let Some(value) = encoding(name) {
                    attributes.insert(name, value.clone());
                }
            }
            return Ok(given.unwrap_or_else(|| values.data_type().clone()));
        };
        attributes.insert("units", counted.units);
        let value = encoding("dtype").filter(|_| name == "dtype").cloned().unwrap_or_else(|| Value::from(value));
        attributes.insert(name, value);
        Ok(given.unwrap_or(match counted.numbers {
            EncodedNumbers::I64(_) => DataType::Int64,
            EncodedNumbers::F64(_) => DataType::Float64,
        }))
    }

    /// Returns the data type of stored elements for a variable without values. Times without units are counted since 1970 in the unit of
    /// their data type.
    fn type_of_empty(
        &self,
        data_type: &DataType,
        attributes: &mut Map,
        parse: impl Fn(&str) -> Result<DataType>,
    ) -> Result<DataType> {
        let units = self.encoding.get("units").cloned();
        let unit = match data_type {
            DataType::DateTime64(unit) | DataType::TimeDelta64(unit) => Some(*unit),
            _ => None,
        };
        if let Some(unit) = unit {
            let name = match npy_descr(&DataType::TimeDelta64(unit)).as_deref().and_then(|name| name.split_once('[')) {
                Some((_, "ns]")) => "nanoseconds",
                Some((_, "us]")) => "microseconds",
                Some((_, "ms]")) => "milliseconds",
                Some((_, "s]")) => "seconds",
                Some((_, "m]")) => "minutes",
                Some((_, "h]")) => "hours",
                Some((_, "D]")) => "days",
                _ => {
                    return Err(Error::argument(format!(
                        "found data type {data_type}, expected a unit of time up to days"
                    )));
                }
            };
            if matches!(data_type, DataType::DateTime64(_)) {
                attributes.insert("units", units.unwrap_or_else(|| Value::from(format!("{name} since 1970-01-01"))));
                let calendar = self.encoding.get("calendar").cloned();
                attributes.insert("calendar", calendar.unwrap_or_else(|| Value::from("proleptic_gregorian")));
            } else {
                attributes.insert("units", units.unwrap_or_else(|| Value::from(name)));
                let short = npy_descr(data_type).and_then(|name| Some(name.split_once('[')?.1.to_owned()));
                attributes.insert("dtype", format!("timedelta64[{}", short.unwrap_or_default()));
            }
            return self.stored_as.as_deref().map_or(Ok(DataType::Int64), parse);
        }
        for name in OF_TIMES.into_iter().chain(["_Encoding"]) {
            if let Some(value) = self.encoding.get(name).filter(|value| !value.is_null()) {
                attributes.insert(name, value.clone());
            }
        }
        self.stored_as.as_deref().map_or_else(|| Ok(data_type.clone()), parse)
    }

    /// Returns the data type for strings that are stored as bytes: byte strings with the length of the longest string.
    fn characters(&self, values: &Values, attributes: &mut Map) -> Result<DataType> {
        let name = match self.encoding.get("_Encoding").filter(|value| !value.is_null()) {
            Some(value) => text("_Encoding", value).map_err(refused)?,
            None => "utf-8".to_owned(),
        };
        let is_text = matches!(values.data_type(), DataType::String | DataType::FixedUtf32 { .. });
        let len = strings::longest(values, &name)?;
        if is_text {
            attributes.insert("_Encoding", name);
        }
        let len = u32::try_from(len.max(1)).map_err(|_| Error::argument("a string of more than 4 GiB"))?;
        Ok(DataType::FixedBytes { len })
    }
}

/// Adds the name of a variable that is not yet stored to an error.
pub(crate) fn in_variable(error: Error, name: &str) -> Error {
    error.at(|location| location.path = Some(name.to_owned()))
}

/// Converts an error about an attribute that a program gave: the argument is to blame.
fn refused(error: AttributeError) -> Error {
    as_argument(in_metadata(error))
}

fn as_argument(error: Error) -> Error {
    Error::argument(error.message().to_owned())
}
