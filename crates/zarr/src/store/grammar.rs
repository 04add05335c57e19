//! Grammar of addresses of stores and nodes.

use std::path::{Component, Path, PathBuf};

use zarr_store::Result;

use super::address::{Rest, percent_decoded, shown};
use super::schemes::Form;
use super::{Scheme, Schemes, StoreAddress};

impl Schemes {
    /// Parses the address of a store. The address may end in `::` or `::/`, as the address of the root node does.
    ///
    /// # Errors
    /// [`Error::Argument`](zarr_store::Error::Argument) if the scheme is unknown, if the address does not have the form of its scheme, or
    /// if the address contains the path of a node.
    pub fn address(&self, text: &str) -> Result<StoreAddress> {
        match self.split(text) {
            Some((store, "" | "/")) => self.parse(store),
            Some((store, path)) => {
                let address = self.parse(store)?;
                Err(address.refuse(format!("found the path {path:?} of a node, expected the address of a store")))
            }
            None => self.parse(text),
        }
    }

    /// Parses the address of a store and, if the address continues, the path of a node: behind `::`, or directly behind the name of the
    /// store. The path is `None` if the address ends with the store.
    ///
    /// ```
    /// let schemes = zarr::store::schemes();
    /// let (store, path) = schemes.node("data/x.zarr/group/array")?;
    /// assert_eq!((store.to_string().as_str(), path.as_deref()), ("data/x.zarr", Some("/group/array")));
    /// let (store, path) = schemes.node("zip:data/x.zip::/array")?;
    /// assert_eq!((store.to_string().as_str(), path.as_deref()), ("zip:data/x.zip", Some("/array")));
    /// # Ok::<(), zarr::store::Error>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`address`](Self::address).
    pub fn node(&self, text: &str) -> Result<(StoreAddress, Option<String>)> {
        if let Some((store, path)) = self.split(text) {
            return Ok((self.parse(store)?, Some(if path.is_empty() { "/" } else { path }.to_owned())));
        }
        let address = self.parse(text)?;
        self.split_directly(address)
    }

    /// Whether `text` separates the address of the store from the path of the node by `::`.
    pub(crate) fn is_separate(&self, text: &str) -> bool {
        self.split(text).is_some()
    }

    /// Splits `STORE::PATH`; `None` if `text` has no `::` or is a path that exists on this machine.
    fn split<'t>(&self, text: &'t str) -> Option<(&'t str, &'t str)> {
        let mut from = 0;
        match scheme(text) {
            Some((name, rest)) if self.is_known(&name) => {
                if let Some(chained) = self.chained(&name, rest) {
                    from = text.len() - chained.len();
                }
                // An IPv6 address contains colons, too.
                if let Some(at) = text[from..].find("://[")
                    && let Some(end) = text[from + at..].find(']')
                {
                    from += at + end;
                }
            }
            _ if text.contains("::") && Path::new(text).exists() => return None,
            _ => {}
        }
        let at = text[from..].find("::/").or_else(|| text[from..].rfind("::"))?;
        Some((&text[..from + at], &text[from + at + 2..]))
    }

    /// Returns the address behind `zip::`, which is how fsspec chains addresses; `None` if that address has no known scheme.
    fn chained<'t>(&self, name: &str, rest: &'t str) -> Option<&'t str> {
        let chained = rest.strip_prefix(':')?;
        let (inner, _) = scheme(chained)?;
        (self.get(name)?.form == Form::Address && self.is_known(&inner)).then_some(chained)
    }

    fn is_known(&self, name: &str) -> bool {
        self.get(name).is_some() || self.hint(name).is_some()
    }

    /// Parses `text` as the address of a store, without the path of a node.
    fn parse(&self, text: &str) -> Result<StoreAddress> {
        let Some((name, rest)) = scheme(text) else { return Ok(StoreAddress::of_path(text)) };
        let Some(known) = self.get(&name) else {
            let is_url = rest.starts_with("//");
            return if is_url || self.hint(&name).is_some() {
                Err(self.unknown(&name, &shown(text)))
            } else {
                Ok(StoreAddress::of_path(text))
            };
        };
        let refuse = |message: &str| {
            let address = zarr_store::Error::Argument { store: shown(text), message: message.to_owned() };
            Err(address)
        };
        let rest = match known.form {
            Form::Alone if matches!(rest, "" | "//") => Rest::Nothing,
            Form::Alone => return refuse("found something behind the colon, expected nothing"),
            Form::Path | Form::Address if rest.is_empty() => return refuse("found nothing behind the colon"),
            Form::Path => {
                let inner = self.parse(rest)?;
                match inner.rest {
                    Rest::Path(path) if inner.scheme.is_none() => Rest::Path(path),
                    _ => return refuse("found another address behind the colon, expected a path"),
                }
            }
            Form::Address => {
                if rest.starts_with("//") {
                    let message = format!("expected {name}:ADDRESS, and ::/PATH behind it for a node");
                    return refuse(&message);
                }
                Rest::Address(Box::new(self.parse(self.chained(&name, rest).unwrap_or(rest))?))
            }
            Form::Url => {
                let Some(url) = rest.strip_prefix("//") else {
                    return refuse(&format!("expected {name}://"));
                };
                if !known.is_web && url.contains(['?', '#']) {
                    return refuse(
                        "the address has a ? or #, which only those of the web may have; settings are options of the store",
                    );
                }
                match name.as_str() {
                    "file" => match file(url) {
                        Some(path) => return Ok(StoreAddress::of_path(path)),
                        None => return refuse("expected file:///path, in which %41 stands for A"),
                    },
                    _ if url.is_empty() || url.starts_with('/') => return refuse("found no name behind the //"),
                    _ => Rest::Url(url.to_owned()),
                }
            }
        };
        Ok(StoreAddress { scheme: Some(name), rest })
    }

    /// Splits an address without `::` behind the name of the store: the address of the store, and the path of the node; `None` if the
    /// address ends with the store.
    fn split_directly(&self, address: StoreAddress) -> Result<(StoreAddress, Option<String>)> {
        let known = address.scheme().and_then(|name| self.get(name));
        let (ends, is_web) = known.map_or((&[][..], false), |known: &Scheme| (known.ends, known.is_web));
        match &address.rest {
            Rest::Nothing => Ok((address, None)),
            Rest::Path(path) => {
                let split = match address.scheme() {
                    // Names behind the name of a file can only be the path of a node.
                    None => split_path(path, |path| is_hierarchy(path) || is_zip(path) || path.is_file()),
                    Some(_) => split_path(path, |path| path.is_file() || has_end(path, ends) && !path.is_dir()),
                };
                let (root, node) = split.map_err(|message| address.refuse(message))?;
                Ok((StoreAddress { rest: Rest::Path(root), ..address }, node))
            }
            Rest::Address(inner) => {
                let (inner, node) = match &inner.rest {
                    Rest::Path(path) => {
                        let is_end = |path: &Path| path.is_file() || has_end(path, ends) && !path.is_dir();
                        let (root, node) = split_path(path, is_end).map_err(|message| address.refuse(message))?;
                        (StoreAddress { rest: Rest::Path(root), ..(**inner).clone() }, node)
                    }
                    Rest::Url(url) => {
                        let is_web = inner.scheme().and_then(|name| self.get(name)).is_some_and(|scheme| scheme.is_web);
                        let (url, node) = split_url(&address, url, ends, is_web)?;
                        (StoreAddress { rest: Rest::Url(url), ..(**inner).clone() }, node)
                    }
                    _ => return Ok((address, None)),
                };
                Ok((StoreAddress { rest: Rest::Address(Box::new(inner)), ..address }, node))
            }
            Rest::Url(url) => {
                let (url, node) = split_url(&address, url, ends, is_web)?;
                Ok((StoreAddress { rest: Rest::Url(url), ..address }, node))
            }
        }
    }
}

/// Splits a string into its scheme, in lower case, and the part behind the colon (RFC 3986, section 3.1). A single letter is a drive of
/// Windows, not a scheme.
fn scheme(text: &str) -> Option<(String, &str)> {
    let (name, rest) = text.split_once(':')?;
    let is_scheme = name.len() > 1
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    is_scheme.then(|| (name.to_ascii_lowercase(), rest))
}

/// Returns the path of a `file://` address, whose host must be empty or `localhost` (RFC 8089).
fn file(rest: &str) -> Option<PathBuf> {
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    if !path.starts_with('/') {
        return None;
    }
    percent_decoded(path).map(PathBuf::from)
}

/// Splits a path behind the first name that `is_end` accepts: the path of the store, and the further names as the path of a node. Returns
/// the whole path if no name is accepted.
pub(crate) fn split_path(path: &Path, is_end: impl Fn(&Path) -> bool) -> Result<(PathBuf, Option<String>), String> {
    let mut before = PathBuf::new();
    let mut root: Option<PathBuf> = None;
    let mut names = Vec::new();
    for component in path.components() {
        before.push(component);
        match (component, &root) {
            // A path behind `..` is not in the store that was named before.
            (Component::ParentDir, _) => (root, names) = (None, Vec::new()),
            (Component::Normal(name), Some(_)) => {
                names.push(name.to_str().ok_or("a node has a name that is not UTF-8")?.to_owned());
            }
            (Component::Normal(_), None) if is_end(&before) => root = Some(before.clone()),
            _ => {}
        }
    }
    Ok(match root {
        Some(root) if names.is_empty() => (root, None),
        Some(root) => (root, Some(format!("/{}", names.join("/")))),
        None => (path.to_owned(), None),
    })
}

/// Splits `authority/path` of a URL behind the first name with one of the extensions `ends`, as [`split_path`] splits a path. The address
/// of the store keeps the query of a web address.
fn split_url(address: &StoreAddress, url: &str, ends: &[&str], is_web: bool) -> Result<(String, Option<String>)> {
    let (plain, query) = url.find('?').filter(|_| is_web).map_or((url, ""), |at| url.split_at(at));
    let mut at = plain.find('/').unwrap_or(plain.len());
    while at < plain.len() {
        let begin = at + 1;
        at = plain[begin..].find('/').map_or(plain.len(), |len| begin + len);
        let name = &plain[begin..at];
        if ends.iter().any(|end| ends_with(name, end)) {
            let node = plain[at..].trim_end_matches('/');
            if node.is_empty() {
                return Ok((format!("{}{query}", &plain[..at]), None));
            }
            let node = if is_web { percent_decoded(node) } else { Some(node.to_owned()) };
            let node = node.ok_or_else(|| address.refuse("the path of the node is not percent-encoded"))?;
            return Ok((format!("{}{query}", &plain[..at]), Some(node)));
        }
    }
    Ok((url.to_owned(), None))
}

/// Whether a name has the extension `end`, which includes the dot, in any case.
fn ends_with(name: &str, end: &str) -> bool {
    let at = name.len().checked_sub(end.len()).filter(|at| *at > 0);
    at.and_then(|at| name.get(at..)).is_some_and(|found| found.eq_ignore_ascii_case(end))
}

pub(super) fn has_end(path: &Path, ends: &[&str]) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy());
    name.is_some_and(|name| ends.iter().any(|end| ends_with(&name, end)))
}

/// Whether the name of a path has the extension of hierarchies, `.zarr`.
pub(crate) fn is_hierarchy(path: &Path) -> bool {
    has_end(path, &[".zarr"])
}

/// Extensions of zip files; `.ozx` is OME-Zarr in one file.
pub(crate) const ZIP: &[&str] = &[".zip", OZX];
pub(super) const OZX: &str = ".ozx";

/// Whether a path has an extension of zip files and is not a directory.
pub(crate) fn is_zip(path: &Path) -> bool {
    has_end(path, ZIP) && !path.is_dir()
}
