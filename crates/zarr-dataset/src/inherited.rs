//! Georeferences that nodes inherit from groups above them.

use crate::Result;
use zarr_geo::Georeference;
use zarr_meta::{NodePath, StoredNode};
use zarr_store::Store;

/// Returns the georeference of a node by its attributes; of an array with what it inherits from the group that it is in, and from a group
/// above whose level it is. The groups are read if the array says nothing of its own place or reference system. `None` if nothing is said.
///
/// # Errors
/// The errors of opening the groups above, but for those that do not exist.
pub fn inherited_georeference(store: &dyn Store, found: &StoredNode) -> Result<Option<Georeference>> {
    let georeference = |found: &StoredNode| Georeference::read(found.node.attributes());
    let own = georeference(found);
    let Some(array) = found.node.as_array() else { return Ok(own) };
    let is_whole = own.as_ref().is_some_and(|own| own.crs.is_some() && own.transform.is_some());
    if is_whole || array.shape.len() < 2 {
        return Ok(own);
    }
    let mut whole = own.clone();
    for (distance, path) in std::iter::successors(found.path.parent(), NodePath::parent).enumerate() {
        let group = match zarr_hierarchy::open_node(store, &path.to_string(), Some(found.dialect)) {
            Ok(group) => group,
            Err(error) if error.is_not_found() => continue,
            Err(error) => return Err(error),
        };
        let Some(above) = georeference(&group) else { continue };
        let relative = found.path.as_relative().strip_prefix(path.key_prefix().as_str()).unwrap_or_default();
        if distance == 0 || above.level(relative).is_some() {
            whole = Some(whole.unwrap_or_default().inheriting(&above, relative));
        }
    }
    let Some(mut whole) = whole else { return Ok(None) };
    let names = array.dimension_names.as_deref().unwrap_or_default();
    let len = |name: &String| {
        let axis = names.iter().position(|known| known.as_ref() == Some(name))?;
        array.shape.get(axis).copied()
    };
    match whole.dimensions.as_ref().map(|[y, x]| (len(y), len(x))) {
        Some((Some(rows), Some(columns))) => {
            whole.shape = own.and_then(|own| own.shape).or(Some([rows, columns]));
            Ok(Some(whole))
        }
        // The group is about arrays with other dimensions.
        Some(_) => Ok(own),
        None => Ok(Some(whole)),
    }
}
