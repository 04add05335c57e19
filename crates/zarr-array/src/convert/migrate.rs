//! Conversion of a hierarchy where it lies: new documents beside the old ones, which stay until they are dropped.

use super::place::Documents;
use super::{Conversion, ConvertOptions, How, Planned, Progress, copy, plan, recode, target};
use crate::chunk_keys::Keys;
use crate::core::other_places;
use crate::{Error, ErrorKind, Registry, Result, Walk, consolidate, open_node, walk};
use std::collections::BTreeSet;
use std::sync::Arc;
use zarr_meta::{ArrayMetadata, Dialect, Found, NamedConfig, Node, NodePath, consolidated};
use zarr_store::{Key, Store};

/// A conversion of a whole hierarchy into another dialect in its own store.
///
/// Where the other dialect can say the same chunks under the same keys, only documents are written; else chunks are copied, or
/// decoded and encoded again, to keys of their own. Nothing that is there is changed: until [`finish`](Self::finish) drops the old
/// documents, readers of either dialect find their hierarchy, and [`undo`](Self::undo) drops the new ones instead.
/// Writers have to wait for one of both: chunks of both hierarchies may be the same, shape and attributes are not.
///
/// ```
/// # use std::sync::Arc;
/// use zarr_array::{Array, Dialect, Migration, NewArray, Registry, Store};
/// # let mut registry = Registry::default();
/// # registry.codecs.add(zarr_codec_bytes::ENTRY);
/// # let registry = Arc::new(registry);
/// let store: Arc<dyn Store> = Arc::new(zarr_store::MemoryStore::new());
/// let new = NewArray::new(&[2], "int8").codecs_text("bytes")?.dialect(Dialect::V2);
/// Array::create(&store, "/a", new, &registry)?.write(.., &[1_i8, 2])?;
///
/// Migration::plan(&store, &registry, Dialect::V3)?.run(&|_| {})?;
/// let array = Array::open(&store, "/a", &registry)?;
/// assert_eq!((array.dialect(), array.read::<i8>(..)?), (Dialect::V3, vec![1, 2]));
/// Migration::finish(&store, Dialect::V3)?;
/// # Ok::<(), zarr_array::Error>(())
/// ```
#[derive(Debug)]
pub struct Migration {
    conversion: Conversion,
    dialect: Dialect,
}

impl Migration {
    /// Plans the migration of all nodes in `store` to `dialect`. Nothing is written.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if there is no hierarchy of another dialect; [`ErrorKind::Exists`] if there are nodes of `dialect`
    /// already; [`ErrorKind::NotExpressible`] if a node cannot be said in the dialect, or its keys are taken by what is there;
    /// those of reading metadata.
    pub fn plan(store: &Arc<dyn Store>, registry: &Arc<Registry>, dialect: Dialect) -> Result<Self> {
        Self::plan_with(store, registry, dialect, ConvertOptions::default())
    }

    /// As [`plan`](Self::plan), with options of what becomes of what the dialect cannot say, how arrays are read and written, and how
    /// much memory may be used. What the options say of nodes, chunks and codecs is of no account.
    ///
    /// # Errors
    /// As [`plan`](Self::plan).
    pub fn plan_with(
        store: &Arc<dyn Store>,
        registry: &Arc<Registry>,
        dialect: Dialect,
        options: ConvertOptions,
    ) -> Result<Self> {
        let ConvertOptions { memory, carry, fill_value_attribute, options, .. } = options;
        let plain = ConvertOptions::default();
        let options = ConvertOptions { dialect: Some(dialect), memory, carry, fill_value_attribute, options, ..plain };
        let in_store = |error: Error| error.at(|place| place.store = Some(store.to_string()));
        let root = old_root(&**store, dialect).map_err(in_store)?;
        let found = nodes(&**store, &root)?;
        let named = found.iter().any(|it| it.node.as_array().is_some_and(|array| array.dimension_names.is_some()));
        let taken: BTreeSet<String> =
            found.iter().flat_map(|node| node.documents.iter().map(|(key, _)| key.to_owned())).collect();
        let (mut planned, mut consolidate) = (Vec::new(), Vec::new());
        for found in found {
            let found = options.options.as_read(found);
            let path = found.path.clone();
            let at = |error: Error| {
                error.at(|place| (place.store, place.path) = (Some(store.to_string()), Some(path.to_string())))
            };
            if plan::is_consolidated(store, &found)? && plan::has_consolidated(dialect, &found.path) {
                consolidate.push(found.path.clone());
            }
            let node = in_place(store, found, dialect, named, registry, &options).map_err(at)?;
            check_keys(&**store, &node, &taken).map_err(at)?;
            planned.push(node);
        }
        consolidate.reverse();
        let (source, registry) = (Arc::clone(store), Arc::clone(registry));
        let conversion = Conversion { source, registry, options, nodes: planned, consolidate };
        Ok(Self { conversion, dialect })
    }

    /// The nodes, sorted by path.
    pub fn nodes(&self) -> &[Planned] {
        self.conversion.nodes()
    }

    /// The conversion that this is: what it costs.
    pub fn conversion(&self) -> &Conversion {
        &self.conversion
    }

    /// Writes the new chunks, where they are others, and documents: those of the root last, so that whoever opens it before
    /// still finds the old hierarchy.
    ///
    /// # Errors
    /// Those of reading and writing arrays. The old hierarchy is whole; chunks of the array that failed are erased, and
    /// [`undo`](Self::undo) drops what was written before.
    pub fn run(&self, progress: &(dyn Fn(Progress<'_>) + Sync)) -> Result<()> {
        let store = &self.conversion.source;
        let in_store = |error: Error| error.at(|place| place.store = Some(store.to_string()));
        for planned in self.nodes().iter().rev() {
            progress(Progress::Begin(planned));
            let documents = Documents::new(planned, &zarr_meta::Documents::new())?;
            let advance = |bytes: u64| progress(Progress::Done(bytes));
            match planned.how {
                How::Group if planned.source.implicit && planned.dialect.implies_groups() => continue,
                How::Group => {}
                How::Keep => advance(planned.size),
                How::Copy | How::Recode => {
                    let write = if planned.how == How::Copy { copy::copy } else { recode::recode };
                    let written = write(&self.conversion, planned, documents.found(), store, &advance);
                    if written.is_err() {
                        // Without a document nobody would know of them; the first error is the one to tell.
                        let _ = drop_chunks(&**store, documents.found(), &planned.source);
                    }
                    written?;
                }
            }
            documents.write(store).map_err(in_store)?;
        }
        for group in &self.conversion.consolidate {
            consolidate(&**store, &group.to_string(), Some(self.dialect))?;
        }
        store.flush().map_err(|error| in_store(error.into()))
    }

    /// Drops the old documents, and old chunks that are no chunks of the new arrays, after each old node was found to have a new
    /// one in its place. `dialect` is the new one.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if there is no hierarchy of another dialect beside, or a node has no new one: nothing is erased then;
    /// [`ErrorKind::Store`].
    pub fn finish(store: &Arc<dyn Store>, dialect: Dialect) -> Result<()> {
        let in_store = |error: Error| error.at(|place| place.store = Some(store.to_string()));
        Self::drop_old(&**store, dialect).map_err(in_store)
    }

    fn drop_old(store: &dyn Store, dialect: Dialect) -> Result<()> {
        let old = nodes(store, &old_root(store, dialect)?)?;
        let mut pairs = Vec::new();
        for old in old {
            match open_node(store, &old.path.to_string(), Some(dialect)) {
                Ok(new) if new.node.as_array().is_some() == old.node.as_array().is_some() => pairs.push((old, new)),
                Ok(_) => {
                    let message = format!("the node of dialect {dialect} is of another kind; nothing was dropped");
                    return Err(Error::new(ErrorKind::NotFound, message).at_path(&old.path));
                }
                Err(error) if error.is_not_found() => {
                    let message = format!("no node of dialect {dialect} here yet; nothing was dropped");
                    let error = Error::new(ErrorKind::NotFound, message).at_path(&old.path);
                    return Err(error.with_hint("migrate first"));
                }
                Err(error) => return Err(error),
            }
        }
        for (old, new) in pairs.iter().rev() {
            let kept: BTreeSet<String> = new.documents.iter().map(|(key, _)| key.to_owned()).collect();
            drop_chunks(store, old, new)?;
            drop_documents(store, old, &kept)?;
        }
        Ok(store.flush()?)
    }

    /// Drops the new documents of a migration, and new chunks that are no chunks of the old arrays. `dialect` is the new one.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if there is no hierarchy of another dialect beside; [`ErrorKind::Store`].
    pub fn undo(store: &Arc<dyn Store>, dialect: Dialect) -> Result<()> {
        let in_store = |error: Error| error.at(|place| place.store = Some(store.to_string()));
        Self::drop_new(&**store, dialect).map_err(in_store)
    }

    fn drop_new(store: &dyn Store, dialect: Dialect) -> Result<()> {
        let old = nodes(store, &old_root(store, dialect)?)?;
        let kept: BTreeSet<String> =
            old.iter().flat_map(|node| node.documents.iter().map(|(key, _)| key.to_owned())).collect();
        let mut pairs = Vec::new();
        for old in &old {
            match open_node(store, &old.path.to_string(), Some(dialect)) {
                Ok(new) => pairs.push((new, old)),
                Err(error) if error.is_not_found() => {}
                Err(error) => return Err(error),
            }
        }
        // The root first: what is found from it is the old hierarchy again.
        for (new, old) in pairs {
            if new.path.is_root() {
                drop_documents(store, &new, &kept)?;
            }
            drop_chunks(store, &new, old)?;
            drop_documents(store, &new, &kept)?;
        }
        Ok(store.flush()?)
    }
}

/// The root of the hierarchy that is of another dialect.
fn old_root(store: &dyn Store, new: Dialect) -> Result<Found> {
    let is_v3 = |dialect| matches!(dialect, Dialect::V3 | Dialect::V3Of2023);
    let same = |dialect| dialect == new || (is_v3(dialect) && is_v3(new));
    // The dialects that have a document `zarr.json` are told by it, others may lie beside them.
    let beside = [Dialect::V2, Dialect::V1, Dialect::V0, Dialect::P2019];
    let beside = beside.into_iter().filter(|dialect| !same(*dialect)).map(Some);
    for dialect in std::iter::once(None).chain(beside) {
        match open_node(store, "/", dialect) {
            Ok(found) if !same(found.dialect) => return Ok(found),
            Ok(_) => {}
            Err(error) if error.is_not_found() => {}
            Err(error) => return Err(error),
        }
    }
    let message = format!("no hierarchy of a dialect other than {new} here");
    Err(Error::new(ErrorKind::NotFound, message).at_path(&NodePath::root()))
}

/// All nodes of the hierarchy, none of them broken.
fn nodes(store: &dyn Store, root: &Found) -> Result<Vec<Found>> {
    let Walk { nodes, broken, .. } = walk(store, "/", Some(root.dialect))?;
    match broken.into_iter().next() {
        None => Ok(nodes),
        Some(error) => Err(error.with_hint("nothing was changed")),
    }
}

/// What a node becomes where it lies.
fn in_place(
    store: &Arc<dyn Store>,
    found: Found,
    dialect: Dialect,
    named: bool,
    registry: &Arc<Registry>,
    options: &ConvertOptions,
) -> Result<Planned> {
    found.attributes().map_err(|error| Error::from(error.clone()))?;
    let Node::Array(array) = &found.node else { return plan::planned(store, found, named, registry, options) };
    let (node, notes, warning) = target::target(&found, dialect, named, options, registry)?;
    let Node::Array(mut kept) = node else { return plan::planned(store, found, named, registry, options) };
    kept.chunk_key_encoding = actual_keys(&**store, &found, array)?;
    if target::same_chunks(array, &kept) {
        let size = plan::size_of(&kept, dialect, &registry.data_types);
        let path = found.path.clone();
        let target = Node::Array(kept);
        let planned = Planned { source: found, path, target, dialect, how: How::Keep, notes, warning, size };
        let keeps = |documents: Documents| {
            let new = documents.found();
            new.chunk_prefix() == planned.source.chunk_prefix() && target::missing_stay(&planned.source, new, true)
        };
        if Documents::new(&planned, &zarr_meta::Documents::new()).is_ok_and(keeps) {
            return Ok(planned);
        }
        return plan::planned(store, planned.source, named, registry, options);
    }
    plan::planned(store, found, named, registry, options)
}

/// How the keys of the chunks of an array are really formed, where its metadata leaves that open.
fn actual_keys(store: &dyn Store, found: &Found, array: &ArrayMetadata) -> Result<NamedConfig> {
    let prefix = found.chunk_prefix();
    let others = other_places(found, &prefix, array.shape.len())?;
    let stored = if others.is_empty() { None } else { Keys::new(found)?.stored(store)?.into_iter().next() };
    let Some((key, chunk)) = stored else { return Ok(array.chunk_key_encoding.clone()) };
    let spelled = |place: &crate::core::Place| {
        let mut text = place.prefix.clone();
        place.keys.write_key(&chunk, &mut text);
        text == key.as_str()
    };
    let other = others.iter().find(|place| place.prefix == prefix && spelled(place));
    Ok(other.map_or_else(|| array.chunk_key_encoding.clone(), |place| place.keys.to_config()))
}

/// Checks that nothing that is there is written over.
fn check_keys(store: &dyn Store, planned: &Planned, taken: &BTreeSet<String>) -> Result<()> {
    let path = &planned.path;
    match open_node(store, &path.to_string(), Some(planned.dialect)) {
        Ok(found) if !found.implicit => {
            let error = Error::new(ErrorKind::Exists, format!("there is a node of dialect {} already", found.dialect));
            return Err(error.with_hint("finish drops the old documents, undo the new ones"));
        }
        Err(error) if !error.is_not_found() && error.kind() != ErrorKind::UnsupportedVersion => return Err(error),
        _ => {}
    }
    let documents = Documents::new(planned, &zarr_meta::Documents::new())?;
    if let Some(key) = documents.found().documents.iter().map(|(key, _)| key).find(|key| taken.contains(*key)) {
        let message = format!("the key {key} is taken by a document of dialect {}", planned.source.dialect);
        let error = Error::new(ErrorKind::NotExpressible, message).at(|place| place.key = Some(key.to_owned()));
        return Err(error.with_hint("convert it into another store instead"));
    }
    if !matches!(planned.how, How::Copy | How::Recode) {
        return Ok(());
    }
    let to = Keys::new(documents.found())?;
    for (key, _) in Keys::new(&planned.source)?.stored(store)? {
        if to.chunk_at(&key).is_some() {
            let message = format!("the key {key} would be one of a chunk that differs from the one there");
            let error = Error::new(ErrorKind::NotExpressible, message).at(|place| place.key = Some(key.to_string()));
            return Err(error.with_hint("convert it into another store instead"));
        }
    }
    Ok(())
}

/// Erases the chunks of an array but for those that another has under the same keys.
fn drop_chunks(store: &dyn Store, array: &Found, other: &Found) -> Result<()> {
    if array.node.as_array().is_none() {
        return Ok(());
    }
    let kept = Keys::new(other)?;
    for (key, _) in Keys::new(array)?.stored(store)? {
        if kept.chunk_at(&key).is_none() {
            store.erase(&key)?;
        }
    }
    Ok(())
}

/// Erases the documents of a node but for those to be kept.
fn drop_documents(store: &dyn Store, node: &Found, kept: &BTreeSet<String>) -> Result<()> {
    let own = node.own_documents().map(str::to_owned).chain(consolidated::document_key(node));
    own.filter(|key| !kept.contains(key)).try_for_each(|key| Ok(store.erase(&Key::new(&key)?)?))
}
