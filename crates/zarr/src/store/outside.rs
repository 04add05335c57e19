//! Files that a file names, as references and external links do: those beside it, and those that the option `allow` names.

use std::path::Path;
use std::sync::Arc;

use zarr_store::{Result, Store};

use super::{Schemes, StoreAddress, StoreOptions};

/// Name of the option with the addresses below which a file may name others.
pub(super) const ALLOW: &str = "allow";

/// Function that opens the store at an allowed address.
type Opener = Arc<dyn Fn(&str) -> Result<Arc<dyn Store>> + Send + Sync>;

/// Files that a file may name.
pub(super) struct Outside {
    /// Addresses of the directory of the file.
    pub(super) directories: Vec<String>,
    /// Addresses that the caller allows.
    pub(super) allowed: Vec<String>,
    pub(super) open: Opener,
}

impl Outside {
    /// Finds the files that `file` may name, by the options of its store. `is_resolved` says that the file is read behind links.
    pub(super) fn of(
        file: &StoreAddress,
        is_resolved: bool,
        options: &StoreOptions,
        schemes: &Schemes,
    ) -> Result<Self> {
        let others = without_allowed(options);
        let allowed = options.get(ALLOW).unwrap_or_default().split(',').filter(|prefix| !prefix.is_empty());
        let allowed = allowed.map(absolute).collect();
        let own = place_of_options(file, options, &others, schemes)?;
        let all = schemes.clone();
        let open: Opener = Arc::new(move |prefix| {
            let address = all.address(prefix)?;
            all.open(&address, &all.options_for(&address, &shared(&own, &address, &others))?)
        });
        Ok(Self { directories: directories(file, is_resolved), allowed, open })
    }
}

/// Returns the options of the store of the file that names others.
pub(super) fn without_allowed(options: &StoreOptions) -> StoreOptions {
    options.filter(|name| name != ALLOW)
}

/// Returns the address of the store that gets the options: that of the file that names others, or, if it is a file of this
/// machine and remote addresses are allowed, the first of these addresses. An option that the other allowed addresses must not get is
/// an error.
fn place_of_options(
    file: &StoreAddress,
    options: &StoreOptions,
    others: &StoreOptions,
    schemes: &Schemes,
) -> Result<StoreAddress> {
    let prefixes = options.get(ALLOW).unwrap_or_default().split(',');
    let mut far = prefixes.filter_map(|prefix| schemes.address(prefix).ok()).filter(|far| far.url().is_some());
    let Some(first) = far.next().filter(|_| file.path().is_some()) else { return Ok(file.clone()) };
    for other in far {
        let kept = shared(&first, &other, others);
        if let Some((name, _)) = others.pairs().iter().find(|(name, _)| kept.get(name).is_none()) {
            let several = format!("option {name} is for one host or bucket, and {first} and {other} are allowed");
            return Err(file.refuse(several));
        }
    }
    Ok(first)
}

/// Names of options of connections to any host, which are no secrets.
const CONNECTIONS: &[&str] =
    &["concurrency", "connect_timeout", "deadline", "hedge", "missing", "retries", "timeout", "user_agent"];
/// Names of options that buckets of one scheme share, which are no secrets.
const BUCKETS: &[&str] = &["allow_http", "anonymous", "endpoint", "region", "requester_pays"];

/// Returns the options of the store at `own` that the store at `other` also gets. Options that may be secrets are passed on only if
/// both have the same host or bucket.
pub(super) fn shared(own: &StoreAddress, other: &StoreAddress, options: &StoreOptions) -> StoreOptions {
    let is_web = |address: &StoreAddress| matches!(address.scheme(), Some("http" | "https"));
    // The bucket or container is part of the authority; a user in a web address is not.
    let authority = |address: &StoreAddress| {
        let url = address.url()?;
        let (_, rest) = url.split_once("://")?;
        let authority = rest.split(['/', '?', '#']).next()?;
        let host = authority.rsplit_once('@').filter(|_| is_web(address)).map_or(authority, |(_, host)| host);
        Some(if is_web(address) { host.to_ascii_lowercase() } else { host.to_owned() })
    };
    let is_like = own.scheme() == other.scheme();
    if is_like && authority(own) == authority(other) {
        return options.clone();
    }
    options.filter(|name| CONNECTIONS.contains(&name) || is_like && !is_web(own) && BUCKETS.contains(&name))
}

/// Returns the addresses of the directory that contains `file`: as it was given, and with links resolved. `is_resolved` says that the file
/// is read behind links, so that its directory is that of the target.
pub(super) fn directories(file: &StoreAddress, is_resolved: bool) -> Vec<String> {
    let Some(path) = file.path() else {
        return file.in_store().and_then(|(above, _)| above.url()).into_iter().collect();
    };
    let given = std::path::absolute(path).ok().and_then(|path| path.parent().map(Path::to_owned));
    let real = |path: &Path| path.canonicalize().ok();
    let target = match is_resolved {
        true => real(path).and_then(|path| path.parent().map(Path::to_owned)),
        false => given.as_deref().and_then(real),
    };
    let given = given.filter(|given| target.is_none() || real(given) == target);
    let mut folders: Vec<String> =
        given.into_iter().chain(target).filter_map(|folder| folder.to_str().map(str::to_owned)).collect();
    folders.dedup();
    folders
}

/// Makes a path of this machine absolute, since references name files by absolute paths.
fn absolute(prefix: &str) -> String {
    let path = Path::new(prefix);
    if prefix.contains("://") || path.is_absolute() {
        return prefix.to_owned();
    }
    std::path::absolute(path)
        .ok()
        .and_then(|path| path.to_str().map(str::to_owned))
        .unwrap_or_else(|| prefix.to_owned())
}
