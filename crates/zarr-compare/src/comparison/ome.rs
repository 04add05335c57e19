//! OME-Zarr images in stores of different Zarr formats, whose OME-Zarr metadata is in different places.

use std::collections::HashMap;
use zarr_meta::{Node, NodePath, StoredNode};
use zarr_ome::Multiscales;

/// Converts the nodes of a side to the form that a conversion to Zarr v3 would give them: OME-Zarr metadata of version 0.4 becomes that of
/// 0.5, and the dimensions of levels get the names of the axes.
pub(super) fn as_in_v3(nodes: &mut [(String, StoredNode)]) {
    let mut names: HashMap<NodePath, Vec<Option<String>>> = HashMap::new();
    for (_, node) in nodes.iter_mut() {
        let Node::Group(group) = &mut node.node else { continue };
        if let Ok(Some(changed)) = zarr_ome::to_v05(&group.attributes, node.path.name()) {
            group.attributes = changed;
        }
        let Ok(Some(read)) = Multiscales::read(&group.attributes) else { continue };
        for (path, axes) in read.level_names() {
            names.extend(node.path.join(path).ok().map(|path| (path, axes.map(str::to_owned).map(Some).collect())));
        }
    }
    for (_, node) in nodes {
        let Node::Array(array) = &mut node.node else { continue };
        let of_image = names.get(&node.path).filter(|names| names.len() == array.shape.len());
        if array.dimension_names.is_none() {
            array.dimension_names = of_image.cloned();
        }
    }
}
