//! Writing of references to the chunks of files, and of files that are joined along a dimension.
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

/// Opens the store at an address as an input of [`join`], which needs the places of the chunks in files.
///
/// # Errors
/// The errors of [`zarr::store::open`](crate::store::open), and an error if a node of a Zarr store, of an Icechunk repository or of
/// references in Parquet is invalid.
pub fn open(address: &str) -> Result<Input> {
    let schemes = schemes();
    open_with(&schemes.address(address)?, &StoreOptions::new(), &schemes)
}

/// Opens the store at an address as [`open`] does, with options of the store and a table of the kinds of stores.
///
/// # Errors
/// The errors of [`open`].
pub fn open_with(address: &StoreAddress, options: &StoreOptions, schemes: &Schemes) -> Result<Input> {
    let name = address.to_string();
    #[cfg(any(feature = "hdf5", feature = "netcdf", feature = "references", feature = "tiff"))]
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

/// Options of writing references.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SaveOptions {
    /// Size in bytes up to which chunks are written into the references: 500 by default, as in kerchunk.
    pub inline: u64,
    /// Dialect of the documents: v2 or v3. By default v2 if it can describe all nodes, as most readers of references expect it, else v3.
    /// References in Parquet take v2 alone.
    pub dialect: Option<Dialect>,
    /// Whether references name files by paths relative to the directory of the references, which has to contain the files. By default they
    /// name files by absolute paths and URLs.
    pub relative: bool,
    /// Whether existing references may be replaced.
    pub overwrite: bool,
}

impl Default for SaveOptions {
    fn default() -> Self {
        Self { inline: 500, dialect: None, relative: false, overwrite: false }
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
    pub fn dialect(self, dialect: impl Into<Option<Dialect>>) -> Self {
        Self { dialect: dialect.into(), ..self }
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

/// Result of writing references.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Saved {
    /// Numbers of the chunks in files and in the references.
    pub written: WrittenReferences,
    /// Size in bytes of all files of references.
    pub bytes: u64,
    /// Directories of the files that do not lie below the directory of the references. Reading the references needs the option `allow` with
    /// these directories.
    pub elsewhere: Vec<String>,
    /// Dialect of the documents.
    pub dialect: Dialect,
    /// Reason why the documents are of v3 although no [dialect](SaveOptions#structfield.dialect) was chosen: the first node that v2 cannot
    /// describe, and why; `None` if they are of v2, or the dialect was chosen.
    pub not_in_v2: Option<String>,
}

/// Writes references to the chunks of a joined store. The extension of `target` determines the form: one file in JSON (`.json`), or a
/// folder of files in Parquet (`.parq`, `.parquet`).
///
/// # Errors
/// [`ErrorKind::NotExpressible`] for an array that the dialect cannot describe; [`ErrorKind::Argument`] for a file that references cannot
/// name, or that does not lie below the directory of the references if `relative` is set; [`ErrorKind::Exists`] if the references exist and
/// `overwrite` is not set; [`ErrorKind::Limit`] if the chunks in the references have too many bytes; and the errors of the stores.
pub fn save(joined: Joined, target: &str, options: &SaveOptions) -> Result<Saved> {
    let schemes = schemes();
    save_with(joined, &schemes.address(target)?, options, &StoreOptions::new(), &schemes)
}

/// Writes references as [`save`] does, with options of the store that contains the references, and a table of the kinds of stores.
///
/// # Errors
/// The errors of [`save`].
pub fn save_with(
    joined: Joined,
    target: &StoreAddress,
    options: &SaveOptions,
    store_options: &StoreOptions,
    schemes: &Schemes,
) -> Result<Saved> {
    let (folder, name) = place(target)?;
    let form = Form::of(&name).map_err(|error| at(target, error))?;
    // This key exists if the references exist.
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
    let Described { joined, dialect, not_in_v2 } = described(joined, options.dialect, form)?;
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
    let elsewhere = elsewhere.into_inner().into_iter().collect();
    Ok(Saved { written, bytes, elsewhere, dialect, not_in_v2 })
}

/// Form in which references are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// One file in JSON.
    Json,
    /// Folder of files in Parquet.
    Parquet,
}

impl Form {
    /// Returns the form that the extension of `name` determines.
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

/// Store with its documents in the dialect of its references.
struct Described {
    joined: Joined,
    dialect: Dialect,
    /// Reason why v2 was not taken.
    not_in_v2: Option<String>,
}

/// Converts the documents to the dialect that was chosen; without one to v2, or to v3 if a node has no form in v2.
fn described(joined: Joined, chosen: Option<Dialect>, form: Form) -> Result<Described> {
    let hint = |error: Error| match error.kind() {
        ErrorKind::NotExpressible if form == Form::Parquet => error
            .with_hint("references in JSON take documents of v3: a name with .json at its end, without --dialect v2"),
        ErrorKind::NotExpressible => error.with_hint("the dialect v3 can describe it: --dialect v3 (dialect=\"v3\")"),
        _ => error,
    };
    let dialect = chosen.unwrap_or(Dialect::V2);
    match joined.clone().in_dialect(dialect) {
        Err(error) if error.kind() == ErrorKind::NotExpressible && chosen.is_none() && form == Form::Json => {
            Ok(Described { joined, dialect: Dialect::V3, not_in_v2: Some(error.to_string()) })
        }
        converted => Ok(Described { joined: converted.map_err(hint)?, dialect, not_in_v2: None }),
    }
}

/// Writes references as Parquet into the folder `name`. Existing files of references in the folder are erased first if `is_there`, or if
/// `overwrite` is set and an earlier run left them without `.zmetadata`.
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
    // Readers find files of references by their numbers: files that remain from other references would be read as these.
    let may_erase = is_there || overwrite && before.iter().all(is_of_references);
    if !before.is_empty() && !may_erase {
        return refuse("with files, but no .zmetadata");
    }
    // All files are encoded before any file is erased or written: an error of a chunk that references cannot describe changes nothing.
    let made = std::sync::Arc::new(zarr_store::MemoryStore::new());
    let written = zarr_references::write_parquet(&joined.store, options, made.clone(), folder.clone())?;
    let (last, others): (Vec<Key>, Vec<Key>) = made.list()?.into_iter().partition(|key| *key == metadata);
    if is_there {
        store.erase(&metadata)?;
    }
    for key in before.iter().filter(|key| **key != metadata && is_of_references(key)) {
        store.erase(key)?;
    }
    // The document `.zmetadata`, which makes the folder readable, is written last.
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

/// Splits the address of a file into the address of its directory and the name of the file.
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

/// Returns the address of a directory as the addresses of files in it begin, without a slash at the end.
fn base(folder: &StoreAddress) -> Result<String> {
    let Some(path) = folder.path() else {
        // The addresses of files are compared without secrets.
        let shown = folder.to_string();
        return Ok(shown.split('?').next().unwrap_or_default().trim_end_matches('/').to_owned());
    };
    // A directory that does not exist yet has no links in its path.
    let real = path.canonicalize().or_else(|_| std::path::absolute(path)).ok();
    let text = real.as_deref().and_then(Path::to_str).map(str::to_owned);
    let text = text.ok_or_else(|| at(folder, Error::argument("found a path that is not UTF-8")))?;
    Ok(if text == "/" { String::new() } else { text })
}

/// Returns the address by which references name a file: an absolute path on this machine, or a URL without secrets.
fn address_of(file: &SourceFile<'_>) -> zarr_store::Result<String> {
    let (store, key) = (file.store().to_string(), file.key());
    let refuse =
        |message: &str| Err(zarr_store::Error::Argument { store: file.to_string(), message: message.to_owned() });
    // Chunks that the store locates were already replaced by their places in files. Its other values have no place that references can
    // name.
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
    // If the file must not be read, the error of the store says why.
    file.store().get(key, &[ByteRange::First(1)], &GetOptions::default())?;
    refuse("found no file of this machine and no URL, which references could name")
}

/// Escapes a name as in URLs of the web.
fn escaped(name: &str) -> String {
    use std::fmt::Write;
    let mut escaped = String::new();
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            // Writing to a string does not fail.
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
