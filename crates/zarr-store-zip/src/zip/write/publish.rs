//! Publication of changes: all changes since the last flush reach the path together.

use std::fs;
use std::io;

use zarr_store::{ByteRange, Error, Operation, Result};

use super::index;
use super::target::{self, Stamp, Target};
use super::{Session, Writer};
use crate::ZipFault;
use crate::zip::file::write_all_at;
use crate::zip::plan::Fault;

/// Divisor of the file size: the number of unused bytes is only reported above this share of the file.
const WORTH_TELLING: u64 = 100;

impl Session {
    /// Publishes all changes in the zip file at the path.
    pub(in crate::zip) fn flush(&self) -> Result<()> {
        let mut writer = self.writer();
        self.publish(&mut writer)?;
        self.end_turn(&mut writer);
        Ok(())
    }

    /// Flushes, and ends writing.
    pub(in crate::zip) fn close(&self) -> Result<()> {
        let mut writer = self.writer();
        self.publish(&mut writer)?;
        writer.is_closed = true;
        writer.lock = None;
        Ok(())
    }

    pub(super) fn publish(&self, writer: &mut Writer) -> Result<()> {
        let fail = |source| self.fail(Fault::Io(source), Operation::Flush, "/");
        if writer.target.is_none() && !writer.has_erased {
            // A flush before may have failed after the file was published.
            return if writer.is_unsettled { self.settle(writer) } else { Ok(()) };
        }
        self.target(writer).map_err(fail)?;
        let Some(mut target) = writer.target.take() else { return Ok(()) };
        let bytes = index::directory_and_end(&self.index(), writer);
        if let Err(error) = self.install(writer, &mut target, &bytes) {
            // Keep the target for another attempt, which overwrites or cuts off what was written of the directory.
            writer.target = Some(target);
            return Err(error);
        }
        (writer.has_erased, writer.starts_over, writer.is_unsettled) = (false, false, true);
        self.settle(writer)
    }

    /// Completes the publication of a file: syncs its name, arranges its entries, and warns about unused bytes.
    fn settle(&self, writer: &mut Writer) -> Result<()> {
        target::sync_name(&self.path).map_err(|source| self.fail(Fault::Io(source), Operation::Flush, "/"))?;
        self.put_in_order(writer)?;
        writer.is_unsettled = false;
        // Few replaced bytes in a large file need no warning; small amounts are kept and added up until the next check.
        let size = fs::metadata(&self.path).map_or(0, |file| file.len());
        if writer.left.saturating_mul(WORTH_TELLING) > size {
            let left = std::mem::take(&mut writer.left);
            self.warn(format!(
                "{}: {left} bytes of values that were replaced or erased stay in the zip file; a new one is without them: \
                 `zarr cp {} NEW.zip`",
                self.name, self.name
            ));
        }
        Ok(())
    }

    /// Rewrites the published file if the arrangement requires another order or comment.
    fn put_in_order(&self, writer: &mut Writer) -> Result<()> {
        let Some(arrangement) = writer.arrangement else { return Ok(()) };
        let root = self.index().values.get(arrangement.first).cloned();
        let comment = match root {
            Some(value) => {
                let file = std::sync::Arc::clone(&self.index().file);
                let value = self.read(&file, &value, &[ByteRange::Full])?;
                (arrangement.comment)(value.part(0))
            }
            None => None,
        };
        let comment = comment.unwrap_or_else(|| writer.comment.to_vec());
        if *comment == *writer.comment && self.index().is_in_order(&arrangement) {
            return Ok(());
        }
        let before = std::mem::replace(&mut writer.comment, comment.into());
        if let Err(error) = self.rewrite(writer) {
            writer.comment = before;
            return Err(error);
        }
        writer.left = 0;
        Ok(())
    }

    /// Appends `bytes`, the directory and end records, to a file, and gives it the name of the zip file.
    pub(super) fn install(&self, writer: &mut Writer, target: &mut Target, bytes: &[u8]) -> Result<()> {
        let fail = |source| self.fail(Fault::Io(source), Operation::Flush, "/");
        write_all_at(&target.file, bytes, writer.end).map_err(fail)?;
        target.file.set_len(writer.end + bytes.len() as u64).map_err(fail)?;
        if let Some(expected) = &writer.published {
            let replaced = |found| ZipFault::Replaced { found, expected: expected.to_string() }.of(self.name.clone());
            match fs::symlink_metadata(&self.path) {
                Ok(metadata) if Stamp::of(&metadata) == *expected => {}
                Ok(metadata) => return Err(replaced(Stamp::of(&metadata).to_string())),
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(replaced("no file".to_owned())),
                Err(error) => return Err(fail(error)),
            }
        }
        match target.install(&self.path, writer.published.is_none()) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(Error::NotAStore { store: self.name.clone(), found: "a file", expected: "none" });
            }
            installed => installed.map_err(fail)?,
        }
        writer.published = Some(Stamp::of(&target.file.metadata().map_err(fail)?));
        Ok(())
    }
}
