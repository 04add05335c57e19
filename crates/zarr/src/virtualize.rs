//! References to the chunks of files, and files joined along a dimension.
//!
//! ```no_run
//! use zarr::virtualize::{JoinOptions, SaveOptions};
//! # fn main() -> zarr::Result<()> {
//! let registry = zarr::registry::default();
//! let files = ["2001.nc", "2002.nc"].map(zarr::virtualize::open).into_iter().collect::<Result<Vec<_>, _>>()?;
//! let joined = zarr::virtualize::join(&files, &registry, &JoinOptions::default().concat(Some("time".to_owned())))?;
//! zarr::virtualize::save(joined, "refs.json", &SaveOptions::default())?;
//! # Ok(())
//! # }
//! ```

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::Path;

use zarr_hierarchy::{Error, ErrorKind, Result};
use zarr_meta::Dialect;
use zarr_store::{ByteRange, GetOptions, Key, StoreExt};
pub use zarr_store_virtual::SourceFile;
pub use zarr_virtualize::*;

use crate::store::{Schemes, StoreAddress, StoreOptions, schemes};

/// Opens the store at an address as one whose chunks have places.
///
/// # Errors
/// As [`zarr::store::open`](crate::store::open); of a Zarr store also if a node is broken.
pub fn open(address: &str) -> Result<Input> {
    let schemes = schemes();
    open_with(&schemes.address(address)?, &StoreOptions::new(), &schemes)
}

/// As [`open`], with options, and the kinds of stores that there are.
///
/// # Errors
/// As [`open`].
pub fn open_with(address: &StoreAddress, options: &StoreOptions, schemes: &Schemes) -> Result<Input> {
    let name = address.to_string();
    #[cfg(any(feature = "hdf5", feature = "netcdf", feature = "references"))]
    if let Some(store) = crate::store::formats::open_virtual(address, options, schemes)? {
        if !store.finds_chunks() {
            return Ok(Input::new(name, store));
        }
        let all: std::sync::Arc<dyn crate::Store> = std::sync::Arc::new(store.clone());
        return Input::of_store(name, &all, &|key| store.find_chunk(key));
    }
    #[cfg(feature = "icechunk")]
    if address.scheme() == Some("icechunk") {
        schemes.check(address, options)?;
        let icechunk = crate::store::icechunk::open(address, options, schemes)?;
        let store: std::sync::Arc<dyn crate::Store> = std::sync::Arc::new(icechunk.clone());
        return Input::of_store(name, &store, &|key| icechunk.find_chunk(key));
    }
    Input::of_store(name, &schemes.open(address, options)?, &|_| Ok(None))
}

/// How references are written.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SaveOptions {
    /// Chunks of up to this number of bytes are in the references: 500 by default, as kerchunk has it.
    pub inline: u64,
    /// The dialect of the documents: v2 by default, or v3.
    pub dialect: Dialect,
    /// Whether files are named relative to the references, below whose directory they lie; else by their whole addresses.
    pub relative: bool,
    /// Whether a file that is there may be replaced.
    pub overwrite: bool,
}

impl Default for SaveOptions {
    fn default() -> Self {
        Self { inline: 500, dialect: Dialect::V2, relative: false, overwrite: false }
    }
}

impl SaveOptions {
    /// Sets [`inline`](Self#structfield.inline).
    #[must_use]
    pub fn inline(self, inline: u64) -> Self {
        Self { inline, ..self }
    }

    /// Sets [`dialect`](Self#structfield.dialect).
    #[must_use]
    pub fn dialect(self, dialect: Dialect) -> Self {
        Self { dialect, ..self }
    }

    /// Sets [`relative`](Self#structfield.relative).
    #[must_use]
    pub fn relative(self, relative: bool) -> Self {
        Self { relative, ..self }
    }

    /// Sets [`overwrite`](Self#structfield.overwrite).
    #[must_use]
    pub fn overwrite(self, overwrite: bool) -> Self {
        Self { overwrite, ..self }
    }
}

/// References that were written.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Saved {
    /// Numbers of the references.
    pub written: WrittenReferences,
    /// The bytes of the file of references.
    pub bytes: u64,
    /// The folders of files that do not lie below that of the references: to read the references, `allow` has to name them.
    pub elsewhere: Vec<String>,
}

/// Writes references to the chunks of a joined store, in the form that the name says: one file of JSON (`.json`), or a folder of Parquet (`.parq`,
/// `.parquet`).
///
/// # Errors
/// [`ErrorKind::NotExpressible`] for an array that the dialect cannot describe; [`ErrorKind::Argument`] for a file without an address, or
/// one that does not lie below the references where these are to be relative; [`ErrorKind::Exists`]; [`ErrorKind::Limit`] if the chunks that
/// lie in no file as they are have too many bytes; the errors of the stores.
pub fn save(joined: Joined, target: &str, options: &SaveOptions) -> Result<Saved> {
    let schemes = schemes();
    save_with(joined, &schemes.address(target)?, options, &StoreOptions::new(), &schemes)
}

/// As [`save`], with options of the store that the references are written to, and the kinds of stores that there are.
///
/// # Errors
/// As [`save`].
pub fn save_with(
    joined: Joined,
    target: &StoreAddress,
    options: &SaveOptions,
    store_options: &StoreOptions,
    schemes: &Schemes,
) -> Result<Saved> {
    let (folder, name) = place(target)?;
    let form = Form::of(&name).map_err(|error| at(target, error))?;
    // What is there if references are.
    let key = match form {
        Form::Json => Key::new(&name)?,
        Form::Parquet => Key::new(&format!("{name}/.zmetadata"))?,
    };
    let is_there = |error: zarr_store::Error| match error {
        zarr_store::Error::NoStore { .. } => Ok(false),
        error => Err(Error::from(error)),
    };
    let exists = schemes.open(&folder, store_options).and_then(|store| store.exists(&key)).or_else(is_there)?;
    if exists && !options.overwrite {
        let error = Error::new(ErrorKind::Exists, "found a file, expected none");
        return Err(at(target, error.with_hint("--overwrite replaces it")));
    }
    let joined = joined.in_dialect(options.dialect)?;
    let base = base(&folder)?;
    let elsewhere = RefCell::new(BTreeSet::new());
    let address = |file: &SourceFile<'_>| -> zarr_store::Result<String> {
        let address = address_of(file)?;
        let below = address.strip_prefix(base.as_str()).and_then(|rest| rest.strip_prefix('/'));
        let is_replaced = |rest: &str| rest.is_empty() || rest.starts_with('/');
        if below.and_then(|below| below.strip_prefix(name.as_str())).is_some_and(is_replaced) {
            let message = format!("found a file of the references {name} themselves, which would replace it");
            return Err(zarr_store::Error::Argument { store: address, message });
        }
        match below {
            Some(below) if options.relative => Ok(below.to_owned()),
            None if options.relative => {
                let message = format!("found a file that does not lie below {folder}, where the references are to be");
                Err(zarr_store::Error::Argument { store: address, message })
            }
            Some(_) => Ok(address),
            None => {
                if let Some((folder, _)) = address.rsplit_once('/') {
                    elsewhere.borrow_mut().insert(if folder.is_empty() { "/".to_owned() } else { folder.to_owned() });
                }
                Ok(address)
            }
        }
    };
    let mut write = WriteOptions::new(address);
    write.inline = options.inline;
    write.inline_arrays.clone_from(&joined.coordinates);
    let (written, bytes) = match form {
        Form::Json => {
            let mut json = Vec::new();
            let written = write_json(&joined.store, &write, &mut json)?;
            schemes.create(&folder, store_options)?.set_all(&key, &json)?;
            (written, json.len() as u64)
        }
        Form::Parquet => {
            let store = schemes.create(&folder, store_options)?;
            save_parquet(&joined, &write, store, &name, exists, options.overwrite)?
        }
    };
    drop(write);
    Ok(Saved { written, bytes, elsewhere: elsewhere.into_inner().into_iter().collect() })
}

/// The forms that references are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// One file.
    Json,
    /// A folder of files.
    Parquet,
}

impl Form {
    /// Returns the form that a name says.
    fn of(name: &str) -> Result<Self> {
        let name = name.to_ascii_lowercase();
        if name.ends_with(".json") {
            Ok(Self::Json)
        } else if name.ends_with(".parq") || name.ends_with(".parquet") {
            Ok(Self::Parquet)
        } else {
            let message = format!(
                "found the name {name:?}, expected one with .json at its end, for references in JSON, or with .parq or .parquet, for those in Parquet"
            );
            Err(Error::argument(message))
        }
    }
}

/// Writes references as Parquet into the folder `name`. References that the folder has are erased first if `is_there`, or if `overwrite` and
/// an earlier run left them without their `.zmetadata`.
#[cfg(feature = "references-parquet")]
fn save_parquet(
    joined: &Joined,
    options: &WriteOptions<'_>,
    store: std::sync::Arc<dyn crate::Store>,
    name: &str,
    is_there: bool,
    overwrite: bool,
) -> Result<(WrittenReferences, u64)> {
    let folder = zarr_store::Prefix::new(&format!("{name}/"))?;
    let metadata = folder.join(".zmetadata")?;
    let refuse = |what: &str| Err(Error::argument(format!("found a folder {name} {what}, which stays as it is")));
    if is_there && !store.get_all(&metadata)?.is_some_and(|bytes| zarr_references::is_parquet(&bytes)) {
        return refuse("that has no references");
    }
    let before = if is_there || store.capabilities().list { store.list_prefix(&folder)? } else { Vec::new() };
    // References name each other by number: files of others between them would be taken for theirs.
    let may_erase = is_there || overwrite && before.iter().all(is_of_references);
    if !before.is_empty() && !may_erase {
        return refuse("with files, but no .zmetadata");
    }
    // All is made before anything is erased or written: what references cannot say is an error that changes nothing.
    let made = std::sync::Arc::new(zarr_store::MemoryStore::new());
    let written = zarr_references::write_parquet(&joined.store, options, made.clone(), folder.clone())?;
    let (last, others): (Vec<Key>, Vec<Key>) = made.list()?.into_iter().partition(|key| *key == metadata);
    if is_there {
        store.erase(&metadata)?;
    }
    for key in before.iter().filter(|key| **key != metadata && is_of_references(key)) {
        store.erase(key)?;
    }
    // The document that makes a folder of references of them comes last.
    for key in others.iter().chain(&last) {
        store.set_all(key, &made.get_all(key)?.unwrap_or_default())?;
    }
    Ok(written)
}

/// Whether a key has the name of a file of references in Parquet: `.zmetadata`, or `refs.N.parq`.
#[cfg(feature = "references-parquet")]
fn is_of_references(key: &Key) -> bool {
    let name = key.as_str().rsplit('/').next().unwrap_or_default();
    let number = name.strip_prefix("refs.").and_then(|rest| rest.strip_suffix(".parq"));
    name == ".zmetadata"
        || number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(not(feature = "references-parquet"))]
fn save_parquet(
    _: &Joined,
    _: &WriteOptions<'_>,
    _: std::sync::Arc<dyn crate::Store>,
    name: &str,
    _: bool,
    _: bool,
) -> Result<(WrittenReferences, u64)> {
    let expected = "a build with the feature `references-parquet`, which writes references in Parquet";
    Err(Error::argument(format!("found the name {name:?}, expected {expected}")))
}

fn at(address: &StoreAddress, error: Error) -> Error {
    error.at(|location| location.store = Some(address.to_string()))
}

/// The folder that a file is to be in, and its name.
fn place(address: &StoreAddress) -> Result<(StoreAddress, String)> {
    let no_file =
        || at(address, Error::argument("found the address of no file, expected that of a file for the references"));
    if let Some(path) = address.path().filter(|_| address.scheme().is_none()) {
        let name = path.file_name().and_then(|name| name.to_str()).ok_or_else(no_file)?;
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        return Ok((StoreAddress::of_path(folder), name.to_owned()));
    }
    address.in_store().ok_or_else(no_file)
}

/// The address of a folder as those of files in it begin.
fn base(folder: &StoreAddress) -> Result<String> {
    let Some(path) = folder.path() else {
        // Addresses of files have no secrets either.
        let shown = folder.to_string();
        return Ok(shown.split('?').next().unwrap_or_default().trim_end_matches('/').to_owned());
    };
    // One that is not there yet has no links in it.
    let real = path.canonicalize().or_else(|_| std::path::absolute(path)).ok();
    let text = real.as_deref().and_then(Path::to_str).map(str::to_owned);
    let text = text.ok_or_else(|| at(folder, Error::argument("found a path that is not UTF-8")))?;
    Ok(if text == "/" { String::new() } else { text })
}

/// The address of a file as references name it: a path from the root of this machine, or a URL without secrets.
fn address_of(file: &SourceFile<'_>) -> zarr_store::Result<String> {
    let (store, key) = (file.store().to_string(), file.key());
    let refuse =
        |message: &str| Err(zarr_store::Error::Argument { store: file.to_string(), message: message.to_owned() });
    // Values of a store of references have the places that it says, or none.
    if file.store().capabilities().locates {
        file.store().get(key, &[ByteRange::First(1)], &GetOptions::default())?;
        return refuse("found a chunk whose place is not known, which references cannot name");
    }
    if let Some((scheme, _)) = store.split_once("://") {
        if !scheme.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return refuse("found a file in another file, which references cannot name");
        }
        let is_web = matches!(scheme, "http" | "https");
        let key = if is_web { escaped(key.as_str()) } else { key.to_string() };
        return Ok(format!("{}/{key}", store.trim_end_matches('/')));
    }
    let path = Path::new(&store).join(key.as_str());
    let path = if path.is_file() { path.canonicalize().ok() } else { None };
    if let Some(path) = path.as_deref().and_then(Path::to_str) {
        return Ok(path.to_owned());
    }
    // Where it may not be read the store says why.
    file.store().get(key, &[ByteRange::First(1)], &GetOptions::default())?;
    refuse("found no file of this machine and no URL, which references could name")
}

/// A name as URLs of the web have it.
fn escaped(name: &str) -> String {
    use std::fmt::Write;
    let mut escaped = String::new();
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            // A text takes what is written.
            let _ = write!(escaped, "%{byte:02X}");
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_the_web_are_escaped() {
        assert_eq!(escaped("a b/%\u{e4}.nc"), "a%20b/%25%C3%A4.nc");
    }
}
