//! Names of dimensions: scales of HDF5, and dimensions of netCDF-4.

use std::collections::HashMap;

use hdf5_reader::messages::HdfMessage;
use hdf5_reader::messages::dataspace::{DataspaceType, UNLIMITED};
use zarr_json::Value;

use crate::attributes::{Values, references};
use crate::fault::Refusal;
use crate::file::File;
use crate::walk::{Node, Nodes};

/// Attributes that say what the documents of Zarr say otherwise.
pub(crate) const HIDDEN: &[&str] =
    &["REFERENCE_LIST", "DIMENSION_LIST", "DIMENSION_LABELS", DIMID, COORDINATES, "_NCProperties", "_nc3_strict"];
/// The further attributes of a data set that is a scale.
pub(crate) const OF_SCALES: &[&str] = &["CLASS", "NAME"];

const DIMID: &str = "_Netcdf4Dimid";
const COORDINATES: &str = "_Netcdf4Coordinates";
/// The beginning of the name of a scale that stands for a dimension alone.
const NO_VARIABLE: &str = "This is a netCDF dimension but not a netCDF variable";
/// The prefix of a variable that has the name of a dimension and is no coordinate of it.
const NO_COORDINATE: &str = "_nc4_non_coord_";

/// The names of dimensions of a file.
pub(crate) struct Dimensions {
    /// Whether netCDF-4 wrote the file.
    pub(crate) is_netcdf: bool,
    /// The names of data sets, by their addresses.
    scales: HashMap<u64, String>,
    /// The lengths of dimensions of netCDF, which of unlimited ones are those of the longest variable, by the addresses of data sets.
    lengths: HashMap<u64, u64>,
    /// The names of dimensions, by the numbers that netCDF gives them.
    by_id: HashMap<u64, String>,
}

impl Dimensions {
    pub(crate) fn new(file: &File, nodes: &Nodes) -> Self {
        let root = nodes.list.first();
        let is_marked = |name: &str| root.is_some_and(|root| root.attribute(name).is_some());
        let mut is_netcdf = is_marked("_NCProperties") || is_marked("_nc3_strict");
        let mut scales = HashMap::new();
        let mut by_id = HashMap::new();
        for node in nodes.list.iter().filter(|node| node.is_array) {
            // Old versions of netCDF-4 leave no other mark.
            is_netcdf |= node.name().starts_with(NO_COORDINATE) || is_dimension_alone(file, node);
            scales.entry(node.address).or_insert_with(|| node.name().to_owned());
            if let [id] = numbers(file, node, DIMID)[..] {
                is_netcdf = true;
                // Variables that are no dimensions may have the number of their first one.
                if is_scale(file, node) {
                    by_id.entry(id).or_insert_with(|| node.name().to_owned());
                }
            }
        }
        let mut lengths = HashMap::new();
        for node in nodes.list.iter().filter(|node| is_netcdf && node.is_array) {
            for (address, len) in addresses(file, node).into_iter().zip(extent(node)) {
                if let Some(address) = address {
                    let longest = lengths.entry(address).or_insert(len);
                    *longest = len.max(*longest);
                }
            }
        }
        Self { is_netcdf, scales, lengths, by_id }
    }

    /// The shape of a data set, with the lengths of its unlimited dimensions, as netCDF has it: what is not stored has the fill value.
    pub(crate) fn grown(&self, file: &File, node: &Node, shape: &[u64], most: Option<&[u64]>) -> Vec<u64> {
        let mut shape = shape.to_vec();
        let addresses = if self.is_netcdf { addresses(file, node) } else { Vec::new() };
        for ((len, most), address) in shape.iter_mut().zip(most.unwrap_or_default()).zip(addresses) {
            let longest = address.and_then(|address| self.lengths.get(&address));
            *len = longest.filter(|_| *most == UNLIMITED).copied().unwrap_or(*len).max(*len);
        }
        shape
    }

    /// Whether a data set stands for a dimension alone, so that no node shows it.
    pub(crate) fn is_hidden(&self, file: &File, node: &Node) -> bool {
        self.is_netcdf && is_dimension_alone(file, node)
    }

    /// The path that the node of a data set has.
    pub(crate) fn path(&self, node: &Node) -> String {
        let name = node.name();
        match name.strip_prefix(NO_COORDINATE).filter(|name| self.is_netcdf && node.is_array && !name.is_empty()) {
            Some(shown) => format!("{}{shown}", &node.path[..node.path.len() - name.len()]),
            None => node.path.clone(),
        }
    }

    /// The name of each axis of a data set that has one.
    pub(crate) fn names(&self, file: &File, node: &Node, rank: usize) -> Result<Vec<Option<String>>, Refusal> {
        let mut names = vec![None; rank];
        if let Some(list) = node.attribute("DIMENSION_LIST") {
            for (name, address) in names.iter_mut().zip(references(file, list)?) {
                *name = address.and_then(|address| self.scales.get(&address)).cloned();
            }
        } else if is_scale(file, node) {
            let ids = numbers(file, node, COORDINATES);
            for (name, id) in names.iter_mut().zip(ids) {
                *name = self.by_id.get(&id).cloned();
            }
            if let Some(first) = names.first_mut() {
                first.get_or_insert_with(|| node.name().to_owned());
            }
        }
        if let Some(labels) = node.attribute("DIMENSION_LABELS")
            && let Ok(Value::Array(labels)) = Values::new(file, false).value(labels)
        {
            for (name, label) in names.iter_mut().zip(&labels) {
                let label = label.as_str().filter(|label| name.is_none() && !label.is_empty());
                *name = name.take().or(label.map(str::to_owned));
            }
        }
        Ok(names)
    }
}

/// Whether netCDF-4 made a data set for a dimension that has no variable.
fn is_dimension_alone(file: &File, node: &Node) -> bool {
    is_scale(file, node) && text(file, node, "NAME").is_some_and(|name| name.starts_with(NO_VARIABLE))
}

/// Where the scale of each axis of a data set is.
fn addresses(file: &File, node: &Node) -> Vec<Option<u64>> {
    match node.attribute("DIMENSION_LIST") {
        Some(list) => references(file, list).unwrap_or_default(),
        None => vec![Some(node.address)],
    }
}

/// The extent of a data set in the file.
fn extent(node: &Node) -> Vec<u64> {
    let dataspace = node.header.messages.iter().find_map(|message| match message {
        HdfMessage::Dataspace(dataspace) => Some(dataspace.dims.clone()),
        _ => None,
    });
    dataspace.unwrap_or_default()
}

/// Whether a data set is a scale of a dimension.
pub(crate) fn is_scale(file: &File, node: &Node) -> bool {
    text(file, node, "CLASS").is_some_and(|class| class == "DIMENSION_SCALE")
}

fn text(file: &File, node: &Node, name: &str) -> Option<String> {
    let value = Values::new(file, true).value(node.attribute(name)?).ok()?;
    value.as_str().map(str::to_owned)
}

fn numbers(file: &File, node: &Node, name: &str) -> Vec<u64> {
    let attribute = node.attribute(name).filter(|it| it.dataspace.dataspace_type != DataspaceType::Null);
    match attribute.map(|attribute| Values::new(file, true).value(attribute)) {
        Some(Ok(Value::Array(list))) => list.iter().filter_map(Value::as_u64).collect(),
        Some(Ok(value)) => value.as_u64().into_iter().collect(),
        _ => Vec::new(),
    }
}
