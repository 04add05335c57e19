//! The table of the kinds of stores that addresses name.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use zarr_store::{Error, Operation, Result, Store};

use super::words::list;
use super::{StoreAddress, StoreOptions};

/// The option of files that lead elsewhere: the addresses where they may.
const ALLOW: &str = "allow";

/// Opens the store at an address. The table is for the address behind the scheme, of such as `zip:ADDRESS`.
type Opener = dyn Fn(&StoreAddress, &StoreOptions, &Schemes) -> Result<Arc<dyn Store>> + Send + Sync;

/// A kind of stores, by the beginning of their addresses.
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

/// The part of an address that follows the name of a scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// `NAME:`
    Alone,
    /// `NAME:PATH`
    Path,
    /// `NAME:ADDRESS`
    Address,
    /// `NAME://..`
    Url,
}

impl Scheme {
    /// A scheme of addresses `NAME://..`. The first name is the one in messages.
    pub fn url(
        names: &'static [&'static str],
        open: impl Fn(&StoreAddress, &StoreOptions, &Schemes) -> Result<Arc<dyn Store>> + Send + Sync + 'static,
    ) -> Self {
        Self::new(names, Form::Url, &[".zarr"], Arc::new(open))
    }

    /// A scheme of addresses `NAME:PATH`, such as `sqlite:x.sqlite`: [`StoreAddress::path`].
    pub fn path(
        names: &'static [&'static str],
        open: impl Fn(&StoreAddress, &StoreOptions, &Schemes) -> Result<Arc<dyn Store>> + Send + Sync + 'static,
    ) -> Self {
        Self::new(names, Form::Path, &[], Arc::new(open))
    }

    /// A scheme of addresses `NAME:ADDRESS`, such as `zip:x.zip`: [`StoreAddress::inner`]. Options that it does not know are of the store
    /// at that address.
    pub fn address(
        names: &'static [&'static str],
        open: impl Fn(&StoreAddress, &StoreOptions, &Schemes) -> Result<Arc<dyn Store>> + Send + Sync + 'static,
    ) -> Self {
        Self::new(names, Form::Address, &[], Arc::new(open))
    }

    /// The scheme of the address `NAME:`.
    pub fn alone(
        names: &'static [&'static str],
        open: impl Fn(&StoreAddress, &StoreOptions, &Schemes) -> Result<Arc<dyn Store>> + Send + Sync + 'static,
    ) -> Self {
        Self::new(names, Form::Alone, &[], Arc::new(open))
    }

    fn new(names: &'static [&'static str], form: Form, ends: &'static [&'static str], open: Arc<Opener>) -> Self {
        Self { names, form, ends, is_web: false, options: Some(&[]), open, create: None }
    }

    /// Stores are made by this, where there may be none yet. Without it the stores take no writes.
    #[must_use]
    pub fn create(
        self,
        create: impl Fn(&StoreAddress, &StoreOptions, &Schemes) -> Result<Arc<dyn Store>> + Send + Sync + 'static,
    ) -> Self {
        Self { create: Some(Arc::new(create)), ..self }
    }

    /// It knows options of these names. Without it, none.
    #[must_use]
    pub fn options(self, names: &'static [&'static str]) -> Self {
        Self { options: Some(names), ..self }
    }

    /// It gets all options and refuses those that it does not know itself.
    #[must_use]
    pub fn any_options(self) -> Self {
        Self { options: None, ..self }
    }

    /// The path of a node may follow directly behind a name that ends so, in any case. By default `.zarr` in a URL.
    #[must_use]
    pub fn ends(self, ends: &'static [&'static str]) -> Self {
        Self { ends, ..self }
    }

    /// Addresses are those of the web: percent-encoded, and with a query where there is a `?`.
    #[must_use]
    pub fn web(self) -> Self {
        Self { is_web: true, ..self }
    }

    /// How its addresses begin.
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

/// The kinds of stores that addresses may name: a table, as [`Registry`](crate::registry::Registry) is one of codecs.
///
/// [`schemes`](super::schemes) is that of this build. To add a kind of your own, take it, [`add`](Self::add) the kind and pass the table
/// on: [`Open::schemes`](crate::Open::schemes). Cloning copies pointers.
#[derive(Clone, Debug, Default)]
pub struct Schemes {
    table: Arc<Vec<Scheme>>,
    hints: Vec<(&'static str, &'static str)>,
}

impl Schemes {
    /// With paths alone that nothing opens.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a kind; it replaces others of its names. The kind with the name `file` opens paths, too.
    pub fn add(&mut self, scheme: Scheme) -> &mut Self {
        Arc::make_mut(&mut self.table).insert(0, scheme);
        self
    }

    /// For the error for this scheme, what is expected instead: "a build with the feature ...".
    pub fn add_hint(&mut self, name: &'static str, expected: &'static str) -> &mut Self {
        self.hints.push((name, expected));
        self
    }

    /// The kind of this name, in lower case.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Scheme> {
        self.table.iter().find(|scheme| scheme.names.contains(&name))
    }

    /// Opens the store at an address, which must be there.
    ///
    /// # Errors
    /// [`Error::Argument`] for an option that the kind does not know; and the errors of the kind.
    pub fn open(&self, address: &StoreAddress, options: &StoreOptions) -> Result<Arc<dyn Store>> {
        self.check(address, options)?;
        (self.of(address)?.open)(address, options, self)
    }

    /// Opens the store at an address for writing, and makes it if it is not there.
    ///
    /// # Errors
    /// As [`open`](Self::open); [`Error::ReadOnly`] for kinds that are only read.
    pub fn create(&self, address: &StoreAddress, options: &StoreOptions) -> Result<Arc<dyn Store>> {
        self.check(address, options)?;
        match &self.of(address)?.create {
            Some(create) => create(address, options, self),
            None => Err(Error::ReadOnly { store: address.to_string(), operation: Operation::Open }),
        }
    }

    /// Checks that the kind of an address knows these options.
    ///
    /// # Errors
    /// [`Error::Argument`] for one that it does not know.
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

    /// The options that the kind of an address knows; all options for a kind that refuses options itself.
    ///
    /// # Errors
    /// If the address is of no known kind.
    pub fn options_for(&self, address: &StoreAddress, options: &StoreOptions) -> Result<StoreOptions> {
        // Only a file leads elsewhere.
        let leads_elsewhere = address.scheme().is_some() || address.path().is_some_and(Path::is_file);
        let options = options.filter(|name| leads_elsewhere || name != ALLOW);
        Ok(match self.known_with(address, &options)? {
            None => options,
            Some(known) => options.filter(|name| known.contains(&name)),
        })
    }

    /// The options of a kind, of those behind it, and of the stores that a file of this machine is allowed to lead to; `None` for any.
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

    /// The options of a kind and of those behind it; `None` for any.
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

    /// The error for a scheme that is not in the table.
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
