//! Kinds of stores, and stores with a known state in them.

use super::model::{LENGTH, Node};
use super::verb::World;
use crate::processes::{Result, text};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use zarr::dtype::Cast;
use zarr::store::{Prefix, StoreExt, StoreOptions};
use zarr::{Dialect, NewArray, NewGroup, Store};
use zarr_testserver::{Bucket, TestServer};

/// Kind of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Place {
    Directory,
    Database,
    Bucket,
}

impl Place {
    /// All kinds, with their names.
    pub(crate) const ALL: [(&'static str, Self); 3] =
        [("directory", Self::Directory), ("database", Self::Database), ("bucket", Self::Bucket)];
}

/// Values of a store, each with the name of its file or object.
type Values = Vec<(String, Vec<u8>)>;

/// Stores of one kind, in a folder or on a server.
pub(crate) struct Stores {
    pub(crate) folder: PathBuf,
    server: Option<TestServer>,
    place: Place,
    /// Values of the stores with a known state, by world and dialect.
    templates: BTreeMap<(bool, bool), Values>,
}

const BUCKET: &str = "data";

impl Stores {
    pub(crate) fn new(place: Place, folder: &Path) -> Result<Self> {
        let start = || TestServer::builder().bucket(BUCKET, Bucket::s3().public()).start();
        let server = (place == Place::Bucket).then(start).transpose()?;
        Ok(Self { folder: folder.to_owned(), server, place, templates: BTreeMap::new() })
    }

    /// Returns the address of a store.
    pub(crate) fn address(&self, name: &str) -> Result<String> {
        Ok(match self.place {
            Place::Directory => text(&self.folder.join(format!("{name}.zarr")))?.to_owned(),
            Place::Database => format!("sqlite:{}", text(&self.folder.join(format!("{name}.sqlite")))?),
            Place::Bucket => format!("s3://{BUCKET}/{name}.zarr"),
        })
    }

    /// Returns the options of the store, as pairs.
    fn options(&self) -> Vec<(&'static str, String)> {
        let server = self.server.iter();
        server.flat_map(|server| [("anonymous", "true".to_owned()), ("endpoint", server.url())]).collect()
    }

    /// Returns the arguments with which the command accesses the store.
    pub(crate) fn arguments(&self) -> Vec<String> {
        let options = self.options();
        options.into_iter().flat_map(|(name, value)| ["--store-option".to_owned(), format!("{name}={value}")]).collect()
    }

    /// Opens a store; `None` if it does not exist.
    pub(crate) fn open(&self, name: &str) -> Result<Option<Arc<dyn Store>>> {
        let options = self.options().into_iter().fold(StoreOptions::new(), |all, (name, value)| all.set(name, value));
        let path =
            self.folder.join(format!("{name}.{}", if self.place == Place::Database { "sqlite" } else { "zarr" }));
        match self.place {
            Place::Bucket => Ok(Some(zarr::store::create_with(&self.address(name)?, &options)?)),
            _ if !path.exists() => Ok(None),
            _ => Ok(Some(zarr::store::create_with(&self.address(name)?, &options)?)),
        }
    }

    /// Removes the stores.
    pub(crate) fn clear(&self) -> Result<()> {
        if let Some(server) = &self.server {
            server.keys(BUCKET).iter().for_each(|key| drop(server.remove(BUCKET, key)));
        }
        for entry in std::fs::read_dir(&self.folder)? {
            let path = entry?.path();
            if path.is_dir() { std::fs::remove_dir_all(path)? } else { std::fs::remove_file(path)? }
        }
        Ok(())
    }

    /// Creates the store `x` in the known state.
    pub(crate) fn make(&mut self, world: World, dialect: Dialect) -> Result<()> {
        self.clear()?;
        let kind = (world == World::Array, dialect == Dialect::V2);
        if let Some(values) = self.templates.get(&kind) {
            for (name, value) in values {
                match &self.server {
                    Some(server) => drop(server.put(BUCKET, name, value.clone())),
                    None => {
                        let path = self.folder.join(name);
                        std::fs::create_dir_all(path.parent().unwrap_or(&path))?;
                        std::fs::write(path, value)?;
                    }
                }
            }
            return Ok(());
        }
        {
            let options =
                self.options().into_iter().fold(StoreOptions::new(), |all, (name, value)| all.set(name, value));
            let store = zarr::store::create_with(&self.address("x")?, &options)?;
            fill(&store, world, dialect, chunk(self.place))?;
        }
        let values = self.files()?.into_iter().map(|name| Ok((name.clone(), self.value(&name)?)));
        let values = values.collect::<Result<Vec<_>>>()?;
        self.templates.insert(kind, values);
        Ok(())
    }

    /// Returns the names of all files or objects.
    fn files(&self) -> Result<Vec<String>> {
        if let Some(server) = &self.server {
            return Ok(server.keys(BUCKET));
        }
        let (mut files, mut folders) = (Vec::new(), vec![self.folder.clone()]);
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder)? {
                let path = entry?.path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    files.push(text(path.strip_prefix(&self.folder)?)?.to_owned());
                }
            }
        }
        Ok(files)
    }

    fn value(&self, name: &str) -> Result<Vec<u8>> {
        Ok(match &self.server {
            Some(server) => server.get(BUCKET, name).ok_or("an object is gone")?.to_vec(),
            None => std::fs::read(self.folder.join(name))?,
        })
    }

    /// Returns the names of all values of a store; for a directory, those of all files.
    pub(crate) fn values(&self, name: &str) -> Result<Vec<String>> {
        if self.place == Place::Database {
            let keys = self.open(name)?.map(|store| store.list_prefix(&Prefix::root())).transpose()?;
            return Ok(keys.unwrap_or_default().iter().map(ToString::to_string).collect());
        }
        let root = format!("{name}.zarr/");
        Ok(self.files()?.iter().filter_map(|file| Some(file.strip_prefix(&root)?.to_owned())).collect())
    }
}

/// Returns the nodes of a new store.
pub(crate) fn initial(world: World) -> BTreeMap<String, Node> {
    let mut nodes = BTreeMap::new();
    for (name, data_type, from) in NODES {
        if world == World::Group {
            nodes.insert(name.to_owned(), Node::group());
        }
        for leaf in world.leaves() {
            let elements = (0..LENGTH).map(|index| f64::from(from) + index as f64).collect();
            nodes.insert(format!("{name}{leaf}"), Node::array(data_type, 0.0, elements));
        }
    }
    nodes
}

/// Nodes below the root, each with its data type and its first element.
const NODES: [(&str, &str, i32); 3] = [("/n", "int32", 1000), ("/other", "int32", 4000), ("/new", "float32", 7000)];

/// Returns the number of elements of a chunk: there are fewer chunks if each is a request.
fn chunk(place: Place) -> u64 {
    if place == Place::Bucket { 16 } else { 4 }
}

fn fill(store: &Arc<dyn Store>, world: World, dialect: Dialect, chunk: u64) -> Result<()> {
    let group = |path: &str| {
        let new = NewGroup::default().dialect(dialect);
        zarr::Group::create(store, path, new, &zarr::registry::default()).map(drop)
    };
    group("/")?;
    for (name, data_type, from) in NODES {
        if world == World::Group {
            group(name)?;
        }
        for leaf in world.leaves() {
            let new = NewArray::new(&[LENGTH as u64], data_type).dialect(dialect).chunks(&[chunk]).fill(0);
            let array = zarr::create((store, &format!("{name}{leaf}"))).array(new.codecs("bytes")?)?;
            let elements = (0..LENGTH as i32).map(|index| from + index);
            match data_type {
                "float32" => array.write(.., &elements.map(|it| it as f32).collect::<Vec<_>>())?,
                _ => array.write(.., &elements.collect::<Vec<_>>())?,
            }
        }
    }
    Ok(())
}

/// Reads the node of an opened array.
pub(crate) fn node_of(array: &zarr::Array) -> Result<Node, zarr::Error> {
    let data_type = array.data_type().to_string();
    let elements = array.read_as::<f64>(.., Cast::Exact)?;
    let mut node = Node::array(&data_type, if data_type == "int16" { 9.0 } else { 0.0 }, elements);
    node.marks = vec![array.attributes()?.get("k").is_some()];
    Ok(node)
}

/// Reads all nodes of a store below its root. A node that cannot be read is an error.
pub(crate) fn nodes_in(store: &Arc<dyn Store>, prefix: &str) -> Result<BTreeMap<String, Node>> {
    let walk = match zarr::hierarchy::walk(&**store, "/", None) {
        Err(error) if error.is_not_found() => return Ok(BTreeMap::new()),
        walk => walk?,
    };
    if let Some(error) = walk.broken.first() {
        return Err(format!("a broken node: {error}").into());
    }
    let mut nodes = BTreeMap::new();
    for found in walk.nodes.into_iter().filter(|found| !found.implicit && !found.path.is_root()) {
        let path = format!("{prefix}{}", found.path);
        let node = match found.node.as_array() {
            Some(_) => {
                let options = zarr::Options::default();
                node_of(&zarr::Array::from_found(store, found, &zarr::registry::default(), options)?)?
            }
            None => {
                let group = zarr::Group::open(store, &found.path.to_string(), &zarr::registry::default())?;
                let mut node = Node::group();
                node.marks = vec![group.attributes()?.get("k").is_some()];
                node
            }
        };
        nodes.insert(path, node);
    }
    Ok(nodes)
}
