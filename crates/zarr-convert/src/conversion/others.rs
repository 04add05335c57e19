//! Keys below groups that belong to no node: files of other software, which are copied with their groups.

use super::copy::copy_within;
use super::progress::{Progress, Reporter};
use super::skipped::{SkippedKey, is_of_chunk};
use super::{Conversion, ConvertOptions, CopiedKey};
use std::sync::Arc;
use zarr_hierarchy::{Error, OtherKey, Result, have_equal_bytes, other_keys, walk};
use zarr_meta::{Dialect, NodePath};
use zarr_store::{ByteRange, Bytes, GetOptions, Key, SetOptions, Store, StoreExt};

/// Number of bytes of a value that are read at a time.
const PIECE: u64 = 8 << 20;

/// Plans the keys in a target of `dialect` to which the keys `others` are copied.
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
    /// Returns the keys that belong to no node and are copied with their groups: files of other software, such as Parquet tables, XML and
    /// text files.
    pub fn other_keys(&self) -> &[CopiedKey] {
        &self.others
    }

    /// Copies the keys that belong to no node. If the conversion keeps going, a key that cannot be read is left out and reported.
    pub(super) fn copy_other_keys(&self, target: &Arc<dyn Store>, reporter: &Reporter<'_>) -> Result<()> {
        for other in &self.others {
            match self.copy_other_key(other, target, &|bytes| reporter.report(Progress::OtherKey(other, bytes))) {
                Ok(()) => {}
                Err(KeyCopyError::Source(error)) if self.options.keep_going && is_of_chunk(&error) => {
                    reporter.report(Progress::SkippedKey(&SkippedKey::new(&other.from, &error)))?;
                }
                Err(fault) => return Err(fault.into()),
            }
        }
        Ok(())
    }

    /// Copies one key. Calls `report` with 0 at the beginning, and then with the number of bytes copied since the last call.
    fn copy_other_key(
        &self,
        other: &CopiedKey,
        target: &Arc<dyn Store>,
        report: &dyn Fn(u64) -> Result<()>,
    ) -> Result<(), KeyCopyError> {
        report(0).map_err(KeyCopyError::Other)?;
        let CopiedKey { from, to } = other;
        let located = |fault: KeyCopyError| {
            fault.map(|error| {
                error.with_hint("--no-other-files leaves files that belong to no node out").at(|location| {
                    location.store.get_or_insert_with(|| self.source.to_string());
                    location.key.get_or_insert_with(|| from.to_string());
                })
            })
        };
        if copy_within(&*self.source, from, &**target, to).map_err(|error| located(KeyCopyError::Target(error)))? {
            return Ok(());
        }
        copy_in_pieces((&*self.source, from), (&**target, to), self.options.memory, report).map_err(located)
    }

    /// Copies keys again that were changed after they were copied, before the source is erased.
    pub(super) fn copy_changed_keys(&self, target: &Arc<dyn Store>) -> Result<()> {
        for other in &self.others {
            if !have_equal_bytes((&*self.source, &other.from), (&**target, &other.to))? {
                self.copy_other_key(other, target, &|_| Ok(()))?;
            }
        }
        Ok(())
    }

    /// Erases the keys in the target that [`copy_other_keys`](Self::copy_other_keys) set.
    pub(super) fn erase_other_keys(&self, target: &dyn Store) -> Result<()> {
        self.others.iter().try_for_each(|other| Ok(target.erase(&other.to)?))
    }

    /// Erases the copied keys in the source.
    pub(super) fn erase_moved_keys(&self) -> Result<()> {
        self.others.iter().try_for_each(|other| Ok(self.source.erase(&other.from)?))
    }
}

/// Erases keys of no node below `from` that equal the keys below `to`. Completes a move that has ended except for these keys.
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

/// Error of copying a key, by its cause.
enum KeyCopyError {
    /// The key cannot be read.
    Source(Error),
    /// The copy cannot be written.
    Target(Error),
    /// Another error, such as a cancelled conversion.
    Other(Error),
}

impl KeyCopyError {
    fn map(self, change: impl FnOnce(Error) -> Error) -> Self {
        match self {
            Self::Source(error) => Self::Source(change(error)),
            Self::Target(error) => Self::Target(change(error)),
            Self::Other(error) => Self::Other(error),
        }
    }
}

impl From<KeyCopyError> for Error {
    fn from(fault: KeyCopyError) -> Self {
        match fault {
            KeyCopyError::Source(error) | KeyCopyError::Target(error) | KeyCopyError::Other(error) => error,
        }
    }
}

/// Copies a value in pieces. If the target collects the pieces in memory, fails for a value of more than `memory` bytes. A value that was
/// erased since it was listed is left out.
fn copy_in_pieces(
    (source, from): (&dyn Store, &Key),
    (target, to): (&dyn Store, &Key),
    memory: u64,
    report: &dyn Fn(u64) -> Result<()>,
) -> Result<(), KeyCopyError> {
    let read = |error: zarr_store::Error| KeyCopyError::Source(error.into());
    let write = |error: zarr_store::Error| KeyCopyError::Target(error.into());
    let mut options = GetOptions::default();
    options.snapshot = true;
    let Some(first) = source.get(from, &[ByteRange::First(PIECE)], &options).map_err(read)? else { return Ok(()) };
    let size = match first.size {
        Some(size) => size,
        None => source.size(from).map_err(read)?.unwrap_or(0),
    };
    let (mut at, set) = (first.part(0).len() as u64, SetOptions::default());
    if at >= size {
        target.set(to, first.part(0), &set).map_err(write)?;
        return report(at).map_err(KeyCopyError::Other);
    }
    if size > memory && !target.capabilities().streams {
        let message =
            format!("it has {size} bytes, more than the {memory} of memory allowed, and {target} takes it as a whole");
        return Err(KeyCopyError::Target(Error::argument(message)));
    }
    options = GetOptions::default();
    options.if_match.clone_from(&first.snapshot);
    let stream = target.begin_set(to, 0, &set).map_err(write)?;
    target.append_to_set(to, &stream, vec![first.into_bytes()]).map_err(write)?;
    report(at).map_err(KeyCopyError::Other)?;
    while at < size {
        let end = size.min(at + PIECE);
        let Some(piece) = source.get(from, &[ByteRange::Range(at..end)], &options).map_err(read)? else {
            return Err(KeyCopyError::Source(Error::argument("it was erased while it was copied")));
        };
        target.append_to_set(to, &stream, vec![piece.into_bytes()]).map_err(write)?;
        report(end - at).map_err(KeyCopyError::Other)?;
        at = end;
    }
    target.finish_set(to, &stream, Bytes::new()).map_err(write)?;
    Ok(())
}
