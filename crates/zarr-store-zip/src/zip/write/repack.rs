//! Rewriting of zip files without the bytes of replaced and erased entries.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::sync::Arc;

use zarr_store::{Operation, Result};

use super::index::{self, Index, Value};
use super::target::{self, Target, copy_range};
use super::{Session, Writer, random};
use crate::ZipArrangement;
use crate::zip::entry::Entry;
use crate::zip::file::{read_exact_at, write_all_at};
use crate::zip::plan::Fault;

impl Session {
    /// Publishes all changes, and rewrites the file with only the newest value of each key. Returns by how many bytes it became smaller.
    pub(in crate::zip) fn repack(&self) -> Result<u64> {
        let mut writer = self.writing(Operation::Set)?;
        // The file at the path is complete before it is replaced.
        self.publish(&mut writer)?;
        let saved = self.rewrite(&mut writer)?;
        self.end_turn(&mut writer);
        Ok(saved)
    }

    /// Rewrites the published file, which must contain all changes. Returns by how many bytes it became smaller.
    pub(super) fn rewrite(&self, writer: &mut Writer) -> Result<u64> {
        let fail = |fault| self.fail(fault, Operation::Flush, "/");
        let io = |source| fail(Fault::Io(source));
        let before = self.index().file.metadata().map_err(io)?.len();
        let mut target = Target::create_like(&self.path, &self.index().file).map_err(io)?;
        let (mut packed, end) = pack(&self.index(), &target.file, writer.arrangement.as_ref()).map_err(fail)?;
        packed.number = random();
        let old_end = std::mem::replace(&mut writer.end, end);
        let bytes = index::directory_and_end(&packed, writer);
        if let Err(error) = self.install(writer, &mut target, &bytes) {
            writer.end = old_end;
            return Err(error);
        }
        *self.index_mut() = packed;
        target::sync_name(&self.path).map_err(io)?;
        Ok(before.saturating_sub(end + bytes.len() as u64))
    }
}

/// Copies all entries into an empty file, in their order or that of the arrangement. Returns the new index, and the offset after the last
/// entry.
fn pack(index: &Index, into: &Arc<File>, arrangement: Option<&ZipArrangement>) -> Result<(Index, u64), Fault> {
    let mut packed = Index::new(Arc::clone(into), index.number);
    let mut end = 0;
    let mut in_order: BTreeMap<_, &Arc<Value>> = BTreeMap::new();
    in_order
        .extend(index.values.values().map(|value| (index::place(&value.entry.key, &value.record, arrangement), value)));
    for value in in_order.into_values() {
        let key = &value.entry.key;
        let data = locate(&value.entry, &index.file)?;
        let record = value.record.moved(end);
        let local = record.local(key.as_str().as_bytes());
        write_all_at(into, &local, end)?;
        let at = end + local.len() as u64;
        copy_range(&index.file, data..data + record.compressed, into, at)
            .map_err(|error| cut_short(error, key.as_str()))?;
        end = at + record.compressed;
        packed.values.insert(key.clone(), Arc::new(Value::new(key.clone(), record, at)));
    }
    for (name, record) in &index.folders {
        let record = record.folder(end);
        let local = record.local(name.as_bytes());
        write_all_at(into, &local, end)?;
        end += local.len() as u64;
        packed.folders.push((name.clone(), record));
    }
    Ok((packed, end))
}

/// Returns the offset of the data of an entry.
fn locate(entry: &Entry, file: &File) -> Result<u64, Fault> {
    if let Some(data) = entry.data.get() {
        return Ok(*data);
    }
    let len = usize::try_from(entry.least_data() - entry.header).unwrap_or(usize::MAX);
    let mut local = vec![0; len];
    read_exact_at(file, &mut local, entry.header).map_err(|error| cut_short(error, entry.key.as_str()))?;
    Ok(entry.data_behind(&local)?)
}

fn cut_short(error: io::Error, name: &str) -> io::Error {
    io::Error::new(error.kind(), format!("entry {name:?}: {error}"))
}
