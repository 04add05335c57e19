//! Context of all verbs: the global options, and the functions that open the nodes named on the command line.

use crate::args::{Global, Loss, NodeArgs};
use crate::failure::{Failure, Result};
use crate::near::beside;
use crate::object::object;
use crate::pager::Pager;
use crate::report::Palette;
use crate::{output, report};
use std::cell::{Cell, RefCell};
use std::fmt;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use zarr::convert::ConvertOptions;
use zarr::hierarchy::StoredNode;
use zarr::meta::Dialect;
use zarr::meta::NodePath;
use zarr::meta::json::{Map, Value};
use zarr::registry::Registry;
use zarr::store::{IcechunkCommit, Schemes, StoreAddress, StoreExt, StoreOptions, signature_of_file};
use zarr::virtualize::{Input, Joined, SaveOptions, Saved};
use zarr::{Array, Options, Store};

/// Name of the codec that is only enabled by `--pickle-values`.
const PICKLE: &str = "numcodecs.pickle";

/// Global options, and the stores that the running verb has opened.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) global: Global,
    pub(crate) registry: Arc<Registry>,
    /// Styles of what is printed on standard output.
    pub(crate) palette: Palette,
    /// Kinds of stores that an address can name.
    schemes: Schemes,
    store_options: StoreOptions,
    /// Whether a command with two stores gives each store only the options that the store knows.
    shares_options: Cell<bool>,
    /// Stores that were opened so far.
    stores: RefCell<Vec<Arc<dyn Store>>>,
    /// Directories that were created for new stores.
    created: RefCell<Vec<PathBuf>>,
}

/// Node that was named on the command line, with its opened store.
#[derive(Debug)]
pub(crate) struct NodeLocation {
    pub(crate) store: Arc<dyn Store>,
    /// Address of the store.
    pub(crate) address: StoreAddress,
    pub(crate) path: NodePath,
    pub(crate) dialect: Option<Dialect>,
}

impl Context {
    pub(crate) fn new(global: Global) -> Self {
        let palette = report::set_color(global.color);
        let mut registry = Registry::clone(&zarr::registry::default());
        if global.pickle_values {
            registry.codecs.add(zarr::registry::PICKLE);
        } else {
            registry
                .codecs
                .add_hint(PICKLE, "pickles are programs: --pickle-values reads plain values, and runs nothing");
        }
        let given = global.store_options.iter().flat_map(|options| options.pairs().iter().cloned());
        let store_options = given.collect();
        Self {
            global,
            registry: Arc::new(registry),
            palette,
            schemes: zarr::store::schemes(),
            store_options,
            shares_options: Cell::default(),
            stores: RefCell::default(),
            created: RefCell::default(),
        }
    }

    /// Parses the address of a store.
    pub(crate) fn store_address(&self, text: &str) -> Result<StoreAddress> {
        Ok(self.schemes.address(text).map_err(zarr::Error::from)?)
    }

    /// Parses the address of a store. The second value is the path of a node in that store; `None` if `text` names no node.
    pub(crate) fn node_address(&self, text: &str) -> Result<(StoreAddress, Option<String>)> {
        Ok(self.schemes.node(text).map_err(zarr::Error::from)?)
    }

    /// Checks that each option of `--store-option` is known to at least one of the stores at `addresses`. Then each store gets only the
    /// options that it knows.
    pub(crate) fn share_options(&self, addresses: &[&StoreAddress]) -> Result<()> {
        for (name, value) in self.store_options.pairs() {
            let mut option = StoreOptions::new().set(name, value);
            // The stores to which a store with `allow` refers may know the option.
            if let Some(allowed) = self.store_options.get("allow") {
                option = option.set("allow", allowed);
            }
            let checks = addresses.iter().map(|address| self.schemes.check(address, &option));
            if let Some(error) = checks.reduce(|a, b| if a.is_ok() { a } else { b }).and_then(|check| check.err()) {
                return Err(zarr::Error::from(error).into());
            }
        }
        self.shares_options.set(true);
        Ok(())
    }

    fn options_of(&self, address: &StoreAddress) -> zarr::Result<StoreOptions> {
        Ok(match self.shares_options.get() {
            true => self.schemes.options_for(address, &self.store_options)?,
            false => self.store_options.clone(),
        })
    }

    /// Opens the store at `address`.
    pub(crate) fn open_store(&self, address: &StoreAddress) -> zarr::Result<Arc<dyn Store>> {
        let opened = self.schemes.open(address, &self.options_of(address)?);
        let store = opened.map_err(|error| match error {
            // The address is a file, or a directory without a store: its signature tells what can read it.
            zarr::store::Error::NotAStore { .. } => match address.path().and_then(signature_of_file) {
                Some(signature) => zarr::Error::from(error).with_hint(signature.hint),
                None => error.into(),
            },
            error => beside(zarr::Error::from(error), address),
        })?;
        self.stores.borrow_mut().push(Arc::clone(&store));
        Ok(store)
    }

    /// The commits that led to the snapshot at an address of an Icechunk repository, the newest first, at most `limit`.
    pub(crate) fn history(&self, address: &StoreAddress, limit: usize) -> Result<Vec<IcechunkCommit>> {
        let commits = zarr::store::icechunk_history(address, &self.store_options, &self.schemes, limit);
        Ok(commits.map_err(zarr::Error::from)?)
    }

    /// Opens the store at an address as one whose chunks have places.
    pub(crate) fn open_input(&self, address: &StoreAddress) -> zarr::Result<Input> {
        let input = zarr::virtualize::open_with(address, &self.options_of(address)?, &self.schemes);
        let input = input.map_err(|error| beside(error, address))?;
        self.stores.borrow_mut().push(Arc::new(input.store().clone()));
        Ok(input)
    }

    /// Writes references to a file.
    pub(crate) fn save_references(
        &self,
        joined: Joined,
        target: &StoreAddress,
        options: &SaveOptions,
    ) -> zarr::Result<Saved> {
        let store_options = self.options_of(target)?.filter(|name| name != "allow");
        zarr::virtualize::save_with(joined, target, options, &store_options, &self.schemes)
    }

    /// Opens the store at an address, and creates it if it does not exist.
    pub(crate) fn create_store(&self, address: &StoreAddress) -> zarr::Result<Arc<dyn Store>> {
        let directory = address.path().filter(|path| address.inner().is_none() && !path.exists());
        let store = self.schemes.create(address, &self.options_of(address)?)?;
        self.created.borrow_mut().extend(directory.map(Path::to_path_buf));
        self.stores.borrow_mut().push(Arc::clone(&store));
        Ok(store)
    }

    /// Removes, after a failure, the directories that were created for new stores and are still empty.
    pub(crate) fn remove_empty(&self) {
        for directory in self.created.borrow().iter() {
            // This fails for a directory that is not empty, and for a file.
            drop(std::fs::remove_dir(directory));
        }
    }

    /// Flushes the stores that only show writes after a flush, such as zip files, now that the command has done its work. After a failure
    /// they are not flushed, so that they stay unchanged.
    pub(crate) fn flush_stores(&self) -> Result<()> {
        let appears_now = |store: &&Arc<dyn Store>| store.capabilities().appears_at_flush;
        self.stores
            .borrow()
            .iter()
            .filter(appears_now)
            .try_for_each(|store| store.flush())
            .map_err(zarr::Error::from)?;
        Ok(())
    }

    /// Prints the warnings of all opened stores, at the end of the command.
    pub(crate) fn store_warnings(&self) {
        self.stores.borrow().iter().for_each(|store| self.warnings(&store.take_warnings()));
    }

    pub(crate) fn options(&self) -> Options {
        let (v1_f_order_is_c, refuse_fallbacks) = (self.global.v1_f_order_is_c, self.global.refuse_fallbacks);
        let (threads, strict) = (self.global.threads, self.global.strict);
        let fallback_type = self.global.fallback_type.clone();
        // A command does few operations, and its exit status says that they were done.
        Options::default()
            .look_interval(Duration::ZERO)
            .threads(threads)
            .v1_f_order_is_c(v1_f_order_is_c)
            .refuse_fallbacks(refuse_fallbacks)
            .fallback_type(fallback_type)
            .strict(strict)
            .strict_writers(self.global.strict_writers)
    }

    /// Returns an error, with --strict-writers, for a change of metadata in a store where concurrent changes by other writers may be lost.
    /// `what` names the change.
    pub(crate) fn check_writers(&self, location: &NodeLocation, what: &str) -> Result<()> {
        if !self.global.strict_writers {
            return Ok(());
        }
        let refused = zarr::hierarchy::check_strict_writers(location.store.capabilities(), what);
        let there = (Some(location.store.to_string()), Some(location.path.to_string()));
        Ok(refused.map_err(|error| error.at(|location| (location.store, location.path) = there))?)
    }

    /// Returns the options of a conversion that may take `memory` bytes of memory.
    pub(crate) fn convert_options(&self, loss: Loss, memory: u64) -> ConvertOptions {
        let Loss { carry, meaning } = loss;
        meaning.apply(ConvertOptions::default()).memory(memory).carry(carry).options(self.options())
    }

    /// Opens the store of a node, without a look at the node.
    pub(crate) fn locate(&self, node: &NodeArgs) -> Result<NodeLocation> {
        let (address, above) = self.node_address(&node.url)?;
        let path = join(above.as_deref(), &node.path)?;
        Ok(NodeLocation { store: self.open_store(&address)?, address, path, dialect: node.dialect })
    }

    /// Opens the array at `location`.
    pub(crate) fn array(&self, location: &NodeLocation) -> Result<Array> {
        let found = self.node(location)?;
        self.array_of(location, found)
    }

    /// Opens an array whose metadata was read.
    pub(crate) fn array_of(&self, location: &NodeLocation, found: StoredNode) -> Result<Array> {
        let is_group = found.node.as_group().is_some();
        let array = Array::from_found(&location.store, found.clone(), &self.registry, self.options());
        let array = array.map_err(|error| match is_group {
            true => Failure::from(error).with_hint(self.arrays_below(location)),
            false => error.into(),
        })?;
        self.warnings(&array.warnings().iter().map(ToString::to_string).collect::<Vec<_>>());
        self.hint_of_hidden([&found]);
        Ok(array)
    }

    /// Reads the metadata of the node at `location`. With --strict, a deviation from the specification is an error.
    pub(crate) fn node(&self, location: &NodeLocation) -> Result<StoredNode> {
        let (store, path) = (&*location.store, location.path.to_string());
        let found = zarr::hierarchy::open_node_and_others(store, &path, location.dialect)
            .map_err(|error| location.with_near(zarr::hierarchy::with_hierarchy_hint(error, store, &path)))?;
        let found = if self.global.v1_f_order_is_c { found.v1_f_order_is_c() } else { found };
        if self.global.strict {
            zarr::hierarchy::check_strictly(&found)
                .map_err(|error| zarr::hierarchy::with_hierarchy_hint(error, store, &path))?;
        }
        Ok(found)
    }

    /// Reads the metadata of the node at `location`, and warns of nodes of other dialects at the same path that the node hides.
    pub(crate) fn node_with_warnings(&self, location: &NodeLocation) -> Result<StoredNode> {
        let found = self.node(location)?;
        let hidden = found.warnings.iter().filter(|warning| warning.hides.is_some());
        self.warnings(&hidden.map(|warning| format!("{}: {warning}", found.path)).collect::<Vec<_>>());
        self.hint_of_hidden([&found]);
        Ok(found)
    }

    /// Returns an error, with --strict, if any node at or below `location` has a deviation from the specification. Called before the
    /// hierarchy is changed.
    pub(crate) fn check_all(&self, location: &NodeLocation) -> Result<()> {
        if !self.global.strict {
            return Ok(());
        }
        self.walk(location)?.broken.into_iter().next().map_or(Ok(()), |error| Err(error.into()))
    }

    /// Prints a result: `json` with --json, else `text`.
    pub(crate) fn print<J: Into<Value>>(&self, json: impl FnOnce() -> J, text: impl FnOnce() -> String) -> Result<()> {
        if self.global.json { output::json(json()) } else { output::print(&text()) }
    }

    /// Prints a result that may be long: `json` with --json, else `text`, which goes through the pager on a terminal.
    pub(crate) fn page<J: Into<Value>>(&self, json: impl FnOnce() -> J, text: impl FnOnce() -> String) -> Result<()> {
        if self.global.json { output::json(json()) } else { output::page(&text(), self.pager()) }
    }

    /// Returns the pager, if standard output is a terminal and the options do not switch the pager off.
    pub(crate) fn pager(&self) -> Option<Pager> {
        let is_wanted = !self.global.no_pager && !self.global.json;
        Pager::by_environment(is_wanted && std::io::stdout().is_terminal())
    }

    /// Prints what was done: a line, with --json an object, and with --quiet nothing but that.
    pub(crate) fn summary<J: Into<Value>>(
        &self,
        json: impl FnOnce() -> J,
        text: impl FnOnce() -> String,
    ) -> Result<()> {
        match self.global.quiet && !self.global.json {
            true => Ok(()),
            false => self.print(json, text),
        }
    }

    pub(crate) fn warnings<W: AsRef<str>>(&self, warnings: &[W]) {
        if !self.global.quiet {
            warnings.iter().for_each(|warning| report::warning(warning.as_ref()));
        }
    }
}

/// `store: path`, as errors begin.
impl fmt::Display for NodeLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.store, self.path)
    }
}

impl NodeLocation {
    /// The store and the path, as JSON.
    pub(crate) fn facts(&self) -> Map {
        object! { "store": self.store.to_string(), "path": self.path.to_string() }
    }

    /// The name of the node; of the root, the last name in the address of the store.
    pub(crate) fn name(&self) -> String {
        let address = self.address.to_string();
        let of_store = || address.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        self.path.name().unwrap_or_else(of_store).to_owned()
    }
}

/// Returns the path of the node `path` below `above`, the path in the address; `path` itself if `above` is `None`.
pub(crate) fn join(above: Option<&str>, path: &str) -> Result<NodePath> {
    let Some(above) = above else { return node_path(path) };
    let (above, below) = (node_path(above)?, node_path(path)?);
    node_path(format!("{}/{}", above.as_relative(), below.as_relative()).trim_matches('/'))
}

/// Parses the path of a node, given on the command line.
pub(crate) fn node_path(text: &str) -> Result<NodePath> {
    NodePath::parse(text).map_err(|error| {
        let mut failure = Failure::usage(error.to_string());
        failure.kind = "path";
        failure
    })
}
