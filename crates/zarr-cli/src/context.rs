//! What all commands share: options, and opening what is named on the command line.

use crate::args::{self, Global};
use crate::commands::describe;
use crate::failure::{Failure, Result};
use crate::report;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use zarr::meta::Dialect;
use zarr::{Array, Found, NodePath, Options, Registry, Store, Walk};

/// How many warnings of one kind are printed.
const MAX_WARNINGS: usize = 6;
/// The codec that is not read unasked.
const PICKLE: &str = "numcodecs.pickle";

/// What all commands share.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) global: Global,
    pub(crate) registry: Arc<Registry>,
    /// Whether to colour standard output.
    pub(crate) coloured: bool,
    /// The stores that were opened.
    stores: RefCell<Vec<Arc<dyn Store>>>,
}

/// A node named on the command line, its store opened.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) store: Arc<dyn Store>,
    /// The address as it was given.
    pub(crate) url: String,
    pub(crate) path: NodePath,
    pub(crate) dialect: Option<Dialect>,
    v1_f_order_is_c: bool,
    strict: bool,
}

impl Context {
    pub(crate) fn new(global: Global) -> Self {
        let coloured = report::set_color(global.color);
        let mut registry = Registry::clone(&zarr::registry());
        if global.pickle_values {
            registry.codecs.add(zarr::PICKLE);
        } else {
            registry
                .codecs
                .add_hint(PICKLE, "pickles are programs: --pickle-values reads plain values, and runs nothing");
        }
        Self { global, registry: Arc::new(registry), coloured, stores: RefCell::default() }
    }

    /// Opens the store at an address.
    pub(crate) fn open_store(&self, url: &str) -> zarr::Result<Arc<dyn Store>> {
        zarr::open_store(url).inspect(|store| self.stores.borrow_mut().push(Arc::clone(store)))
    }

    /// Opens the store at an address, and makes it if it is not there.
    pub(crate) fn create_store(&self, url: &str) -> zarr::Result<Arc<dyn Store>> {
        zarr::create_store(url).inspect(|store| self.stores.borrow_mut().push(Arc::clone(store)))
    }

    /// Prints what is to be told of the stores, at the end of the command.
    pub(crate) fn store_warnings(&self) {
        self.stores.borrow().iter().for_each(|store| self.warnings(&store.take_warnings()));
    }

    pub(crate) fn options(&self) -> Options {
        let (v1_f_order_is_c, refuse_fallbacks) = (self.global.v1_f_order_is_c, self.global.refuse_fallbacks);
        let (threads, strict) = (self.global.threads, self.global.strict);
        let fallback_type = self.global.fallback_type.clone();
        Options { threads, v1_f_order_is_c, refuse_fallbacks, fallback_type, strict, ..Options::default() }
    }

    /// Opens the store of a node. A path may also stand behind the address: `air.zarr::t2m`.
    pub(crate) fn place(&self, node: &args::Node) -> Result<Place> {
        let (url, path) = match address(&node.url) {
            (url, Some(path)) if node.path == "/" => (url, path),
            _ => (node.url.as_str(), node.path.as_str()),
        };
        let path = node_path(path)?;
        let (store, url) = (self.open_store(url)?, url.to_owned());
        let (v1_f_order_is_c, strict) = (self.global.v1_f_order_is_c, self.global.strict);
        Ok(Place { store, url, path, dialect: node.dialect, v1_f_order_is_c, strict })
    }

    /// Opens an array.
    pub(crate) fn array(&self, place: &Place) -> Result<Array> {
        let found = place.found()?;
        let array = Array::from_found(&place.store, found.clone(), &self.registry, self.options())?;
        self.warnings(&array.warnings().iter().map(ToString::to_string).collect::<Vec<_>>());
        self.hint_of_hidden([&found]);
        Ok(array)
    }

    /// The metadata of a node, after telling of others at its path that it hides.
    pub(crate) fn found(&self, place: &Place) -> Result<Found> {
        let found = place.found()?;
        let hidden = found.warnings.iter().filter(|warning| warning.hides.is_some());
        self.warnings(&hidden.map(|warning| format!("{}: {warning}", found.path)).collect::<Vec<_>>());
        self.hint_of_hidden([&found]);
        Ok(found)
    }

    /// Prints which nodes of a walk are not seen, and how to see them.
    pub(crate) fn hidden(&self, walk: &Walk) {
        let hidden = walk.nodes.iter().flat_map(|node| {
            let warnings = node.warnings.iter().filter(|warning| warning.hides.is_some());
            warnings.map(|warning| format!("{}: {warning}", node.path))
        });
        let below = walk.below_arrays.iter().map(|node| {
            let (path, dialect, kind) = (&node.path, node.dialect, describe::kind(node));
            format!("{path}: left out: {kind} of {dialect} below an array, which may have none")
        });
        let fallbacks = walk.nodes.iter().filter_map(|node| {
            let (error, array) = (node.fallback.as_ref()?, node.node.as_array()?);
            let fallback = describe::short_type(&array.data_type);
            Some(format!("{}: {error}; the fallback {fallback} is taken", node.path))
        });
        self.some_warnings(&hidden.chain(below).collect::<Vec<_>>());
        self.some_warnings(&fallbacks.collect::<Vec<_>>());
        self.hint_of_hidden(&walk.nodes);
    }

    /// Prints how nodes are seen that others at their paths hide.
    pub(crate) fn hint_of_hidden<'f>(&self, nodes: impl IntoIterator<Item = &'f Found>) {
        let of_node = |node: &'f Found| {
            let hidden = node.warnings.iter().filter_map(|warning| warning.hides);
            hidden.map(|dialect| (dialect, dialect == node.dialect)).collect::<Vec<_>>()
        };
        let hidden: BTreeSet<(Dialect, bool)> = nodes.into_iter().flat_map(of_node).collect();
        for (dialect, is_same) in hidden.into_iter().filter(|_| !self.global.quiet) {
            match is_same {
                true => report::hint(
                    "of an array and a group at one path the array is taken; remove the document of one of them",
                ),
                false => report::hint(&format!("--dialect {dialect} takes the nodes of that dialect")),
            }
        }
    }

    /// Prints warnings, of very many the first: large hierarchies have the same in every node.
    pub(crate) fn some_warnings(&self, warnings: &[String]) {
        let (first, more) = warnings.split_at(warnings.len().min(MAX_WARNINGS));
        self.warnings(first);
        if !more.is_empty() {
            self.warnings(&[format!("{} more like these", more.len())]);
        }
    }

    /// Refuses a hierarchy in which something is odd, if so asked, before it is changed.
    pub(crate) fn check_all(&self, place: &Place) -> Result<()> {
        if !self.global.strict {
            return Ok(());
        }
        let walk = self.walked(place, zarr::walk(&*place.store, &place.path.to_string(), place.dialect)?);
        walk.broken.into_iter().next().map_or(Ok(()), |error| Err(error.into()))
    }

    /// What a walk found, as the options want it.
    pub(crate) fn walked(&self, place: &Place, walk: Walk) -> Walk {
        let walk = if self.global.refuse_fallbacks { walk.refusing_fallbacks(&place.store) } else { walk };
        if self.global.strict { walk.strictly(&place.store) } else { walk }
    }

    pub(crate) fn warnings<W: AsRef<str>>(&self, warnings: &[W]) {
        if !self.global.quiet {
            warnings.iter().for_each(|warning| report::warning(warning.as_ref()));
        }
    }
}

impl Place {
    /// The node's metadata.
    pub(crate) fn found(&self) -> Result<Found> {
        let path = self.path.to_string();
        let found = zarr::open_node_and_others(&*self.store, &path, self.dialect)
            .map_err(|error| zarr::with_place(error, &*self.store, &path))?;
        let found = if self.v1_f_order_is_c { found.v1_f_order_is_c() } else { found };
        if self.strict {
            zarr::check_strictly(&found).map_err(|error| zarr::with_place(error, &*self.store, &path))?;
        }
        Ok(found)
    }
}

/// Takes apart `URL::PATH`.
pub(crate) fn address(text: &str) -> (&str, Option<&str>) {
    match text.rsplit_once("::") {
        Some((url, path)) if !Path::new(text).exists() => (url, Some(path)),
        _ => (text, None),
    }
}

/// A path given on the command line.
pub(crate) fn node_path(text: &str) -> Result<NodePath> {
    NodePath::parse(text).map_err(|error| {
        let mut failure = Failure::usage(error.to_string());
        failure.kind = "path";
        failure
    })
}
