//! The file that was opened, and the files to which its external links lead.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use zarr_store::{Error, Key, Result, Store};
use zarr_store_virtual::{FileFinder, OutsideError};

use crate::fault::Refusal;
use crate::file::File;
use crate::source::Source;

/// Maximum number of files that external links open, besides the first one.
const MAX_FILES: usize = 256;
/// Maximum number of files that are looked for, besides the first one.
const MAX_NAMES: usize = 4096;

/// Maximum number of bytes of all files in caches together, where there are several.
const MAX_CACHED: u64 = 1 << 30;

/// Number of a file: 0 for the one that was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FileId(usize);

impl FileId {
    pub(crate) const FIRST: Self = Self(0);
}

/// Object of one of the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ObjectId {
    pub(crate) file: FileId,
    pub(crate) address: u64,
}

/// Open files, the first one first.
pub(crate) struct Files {
    list: Vec<Opened>,
    finder: FileFinder,
    /// Files by their stores and keys, or reasons why they are not read.
    known: HashMap<(usize, Key), Result<FileId, Refusal>>,
    /// Error of a store that makes the whole file unreadable.
    failure: Option<Error>,
}

struct Opened {
    file: Arc<File>,
    /// Name by which the first file could name the file: its key below the directory of the first one, or an address.
    name: String,
    /// Store of the file, which `known` tells apart by its address in memory.
    _store: Arc<dyn Store>,
}

impl Files {
    /// `file` lies at `key` of `store`; `finder` searches in its directory.
    pub(crate) fn new(file: Arc<File>, store: Arc<dyn Store>, key: Key, finder: FileFinder) -> Self {
        let known = HashMap::from([((place(&store), key.clone()), Ok(FileId::FIRST))]);
        let list = vec![Opened { file, name: key.name().to_owned(), _store: store }];
        Self { list, finder, known, failure: None }
    }

    pub(crate) fn get(&self, id: FileId) -> &Arc<File> {
        &self.list[id.0].file
    }

    pub(crate) fn first(&self) -> &Arc<File> {
        self.get(FileId::FIRST)
    }

    /// All files with their numbers.
    pub(crate) fn all(&self) -> impl Iterator<Item = (FileId, &Arc<File>)> {
        self.list.iter().enumerate().map(|(number, opened)| (FileId(number), &opened.file))
    }

    /// Checks that the caches of several files are not too large together.
    pub(crate) fn check_cached(&self) -> Result<()> {
        let cached = || self.list.iter().map(|opened| opened.file.source.cached()).sum::<u64>();
        if self.list.len() > 1 && cached() > MAX_CACHED {
            let limit = format!("found metadata of more than {MAX_CACHED} bytes in linked files, which is the limit");
            return Err(self.first().limit(limit));
        }
        Ok(())
    }

    /// Removes and returns the error of a store that makes the whole file unreadable.
    pub(crate) fn take_failure(&mut self) -> Option<Error> {
        let of_file = self.list.iter().find_map(|opened| opened.file.source.take_failure());
        self.failure.take().or(of_file)
    }

    /// Returns whether [`Files::take_failure`] would return an error.
    pub(crate) fn has_failed(&self) -> bool {
        self.failure.is_some() || self.list.iter().any(|opened| opened.file.source.has_failed())
    }

    /// Returns the file that `from` calls `name`, which is opened once.
    ///
    /// As the HDF5 library does, a relative name is one in the directory of `from`, and an absolute one whose file is not there is looked for
    /// by its last part in that directory.
    pub(crate) fn named(&mut self, from: FileId, name: &str) -> Result<FileId, Refusal> {
        let of_link =
            |refusal: Refusal| Refusal::new(format!("the external link to the file {name} is not followed: {refusal}"));
        let beside = self.list[from.0].name.clone();
        if !FileFinder::is_absolute(name) {
            return self.at(&joined(&beside, name).map_err(of_link)?).map_err(of_link);
        }
        self.at(name).or_else(|refusal| {
            if name.contains("://") || self.failure.is_some() {
                return Err(of_link(refusal));
            }
            let last = name.rsplit('/').next().unwrap_or_default();
            let is_there = joined(&beside, last).and_then(|last| self.at(&last));
            is_there.map_err(|_| of_link(refusal))
        })
    }

    /// Returns the file at `url`, as the first file could name it.
    fn at(&mut self, url: &str) -> Result<FileId, Refusal> {
        let (store, key) = match self.finder.file(url) {
            Ok(found) => found,
            Err(OutsideError::Refused(reason)) => return Err(Refusal::new(format!("found {url}, {reason}"))),
            Err(OutsideError::Store(error)) => return Err(self.failed(error)),
        };
        if let Some(known) = self.known.get(&(place(&store), key.clone())) {
            return known.clone();
        }
        if self.known.len() > MAX_NAMES {
            return Err(Refusal::new(format!("more than {MAX_NAMES} other files are named, which is the limit")));
        }
        let opened = match self.list.len() <= MAX_FILES {
            true => Source::open(url.to_owned(), Arc::clone(&store), key.clone())
                .and_then(|source| File::beside(source, self.first())),
            false => {
                return Err(Refusal::new(format!("more than {MAX_FILES} other files are linked, which is the limit")));
            }
        };
        let found = match opened {
            Ok(file) => {
                let id = FileId(self.list.len());
                self.list.push(Opened { file: Arc::new(file), name: url.to_owned(), _store: Arc::clone(&store) });
                Ok(id)
            }
            Err(error) => Err(self.failed(error)),
        };
        if let Entry::Vacant(entry) = self.known.entry((place(&store), key)) {
            entry.insert(found.clone());
        }
        found
    }

    /// Returns the reason why a file is not read. A fault that may pass makes the whole file unreadable.
    fn failed(&mut self, error: Error) -> Refusal {
        let refusal = match &error {
            Error::NoStore { .. } => Refusal::new("there is no such file"),
            error => Refusal::new(error.to_string()),
        };
        // A fault that stays is one of the link alone.
        if error.is_retryable() {
            self.failure.get_or_insert(error);
        }
        refusal
    }
}

/// Identity of a store that stays open.
fn place(store: &Arc<dyn Store>) -> usize {
    Arc::as_ptr(store).addr()
}

/// Returns `name` in the directory of the file `beside`.
fn joined(beside: &str, name: &str) -> Result<String, Refusal> {
    let (head, path) = match beside.split_once("://") {
        Some((scheme, rest)) => {
            let at = rest.find('/').unwrap_or(rest.len());
            (format!("{scheme}://{}/", &rest[..at]), rest[at..].trim_start_matches('/'))
        }
        None if beside.starts_with('/') => ("/".to_owned(), beside.trim_start_matches('/')),
        None => (String::new(), beside),
    };
    let mut parts: Vec<&str> = path.split('/').collect();
    parts.pop();
    for part in name.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.pop().is_none() => {
                return Err(Refusal::new("it does not lie below the directory of the first file"));
            }
            ".." => {}
            part => parts.push(part),
        }
    }
    if parts.is_empty() {
        return Err(Refusal::new("it names no file"));
    }
    Ok(format!("{head}{}", parts.join("/")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_the_directory_of_the_file_that_links() {
        for (beside, name, expected) in [
            ("a.h5", "b.h5", "b.h5"),
            ("a.h5", "./x/b.h5", "x/b.h5"),
            ("x/a.h5", "../b.h5", "b.h5"),
            ("x/y/a.h5", "z//b.h5", "x/y/z/b.h5"),
            ("/data/a.h5", "b.h5", "/data/b.h5"),
            ("/data/x/a.h5", "../../b.h5", "/b.h5"),
            ("s3://bucket/x/a.h5", "../b.h5", "s3://bucket/b.h5"),
            ("s3://bucket", "b.h5", "s3://bucket/b.h5"),
        ] {
            assert_eq!(joined(beside, name).unwrap(), expected);
        }
        for (beside, name) in [
            ("a.h5", ""),
            ("x/a.h5", ".."),
            ("a.h5", "../b.h5"),
            ("x/a.h5", "../../b.h5"),
            ("s3://bucket/a.h5", "../b.h5"),
        ] {
            assert!(joined(beside, name).is_err());
        }
    }
}
