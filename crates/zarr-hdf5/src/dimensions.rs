//! Names of dimensions, by HDF5 dimension scales and netCDF-4 dimensions.

use std::collections::HashMap;

use hdf5_reader::messages::HdfMessage;
use hdf5_reader::messages::attribute::AttributeMessage;
use hdf5_reader::messages::dataspace::{DataspaceType, UNLIMITED};
use zarr_json::Value;

use crate::attributes::{Values, attributes, references};
use crate::fault::Refusal;
use crate::file::File;
use crate::files::FileId;
use crate::walk::Node;
use crate::without_attributes::header;

/// Attributes that no node shows, because the Zarr documents express their contents otherwise.
pub(crate) const HIDDEN: &[&str] =
    &["REFERENCE_LIST", "DIMENSION_LIST", "DIMENSION_LABELS", DIMID, COORDINATES, "_NCProperties", "_nc3_strict"];
/// Attributes that the node of a dimension scale does not show, in addition to [`HIDDEN`].
pub(crate) const OF_SCALES: &[&str] = &["CLASS", "NAME"];

const DIMID: &str = "_Netcdf4Dimid";
const COORDINATES: &str = "_Netcdf4Coordinates";
/// Beginning of the attribute `NAME` of a dimension scale without a netCDF variable.
const NO_VARIABLE: &str = "This is a netCDF dimension but not a netCDF variable";
/// Prefix of the data set of a netCDF variable that has the name of a dimension but is not its coordinate variable.
const NO_COORDINATE: &str = "_nc4_non_coord_";

/// Dimensions of the data sets of a file.
pub(crate) struct Dimensions {
    /// Whether netCDF-4 wrote the file.
    pub(crate) is_netcdf: bool,
    /// Names of the data sets by their addresses.
    scales: HashMap<u64, String>,
    /// Lengths of netCDF dimensions, by the addresses of the dimension scales. The length is that of the longest variable along the
    /// dimension.
    lengths: HashMap<u64, u64>,
    /// Names of the netCDF dimensions by their numbers in the attribute `_Netcdf4Dimid`.
    by_id: HashMap<u64, String>,
}

impl Dimensions {
    /// Returns whether the data set has dimension scales, or is one.
    pub(crate) fn are_named(node: &Node) -> bool {
        ["DIMENSION_LIST", "CLASS"].iter().any(|name| node.attribute(name).is_some())
    }

    /// Finds the dimensions of the file `id` in those of its objects that are among `nodes`.
    pub(crate) fn new((id, file): (FileId, &File), nodes: &[Node]) -> Self {
        let nodes: Vec<&Node> = nodes.iter().filter(|node| node.id.file == id).collect();
        let mut is_netcdf = is_marked(file, &nodes);
        let mut scales = HashMap::new();
        let mut by_id = HashMap::new();
        for node in nodes.iter().filter(|node| node.is_array) {
            // Old versions of netCDF-4 leave no other mark.
            is_netcdf |= node.name().starts_with(NO_COORDINATE) || is_dimension_alone(file, node);
            scales.entry(node.id.address).or_insert_with(|| node.name().to_owned());
            if let [id] = numbers(file, node, DIMID)[..] {
                is_netcdf = true;
                // Variables that are no dimensions may have the number of their first one.
                if is_scale(file, node) {
                    by_id.entry(id).or_insert_with(|| node.name().to_owned());
                }
            }
        }
        let mut lengths = HashMap::new();
        for node in nodes.iter().filter(|node| is_netcdf && node.is_array) {
            for (address, len) in addresses(file, node).into_iter().zip(extent(node)) {
                if let Some(address) = address {
                    let longest = lengths.entry(address).or_insert(len);
                    *longest = len.max(*longest);
                }
            }
        }
        Self { is_netcdf, scales, lengths, by_id }
    }

    /// Returns `shape` with unlimited axes extended to the length of their netCDF dimension, as netCDF shows a variable: elements that are
    /// not stored have the fill value. `most` is the maximum shape of the data set.
    pub(crate) fn grown(&self, file: &File, node: &Node, shape: &[u64], most: Option<&[u64]>) -> Vec<u64> {
        let mut shape = shape.to_vec();
        let addresses = if self.is_netcdf { addresses(file, node) } else { Vec::new() };
        for ((len, most), address) in shape.iter_mut().zip(most.unwrap_or_default()).zip(addresses) {
            let longest = address.and_then(|address| self.lengths.get(&address));
            *len = longest.filter(|_| *most == UNLIMITED).copied().unwrap_or(*len).max(*len);
        }
        shape
    }

    /// Returns whether no node shows the data set, because netCDF-4 created it only to represent a dimension without a variable.
    pub(crate) fn is_hidden(&self, file: &File, node: &Node) -> bool {
        self.is_netcdf && is_dimension_alone(file, node)
    }

    /// Returns the path of the Zarr node for `node`: without the prefix that netCDF-4 puts before some names.
    pub(crate) fn path(&self, node: &Node) -> String {
        let name = node.name();
        match name.strip_prefix(NO_COORDINATE).filter(|name| self.is_netcdf && node.is_array && !name.is_empty()) {
            Some(shown) => format!("{}{shown}", &node.path[..node.path.len() - name.len()]),
            None => node.path.clone(),
        }
    }

    /// Returns the name of each axis of the data set `node`; `None` for an axis without a name.
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
                // Under a link from another file, the name of the node is not that of the scale.
                let own = self.scales.get(&node.id.address).filter(|_| node.is_far && node.id.file != FileId::FIRST);
                first.get_or_insert_with(|| own.map_or(node.name(), String::as_str).to_owned());
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

/// Returns whether the root group of a file has a mark of netCDF-4. The root group of a file to which links lead may be no node.
fn is_marked(file: &File, nodes: &[&Node]) -> bool {
    let is_mark = |attribute: &AttributeMessage| ["_NCProperties", "_nc3_strict"].contains(&attribute.name.as_str());
    let Ok(root) = file.root() else { return false };
    if let Some(node) = nodes.iter().find(|node| node.id.address == root) {
        return node.attributes.iter().any(is_mark);
    }
    let found = header(file, root).and_then(|header| attributes(file, root, &header, &mut |_| {}));
    found.is_ok_and(|attributes| attributes.iter().any(is_mark))
}

/// Returns whether netCDF-4 created the data set only to represent a dimension without a variable.
fn is_dimension_alone(file: &File, node: &Node) -> bool {
    is_scale(file, node) && text(file, node, "NAME").is_some_and(|name| name.starts_with(NO_VARIABLE))
}

/// Returns the address of the dimension scale of each axis. A data set without `DIMENSION_LIST` is the scale of its first axis.
fn addresses(file: &File, node: &Node) -> Vec<Option<u64>> {
    match node.attribute("DIMENSION_LIST") {
        Some(list) => references(file, list).unwrap_or_default(),
        None => vec![Some(node.id.address)],
    }
}

/// Returns the shape of the data set in the file; empty for scalars.
fn extent(node: &Node) -> Vec<u64> {
    let dataspace = node.header.messages.iter().find_map(|message| match message {
        HdfMessage::Dataspace(dataspace) => Some(dataspace.dims.clone()),
        _ => None,
    });
    dataspace.unwrap_or_default()
}

/// Returns whether the data set is a dimension scale.
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
