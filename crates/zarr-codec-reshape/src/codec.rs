//! The codec.

use crate::copy::copy;
use std::sync::Arc;
use zarr_codec::{ArrayToArray, BuildContext, CodecEntry, ElementSpec, Error, View, ViewMut};
use zarr_grid::{Shape, element_count};
use zarr_json::Value;

/// The codec, for the table of codecs.
pub const RESHAPE: CodecEntry = CodecEntry::array_to_array("reshape", build).example(r#"{"shape": [-1]}"#);

/// The codecs of this crate, for the table of codecs.
pub const CODECS: &[CodecEntry] = &[RESHAPE, crate::ZARRS_SQUEEZE];

fn build(context: &BuildContext<'_>) -> Result<Arc<dyn ArrayToArray>, Error> {
    let config = context.config;
    let value = config.required("shape")?;
    let items = value.as_array().ok_or_else(|| config.unexpected("shape", "an array", value))?;
    let mut axes = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let wrong = || config.unexpected(&format!("shape/{index}"), "a length above 0, an array of axes, or -1", item);
        axes.push(match item {
            Value::Array(axes) => {
                let axes = axes.iter().map(|axis| usize::try_from(axis.as_u64()?).ok());
                Axis::Product(axes.collect::<Option<_>>().ok_or_else(wrong)?)
            }
            _ if item.as_i64() == Some(-1) => Axis::Rest,
            _ => Axis::Length(item.as_u64().filter(|&len| len > 0).ok_or_else(wrong)?),
        });
    }
    let listed: Vec<usize> = axes.iter().flat_map(Axis::sources).copied().collect();
    if !listed.is_sorted_by(|a, b| a < b) {
        return Err(config.unexpected("shape", "axes in ascending order", value));
    }
    if axes.iter().filter(|axis| matches!(axis, Axis::Rest)).count() > 1 {
        return Err(config.unexpected("shape", "-1 at most once", value));
    }
    Ok(Arc::new(Reshape { axes, element: context.element.clone() }))
}

/// How the length of an encoded axis is found.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Axis {
    Length(u64),
    /// That of these axes multiplied.
    Product(Vec<usize>),
    /// The length that the other axes leave.
    Rest,
}

impl Axis {
    fn sources(&self) -> &[usize] {
        if let Self::Product(axes) = self { axes } else { &[] }
    }
}

/// The codec, bound to a data type: built from metadata, used for every chunk.
#[derive(Debug)]
struct Reshape {
    axes: Vec<Axis>,
    element: ElementSpec,
}

impl Reshape {
    /// The encoded shape of chunks of `shape`. The error is their fault.
    fn apply(&self, shape: &[u64]) -> Result<Shape, String> {
        let overflow = || "more elements than 64 bits can count".to_owned();
        let count = element_count(shape).ok_or_else(overflow)?;
        let mut encoded = Shape::new();
        for axis in &self.axes {
            encoded.push(match axis {
                Axis::Length(len) => *len,
                // Set below, when all others are known.
                Axis::Rest => 1,
                Axis::Product(axes) => {
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
        if let Some(rest) = self.axes.iter().position(|axis| *axis == Axis::Rest).and_then(|at| encoded.get_mut(at)) {
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

impl ArrayToArray for Reshape {
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
