//! Subsets of the variables of a group, with the variables that belong to them.

use crate::{Dataset, DatasetOptions, Error, ErrorKind, Result, Variable, decoded};
use std::collections::{BTreeMap, BTreeSet};
use zarr_array::Group;
use zarr_json::Value;
use zarr_meta::StoredNode;

/// Attributes that name variables which are needed to interpret a variable.
const NAMING: [&str; 3] = ["bounds", "climatology", "grid_mapping"];

impl Dataset {
    /// Opens the data set of some arrays of a group: the arrays of the given names and the coordinates of their dimensions, all in the
    /// dialect of the group. Metadata of other arrays is not read, so that a group may have thousands of arrays.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use zarr_array::{Group, NewArray, NewGroup, Registry, Store};
    /// # use zarr_dataset::{Dataset, DatasetOptions};
    /// # let mut registry = Registry::default();
    /// # registry.codecs.add(zarr_codec_bytes::BYTES);
    /// # let store: Arc<dyn Store> = Arc::new(zarr_store::MemoryStore::new());
    /// # let group = Group::create(&store, "/", NewGroup::new(), &Arc::new(registry))?;
    /// # let new = || NewArray::new(&[3], "uint8").dimension_names(&["x"]).codecs("bytes");
    /// for name in ["a", "b", "x"] {
    ///     group.create_array(name, new()?)?;
    /// }
    /// let dataset = Dataset::open_variables(&group, &["a"], &DatasetOptions::default())?;
    /// assert!(dataset.variables().map(|variable| variable.name()).eq(["a", "x"]));
    /// # Ok::<(), zarr_array::Error>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`open_with`](Self::open_with); [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if an array does not exist.
    pub fn open_variables(group: &Group, names: &[&str], options: &DatasetOptions) -> Result<Self> {
        let mut nodes = BTreeMap::new();
        for name in names {
            nodes.insert((*name).to_owned(), child(group, name)?);
        }
        let arrays = nodes.values().filter_map(|node| node.node.as_array());
        let named = arrays.filter_map(|array| array.dimension_names.as_ref());
        let dimensions: BTreeSet<String> = named.flatten().flatten().cloned().collect();
        let mut broken = Vec::new();
        for name in dimensions {
            if nodes.contains_key(&name) {
                continue;
            }
            match child(group, &name) {
                Ok(node) => {
                    nodes.insert(name, node);
                }
                // A dimension need not have a coordinate, and its name need not be that of a node.
                Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::Path) => {}
                Err(error) => broken.push(error),
            }
        }
        Self::of_nodes(group, nodes.into_values().collect(), broken, options, &decoded::registry(group.registry()))
    }

    /// Returns the variables of the given names and the variables that describe them: the coordinates whose dimensions are all dimensions
    /// of these variables, as `dataset[["a", "b"]]` of xarray, and the bounds and grid mappings of all. Sorted by name.
    ///
    /// # Errors
    /// The errors of [`variable`](Self::variable) for a name that does not exist.
    pub fn with_coordinates<'d>(&'d self, names: &[&str]) -> Result<Vec<&'d Variable>> {
        let mut kept = BTreeMap::new();
        for name in names {
            let variable = self.variable(name)?;
            kept.insert(variable.name(), variable);
        }
        let dimensions: BTreeSet<&str> = kept.values().flat_map(|variable| variable.dimensions()).collect();
        for coordinate in self.coordinates() {
            if coordinate.dimensions().all(|name| dimensions.contains(name)) {
                kept.insert(coordinate.name(), coordinate);
            }
        }
        let mut left: Vec<&Variable> = kept.values().copied().collect();
        while let Some(variable) = left.pop() {
            for name in named(variable)? {
                let found = self.variables().find(|it| it.name() == name);
                if let Some(found) = found.filter(|it| !kept.contains_key(it.name())) {
                    kept.insert(found.name(), found);
                    left.push(found);
                }
            }
        }
        Ok(kept.into_values().collect())
    }
}

/// Opens a node directly below a group, in the dialect of the group.
fn child(group: &Group, name: &str) -> Result<StoredNode> {
    let path = group.path().join(name).map_err(Error::from)?.to_string();
    zarr_hierarchy::open_node(&**group.store(), &path, Some(group.dialect()))
        .map_err(|error| zarr_hierarchy::with_hierarchy_hint(error, &**group.store(), &path))
}

/// Returns the names of variables in the attributes of a variable. A grid mapping may be followed by its coordinates: `crs: x y`.
fn named(variable: &Variable) -> Result<Vec<&str>> {
    let attributes = variable.stored().attributes()?;
    let texts = NAMING.iter().filter_map(|name| attributes.get(name).and_then(Value::as_str));
    let words = texts.flat_map(str::split_whitespace);
    Ok(words.map(|word| word.strip_suffix(':').unwrap_or(word)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use zarr_array::{Group, NewArray, NewGroup, Registry, Store};

    #[test]
    fn coordinates_bounds_and_grid_mappings_are_kept() {
        let mut registry = Registry::default();
        zarr_codec_bytes::CODECS.iter().for_each(|entry| registry.codecs.add(*entry));
        let store: Arc<dyn Store> = Arc::new(zarr_store::MemoryStore::new());
        let group = Group::create(&store, "/", NewGroup::new(), &Arc::new(registry)).unwrap();
        let create = |name: &str, dimensions: &[&str], attributes: &[(&str, &str)]| {
            let new =
                NewArray::new(&vec![2; dimensions.len()], "int8").dimension_names(dimensions).codecs("bytes").unwrap();
            let new = attributes.iter().fold(new, |new, (name, value)| new.attribute(name, *value));
            group.create_array(name, new).unwrap();
        };
        create("t", &["time", "y", "x"], &[("coordinates", "lat height"), ("grid_mapping", "crs: x y")]);
        create("u", &["time"], &[]);
        create("level_only", &["level"], &[]);
        create("time", &["time"], &[("bounds", "time_bounds")]);
        create("time_bounds", &["time", "two"], &[]);
        create("lat", &["y", "x"], &[]);
        create("height", &[], &[]);
        create("crs", &[], &[]);
        create("level", &["level"], &[]);
        create("two", &["two"], &[]);
        let dataset = Dataset::open(&group).unwrap();
        let kept = |names: &[&str]| {
            let kept = dataset.with_coordinates(names).unwrap();
            kept.into_iter().map(|variable| variable.name().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(kept(&["t"]), ["crs", "height", "lat", "t", "time", "time_bounds"]);
        assert_eq!(kept(&["u"]), ["height", "time", "time_bounds", "u"]);
        assert_eq!(kept(&["u", "level_only"]), ["height", "level", "level_only", "time", "time_bounds", "u"]);
        let error = dataset.with_coordinates(&["tt"]).unwrap_err();
        assert_eq!((error.kind(), error.hint()), (ErrorKind::NotFound, Some("there is one called t")));
    }
}
