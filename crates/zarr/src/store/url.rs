//! Stores by address.

use std::path::Path;
use std::sync::Arc;
use zarr_store::{Error, MemoryStore, Operation, Result, Store};

/// The addresses that [`open`] takes.
const KINDS: &str = match (cfg!(feature = "filesystem"), cfg!(feature = "zip")) {
    (true, true) => "a path, file://, zip: or memory:",
    (true, false) => "a path, file:// or memory:",
    (false, true) => "zip: or memory:",
    (false, false) => "memory:",
};

/// Opens the store at an address, which must be there.
///
/// | address | store |
/// |---|---|
/// | a path, `file:///path` | with feature `filesystem` the directory; with feature `zip` the zip file if it is a file |
/// | `zip:PATH` | with feature `zip` the zip file |
/// | `memory:` | a new, empty one in memory |
///
/// # Errors
/// [`Error::NoStore`] if nothing is there, [`Error::NotAStore`] if it is something else, [`Error::Address`] if this build has no store
/// for the address.
///
/// # Example
/// ```
/// let store = zarr::store::open("memory:")?;
/// assert_eq!(store.to_string(), "memory:");
/// # Ok::<(), zarr::store::Error>(())
/// ```
pub fn open(url: &str) -> Result<Arc<dyn Store>> {
    match address(url)? {
        Address::Memory => Ok(Arc::new(MemoryStore::new())),
        Address::Zip(path) => zip(path.as_ref(), url),
        Address::Path(path) => open_path(path.as_ref()),
    }
}

/// Opens the directory or zip file at a path.
pub(crate) fn open_path(path: &Path) -> Result<Arc<dyn Store>> {
    if is_zip_file(path) {
        return zip(path, &path.to_string_lossy());
    }
    #[cfg(feature = "filesystem")]
    return Ok(Arc::new(zarr_store_filesystem::FilesystemStore::open(path)?));
    #[cfg(not(feature = "filesystem"))]
    Err(without_feature(&path.to_string_lossy(), DIRECTORIES))
}

/// Opens the store at an address for writing, and makes it if it is not there.
///
/// # Errors
/// As [`open`]; [`Error::ReadOnly`] for zip files.
pub fn create(url: &str) -> Result<Arc<dyn Store>> {
    let read_only = |store| Err(Error::ReadOnly { store, operation: Operation::Open });
    match address(url)? {
        Address::Memory => Ok(Arc::new(MemoryStore::new())),
        Address::Zip(path) => read_only(path),
        Address::Path(path) if is_zip_file(path.as_ref()) => read_only(path),
        Address::Path(path) => create_path(path.as_ref()),
    }
}

/// Opens the directory at a path, and makes it if it is not there.
pub(crate) fn create_path(path: &Path) -> Result<Arc<dyn Store>> {
    #[cfg(feature = "filesystem")]
    return Ok(Arc::new(zarr_store_filesystem::FilesystemStore::create(path)?));
    #[cfg(not(feature = "filesystem"))]
    Err(without_feature(&path.to_string_lossy(), DIRECTORIES))
}

/// The build that opens directories, named in errors.
#[cfg(not(feature = "filesystem"))]
const DIRECTORIES: &str = "a build with the feature `filesystem`, which has directories";

/// An address, by its form.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Address {
    Memory,
    Zip(String),
    Path(String),
}

/// The form of an address.
pub(crate) fn address(url: &str) -> Result<Address> {
    let unknown = || unknown(url);
    if matches!(url, "memory:" | "memory://") {
        return Ok(Address::Memory);
    }
    if let Some(rest) = url.strip_prefix("zip:") {
        return Ok(Address::Zip(match rest.strip_prefix("file://") {
            Some(rest) => file(rest).ok_or_else(unknown)?,
            None => rest.to_owned(),
        }));
    }
    if let Some(rest) = url.strip_prefix("file://") {
        return Ok(Address::Path(file(rest).ok_or_else(unknown)?));
    }
    match url.split_once("://") {
        Some((scheme, _)) if is_scheme(scheme) => Err(unknown()),
        _ => Ok(Address::Path(url.to_owned())),
    }
}

/// RFC 3986, section 3.1.
fn is_scheme(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
}

/// The path of a `file://` address: after the host, which is empty or this one (RFC 8089), with `%41` read as `A`.
fn file(rest: &str) -> Option<String> {
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    if !path.starts_with('/') {
        return None;
    }
    let bytes = path.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut i = 0;
    while let Some(&byte) = bytes.get(i) {
        let (byte, len) = match byte {
            b'%' => (hex(bytes.get(i + 1..i + 3)?)?, 3),
            b'?' | b'#' => return None,
            byte => (byte, 1),
        };
        decoded.push(byte);
        i += len;
    }
    String::from_utf8(decoded).ok().filter(|path| !path.contains('\0'))
}

fn hex(digits: &[u8]) -> Option<u8> {
    digits.iter().try_fold(0_u8, |value, digit| {
        let digit = u8::try_from(char::from(*digit).to_digit(16)?).ok()?;
        Some(value << 4 | digit)
    })
}

fn is_zip_file(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("zip")) && path.is_file()
}

#[cfg(feature = "zip")]
fn zip(path: &Path, _url: &str) -> Result<Arc<dyn Store>> {
    Ok(Arc::new(zarr_store_zip::ZipStore::open(path)?))
}

#[cfg(not(feature = "zip"))]
fn zip(_path: &Path, url: &str) -> Result<Arc<dyn Store>> {
    Err(without_feature(url, "a build with the feature `zip`, which reads zip files"))
}

/// An address of which a feature would know.
#[cfg(not(all(feature = "filesystem", feature = "zip")))]
fn without_feature(url: &str, expected: &'static str) -> Error {
    Error::Address { url: url.to_owned(), expected }
}

fn unknown(url: &str) -> Error {
    Error::Address { url: url.to_owned(), expected: KINDS }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(url: &str, expected: Option<Address>) {
        assert_eq!(address(url).ok(), expected, "{url}");
    }

    #[test]
    fn addresses() {
        let path = |path: &str| Some(Address::Path(path.to_owned()));
        check("memory:", Some(Address::Memory));
        check("a/b.zarr", path("a/b.zarr"));
        check("/a:b", path("/a:b"));
        check("file:///a%20b/c", path("/a b/c"));
        check("file://localhost/a", path("/a"));
        check("zip:a.zip", Some(Address::Zip("a.zip".to_owned())));
        check("zip:file:///a.zip", Some(Address::Zip("/a.zip".to_owned())));
        for url in [
            "file://host/a",
            "file:///a%2",
            "file:///a%zz",
            "file:///a%00",
            "file:///%ff",
            "s3://bucket/a",
            "http://x/y",
            "file:///a%+1",
        ] {
            check(url, None);
        }
    }

    #[test]
    #[cfg(not(feature = "zip"))]
    fn zip_files_name_their_feature() {
        let folder = tempfile::tempdir().expect("a directory");
        let path = folder.path().join("x.zip");
        std::fs::write(&path, b"PK").expect("written");
        let path = path.to_str().expect("UTF-8");
        for address in [path.to_owned(), format!("zip:{path}"), format!("{path}/a")] {
            let error = crate::open(&address).node().expect_err("no zip files");
            assert!(error.to_string().contains("feature `zip`"), "{error}");
            assert_eq!(error.kind(), crate::ErrorKind::Argument);
        }
    }

    #[test]
    #[cfg(not(feature = "filesystem"))]
    fn directories_name_their_feature() {
        for opened in [open("x.zarr"), create("x.zarr"), open("file:///x.zarr")] {
            let error = opened.expect_err("no directories").to_string();
            assert!(error.contains("feature `filesystem`"), "{error}");
        }
    }

    #[test]
    #[cfg(feature = "filesystem")]
    fn opening() {
        let folder = tempfile::tempdir().expect("a directory");
        let path = folder.path().join("x.zarr");
        let path = path.to_str().expect("UTF-8");
        assert!(open(path).expect_err("not there").is_not_found());
        assert_eq!(create(path).expect("made").to_string(), path);
        assert_eq!(open(&format!("file://{path}")).expect("there").to_string(), path);
        assert_eq!(
            open("s3://bucket/x").expect_err("unknown").to_string().split(',').next(),
            Some("s3://bucket/x: no store for addresses of this kind")
        );
    }
}
