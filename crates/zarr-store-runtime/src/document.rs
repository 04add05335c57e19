//! Keys of metadata documents.

use zarr_store::Key;

/// Whether a key is one of a metadata document by its name: it is JSON, and replaced in place.
///
/// ```
/// use zarr_store::Key;
/// use zarr_store_runtime::is_document;
///
/// assert!(is_document(&Key::new("a/zarr.json")?) && is_document(&Key::new("a/.zarray")?));
/// assert!(!is_document(&Key::new("a/c/0")?));
/// # Ok::<(), zarr_store::Error>(())
/// ```
pub fn is_document(key: &Key) -> bool {
    let name = key.name();
    name.ends_with(".json") || matches!(name, ".zarray" | ".zattrs" | ".zgroup" | ".zmetadata")
}
