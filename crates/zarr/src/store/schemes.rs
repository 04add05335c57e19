//! Table of the kinds of stores that addresses name.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use zarr_store::{Error, Operation, Result, Store};

use super::words::list;
use super::{StoreAddress, StoreOptions};

/// Whether a path of this machine is a file or a folder of references: only these can refer to other stores.
fn leads_elsewhere(path: &Path) -> bool {
    #[cfg(feature = "references-parquet")]
    if super::signature::is_reference_folder(path) {
        return true;
    }
    path.is_file()
}

/// Name of the option with the addresses below which references may name files.
const ALLOW: &str = "allow";

/// Function of a scheme that opens the store at an address. For an address like `zip:ADDRESS`, the function opens the store at the inner
/// address by the table [`Schemes`].
type Opener = dyn Fn(&StoreAddress, &StoreOptions, &Schemes) -> Result<Arc<dyn Store>> + Send + Sync;

/// Kind of stores, which the scheme of an address names.
///
/// ```
/// use std::sync::Arc;
/// use zarr::store::{MemoryStore, Scheme, StoreOptions, schemes};
///
/// let mut schemes = schemes();
/// schemes.add(Scheme::url(&["mine"], |address, options, _| {
///     let level = options.get("level").unwrap_or("1");
///     assert_eq!((address.url().as_deref(), level), (Some("mine://host/a.zarr"), "2"));
///     Ok(Arc::new(MemoryStore::new()))
/// }).options(&["level"]));
/// let address = schemes.address("mine://host/a.zarr")?;
/// schemes.open(&address, &StoreOptions::new().set("level", "2"))?;
/// let error = schemes.open(&address, &StoreOptions::new().set("levle", "2")).unwrap_err();
/// assert!(error.to_string().ends_with("option levle is not known, expected level"));
/// # Ok::<(), zarr::store::Error>(())
/// ```
#[derive(Clone)]
pub struct Scheme {
    pub(super) names: &'static [&'static str],
    pub(super) form: Form,
    pub(super) ends: &'static [&'static str],
    pub(super) is_web: bool,
    options: Option<&'static [&'static str]>,
    open: Arc<Opener>,
    create: Option<Arc<Opener>>,
}

/// Form of an address behind the name of a scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Address `NAME:` without a further part.
    Alone,
    /// Address `NAME:PATH`.
    Path,
    /// Address `NAME:ADDRESS`.
    Address,
    /// Address `NAME://..`.
    Url,
}

impl Scheme {
    /// Returns a scheme of addresses `NAME://..`. Messages use the first of the names.
    pub fn url(
        names: &'static [&'static str],
        open: impl Fn(&StoreAddress, &StoreOptions, &Schemes) -> Result<Arc<dyn Store>> + Send + Sync + 'static,
    ) -> Self {
        Self::new(names, Form::Url, &[".zarr"], Arc::new(open))
    }

    /// Returns a scheme of addresses `NAME:PATH`, such as `sqlite:x.sqlite`; see [`StoreAddress::path`].
    pub fn path(
        names: &'static [&'static str],
        open: impl Fn(&StoreAddress, &StoreOptions, &Schemes) -> Result<Arc<dyn Store>> + Send + Sync + 'static,
    ) -> Self {
        Self::new(names, Form::Path, &[], Arc::new(open))
    }

    /// Returns a scheme of addresses `NAME:ADDRESS`, such as `zip:x.zip`; see [`StoreAddress::inner`]. Options that the scheme does not
    /// know belong to the store at the inner address.
    pub fn address(
        names: &'static [&'static str],
        open: impl Fn(&StoreAddress, &StoreOptions, &Schemes) -> Result<Arc<dyn Store>> + Send + Sync + 'static,
    ) -> Self {
        Self::new(names, Form::Address, &[], Arc::new(open))
    }

    /// Returns a scheme whose only address is its name followed by a colon, such as `memory:`.
    pub fn alone(
        names: &'static [&'static str],
        open: impl Fn(&StoreAddress, &StoreOptions, &Schemes) -> Result<Arc<dyn Store>> + Send + Sync + 'static,
    ) -> Self {
        Self::new(names, Form::Alone, &[], Arc::new(open))
    }

    fn new(names: &'static [&'static str], form: Form, ends: &'static [&'static str], open: Arc<Opener>) -> Self {
        Self { names, form, ends, is_web: false, options: Some(&[]), open, create: None }
    }

    /// Sets the function that opens a store for writing, and creates the store if it does not exist. Without it, stores of this scheme are
    /// read-only.
    #[must_use]
    pub fn create(
        self,
        create: impl Fn(&StoreAddress, &StoreOptions, &Schemes) -> Result<Arc<dyn Store>> + Send + Sync + 'static,
    ) -> Self {
        Self { create: Some(Arc::new(create)), ..self }
    }

    /// Sets the names of the options that the scheme knows; none by default.
    #[must_use]
    pub fn options(self, names: &'static [&'static str]) -> Self {
        Self { options: Some(names), ..self }
    }

    /// Passes all options to the scheme, which must refuse unknown options itself.
    #[must_use]
    pub fn any_options(self) -> Self {
        Self { options: None, ..self }
    }

    /// Sets the extensions of names behind which the path of a node may follow directly, in any case. The default is `.zarr` for URLs.
    #[must_use]
    pub fn ends(self, ends: &'static [&'static str]) -> Self {
        Self { ends, ..self }
    }

    /// Declares that addresses of the scheme are web addresses: percent-encoded, with a query behind `?`.
    #[must_use]
    pub fn web(self) -> Self {
        Self { is_web: true, ..self }
    }

    /// Returns the beginning of addresses of this scheme as messages show it, such as `s3://`.
    fn begin(&self) -> String {
        let name = self.names.first().copied().unwrap_or_default();
        if self.form == Form::Url { format!("{name}://") } else { format!("{name}:") }
    }
}

impl fmt::Debug for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scheme").field("names", &self.names).field("form", &self.form).finish_non_exhaustive()
    }
}

/// Table of the kinds of stores that addresses may name, like [`Registry`](crate::registry::Registry) for codecs.
///
/// [`schemes`](super::schemes) returns the table of this build. To use your own kind, [`add`](Self::add) it to this table, and pass the
/// table to [`Open::schemes`](crate::Open::schemes). Clones share the kinds.
#[derive(Clone, Debug, Default)]
pub struct Schemes {
    table: Arc<Vec<Scheme>>,
    hints: Vec<(&'static str, &'static str)>,
}

impl Schemes {
    /// Returns an empty table, which parses paths only and opens no store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a kind of stores, which replaces earlier kinds with the same names. The kind called `file` also opens paths.
    pub fn add(&mut self, scheme: Scheme) -> &mut Self {
        Arc::make_mut(&mut self.table).insert(0, scheme);
        self
    }

    /// Adds a hint for addresses of an unknown scheme `name`. The error for these addresses says that `expected` is expected, such as "a
    /// build with the feature ...".
    pub fn add_hint(&mut self, name: &'static str, expected: &'static str) -> &mut Self {
        self.hints.push((name, expected));
        self
    }

    /// Returns the kind of stores called `name`, in lower case; `None` if it is not in the table.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Scheme> {
        self.table.iter().find(|scheme| scheme.names.contains(&name))
    }

    /// Opens the store at an address; the store must exist.
    ///
    /// # Errors
    /// [`Error::Argument`] for an option that the kind does not know, and the errors of the kind.
    pub fn open(&self, address: &StoreAddress, options: &StoreOptions) -> Result<Arc<dyn Store>> {
        self.check(address, options)?;
        (self.of(address)?.open)(address, options, self)
    }

    /// Opens the store at an address for writing, and creates it if it does not exist.
    ///
    /// # Errors
    /// The errors of [`open`](Self::open); [`Error::ReadOnly`] for read-only kinds.
    pub fn create(&self, address: &StoreAddress, options: &StoreOptions) -> Result<Arc<dyn Store>> {
        self.check(address, options)?;
        match &self.of(address)?.create {
            Some(create) => create(address, options, self),
            None => Err(Error::ReadOnly { store: address.to_string(), operation: Operation::Open }),
        }
    }

    /// Checks that the kind of an address knows all of `options`.
    ///
    /// # Errors
    /// [`Error::Argument`] for an unknown option.
    pub fn check(&self, address: &StoreAddress, options: &StoreOptions) -> Result<()> {
        let known = self.known_with(address, options)?;
        let (Some(known), Some((unknown, _))) = (
            &known,
            options
                .pairs()
                .iter()
                .find(|(name, _)| known.as_ref().is_some_and(|known| !known.contains(&name.as_str()))),
        ) else {
            return Ok(());
        };
        let expected = match known.as_slice() {
            [] => "which has no options".to_owned(),
            known => format!("expected {}", list(known)),
        };
        Err(address.refuse(format!("option {unknown} is not known, {expected}")))
    }

    /// Returns the options that the kind of an address knows; all options for a kind that refuses unknown options itself.
    ///
    /// # Errors
    /// [`Error::Argument`] or [`Error::Address`] if the kind of the address is unknown.
    pub fn options_for(&self, address: &StoreAddress, options: &StoreOptions) -> Result<StoreOptions> {
        let leads_elsewhere = address.scheme().is_some() || address.path().is_some_and(leads_elsewhere);
        let options = options.filter(|name| leads_elsewhere || name != ALLOW);
        Ok(match self.known_with(address, &options)? {
            None => options,
            Some(known) => options.filter(|name| known.contains(&name)),
        })
    }

    /// Returns the names of the options that are valid for an address: of its kind, of the kinds of inner addresses, and of the remote
    /// stores that references may name. `None` if the kind accepts any name.
    fn known_with(&self, address: &StoreAddress, options: &StoreOptions) -> Result<Option<Vec<&'static str>>> {
        let Some(mut known) = self.known(address)? else { return Ok(None) };
        if known.contains(&ALLOW) {
            let prefixes = options.get(ALLOW).unwrap_or_default().split(',');
            for other in prefixes.filter_map(|prefix| self.address(prefix).ok()).filter(|other| other.url().is_some()) {
                match self.known(&other)? {
                    None => return Ok(None),
                    Some(more) => {
                        known.extend(more.into_iter().filter(|name| !known.contains(name)).collect::<Vec<_>>())
                    }
                }
            }
        }
        Ok(Some(known))
    }

    /// Returns the names of the options that the kind of an address and the kinds of its inner addresses know; `None` if one of them
    /// accepts any name.
    fn known(&self, address: &StoreAddress) -> Result<Option<Vec<&'static str>>> {
        let Some(own) = self.of(address)?.options else { return Ok(None) };
        let mut known = own.to_vec();
        if let Some(inner) = address.inner() {
            match self.known(inner)? {
                Some(more) => known.extend(more),
                None => return Ok(None),
            }
        }
        Ok(Some(known))
    }

    fn of(&self, address: &StoreAddress) -> Result<&Scheme> {
        let name = address.scheme().unwrap_or("file");
        self.get(name).ok_or_else(|| self.unknown(name, &address.to_string()))
    }

    /// Returns the error for a scheme that is not in the table.
    pub(super) fn unknown(&self, name: &str, shown: &str) -> Error {
        match self.hint(name) {
            Some(expected) => Error::Address { url: shown.to_owned(), expected },
            None => {
                let mut kinds: Vec<String> = self.table.iter().map(Scheme::begin).collect();
                kinds.push("a path".to_owned());
                kinds.reverse();
                let kinds: Vec<&str> = kinds.iter().map(String::as_str).collect();
                let message = format!("no store for addresses of this kind, expected {}", list(&kinds));
                Error::Argument { store: shown.to_owned(), message }
            }
        }
    }

    pub(super) fn hint(&self, name: &str) -> Option<&'static str> {
        self.hints.iter().find(|(hinted, _)| *hinted == name).map(|(_, expected)| *expected)
    }
}
