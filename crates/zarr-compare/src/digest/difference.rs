//! Differences between two digests: nodes, and boxes of arrays if both digests have their hashes.

use super::{ArrayDigest, Digest, NodeDigest};
use crate::merge::{Pair, merge};
use zarr_grid::Region;
use zarr_hierarchy::{Error, Result};
use zarr_json::{Map, Value};

/// Difference between two digests.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum DigestDifference {
    /// Path of a node that only the first digest has.
    OnlyInFirst(String),
    /// Path of a node that only the second digest has.
    OnlyInSecond(String),
    /// Path at which one digest has an array and the other a group.
    Kind(String),
    /// Path of a node whose attributes or dimension names differ.
    Attributes(String),
    /// Path of an array whose elements differ, with the kind of difference.
    Array(String, ArrayDifference),
}

/// Difference between two arrays, as far as their digests tell.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ArrayDifference {
    /// The data types differ: those of the first and of the second array.
    DataType(Value, Value),
    /// The shapes differ: those of the first and of the second array.
    Shape(Vec<u64>, Vec<u64>),
    /// Elements differ in these regions.
    Boxes(Vec<Region>),
    /// Elements differ in unknown regions, since one digest lacks the hashes of boxes.
    Somewhere,
}

impl Digest {
    /// Returns the differences between this digest and `other`; empty if they are equal.
    ///
    /// # Errors
    /// [`Argument`](zarr_hierarchy::ErrorKind::Argument) if the two digests were computed with different options for NaNs and zeros, or
    /// for attributes.
    pub fn differences(&self, other: &Self) -> Result<Vec<DigestDifference>> {
        if (self.ieee, self.attributes) != (other.ieee, other.attributes) {
            let of = |digest: &Self| format!("ieee {}, attributes {}", digest.ieee, digest.attributes);
            let message = format!("one digest has {}, the other {}: they cannot be compared", of(self), of(other));
            return Err(Error::argument(message));
        }
        let mut found = Vec::new();
        for pair in merge(&self.nodes, &other.nodes, |node| &node.path) {
            match pair {
                Pair::Both(a, b) => of_nodes(a, b, &mut found),
                Pair::First(a) => found.push(DigestDifference::OnlyInFirst(a.path.clone())),
                Pair::Second(b) => found.push(DigestDifference::OnlyInSecond(b.path.clone())),
            }
        }
        Ok(found)
    }
}

impl DigestDifference {
    /// Returns the path of the node that differs.
    pub fn path(&self) -> &str {
        match self {
            Self::OnlyInFirst(path) | Self::OnlyInSecond(path) | Self::Kind(path) | Self::Attributes(path) => path,
            Self::Array(path, _) => path,
        }
    }

    /// Returns the difference as JSON, where `self` is the computed digest and the second digest is that of a file.
    pub fn to_json(&self) -> Value {
        let mut map = Map::new();
        map.insert("path", self.path());
        let mut both = Vec::new();
        let mut regions = None;
        let how = match self {
            Self::OnlyInFirst(_) => "not-in-file",
            Self::OnlyInSecond(_) => "in-file-alone",
            Self::Kind(_) => "kind",
            Self::Attributes(_) => "attributes",
            Self::Array(_, ArrayDifference::DataType(here, in_file)) => {
                both = vec![("here", here.clone()), ("in_file", in_file.clone())];
                "data-type"
            }
            Self::Array(_, ArrayDifference::Shape(here, in_file)) => {
                both = vec![("here", Value::from(here.clone())), ("in_file", Value::from(in_file.clone()))];
                "shape"
            }
            Self::Array(_, ArrayDifference::Boxes(boxes)) => {
                regions = Some(Value::Array(boxes.iter().map(ranges).collect()));
                "elements"
            }
            Self::Array(_, ArrayDifference::Somewhere) => "elements",
        };
        map.insert("difference", how);
        for (name, value) in both {
            map.insert(name, value);
        }
        if let Some(regions) = regions {
            map.insert("regions", regions);
        }
        Value::Object(map)
    }
}

/// Returns the start and the end of a region along each axis, as JSON.
fn ranges(region: &Region) -> Value {
    let range = |axis: &zarr_grid::AxisRange| Value::from(vec![axis.start, axis.start + axis.len]);
    Value::Array(region.axes().iter().map(range).collect())
}

fn of_nodes(a: &NodeDigest, b: &NodeDigest, found: &mut Vec<DigestDifference>) {
    match (&a.array, &b.array) {
        (Some(a_array), Some(b_array)) if a_array.hash != b_array.hash => {
            found.push(DigestDifference::Array(a.path.clone(), of_arrays(a_array, b_array)));
        }
        (Some(_), None) | (None, Some(_)) => found.push(DigestDifference::Kind(a.path.clone())),
        _ => {}
    }
    if a.attributes != b.attributes {
        found.push(DigestDifference::Attributes(a.path.clone()));
    }
}

fn of_arrays(a: &ArrayDigest, b: &ArrayDigest) -> ArrayDifference {
    if !a.data_type.semantically_eq(&b.data_type) {
        return ArrayDifference::DataType(a.data_type.clone(), b.data_type.clone());
    }
    if a.shape != b.shape {
        return ArrayDifference::Shape(a.shape.clone(), b.shape.clone());
    }
    let (Some(a_parts), Some(b_parts)) = (&a.parts, &b.parts) else { return ArrayDifference::Somewhere };
    let pairs = a_parts.iter().zip(b_parts).enumerate();
    let differ = pairs.filter(|(_, (a, b))| a != b);
    ArrayDifference::Boxes(differ.filter_map(|(part, _)| a.region(part)).collect())
}
