//! The variables that belong to others.

use crate::{Dataset, Result, Variable};
use std::collections::{BTreeMap, BTreeSet};
use zarr_json::Value;

/// Attributes that name variables without which a variable is not understood.
const NAMING: [&str; 3] = ["bounds", "climatology", "grid_mapping"];

impl Dataset {
    /// The variables of these names with the ones that describe them: the coordinates that `dataset[["a", "b"]]` of xarray keeps, which are
    /// those that have no dimension but those of the variables, and the bounds and grid mappings of all these. By name.
    ///
    /// # Errors
    /// As [`variable`](Self::variable) for a name that is not there.
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

/// The names in the attributes of a variable. A grid mapping may have the coordinates that it is for behind it: `crs: x y`.
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
        assert_eq!((error.kind(), error.hint()), (crate::ErrorKind::NotFound, Some("there is one called t")));
    }
}
