//! Codec `reshape`.

use crate::copy::copy;
use std::sync::Arc;
use zarr_codec::{ArrayToArray, BuildContext, CodecEntry, CodecValue, ElementSpec, Error, View, ViewMut};
use zarr_grid::{Shape, element_count};
use zarr_json::{Map, Value};

/// Entry of the codec `reshape` for the table of codecs.
pub const RESHAPE: CodecEntry = CodecEntry::array_to_array("reshape", |context| {
    let Reshape { axes } = Reshape::from_config(context)?;
    Ok(Arc::new(Bound { axes, element: context.element.clone() }))
})
.example(r#"{"shape": [-1]}"#);

/// Entries of the codecs of this crate for the table of codecs.
pub const CODECS: &[CodecEntry] = &[RESHAPE, crate::ZARRS_SQUEEZE];

/// Length of an encoded axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReshapeAxis {
    /// The given length, more than 0.
    Length(u64),
    /// Product of the lengths of the given decoded axes.
    Axes(Vec<usize>),
    /// Number of elements left after all other axes; at most once.
    Rest,
}

impl ReshapeAxis {
    fn sources(&self) -> &[usize] {
        if let Self::Axes(axes) = self { axes } else { &[] }
    }

    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Array(axes) => {
                let axes = axes.iter().map(|axis| usize::try_from(axis.as_u64()?).ok());
                axes.collect::<Option<_>>().map(Self::Axes)
            }
            _ if value.as_i64() == Some(-1) => Some(Self::Rest),
            _ => value.as_u64().filter(|&len| len > 0).map(Self::Length),
        }
    }

    fn to_value(&self) -> Value {
        match self {
            Self::Length(len) => Value::from(*len),
            Self::Axes(axes) => Value::from(axes.clone()),
            Self::Rest => Value::from(-1),
        }
    }
}

/// Codec `reshape`: another shape for the same elements.
///
/// ```
/// use zarr_codec_reshape::{Reshape, ReshapeAxis};
///
/// // Of chunks of (100, 50, 64, 3): the first two axes as one, the third, and one that is 3 long.
/// let codec = Reshape::to([ReshapeAxis::Axes(vec![0, 1]), ReshapeAxis::Axes(vec![2]), ReshapeAxis::Length(3)])?;
/// # Ok::<(), zarr_codec::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reshape {
    axes: Vec<ReshapeAxis>,
}

impl Reshape {
    /// Creates the codec, with an entry of `axes` for each encoded axis.
    ///
    /// # Errors
    /// [`Error::Argument`] for a length of 0, decoded axes that are not in ascending order, and more than one [`ReshapeAxis::Rest`].
    pub fn to(axes: impl IntoIterator<Item = ReshapeAxis>) -> Result<Self, Error> {
        let codec = Self { axes: axes.into_iter().collect() };
        if codec.axes.contains(&ReshapeAxis::Length(0)) {
            return Err(RESHAPE.argument("shape", "expected lengths above 0, found 0"));
        }
        let fault = codec.fault().map(|expected| RESHAPE.argument("shape", &format!("expected {expected}")));
        fault.map_or(Ok(codec), Err)
    }

    /// Returns the requirement on all axes together that `self` violates, or `None`.
    fn fault(&self) -> Option<&'static str> {
        let listed: Vec<usize> = self.axes.iter().flat_map(ReshapeAxis::sources).copied().collect();
        if !listed.is_sorted_by(|a, b| a < b) {
            return Some("axes in ascending order");
        }
        let rests = self.axes.iter().filter(|axis| **axis == ReshapeAxis::Rest).count();
        (rests > 1).then_some("-1 at most once")
    }
}

impl CodecValue for Reshape {
    const ENTRY: CodecEntry = RESHAPE;

    fn from_config(context: &BuildContext<'_>) -> Result<Self, Error> {
        let config = context.config;
        let value = config.required("shape")?;
        let items = value.as_array().ok_or_else(|| config.unexpected("shape", "an array", value))?;
        let axis = |(index, item): (usize, &Value)| {
            let expected = "a length above 0, an array of axes, or -1";
            ReshapeAxis::from_value(item).ok_or_else(|| config.unexpected(&format!("shape/{index}"), expected, item))
        };
        let codec = Self { axes: items.iter().enumerate().map(axis).collect::<Result<_, _>>()? };
        codec.fault().map_or(Ok(()), |expected| Err(config.unexpected("shape", expected, value)))?;
        Ok(codec)
    }

    fn to_config(&self) -> Map {
        Map::from([("shape", self.axes.iter().map(ReshapeAxis::to_value).collect::<Vec<_>>().into())])
    }
}

/// Codec for the data type of an array: built from metadata, used for every chunk.
#[derive(Debug)]
struct Bound {
    axes: Vec<ReshapeAxis>,
    element: ElementSpec,
}

impl Bound {
    /// Returns the encoded shape of chunks of `shape`. An error says what is wrong with `shape`.
    fn apply(&self, shape: &[u64]) -> Result<Shape, String> {
        let overflow = || "more elements than 64 bits can count".to_owned();
        let count = element_count(shape).ok_or_else(overflow)?;
        let mut encoded = Shape::new();
        for axis in &self.axes {
            encoded.push(match axis {
                ReshapeAxis::Length(len) => *len,
                // Set below, when all others are known.
                ReshapeAxis::Rest => 1,
                ReshapeAxis::Axes(axes) => {
                    let lens = axes.iter().map(|&axis| shape.get(axis).ok_or(axis));
                    let lens: Vec<u64> = lens
                        .map(|len| len.copied())
                        .collect::<Result<_, _>>()
                        .map_err(|axis| format!("axis {axis} of a chunk of {} axes", shape.len()))?;
                    element_count(&lens).ok_or_else(overflow)?
                }
            });
        }
        let known = element_count(&encoded).ok_or_else(overflow)?;
        if let Some(rest) =
            self.axes.iter().position(|axis| *axis == ReshapeAxis::Rest).and_then(|at| encoded.get_mut(at))
        {
            *rest = count.checked_div(known).unwrap_or(0);
        }
        let found = element_count(&encoded).ok_or_else(overflow)?;
        if found != count {
            return Err(format!("shape {encoded:?} has {found} elements, chunks of {shape:?} have {count}"));
        }
        for (at, axis) in self.axes.iter().enumerate() {
            let (Some(&first), Some(&last)) = (axis.sources().first(), axis.sources().last()) else { continue };
            let part = |shape: &[u64], start: usize, end: usize| shape.get(start..end).and_then(element_count);
            let same_before = part(&encoded, 0, at) == part(shape, 0, first);
            let same_behind = part(&encoded, at + 1, encoded.len()) == part(shape, last + 1, shape.len());
            if !same_before || !same_behind {
                return Err(format!(
                    "axis {at} of shape {encoded:?} is not where axes {first} to {last} of {shape:?} are"
                ));
            }
        }
        Ok(encoded)
    }
}

impl ArrayToArray for Bound {
    fn encoded(&self) -> &ElementSpec {
        &self.element
    }

    fn encoded_shape(&self, shape: &[u64]) -> Result<Shape, Error> {
        self.apply(shape).map_err(|what| Error::Metadata { pointer: "/configuration/shape".to_owned(), what })
    }

    fn encode(&self, chunk: &View<'_>, out: &mut ViewMut<'_>) -> Result<(), Error> {
        copy(chunk, out)
    }

    fn decode(&self, chunk: &View<'_>, out: &mut ViewMut<'_>) -> Result<(), Error> {
        copy(chunk, out)
    }
}
