//! Metadata of a group in CDL, the notation of netCDF that `ncdump -h` prints.
//!
//! Names, types and attributes are those of the stored arrays, without decoding: attributes of the encoding, such as `_FillValue`, are
//! included. `_ARRAY_DIMENSIONS` and the attributes of NCZarr are left out, since CDL has their content as dimensions and types.

mod values;

use crate::dimensions::{self, Axis, Dimension, Sizes};
use crate::{Dataset, Error, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use values::{AttributeValue, Type, name};
use zarr_array::{Array, Group};
use zarr_json::{Map, Value};
use zarr_meta::text;
use zarr_meta::{Dialect, NodePath, StoredNode};

/// Lines that `ncdump -h` prints for a netCDF file of the same content: dimensions, variables with their types and attributes, attributes
/// of the group, and the groups below. See [`Dataset::cdl`].
///
/// Numbers of attributes have the types that NCZarr stored for them. Otherwise, attributes whose values have the type of the variable by
/// the CF conventions (`_FillValue`, `valid_range`, `flag_values`...) have that type, other integers are `int` or, if larger, `int64`, and
/// floats are `double`. Data types that netCDF lacks are declared as opaque types of their size.
#[derive(Clone, Debug)]
pub struct Cdl {
    name: String,
    /// Declarations of data types that netCDF lacks.
    types: BTreeSet<String>,
    /// The group and all groups below it; each group follows the group that contains it.
    groups: Vec<Level>,
    broken: Vec<String>,
}

/// Content of one group in CDL.
#[derive(Clone, Debug)]
struct Level {
    /// Names of the groups on the path to this group, without the first one.
    path: Vec<String>,
    /// Dimensions that the group declares.
    dimensions: Vec<Dimension>,
    /// Declaration of each variable, with the lines of its attributes.
    variables: Vec<(String, Vec<String>)>,
    attributes: Vec<String>,
}

impl Dataset {
    /// Returns the metadata of the group and of the groups below, as `ncdump -h` prints it. Selections have no effect.
    ///
    /// # Errors
    /// The errors of [`Dataset::open`] for the groups below.
    pub fn cdl(&self) -> Result<Cdl> {
        Cdl::new(self.group())
    }
}

impl Cdl {
    fn new(group: &Group) -> Result<Self> {
        let root = group.path();
        let mut walk = group.walk()?;
        let mut arrays = BTreeMap::<NodePath, Vec<StoredNode>>::new();
        let mut groups = Vec::new();
        for found in walk.nodes.drain(..) {
            match (found.node.as_array().is_some(), found.path.parent()) {
                (true, Some(parent)) => arrays.entry(parent).or_default().push(found),
                (true, None) => {}
                (false, _) => groups.push(found),
            }
        }
        let depth = root.names().count();
        let below = |path: &NodePath| path.names().skip(depth).map(str::to_owned).collect::<Vec<_>>();
        groups.sort_by_cached_key(|found| below(&found.path));
        let mut cdl =
            Self { name: default_name(group), types: BTreeSet::new(), groups: Vec::new(), broken: Vec::new() };
        for found in groups {
            let path = below(&found.path);
            let arrays = arrays.remove(&found.path).unwrap_or_default();
            let group = Group::from_found(group.store(), found, group.registry())?;
            cdl.add(&group, path, arrays)?;
        }
        cdl.broken.extend(walk.broken.iter().map(ToString::to_string));
        Ok(cdl)
    }

    /// Sets the name that follows `netcdf` in the first line.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        name.clone_into(&mut self.name);
        self
    }

    fn add(&mut self, group: &Group, path: Vec<String>, mut arrays: Vec<StoredNode>) -> Result<()> {
        let metadata = group.found().node.as_group();
        let order = metadata.map_or_else(Vec::new, |group| listed_variables(&group.attributes, &group.extra));
        arrays
            .sort_by_key(|found| order.iter().position(|&name| found.path.name() == Some(name)).unwrap_or(usize::MAX));
        let listed = metadata.map_or_else(Vec::new, |group| dimensions::listed(&group.attributes, &group.extra));
        let mut sizes = Sizes::default();
        let mut variables = Vec::new();
        for found in arrays {
            let error = |error: Error| error.at_path(group.path());
            match Array::from_found(group.store(), found, group.registry(), zarr_array::Options::default()) {
                Ok(array) => {
                    let axes = dimensions::axes(&array, true).map_err(error)?;
                    let name = array.path().name().unwrap_or_default().to_owned();
                    sizes.add(&name, &axes, array.shape()).map_err(error)?;
                    variables.push(self.variable(&name, &array, &axes)?);
                }
                Err(error) => self.broken.push(error.to_string()),
            }
        }
        let mut declared = listed.clone();
        let found = sizes.finish(&listed);
        // The size in the arrays replaces another size that is listed.
        for dimension in &mut declared {
            let size = found.iter().find(|it| it.name == dimension.name).map_or(dimension.size, |it| it.size);
            dimension.size = size;
        }
        for dimension in found {
            let above = self.groups.iter().filter(|level| path.starts_with(&level.path)).rev();
            let inherited = above.flat_map(|level| &level.dimensions).find(|it| it.name == dimension.name);
            let is_declared = declared.iter().any(|it| it.name == dimension.name);
            if !is_declared && inherited.is_none_or(|it| it.size != dimension.size) {
                declared.push(dimension);
            }
        }
        let stored = group.attributes()?;
        let attributes = attributes(None, (stored, group.dialect()), None, None);
        self.groups.push(Level { path, dimensions: declared, variables, attributes });
        Ok(())
    }

    /// Returns the declaration of a variable, with the lines of its attributes.
    fn variable(&mut self, variable: &str, array: &Array, axes: &[Axis]) -> Result<(String, Vec<String>)> {
        let kind = Type::of(array.data_type());
        if let Some(declaration) = kind.declaration() {
            self.types.insert(declaration);
        }
        let named = |axis: &Axis| match axis {
            Axis::Named(dimension) => Some(name(dimension)),
            Axis::Scalar | Axis::Characters => None,
        };
        let dimensions: Vec<String> = axes.iter().filter_map(named).collect();
        let dimensions = if dimensions.is_empty() { String::new() } else { format!("({})", dimensions.join(", ")) };
        let line = format!("{} {}{dimensions}", kind.name(), name(variable));
        let fill = values::fill_value(array)?;
        Ok((line, attributes(Some(variable), (array.attributes()?, array.dialect()), Some(&kind), fill)))
    }
}

/// Returns the lines of attributes. `fill` is the `_FillValue`, if no attribute has it.
fn attributes(
    variable: Option<&str>,
    (stored, dialect): (&Map, Dialect),
    kind: Option<&Type>,
    fill: Option<AttributeValue>,
) -> Vec<String> {
    let types = ["_nczarr_attr", "_NCZARR_ATTR"].iter().find_map(|name| stored.get(name)?.get("types"));
    let line = |attribute: &str, value: &AttributeValue| {
        let prefix = if value.is_string_type { "string " } else { "" };
        format!("{prefix}{}:{} = {} ;", variable.map(name).unwrap_or_default(), name(attribute), value.text)
    };
    let mut lines: Vec<String> = fill.iter().map(|fill| line("_FillValue", fill)).collect();
    for (attribute, value) in
        dimensions::of_user(stored, dialect).iter().filter(|(name, _)| fill.is_none() || *name != "_FillValue")
    {
        let stored_type = types.and_then(|types| types.get(attribute)).and_then(Value::as_str);
        lines.push(line(attribute, &AttributeValue::new(attribute, value, stored_type, kind)));
    }
    lines
}

/// Returns the names of the variables of a group in the order in which NCZarr lists them.
fn listed_variables<'m>(attributes: &'m Map, extra: &'m Map) -> Vec<&'m str> {
    let members = [(attributes, "_nczarr_group"), (extra, "_nczarr_group"), (extra, "_NCZARR_GROUP")];
    let lists = members.into_iter().find_map(|(map, name)| map.get(name));
    let names = lists.and_then(|group| group.get("arrays").or_else(|| group.get("vars"))).and_then(Value::as_array);
    names.unwrap_or_default().iter().filter_map(Value::as_str).collect()
}

/// Returns the default name of a data set: the last name in the path of the group, or in the address of its store, without the extension.
fn default_name(group: &Group) -> String {
    let address = group.store().to_string();
    let last = address.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let last = [".zarr", ".zip"].iter().fold(last, |name, end| name.strip_suffix(end).unwrap_or(name));
    let of_store = if last.is_empty() || last.ends_with(':') { "dataset" } else { last };
    group.path().name().unwrap_or(of_store).to_owned()
}

impl fmt::Display for Cdl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "netcdf {} {{", name(&self.name))?;
        if !self.types.is_empty() {
            write!(f, "\ntypes:")?;
            self.types.iter().try_for_each(|declaration| write!(f, "\n  {declaration} ;"))?;
        }
        let mut open: Vec<&Level> = Vec::new();
        for level in &self.groups {
            while let Some(last) = open.pop_if(|last| !level.path.starts_with(&last.path)) {
                last.close(f)?;
            }
            level.print(f)?;
            open.push(level);
        }
        while let Some(last) = open.pop() {
            last.close(f)?;
        }
        if self.groups.is_empty() {
            write!(f, "\n}}")?;
        }
        for error in &self.broken {
            write!(f, "\n// {}", text::line(error))?;
        }
        Ok(())
    }
}

impl Level {
    /// Returns the indentation of the lines of the group.
    fn indent(&self) -> String {
        "  ".repeat(self.path.len())
    }

    /// Prints the group, except the groups in it and the closing brace.
    fn print(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let indent = self.indent();
        if let Some(last) = self.path.last() {
            let outer = "  ".repeat(self.path.len() - 1);
            write!(f, "\n\n{outer}group: {} {{", name(last))?;
        }
        if !self.dimensions.is_empty() {
            write!(f, "\n{indent}dimensions:")?;
        }
        for dimension in &self.dimensions {
            let (name, size) = (name(&dimension.name), dimension.size);
            match dimension.is_unlimited {
                true => write!(f, "\n{indent}\t{name} = UNLIMITED ; // ({size} currently)")?,
                false => write!(f, "\n{indent}\t{name} = {size} ;")?,
            }
        }
        if !self.variables.is_empty() {
            write!(f, "\n{indent}variables:")?;
        }
        for (variable, attributes) in &self.variables {
            write!(f, "\n{indent}\t{variable} ;")?;
            attributes.iter().try_for_each(|attribute| write!(f, "\n{indent}\t\t{attribute}"))?;
        }
        if !self.attributes.is_empty() {
            let kind = if self.path.is_empty() { "global" } else { "group" };
            write!(f, "\n\n{indent}// {kind} attributes:")?;
        }
        self.attributes.iter().try_for_each(|attribute| write!(f, "\n{indent}\t\t{attribute}"))
    }

    fn close(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.last() {
            Some(last) => write!(f, "\n{}}} // group {}", self.indent(), name(last)),
            None => write!(f, "\n}}"),
        }
    }
}

#[cfg(test)]
mod tests;
