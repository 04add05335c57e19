//! Where two digests differ: the nodes, and the boxes of arrays if both have their hashes.

use super::{ArrayDigest, Digest, NodeDigest};
use crate::merge::{Pair, merge};
use zarr_grid::Region;
use zarr_hierarchy::{Error, Result};
use zarr_json::{Map, Value};

/// A difference between two digests.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum DigestDifference {
    /// The node at this path is in the first alone.
    OnlyInFirst(String),
    /// The node at this path is in the second alone.
    OnlyInSecond(String),
    /// One is an array and the other a group.
    Kind(String),
    /// The attributes, or the names of dimensions, of the node at this path differ.
    Attributes(String),
    /// The elements of the array at this path differ.
    Array(String, ArrayDifference),
}

/// How the elements of two arrays differ, as far as their digests tell.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ArrayDifference {
    /// By their data types, of which each is given.
    DataType(Value, Value),
    /// By their shapes.
    Shape(Vec<u64>, Vec<u64>),
    /// In elements of these regions.
    Boxes(Vec<Region>),
    /// Somewhere: one digest has no hashes of boxes.
    Somewhere,
}

impl Digest {
    /// Where this digest differs from another; nothing if all is the same.
    ///
    /// # Errors
    /// [`Argument`](zarr_hierarchy::ErrorKind::Argument) if one takes NaNs and zeros for the same, or counts attributes, and the other does
    /// not.
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
    /// The path of the node.
    pub fn path(&self) -> &str {
        match self {
            Self::OnlyInFirst(path) | Self::OnlyInSecond(path) | Self::Kind(path) | Self::Attributes(path) => path,
            Self::Array(path, _) => path,
        }
    }

    /// The difference as JSON, for a digest that was compared with that of a file.
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

/// The start and the end along each axis.
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
