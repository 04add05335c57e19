//! Icechunk repositories by address: `icechunk:ADDRESS@REVISION`.

use std::sync::{Arc, Mutex, PoisonError};

use zarr_icechunk::{IcechunkCommit, IcechunkOptions, IcechunkStore, Revision};
use zarr_store::{Key, Result, Store};

use super::address::percent_decoded;
use super::{Scheme, Schemes, StoreAddress, StoreOptions};

/// Name of the option with the URLs of files outside of the repository that may be read.
const ALLOW: &str = "allow";
/// Maximum number of stores that contain files outside of the repository and stay open.
const MAX_STORES: usize = 64;

pub(super) fn scheme() -> Scheme {
    let opened = |address: &StoreAddress, options: &StoreOptions, schemes: &Schemes| -> Result<Arc<dyn Store>> {
        Ok(Arc::new(open(address, options, schemes)?))
    };
    Scheme::address(&["icechunk"], opened).create(refuse).options(&[ALLOW])
}

/// Returns the commits that led to the snapshot at an address `icechunk:ADDRESS@REVISION`, the newest first and at most `limit`.
///
/// ```no_run
/// use zarr::store::{StoreOptions, icechunk_history, schemes};
///
/// let schemes = schemes();
/// let address = schemes.address("icechunk:s3://bucket/repository@main")?;
/// for commit in icechunk_history(&address, &StoreOptions::new(), &schemes, 10)? {
///     println!("{} {}", commit.id, commit.message);
/// }
/// # Ok::<(), zarr::store::Error>(())
/// ```
///
/// # Errors
/// [`Error::Argument`](zarr_store::Error::Argument) if the address does not have this form, and the errors of
/// [`history`](zarr_icechunk::history).
pub fn icechunk_history(
    address: &StoreAddress,
    options: &StoreOptions,
    schemes: &Schemes,
    limit: usize,
) -> Result<Vec<IcechunkCommit>> {
    let expected = "expected an Icechunk repository, icechunk:ADDRESS, with @BRANCH, @tag.NAME or @ID behind it";
    let inner = address.inner().filter(|_| address.scheme() == Some("icechunk"));
    let (repository, revision) = inner.ok_or_else(|| address.refuse(expected))?.split_at_sign();
    let revision = revision.map_or_else(Revision::default, |revision| Revision::parse(&revision));
    let below = options.filter(|name| name != ALLOW);
    zarr_icechunk::history(schemes.open(&repository, &below)?, &revision, limit)
}

/// Opens the snapshot at an address `icechunk:ADDRESS@REVISION`.
pub(crate) fn open(address: &StoreAddress, options: &StoreOptions, schemes: &Schemes) -> Result<IcechunkStore> {
    let inner = address.inner().ok_or_else(|| address.refuse("expected an address"))?;
    let (repository, revision) = inner.split_at_sign();
    let below = options.filter(|name| name != ALLOW);
    let mut chosen = IcechunkOptions::default();
    if let Some(revision) = revision {
        chosen = chosen.revision(Revision::parse(&revision));
    }
    let urls = "URLs with commas between them, below which files may be read, or NAME=URL for a container";
    if let Some(allowed) = options.parse(address, ALLOW, urls, |text| chosen.clone().allow(text))? {
        let files = Files {
            schemes: schemes.clone(),
            repository: repository.clone(),
            below: below.clone(),
            opened: Mutex::default(),
        };
        chosen = allowed.open_files(Arc::new(move |url| files.open(url)));
    }
    IcechunkStore::open(schemes.open(&repository, &below)?, chosen)
}

fn refuse(address: &StoreAddress, _: &StoreOptions, _: &Schemes) -> Result<Arc<dyn Store>> {
    Err(address
        .refuse("an Icechunk repository is only read here: `zarr convert` copies it to a store that takes writes"))
}

/// Opener of files outside of a repository, with the stores that it has opened.
struct Files {
    schemes: Schemes,
    repository: StoreAddress,
    below: StoreOptions,
    opened: Mutex<Vec<(StoreAddress, Arc<dyn Store>)>>,
}

impl Files {
    fn open(&self, url: &str) -> Result<(Arc<dyn Store>, Key)> {
        let address = self.schemes.address(url)?;
        let no_file = || address.refuse("expected the URL of a file");
        let (folder, name) = match address.path().filter(|_| address.scheme().is_none()) {
            Some(path) => {
                let name = path.file_name().and_then(|name| name.to_str()).ok_or_else(no_file)?;
                (StoreAddress::of_path(path.parent().ok_or_else(no_file)?), name.to_owned())
            }
            None => {
                let (folder, name) = address.in_store().ok_or_else(no_file)?;
                let is_web = matches!(address.scheme(), Some("http" | "https"));
                (folder, if is_web { name } else { percent_decoded(&name).ok_or_else(no_file)? })
            }
        };
        let key = Key::new(&name)?;
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, store)) = opened.iter().find(|(other, _)| *other == folder) {
            return Ok((Arc::clone(store), key));
        }
        let store = self.schemes.open(&folder, &self.options_of(&folder)?)?;
        if opened.len() >= MAX_STORES {
            opened.remove(0);
        }
        opened.push((folder, Arc::clone(&store)));
        Ok((store, key))
    }

    /// Returns the options for the store of a file outside of the repository. Options of the repository may be secrets: they are passed on
    /// only to the same service, and on the web only to the same host.
    fn options_of(&self, folder: &StoreAddress) -> Result<StoreOptions> {
        let host = |address: &StoreAddress| {
            let url = address.url()?;
            let (_, rest) = url.split_once("://")?;
            rest.split(['/', '?']).next().map(str::to_owned)
        };
        let is_web = matches!(folder.scheme(), Some("http" | "https"));
        let is_same =
            folder.scheme() == self.repository.scheme() && (!is_web || host(folder) == host(&self.repository));
        if is_same { self.schemes.options_for(folder, &self.below) } else { Ok(StoreOptions::new()) }
    }
}

#[cfg(test)]
#[cfg(all(feature = "filesystem", feature = "zip"))]
mod tests {
    use std::path::{Path, PathBuf};

    use super::*;
    use crate::store::{StoreExt, open_with, schemes, signature_of_store};
    use zarr_store::ErrorKind;

    fn fixture(name: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../zarr-icechunk/tests").join(name)
    }

    /// Creates a directory with the repository `ice`, of version 2, and the file `outside.bin` that contains some of its chunks.
    fn repository() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let archive = open_with(&format!("zip:{}", fixture("v2.zip").display()), &StoreOptions::new()).unwrap();
        for key in archive.list().unwrap() {
            let path = folder.path().join("ice").join(key.as_str());
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, archive.get_all(&key).unwrap().unwrap()).unwrap();
        }
        std::fs::copy(fixture("outside.bin"), folder.path().join("outside.bin")).unwrap();
        folder
    }

    #[test]
    fn a_revision_stands_behind_the_address() {
        let folder = repository();
        let ice = format!("icechunk:{}", folder.path().join("ice").display());
        let time = |address: &str| crate::open(address).array().unwrap().read::<i64>(..).unwrap();
        for behind in ["", "@main", "@tag.v1"] {
            assert_eq!(time(&format!("{ice}{behind}::/time")), [0, 10, 20, 30, 40]);
        }
        for behind in ["@dev", "@branch.dev"] {
            assert_eq!(time(&format!("{ice}{behind}::/time")), [0, -1, -2, 30, 40]);
        }
        for name in ["v1.zip", "v2.zip"] {
            let zip = format!("icechunk:zip:{}", fixture(name).display());
            assert_eq!(time(&format!("{zip}@dev::/time")), [0, -1, -2, 30, 40]);
            assert_eq!(time(&format!("{zip}::/time")), [0, 10, 20, 30, 40]);
        }
        let error = crate::store::open(&format!("{ice}@mian")).unwrap_err();
        assert!(error.to_string().ends_with("no branch or snapshot \"mian\"; branches: dev, main"), "{error}");
    }

    #[test]
    fn files_outside_are_allowed_by_an_option() {
        let folder = repository();
        let ice = format!("icechunk:{}", folder.path().join("ice").display());
        let named = |allow: &str| {
            let array = crate::open(format!("{ice}::/named")).store_option("allow", allow).array().unwrap();
            array.read::<i16>(..).map_err(|error| format!("{error:?}"))
        };
        let own = format!("file://{}/", folder.path().display());
        assert_eq!(named(&format!("s3://b/,mine={own}")).unwrap(), (1..21).collect::<Vec<i16>>());
        let refused = named(&own).unwrap_err();
        assert!(refused.contains("option allow=mine=URL says where the container mine is"), "{refused}");
        let gone = named(&format!("mine={own}ice/")).unwrap_err();
        assert!(gone.contains("there is no such file"), "{gone}");
        let error = open_with(&ice, &StoreOptions::new().set("allow", "data")).unwrap_err();
        assert!(error.to_string().contains("option allow: expected URLs"), "{error}");
    }

    #[test]
    fn a_repository_is_only_read() {
        let folder = repository();
        let ice = folder.path().join("ice").display().to_string();
        let error = crate::store::create(&format!("icechunk:{ice}")).unwrap_err();
        assert!(error.to_string().contains("`zarr convert` copies it"), "{error}");
        let store = crate::store::open(&format!("icechunk:{ice}")).unwrap();
        assert_eq!(store.erase(&Key::new("zarr.json").unwrap()).unwrap_err().kind(), ErrorKind::ReadOnly);
        let signature = signature_of_store(&*crate::store::open(&ice).unwrap()).unwrap();
        assert_eq!(signature.what, "an Icechunk repository");
        assert!(signature.hint.contains("icechunk:ADDRESS opens it"), "{}", signature.hint);
    }

    #[test]
    fn options_go_to_the_same_service_alone() {
        let schemes = schemes();
        let address = |text: &str| schemes.address(text).unwrap();
        let below = StoreOptions::new().set("durability", "none");
        let files = |text: &str| Files {
            schemes: schemes.clone(),
            repository: address(text),
            below: below.clone(),
            opened: Mutex::default(),
        };
        assert_eq!(files("a").options_of(&address("b")).unwrap(), below);
        assert_eq!(files("memory:").options_of(&address("b")).unwrap(), StoreOptions::new());
    }
}
