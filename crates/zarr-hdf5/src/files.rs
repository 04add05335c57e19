//! The file that was opened, and the files to which its external links lead.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::sync::Arc;

use zarr_store::{Error, Key, Result, Store};
use zarr_store_virtual::{FileFinder, OutsideError};

use crate::fault::Refusal;
use crate::file::File;
use crate::options::Paths;
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
    paths: Paths,
    /// Files by their stores and keys, or reasons why they are not read.
    known: HashMap<(usize, Key), Result<FileId, Unread>>,
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

/// Reason why a file is not read.
#[derive(Clone)]
struct Unread {
    refusal: Refusal,
    /// Whether there is no such file.
    is_missing: bool,
}

impl From<Refusal> for Unread {
    fn from(refusal: Refusal) -> Self {
        Self { refusal, is_missing: false }
    }
}

impl Files {
    /// `file` lies at `key` of `store`; `finder` searches in its directory.
    pub(crate) fn new(file: Arc<File>, store: Arc<dyn Store>, key: Key, (finder, paths): (FileFinder, Paths)) -> Self {
        let known = HashMap::from([((place(&store), key.clone()), Ok(FileId::FIRST))]);
        let list = vec![Opened { file, name: key.name().to_owned(), _store: store }];
        Self { list, finder, paths, known, failure: None }
    }

    pub(crate) fn get(&self, id: FileId) -> &Arc<File> {
        &self.list[id.0].file
    }

    pub(crate) fn first(&self) -> &Arc<File> {
        self.get(FileId::FIRST)
    }

    /// Returns the reason if the caches of several files are too large together.
    pub(crate) fn check_cached(&self) -> Result<(), String> {
        let cached = || self.list.iter().map(|opened| opened.file.source.cached()).sum::<u64>();
        match self.list.len() > 1 && cached() > MAX_CACHED {
            true => Err(format!("found metadata of more than {MAX_CACHED} bytes in linked files, which is the limit")),
            false => Ok(()),
        }
    }

    /// Returns a message about an object of the file `id`, which names the file unless it is the first one.
    pub(crate) fn message(&self, id: FileId, text: &dyn fmt::Display) -> String {
        match id {
            FileId::FIRST => text.to_string(),
            id => format!("in {}: {text}", self.get(id).source),
        }
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
    /// As the HDF5 library does, a relative name is one in the directory of `from`, and an absolute path that is known to name no file is
    /// looked for by its last part in that directory.
    pub(crate) fn named(&mut self, from: FileId, name: &str) -> Result<FileId, Refusal> {
        let found = match FileFinder::is_absolute(name) {
            true => self.absolute(from, name),
            false => self.beside(from, name),
        };
        let of_link =
            |Unread { refusal, .. }| format!("the external link to the file {name} is not followed: {refusal}");
        found.map_err(|unread| Refusal::new(of_link(unread)))
    }

    fn absolute(&mut self, from: FileId, name: &str) -> Result<FileId, Unread> {
        let unread = match self.looked_up(name) {
            Ok(id) => return Ok(id),
            Err(unread) => unread,
        };
        let Some(last) = last_part(name).filter(|_| self.failure.is_none()) else { return Err(unread) };
        match unread.is_missing {
            true => self.beside(from, last).map_err(|_| unread),
            false => {
                let more =
                    format!("{last} beside the file with the link is not read in its place, since it may be there");
                Err(Unread { refusal: unread.refusal.and(&more), ..unread })
            }
        }
    }

    /// Returns the file of the relative `name` in the directory of `from`.
    fn beside(&mut self, from: FileId, name: &str) -> Result<FileId, Unread> {
        // The directory of the given path comes before that behind symbolic links.
        if let Some(given) = self.paths.given.clone().filter(|_| from == FileId::FIRST) {
            match joined(&given, name).map_err(Unread::from).and_then(|path| self.looked_up(&path)) {
                Err(unread) if unread.is_missing => {}
                found => return found,
            }
        }
        let beside = self.list[from.0].name.clone();
        match joined(&beside, name) {
            Ok(url) => self.looked_up(&url),
            Err(refusal) => self.above(&beside, name, refusal),
        }
    }

    /// Returns the file of the relative `name` beside the file `beside`, if it lies above the directory of the first file, and the caller
    /// allows it. `refusal` is the reason otherwise. What lies above a directory is known behind symbolic links, so its last address, which has
    /// none, comes first.
    fn above(&mut self, beside: &str, name: &str, refusal: Refusal) -> Result<FileId, Unread> {
        let addresses = self.finder.directories().to_vec();
        if FileFinder::is_absolute(beside) || addresses.is_empty() || refusal != Refusal::new(ABOVE) {
            return Err(refusal.into());
        }
        let folder = beside.rsplit_once('/').map_or("", |(folder, _)| folder);
        let mut missing = None;
        for address in addresses.iter().rev() {
            let Ok(url) = joined(&format!("{address}/"), &format!("{folder}/{name}")) else { continue };
            if matches!(self.finder.file(&url), Err(OutsideError::Refused(_) | OutsideError::NotAllowed(_))) {
                continue;
            }
            match self.looked_up(&url) {
                Err(unread) if unread.is_missing => missing = missing.or(Some(unread)),
                found => return found,
            }
        }
        if let Some(missing) = missing {
            return Err(missing);
        }
        Err(refusal.and("--store-option allow=ADDRESS names where else links may lead").into())
    }

    /// Returns the file at `url`, as the first file could name it; that behind symbolic links if it is not read otherwise.
    fn looked_up(&mut self, url: &str) -> Result<FileId, Unread> {
        let unread = match self.at(url, url) {
            Ok(id) => return Ok(id),
            Err(unread) => unread,
        };
        let Some(real) = self.paths.real.clone().filter(|_| self.failure.is_none() && last_part(url).is_some()) else {
            return Err(unread);
        };
        let is_absolute = FileFinder::is_absolute(url);
        let paths: Vec<String> = match is_absolute {
            true => vec![url.to_owned()],
            false => self.finder.directories().iter().map(|folder| format!("{folder}/{url}")).collect(),
        };
        for path in paths.iter().filter(|path| last_part(path).is_some()) {
            match real(path) {
                Some(target) if target != *path => return self.at(&target, url),
                Some(_) => {}
                None if is_absolute => return Err(Unread { is_missing: true, ..unread }),
                None => {}
            }
        }
        Err(unread)
    }

    /// Returns the file at `url`; further files are named by it as by one at `name`.
    fn at(&mut self, url: &str, name: &str) -> Result<FileId, Unread> {
        let (store, key) = match self.finder.file(url) {
            Ok(found) => found,
            Err(OutsideError::Refused(reason)) => return Err(Refusal::new(format!("found {url}, {reason}")).into()),
            Err(OutsideError::NotAllowed(reason)) => {
                let hint = "--store-option allow=ADDRESS allows it";
                return Err(Refusal::new(format!("found {url}, {reason}")).and(hint).into());
            }
            Err(OutsideError::Store(error)) => return Err(self.failed(error)),
        };
        if let Some(known) = self.known.get(&(place(&store), key.clone())) {
            return known.clone();
        }
        if self.known.len() > MAX_NAMES {
            let limit = format!("more than {MAX_NAMES} other files are named, which is the limit");
            return Err(Refusal::new(limit).into());
        }
        let opened = match self.list.len() <= MAX_FILES {
            true => Source::open(name.to_owned(), Arc::clone(&store), key.clone())
                .and_then(|source| File::beside(source, self.first())),
            false => {
                let limit = format!("more than {MAX_FILES} other files are linked, which is the limit");
                return Err(Refusal::new(limit).into());
            }
        };
        let found = match opened {
            Ok(file) => {
                let id = FileId(self.list.len());
                self.list.push(Opened { file: Arc::new(file), name: name.to_owned(), _store: Arc::clone(&store) });
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
    fn failed(&mut self, error: Error) -> Unread {
        let unread = match &error {
            Error::NoStore { .. } => Unread { refusal: Refusal::new("there is no such file"), is_missing: true },
            error => Refusal::new(error.to_string()).into(),
        };
        // A fault that stays is one of the link alone.
        if error.is_retryable() {
            self.failure.get_or_insert(error);
        }
        unread
    }
}

/// Identity of a store that stays open.
fn place(store: &Arc<dyn Store>) -> usize {
    Arc::as_ptr(store).addr()
}

/// Reason to refuse a relative name with too many `..`.
const ABOVE: &str = "it does not lie below the directory of the first file";

/// Returns the last part of an absolute path or a relative name, with backslashes in a path that begins with a drive; `None` for a URL.
fn last_part(name: &str) -> Option<&str> {
    if name.contains("://") || name.contains("::") {
        return None;
    }
    let is_drive = matches!(name.as_bytes(), [b'\\', ..] | [b'A'..=b'Z' | b'a'..=b'z', b':', ..]);
    name.rsplit(|letter| letter == '/' || is_drive && letter == '\\').next()
}

/// Escapes a name as in URLs of the web.
fn escaped(name: &str) -> String {
    let mut escaped = String::new();
    for byte in name.bytes() {
        match byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            true => escaped.push(char::from(byte)),
            false => escaped.push_str(&format!("%{byte:02X}")),
        }
    }
    escaped
}

/// Returns `name` in the directory of the file `beside`. Where `beside` is a URL with escapes, so is the result.
fn joined(beside: &str, name: &str) -> Result<String, Refusal> {
    let has_escapes = beside.split_once("://").is_some_and(|(scheme, _)| {
        ["http", "https", "file", "local"].iter().any(|other| scheme.eq_ignore_ascii_case(other))
    });
    let name = &if has_escapes { escaped(name) } else { name.to_owned() };
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
                return Err(Refusal::new(ABOVE));
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
            ("s3://bucket/a.h5", "100%#.h5", "s3://bucket/100%#.h5"),
            ("https://host/d%20e/a.h5", "x/100%#?.h5", "https://host/d%20e/x/100%25%23%3F.h5"),
            ("file:///d/a.h5", "a%20b.h5", "file:///d/a%2520b.h5"),
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

    #[test]
    fn paths_have_last_parts() {
        for (name, expected) in [
            ("/data/b.h5", Some("b.h5")),
            ("/data/b\\c.h5", Some("b\\c.h5")),
            ("C:\\data\\b.h5", Some("b.h5")),
            ("c:/data/b.h5", Some("b.h5")),
            ("\\\\host\\d\\b.h5", Some("b.h5")),
            ("s3://bucket/b.h5", None),
            ("zip::file:///b.h5", None),
        ] {
            assert_eq!(last_part(name), expected);
        }
    }
}
