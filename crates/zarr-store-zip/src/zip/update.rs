//! Zip files that are read until the first write.

use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use zarr_store::{ByteRange, Fetched, GetOptions, Key, Result, Version};

use super::opened::{self, Archive};
use super::write::{Session, Stamp};
use super::{ZipArrangement, ZipOptions, file};

/// Zip file that is read, and the session that writes to it once there is one.
pub(super) struct Update {
    path: PathBuf,
    file: File,
    archive: Archive,
    stamp: Stamp,
    /// Number of the file in versions, which distinguishes its offsets from those of other files.
    number: u64,
    settings: Mutex<Settings>,
    session: OnceLock<Session>,
}

/// Settings for a new session. The lock is held while a session begins.
#[derive(Default)]
struct Settings {
    options: ZipOptions,
    arrangement: Option<ZipArrangement>,
}

impl Update {
    pub(super) fn open(path: &Path) -> Result<Self> {
        let (file, archive) = opened::open_file(path)?;
        let metadata = file.metadata().map_err(|source| opened::file_failed(source, &archive.to_string()))?;
        Ok(Self {
            path: path.to_owned(),
            file,
            archive,
            stamp: Stamp::of(&metadata),
            number: RandomState::new().hash_one(0),
            settings: Mutex::default(),
            session: OnceLock::new(),
        })
    }

    pub(super) fn archive(&self) -> &Archive {
        &self.archive
    }

    pub(super) fn session(&self) -> Option<&Session> {
        self.session.get()
    }

    pub(super) fn set_options(&self, options: ZipOptions) {
        let mut settings = self.settings.lock().unwrap_or_else(PoisonError::into_inner);
        settings.options = options;
        if let Some(session) = self.session() {
            session.set_options(options);
        }
    }

    pub(super) fn arrange(&self, arrangement: ZipArrangement) {
        let mut settings = self.settings.lock().unwrap_or_else(PoisonError::into_inner);
        settings.arrangement = Some(arrangement);
        if let Some(session) = self.session() {
            session.arrange(arrangement);
        }
    }

    /// Returns the session, which begins with the first write.
    pub(super) fn begin(&self) -> Result<&Session> {
        let settings = self.settings.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(session) = self.session() {
            return Ok(session);
        }
        let session = Session::append(&self.path)?;
        session.set_options(settings.options);
        if let Some(arrangement) = settings.arrangement {
            session.arrange(arrangement);
        }
        session.number_if(&self.stamp, self.number);
        Ok(self.session.get_or_init(|| session))
    }

    pub(super) fn get(&self, key: &Key, ranges: &[ByteRange], options: &GetOptions) -> Result<Option<Fetched>> {
        if let Some(session) = self.session() {
            return session.get(key, ranges, options);
        }
        let Some(entry) = self.archive.entries.find(key) else { return Ok(None) };
        // The version that the session knows the value by.
        let version = Version::new(&format!("{:x}.{:x}", self.number, entry.header));
        options.check_version(&self.archive, key, Some(&version))?;
        let mut fetched = match self.archive.begin(entry, ranges)? {
            Some(getting) => file::get(&self.file, getting).map_err(|fault| self.archive.fail(fault, key))?,
            None => Fetched::new(),
        };
        (fetched.size, fetched.version, fetched.snapshot) = (Some(entry.size), Some(version), None);
        options.check(&self.archive, key, &mut fetched)?;
        Ok(Some(fetched))
    }
}
