//! Keys of metadata documents.

use zarr_store::Key;

/// Returns whether a key is that of a metadata document, judged by its name. Documents are JSON, and are replaced in place.
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
