//! Turns of sessions that write to one zip file.
//!
//! A session with [`ZipOptions::release`](crate::ZipOptions::release) has its turn from a write to the next flush. Between turns
//! other sessions may write to the zip file. The session then continues with the state that they left: it compares the file at the
//! path with the file that it has read.

use std::fs::{self, File};
use std::io;
use std::sync::{Arc, PoisonError};

use zarr_store::Result;

use super::index::Index;
use super::target::{Stamp, Target};
use super::{Opening, Session, Writer, random, take_lock};
use crate::ZipFault;
use crate::zip::{opened, plan};

impl Session {
    /// Takes the turn to write, unless this session has it.
    pub(super) fn take_turn(&self, writer: &mut Writer) -> Result<()> {
        if writer.has_turn {
            return Ok(());
        }
        let (lock, warning) = take_lock(&self.name, &self.path)?;
        warning.into_iter().for_each(|warning| self.warn(warning));
        self.reload(writer, true)?;
        Target::clean(&self.path).map_err(|source| opened::file_failed(source, &self.name))?;
        (writer.has_turn, writer.lock) = (true, lock);
        self.set_idle(None);
        Ok(())
    }

    /// Ends the turn, so that other sessions can write, if the options say so.
    pub(super) fn end_turn(&self, writer: &mut Writer) {
        if writer.options.release && !writer.is_closed && writer.published.is_some() {
            (writer.has_turn, writer.lock) = (false, None);
            self.set_idle(writer.published.clone());
        }
    }

    /// Reads the file at the path again if another session has written it.
    pub(super) fn look(&self) -> Result<()> {
        let is_as_it_was = match &*self.idle.read().unwrap_or_else(PoisonError::into_inner) {
            None => true,
            Some(read) => fs::metadata(&self.path).is_ok_and(|metadata| Stamp::of(&metadata) == *read),
        };
        if is_as_it_was {
            return Ok(());
        }
        let mut writer = self.writer();
        if writer.has_turn {
            return Ok(());
        }
        self.reload(&mut writer, false)?;
        self.set_idle(writer.published.clone());
        Ok(())
    }

    /// Reads the directory of the file at the path if it is another file. A missing file is an error if `to_write`.
    fn reload(&self, writer: &mut Writer, to_write: bool) -> Result<()> {
        let fail = |source| opened::file_failed(source, &self.name);
        let file = match File::open(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && !to_write => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let expected = writer.published.as_ref().map_or_else(String::new, Stamp::to_string);
                return Err(ZipFault::Replaced { found: "no file".to_owned(), expected }.of(self.name.clone()));
            }
            file => file.map_err(fail)?,
        };
        let stamp = Stamp::of(&file.metadata().map_err(fail)?);
        if writer.published.as_ref() == Some(&stamp) {
            return Ok(());
        }
        let directory = match plan::run(&&file, Opening::new()) {
            Ok(opened) => opened.directory,
            Err(fault) => return Err(opened::opening_failed(fault, self.name.clone())),
        };
        directory.end.check_alone().map_err(|fault| fault.of(self.name.clone()))?;
        (writer.end, writer.comment) = (directory.end.offset, directory.end.comment.clone());
        writer.published = Some(stamp);
        let mut index = Index::new(Arc::new(file), random());
        index.add(directory);
        *self.index_mut() = index;
        Ok(())
    }

    fn set_idle(&self, read: Option<Stamp>) {
        *self.idle.write().unwrap_or_else(PoisonError::into_inner) = read;
    }
}
