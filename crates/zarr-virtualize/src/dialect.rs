//! Conversion of a joined store to the dialect of its references.

use std::collections::HashMap;
use std::sync::Arc;

#[cfg(doc)]
use zarr_hierarchy::ErrorKind;
use zarr_hierarchy::{Error, Result};
use zarr_meta::{Dialect, Node, NodePath};
use zarr_store::Prefix;
use zarr_store_virtual::{ChunkKeyForm, Separator, SourceId, VirtualStore};

use crate::chunks::TableJoin;
use crate::documents::put_documents;
use crate::forms::convert;
use crate::nodes::FileNodes;
use crate::{Input, Joined};

impl Joined {
    /// Converts the metadata documents of the store to `dialect`, v2 or v3. The chunks stay the same.
    ///
    /// # Errors
    /// [`ErrorKind::NotExpressible`] with the array whose chunks the dialect cannot describe; [`ErrorKind::Argument`] for another dialect.
    pub fn in_dialect(self, dialect: Dialect) -> Result<Self> {
        let form = match dialect {
            Dialect::V3 => return Ok(self),
            Dialect::V2 => ChunkKeyForm::V2(Separator::Dot),
            other => return Err(Error::argument(format!("found the dialect {other}, expected v2 or v3"))),
        };
        let name = self.store.to_string();
        let input = Input::new(name.as_str(), self.store);
        let file = FileNodes::read(&input)?;
        let mut builder = VirtualStore::builder(name.as_str());
        let mut sources: HashMap<SourceId, SourceId> = HashMap::new();
        let mut nodes: Vec<(NodePath, Node)> = Vec::new();
        for (path, attributes) in &file.groups {
            let node = Node::Group(zarr_meta::GroupMetadata::new(attributes.clone()));
            nodes.push((
                path.clone(),
                convert(&node, Dialect::V3, dialect, false).map_err(|error| error.at_path(path))?,
            ));
        }
        for (path, array) in &file.arrays {
            let table = array.chunks.table();
            let has_missing = (table.stored().count() as u64) < table.count();
            let node = convert(&Node::Array(array.metadata.clone()), Dialect::V3, dialect, has_missing);
            nodes.push((path.clone(), node.map_err(|error| error.at_path(path))?));
            let mut join = TableJoin::new(array.chunks.counts(), 0)?;
            let source = |id: SourceId| {
                *sources.entry(id).or_insert_with(|| match input.store.source(id) {
                    Some(found) => {
                        builder.source_in_state(Arc::clone(found.store()), found.key().clone(), found.state().cloned())
                    }
                    None => id,
                })
            };
            join.add(array, None, source).map_err(|fault| fault.of(name.as_str()))?;
            let table = join.build().map_err(|fault| fault.of(name.as_str()))?;
            builder.chunks(Prefix::new(&path.key_prefix())?, form, array.chunks.counts(), table);
        }
        nodes.sort_by(|(a, _), (b, _)| a.cmp(b));
        let nodes: Vec<(&NodePath, &Node)> = nodes.iter().map(|(path, node)| (path, node)).collect();
        put_documents(&mut builder, &nodes, dialect)?;
        Ok(Self { store: builder.build()?, coordinates: self.coordinates, notes: self.notes })
    }
}
