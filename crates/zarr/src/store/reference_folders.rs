//! References in Parquet by address: a folder whose `.zmetadata` has the size of their files.

use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use zarr_references::ReferencesOptions;
use zarr_store::{Prefix, Result, Store, StoreExt};
use zarr_store_filesystem::FilesystemStore;
use zarr_store_virtual::VirtualStore;

use super::address::Rest;
use super::{Schemes, StoreAddress, StoreOptions};

const METADATA: &str = ".zmetadata";
/// The member that an ordinary `.zmetadata` does not have. Writers have it at the end.
const MEMBER: &[u8] = b"\"record_size\"";
/// Number of bytes at each end of a `.zmetadata` that the member is looked for in.
const END: u64 = 4096;

/// The address of a folder without slashes behind it.
pub(super) fn named(address: &StoreAddress) -> StoreAddress {
    let rest = match &address.rest {
        // One that has no name, such as `.`, gets it.
        Rest::Path(path) if path.file_name().is_none() => {
            Rest::Path(path.canonicalize().unwrap_or_else(|_| path.clone()))
        }
        Rest::Path(path) => Rest::Path(path.components().as_path().to_owned()),
        Rest::Url(url) if !url.contains('?') => Rest::Url(url.trim_end_matches('/').to_owned()),
        rest => rest.clone(),
    };
    StoreAddress { scheme: address.scheme.clone(), rest }
}

/// The store that the folder of references at an address is in, and its prefix there; `None` if the address is not that of a folder with
/// a `.zmetadata`.
pub(super) fn find(
    address: &StoreAddress,
    options: &StoreOptions,
    schemes: &Schemes,
) -> Result<Option<(Arc<dyn Store>, Prefix)>> {
    if let Some(path) = address.path() {
        if !path.join(METADATA).is_file() {
            return Ok(None);
        }
        let name = path.file_name().and_then(|name| name.to_str());
        let name = name.ok_or_else(|| address.refuse("the name is not UTF-8"))?;
        let above = path.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
        return Ok(Some((Arc::new(FilesystemStore::open(above)?), Prefix::new(&format!("{name}/"))?)));
    }
    let Some((above, name)) = address.in_store().filter(|(_, name)| !name.ends_with(".json")) else { return Ok(None) };
    let store = schemes.open(&above, &schemes.options_for(&above, options)?)?;
    let folder = Prefix::new(&format!("{name}/"))?;
    Ok(store.exists(&folder.join(METADATA)?)?.then_some((store, folder)))
}

/// Whether a path of this machine is a folder of references.
#[cfg(feature = "references-parquet")]
pub(super) fn is_folder(path: &Path) -> bool {
    let has_member = |bytes: &[u8]| bytes.windows(MEMBER.len()).any(|found| found == MEMBER);
    let read = || -> std::io::Result<bool> {
        let mut file = std::fs::File::open(path.join(METADATA))?;
        let mut bytes = Vec::new();
        for from in [SeekFrom::Start(0), SeekFrom::End(0)] {
            let at = file.seek(from)?;
            file.seek(SeekFrom::Start(at.saturating_sub(END)))?;
            bytes.clear();
            (&file).take(END).read_to_end(&mut bytes)?;
            if has_member(&bytes) {
                file.seek(SeekFrom::Start(0))?;
                bytes.clear();
                file.take(ReferencesOptions::default().max_size).read_to_end(&mut bytes)?;
                return Ok(zarr_references::is_parquet(&bytes));
            }
        }
        Ok(false)
    };
    read().unwrap_or(false)
}

/// Opens the references in a folder.
#[cfg(feature = "references-parquet")]
pub(super) fn open(
    _: &StoreAddress,
    store: Arc<dyn Store>,
    folder: &Prefix,
    options: &ReferencesOptions,
) -> Result<VirtualStore> {
    zarr_references::open_parquet(store, folder, options)
}

/// Refuses to open the references in a folder.
#[cfg(not(feature = "references-parquet"))]
pub(super) fn open(
    address: &StoreAddress,
    _: Arc<dyn Store>,
    _: &Prefix,
    _: &ReferencesOptions,
) -> Result<VirtualStore> {
    let expected = "a build with the feature `references-parquet`, which reads references in Parquet";
    Err(zarr_store::Error::Address { url: address.to_string(), expected })
}
