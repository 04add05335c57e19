//! Keys below groups that belong to no node: files of other software, which go with their groups.

use super::copy::copy_within;
use super::{Conversion, ConvertOptions};
use std::sync::Arc;
use zarr_hierarchy::{Error, OtherKey, Result, have_equal_bytes, other_keys, walk};
use zarr_meta::{Dialect, NodePath};
use zarr_store::{ByteRange, Bytes, GetOptions, Key, SetOptions, Store, StoreExt};

/// So many bytes of a value are read at a time.
const PIECE: u64 = 8 << 20;

/// A key that belongs to no node, and is copied with its group.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CopiedKey {
    /// The key in the source.
    pub from: Key,
    /// The key in the target.
    pub to: Key,
}

/// Where the other keys go, in a target of `dialect`.
pub(super) fn planned(others: Vec<OtherKey>, dialect: Dialect, options: &ConvertOptions) -> Result<Vec<CopiedKey>> {
    let spaces = zarr_meta::key_spaces(dialect);
    let planned = |OtherKey { key, group, .. }: OtherKey| {
        let name = key.as_str().strip_prefix(&group.key_prefix()).unwrap_or(key.as_str());
        let to = Key::new(&format!("{}{name}", options.moved(&group)?.key_prefix()))?;
        if let Some(space) = spaces.iter().find(|space| to.as_str().starts_with(space.as_str())) {
            let message = format!("belongs to no node, and {space} of {dialect} has documents and chunks alone");
            let error = Error::argument(message).with_hint("--no-other-files leaves such files out");
            return Err(error.at(|location| location.key = Some(key.to_string())));
        }
        Ok(CopiedKey { from: key, to })
    };
    others.into_iter().map(planned).collect()
}

impl Conversion {
    /// The keys that belong to no node and are copied with their groups: files of other software, such as tables in Parquet, XML, texts.
    pub fn other_keys(&self) -> &[CopiedKey] {
        &self.others
    }

    /// Copies the keys that belong to no node.
    pub(super) fn copy_other_keys(&self, target: &Arc<dyn Store>) -> Result<()> {
        let with_hint = |error: Error| error.with_hint("--no-other-files leaves files that belong to no node out");
        self.others.iter().try_for_each(|other| self.copy_other_key(other, target).map_err(with_hint))
    }

    fn copy_other_key(&self, other: &CopiedKey, target: &Arc<dyn Store>) -> Result<()> {
        let CopiedKey { from, to } = other;
        let located = |error: Error| {
            error.at(|location| {
                location.store.get_or_insert_with(|| self.source.to_string());
                location.key.get_or_insert_with(|| from.to_string());
            })
        };
        if !copy_within(&*self.source, from, &**target, to).map_err(located)? {
            copy_in_pieces(&*self.source, from, &**target, to).map_err(located)?;
        }
        Ok(())
    }

    /// Copies the keys again that were changed or made since they were copied, before the source is erased.
    pub(super) fn copy_changed_keys(&self, target: &Arc<dyn Store>) -> Result<()> {
        for other in &self.others {
            if !have_equal_bytes((&*self.source, &other.from), (&**target, &other.to))? {
                self.copy_other_key(other, target)?;
            }
        }
        Ok(())
    }

    /// Erases what [`copy_other_keys`](Self::copy_other_keys) has set.
    pub(super) fn erase_other_keys(&self, target: &dyn Store) -> Result<()> {
        self.others.iter().try_for_each(|other| Ok(target.erase(&other.to)?))
    }

    /// Erases in the source what was copied.
    pub(super) fn erase_moved_keys(&self) -> Result<()> {
        self.others.iter().try_for_each(|other| Ok(self.source.erase(&other.from)?))
    }
}

/// Erases keys of no node below `from` that are equal to those below the nodes at `to`, where a move has ended but for these.
pub(super) fn erase_copied_keys(
    (source, from): (&dyn Store, &NodePath),
    (target, to): (&dyn Store, &NodePath),
) -> Result<()> {
    let others = other_keys(target, &walk(target, &to.to_string(), None)?)?;
    for OtherKey { key, .. } in others {
        let Some(name) = key.as_str().strip_prefix(&to.key_prefix()) else { continue };
        let left = Key::new(&format!("{}{name}", from.key_prefix()))?;
        if have_equal_bytes((source, &left), (target, &key))? {
            source.erase(&left)?;
        }
    }
    Ok(())
}

/// Copies a value, in pieces where the target takes it so; other targets bring it together in memory. One that is gone since it was listed
/// is left out.
fn copy_in_pieces(source: &dyn Store, from: &Key, target: &dyn Store, to: &Key) -> Result<()> {
    let mut options = GetOptions::default();
    options.snapshot = true;
    let Some(first) = source.get(from, &[ByteRange::First(PIECE)], &options)? else { return Ok(()) };
    let size = match first.size {
        Some(size) => size,
        None => source.size(from)?.unwrap_or(0),
    };
    let (mut at, set) = (first.part(0).len() as u64, SetOptions::default());
    if at >= size {
        target.set(to, first.part(0), &set)?;
        return Ok(());
    }
    options = GetOptions::default();
    options.if_match.clone_from(&first.snapshot);
    let stream = target.begin_set(to, 0, &set)?;
    target.append_to_set(to, &stream, vec![first.into_bytes()])?;
    while at < size {
        let end = size.min(at + PIECE);
        let Some(piece) = source.get(from, &[ByteRange::Range(at..end)], &options)? else {
            return Err(Error::argument("it was erased while it was copied"));
        };
        target.append_to_set(to, &stream, vec![piece.into_bytes()])?;
        at = end;
    }
    target.finish_set(to, &stream, Bytes::new())?;
    Ok(())
}
