//! Lists of the keys of a snapshot: of documents, and of the chunks in its manifests.

use std::ops::Bound;

use zarr_store::{Key, Listing, Prefix, Result};

use super::Inner;
use crate::chunk_key::{self, Index};
use crate::manifest::Onward;
use crate::snapshot::Node;
use zarr_store_virtual::lookup::Way;

impl Inner {
    pub(super) async fn list_dir(&self, way: Way, prefix: &Prefix) -> Result<Listing> {
        let nodes = self.snapshot.nodes();
        let first = |from: Bound<&str>| {
            let is_before = |node: &Node| match from {
                Bound::Included(text) => node.key.as_str() < text,
                Bound::Excluded(text) => node.key.as_str() <= text,
                Bound::Unbounded => false,
            };
            nodes.get(nodes.partition_point(is_before)).map(|node| &node.key)
        };
        let Listing { mut keys, mut prefixes, .. } = Listing::directly_under(prefix, first);
        let above = prefix.as_str().trim_end_matches('/');
        if let Some(array) = self.snapshot.array_at(above) {
            let mut is_scalar = None;
            self.chunks(way, array, &Index::new(), &mut |index, _| {
                is_scalar = Some(index.is_empty());
                Onward::End
            })
            .await?;
            match is_scalar {
                Some(true) => keys.push(prefix.join("c")?),
                Some(false) => prefixes.push(Prefix::new(&format!("{prefix}c/"))?),
                None => {}
            }
        }
        if let Some((path, begin)) = chunk_key::parse(above)
            && let Some(array) = self.snapshot.array_at(path)
        {
            let mut found: Vec<(u32, bool)> = Vec::new();
            self.chunks(way, array, &begin, &mut |index, _| {
                let Some(&next) = index.get(begin.len()) else { return Onward::Next };
                let is_key = index.len() == begin.len() + 1;
                found.push((next, is_key));
                match next.checked_add(1) {
                    _ if is_key => Onward::Next,
                    Some(next) => Onward::From(begin.iter().copied().chain([next]).collect()),
                    None => Onward::End,
                }
            })
            .await?;
            found.sort_unstable();
            found.dedup();
            for (next, is_key) in found {
                match is_key {
                    true => keys.push(prefix.join(&next.to_string())?),
                    false => prefixes.push(Prefix::new(&format!("{prefix}{next}/"))?),
                }
            }
        }
        Ok(Listing::new(keys, prefixes))
    }

    pub(super) async fn list_prefix(&self, way: Way, prefix: &Prefix) -> Result<Vec<Key>> {
        let mut keys = Vec::new();
        self.visit(way, prefix, &mut |key, _| keys.push(key)).await?;
        keys.sort_unstable();
        Ok(keys)
    }

    /// Calls `visit` with each key under `prefix` and the size of its value in bytes.
    pub(super) async fn visit(
        &self,
        way: Way,
        prefix: &Prefix,
        visit: &mut (dyn FnMut(Key, u64) + Send),
    ) -> Result<()> {
        let nodes = self.snapshot.nodes();
        let from = nodes.partition_point(|node| node.key.as_str() < prefix.as_str());
        let nodes = nodes.get(from..).unwrap_or_default();
        for node in nodes.iter().take_while(|node| prefix.contains(&node.key)) {
            visit(node.key.clone(), self.snapshot.document(node).len() as u64);
            if node.is_array() {
                self.visit_chunks(way, node, &Index::new(), visit).await?;
            }
        }
        // The prefix may be inside an array.
        if let Some((path, begin)) = chunk_key::parse(prefix.as_str().trim_end_matches('/'))
            && let Some(array) = self.snapshot.array_at(path)
        {
            self.visit_chunks(way, array, &begin, visit).await?;
        }
        Ok(())
    }

    async fn visit_chunks(
        &self,
        way: Way,
        array: &Node,
        begin: &Index,
        visit: &mut (dyn FnMut(Key, u64) + Send),
    ) -> Result<()> {
        let mut outcome = Ok(());
        // A chunk whose key is the prefix without its slash is not under the prefix.
        let is_inside = |index: &Index| begin.is_empty() || index.len() > begin.len();
        let mut each = |index: Index, size| {
            if is_inside(&index) {
                match Key::new(&chunk_key::text(array.path(), index)) {
                    Ok(key) => visit(key, size),
                    Err(error) => {
                        outcome = Err(error);
                        return Onward::End;
                    }
                }
            }
            Onward::Next
        };
        self.chunks(way, array, begin, &mut each).await?;
        outcome
    }

    /// Calls `visit` with the index and the size of each chunk of `array` whose index begins with `begin`, in one manifest after the other.
    async fn chunks(
        &self,
        way: Way,
        array: &Node,
        begin: &Index,
        visit: &mut (dyn FnMut(Index, u64) -> Onward + Send),
    ) -> Result<()> {
        let extents = self.snapshot.extents(array, begin).map_err(|fault| self.fail(fault))?;
        for extent in extents {
            let manifest = self.manifest(way, extent.manifest).await?;
            let visited = manifest.visit(&array.id, begin, &mut |index, size| match extent.has_rank(index.len())
                && extent.meets(&index)
            {
                true => visit(index, size),
                false => Onward::Next,
            });
            visited.map_err(|fault| self.fail(fault))?;
        }
        Ok(())
    }
}
