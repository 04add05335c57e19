//! Recognition of files and stores of other formats at a place where a Zarr hierarchy is expected, by their first bytes or names.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use zarr_store::{ByteRange, Key, Prefix, Store, StoreExt};

/// Format of a file, directory or store that is not a Zarr hierarchy.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Signature {
    /// Name of the format with its article: `an HDF5 file`.
    pub what: &'static str,
    /// Hint how the data may be read.
    pub hint: String,
}

const ELSEWHERE: &str = "this library reads Zarr alone";

/// Signatures of files: an offset, the bytes at the offset, the name of the format, and a hint.
const FILES: &[(usize, &[u8], &str, &str)] = &[
    (0, b"\x89HDF\r\n\x1a\n", HDF5, HDF5_HINT),
    (512, b"\x89HDF\r\n\x1a\n", HDF5, HDF5_HINT),
    (1024, b"\x89HDF\r\n\x1a\n", HDF5, HDF5_HINT),
    (2048, b"\x89HDF\r\n\x1a\n", HDF5, HDF5_HINT),
    (0, b"CDF\x01", NETCDF, NETCDF_HINT),
    (0, b"CDF\x02", NETCDF, NETCDF_HINT),
    (0, b"CDF\x05", NETCDF, NETCDF_HINT),
    (0, b"GRIB", "a GRIB file", "xarray with cfgrib reads it, and writes Zarr by to_zarr"),
    (0, b"II*\0", TIFF, TIFF_HINT),
    (0, b"MM\0*", TIFF, TIFF_HINT),
    (0, b"II+\0", TIFF, TIFF_HINT),
    (0, b"MM\0+", TIFF, TIFF_HINT),
    (344, b"n+1\0", "a NIfTI file", "nibabel reads it"),
    (344, b"ni1\0", "a NIfTI file", "nibabel reads it"),
    (4, b"n+2\0", "a NIfTI file", "nibabel reads it"),
    (0, b"PK\x03\x04", "a zip file", "zip:FILE opens it as a store"),
    (0, b"PK\x05\x06", "a zip file", "zip:FILE opens it as a store"),
    (0, b"SQLite format 3\0", "a SQLite file", "sqlite:FILE opens it as a store"),
    (0, b"\x93NUMPY", "a file of numpy", "`zarr write --from FILE` writes its elements to an array"),
    (0, b"PAR1", "a Parquet file", ELSEWHERE),
    (257, b"ustar", "a tar file", "unpack it first"),
    (0, b"\x1f\x8b", "a file compressed by gzip", "unpack it first"),
];
/// Name of the format of HDF5 files; this and the next two are formats that builds with the right features open as stores.
pub(super) const HDF5: &str = "an HDF5 file";
pub(super) const NETCDF: &str = "a netCDF file";
pub(super) const TIFF: &str = "a TIFF file";
pub(super) const REFERENCES: &str = "references of kerchunk";
const NETCDF_HINT: &str =
    if cfg!(feature = "netcdf") { "it is only read; `zarr convert` converts it to Zarr" } else { XARRAY };
const XARRAY: &str = "xarray reads it, and writes Zarr by to_zarr";
const HDF5_HINT: &str = if cfg!(feature = "hdf5") {
    "it is only read; `zarr convert` converts it to Zarr"
} else {
    "a build with the feature `hdf5` opens it as a store; xarray reads it, and writes Zarr by to_zarr"
};
const ICECHUNK: &str = if cfg!(feature = "icechunk") {
    "icechunk:ADDRESS opens it, with @BRANCH, @tag.NAME or @SNAPSHOT behind it where `main` is not meant"
} else {
    "a build with the feature `icechunk` reads it"
};
const PARQUET: &str = if cfg!(feature = "references-parquet") {
    "references:ADDRESS opens them"
} else {
    "a build with the feature `references-parquet` reads them"
};
const TIFF_HINT: &str = if cfg!(feature = "tiff") {
    "it is only read; `zarr convert` converts it to Zarr"
} else {
    "a build with the feature `tiff` opens it as a store; tifffile reads it, also as Zarr"
};

/// Member that only the `.zmetadata` of references has; writers write it at the end.
#[cfg(feature = "references-parquet")]
const RECORD_SIZE: &[u8] = b"\"record_size\"";
/// Number of bytes at each end of a `.zmetadata` in which the member is searched.
#[cfg(feature = "references-parquet")]
const ENDS: u64 = 4096;
/// Number of bytes at the beginning of a file that are examined.
const HEAD: u64 = 4096;
/// Names of documents; a directory that contains one is a node.
const DOCUMENTS: [&str; 5] = ["zarr.json", ".zarray", ".zgroup", ".zattrs", ".zmetadata"];
/// Maximum number of directories above a file in which the document of an array is searched.
const ABOVE: usize = 8;

/// Recognizes the format of a file at a place where a store is expected; `None` if the format is unknown, or if the path is not a file.
///
/// ```
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("x.nc");
/// std::fs::write(&path, b"CDF\x01 and more")?;
/// let signature = zarr::store::signature_of_file(&path).unwrap();
/// assert_eq!(signature.what, "a netCDF file");
/// # Ok::<(), std::io::Error>(())
/// ```
#[must_use]
pub fn signature_of_file(path: &Path) -> Option<Signature> {
    if !path.is_file() {
        return None;
    }
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(HEAD).read_to_end(&mut head));
    let is_document = path.file_name().is_some_and(|name| DOCUMENTS.iter().any(|known| name == *known));
    let by_bytes = read.ok().filter(|_| !is_document).and_then(|_| of_bytes(&head));
    by_bytes.or_else(|| of_node(path))
}

/// Maximum size in bytes of a `.zmetadata` that is parsed; opening refuses a larger one.
#[cfg(feature = "references-parquet")]
const MAX_METADATA: u64 = 256 << 20;

/// Whether a path of this machine is a folder of references. The member `record_size` is searched at both ends of `.zmetadata`, where all
/// known writers write it. `references:PATH` also opens a folder with the member at another place.
#[cfg(feature = "references-parquet")]
pub(super) fn is_reference_folder(path: &Path) -> bool {
    let has_member = |bytes: &[u8]| bytes.windows(RECORD_SIZE.len()).any(|found| found == RECORD_SIZE);
    let read = || -> std::io::Result<bool> {
        use std::io::{Seek, SeekFrom};
        let mut file = File::open(path.join(".zmetadata"))?;
        let mut bytes = Vec::new();
        for from in [SeekFrom::Start(0), SeekFrom::End(0)] {
            let at = file.seek(from)?;
            file.seek(SeekFrom::Start(at.saturating_sub(ENDS)))?;
            bytes.clear();
            (&file).take(ENDS).read_to_end(&mut bytes)?;
            if has_member(&bytes) {
                // Opening fails with an error that says that the file is too large.
                if file.metadata()?.len() > MAX_METADATA {
                    return Ok(true);
                }
                file.seek(SeekFrom::Start(0))?;
                bytes.clear();
                file.take(zarr_references::ReferencesOptions::default().max_size).read_to_end(&mut bytes)?;
                return Ok(zarr_references::is_parquet(&bytes));
            }
        }
        Ok(false)
    };
    read().unwrap_or(false)
}

fn of_bytes(head: &[u8]) -> Option<Signature> {
    let has = |&&(at, bytes, ..): &&(usize, &[u8], &str, &str)| {
        head.get(at..).is_some_and(|rest: &[u8]| rest.starts_with(bytes))
    };
    if let Some(&(_, _, what, hint)) = FILES.iter().find(has) {
        return Some(Signature { what, hint: hint.to_owned() });
    }
    let text = String::from_utf8_lossy(head);
    // Finds a member of an object, whose value begins with `begins`.
    let has = |member: &str, begins: char| {
        text.match_indices(member).any(|(at, _)| {
            let rest = text.get(at + member.len()..).unwrap_or_default().trim_start();
            rest.strip_prefix(':').is_some_and(|rest| rest.trim_start().starts_with(begins))
        })
    };
    let is_references = text.trim_start_matches('\u{feff}').trim_start().starts_with('{')
        && (has("\"refs\"", '{') || has("/.zarray\"", '"') || has("\".zgroup\"", '"'));
    let hint = if cfg!(feature = "references") {
        "they are only read; `zarr convert` converts their data to Zarr"
    } else {
        "xarray opens them by the engine kerchunk, and writes Zarr by to_zarr"
    };
    is_references.then(|| Signature { what: REFERENCES, hint: hint.to_owned() })
}

/// Recognizes a document of a node, or a file below a node.
fn of_node(path: &Path) -> Option<Signature> {
    let name = path.file_name()?.to_str()?;
    if DOCUMENTS.contains(&name) {
        let hint = format!("the node is {}", shown(path.parent().unwrap_or(path)));
        return Some(Signature { what: "a document of a node", hint });
    }
    let is_array = |folder: &&Path| folder.join(".zarray").is_file() || folder.join("zarr.json").is_file();
    let array = path.ancestors().skip(1).take(ABOVE).find(is_array)?;
    Some(Signature { what: "a file below a node", hint: format!("the node is {}", shown(array)) })
}

/// Returns the display form of a directory; `.` for an empty path.
fn shown(folder: &Path) -> std::path::Display<'_> {
    if folder.as_os_str().is_empty() { Path::new(".").display() } else { folder.display() }
}

/// Recognizes the format of a store without a node at the root; `None` if the format is unknown.
#[must_use]
pub fn signature_of_store(store: &dyn Store) -> Option<Signature> {
    let part = |key: &str, range: ByteRange| {
        let part = Key::new(key).ok().and_then(|key| store.get_ranges(&key, &[range]).ok().flatten());
        part.map(|fetched| String::from_utf8_lossy(fetched.part(0)).into_owned())
    };
    let begins = |key: &str| part(key, ByteRange::First(HEAD));
    let listing = store.capabilities().list.then(|| store.list_dir(&Prefix::root()).ok()).flatten().unwrap_or_default();
    let has_prefix = |name: &str| listing.prefixes.iter().any(|prefix| prefix.name() == Some(name));
    let has_key = |name: &str| listing.keys.iter().any(|key| key.as_str() == name);
    let signature = |what, hint: &str| Some(Signature { what, hint: hint.to_owned() });
    if has_prefix("snapshots") && (has_prefix("manifests") || has_prefix("refs") || has_key("repo")) {
        return signature("an Icechunk repository", ICECHUNK);
    }
    if has_key("attributes.json")
        && begins("attributes.json").is_some_and(|text| text.contains("\"n5\"") || text.contains("\"dataType\""))
    {
        return signature("an N5 container", "zarr-python 2 reads it by N5FSStore, and copies it to Zarr");
    }
    // The member is searched at both ends, since writers write it at the end.
    let has_record_size = |range| part(".zmetadata", range).is_some_and(|text| text.contains("\"record_size\""));
    if has_key(".zmetadata") && [ByteRange::First(HEAD), ByteRange::Suffix(HEAD)].into_iter().any(has_record_size) {
        return signature("references of kerchunk in Parquet", PARQUET);
    }
    if has_key("info") && begins("info").is_some_and(|text| text.contains("neuroglancer_")) {
        return signature("a volume of neuroglancer (precomputed)", "tensorstore and cloud-volume read it");
    }
    if has_prefix("__schema") || has_key("__tiledb_group.tdb") || has_prefix("__group") {
        return signature("an array or a group of TileDB", "tiledb reads it");
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use zarr_store::MemoryStore;

    #[test]
    fn files_are_known_by_their_first_bytes() {
        for &(at, bytes, what, _) in FILES {
            let head = [vec![b' '; at], bytes.to_vec(), vec![b' '; 8]].concat();
            assert_eq!(of_bytes(&head).expect("known").what, what);
        }
        for text in ["{\"version\": 1, \"refs\": {}}", " {\"a/.zarray\": \"{}\"}"] {
            assert_eq!(of_bytes(text.as_bytes()).expect("known").what, "references of kerchunk");
        }
        for head in
            [&b""[..], b"hello", b"{}", b"PK", b"{\"name\":\"x\",\"refs\":1}", b"{\"metadata\":{\"a/.zarray\":{}}}"]
        {
            assert_eq!(of_bytes(head), None);
        }
    }

    #[test]
    fn stores_are_known_by_their_keys() {
        let cases: [(&[(&str, &str)], &str); 5] = [
            (&[("snapshots/A", ""), ("refs/branch.main/ref.json", "")], "an Icechunk repository"),
            (&[("attributes.json", r#"{"n5": "2.0.0"}"#)], "an N5 container"),
            (&[(".zmetadata", r#"{"metadata": {}, "record_size": 10}"#)], "references of kerchunk in Parquet"),
            (&[("info", r#"{"@type": "neuroglancer_multiscale_volume"}"#)], "a volume of neuroglancer (precomputed)"),
            (&[("__schema/x", "")], "an array or a group of TileDB"),
        ];
        for (keys, what) in cases {
            let store = MemoryStore::new();
            for (key, value) in keys {
                store.set_all(&Key::new(key).expect("a key"), value.as_bytes()).expect("set");
            }
            assert_eq!(signature_of_store(&store).expect("known").what, what);
        }
        let store = MemoryStore::new();
        assert_eq!(signature_of_store(&store), None);
        store.set_all(&Key::new("attributes.json").expect("a key"), b"{}").expect("set");
        assert_eq!(signature_of_store(&store), None);
    }
}
