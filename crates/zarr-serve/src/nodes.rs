//! Nodes of the store, opened for questions.

use crate::options::{ServeLimits, ServeOptions};
use crate::recent::Recent;
use crate::request_error::RequestError;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use zarr_array::{Array, ChunkCache, Group, Options, Registry};
use zarr_dataset::{Dataset, DatasetOptions, Values, Variable};
use zarr_geo::Georeference;
use zarr_grid::{AxisSelection, Selection};
use zarr_hierarchy::Error;
use zarr_meta::{Copies, Dialect, NodePath, StoredNode};
use zarr_ome::Image;
use zarr_store::{ReadOnly, Store};
use zarr_view::{Budget, ImageGrid, Numbers, place_of};

/// Time for which an opened node, or a list of children, is reused.
const TIME: Duration = Duration::from_secs(2);
/// Time for which a list of children is reused for its further pages.
const TIME_OF_PAGES: Duration = Duration::from_secs(120);
/// Greatest number of open nodes that are cached.
const MOST_NODES: usize = 32;
/// Greatest number of lists of children that are cached.
const MOST_LISTS: usize = 8;

/// Nodes of the store, and limits for reads of them.
pub(crate) struct Nodes {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) registry: Arc<Registry>,
    pub(crate) dialect: Option<Dialect>,
    arrays: Options,
    pub(crate) limits: ServeLimits,
    opened: Recent<OpenedNode>,
    lists: Recent<NodesBelow>,
}

/// Children of a group.
pub(crate) enum NodesBelow {
    /// Paths at which there may be nodes.
    Paths(Vec<NodePath>),
    /// Nodes, and messages for nodes that cannot be shown.
    Nodes(Vec<StoredNode>, Vec<String>),
}

impl NodesBelow {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Paths(paths) => paths.len(),
            Self::Nodes(nodes, _) => nodes.len(),
        }
    }
}

impl Nodes {
    pub(crate) fn new(store: Arc<dyn Store>, registry: Arc<Registry>, options: &ServeOptions) -> Self {
        let limits = options.limits.clone();
        // Other processes may write to the store at any time.
        let cache = ChunkCache::revalidating(limits.cache_bytes);
        let arrays = options.arrays.clone().cache(cache);
        let (opened, lists) = (Recent::new(MOST_NODES, TIME), Recent::new(MOST_LISTS, TIME_OF_PAGES));
        // By one table, and one store that takes no writes, the cache knows decoded arrays again when they are opened anew.
        let (store, registry) = (Arc::new(ReadOnly(store)), zarr_dataset::registry(&registry));
        Self { store, registry, dialect: options.dialect, arrays, limits, opened, lists }
    }

    /// Opens the node at `path`, or returns it from the cache.
    pub(crate) fn open(&self, path: &str) -> Result<Arc<OpenedNode>, RequestError> {
        let path = NodePath::parse(path).map_err(|error| RequestError::argument(error.to_string()))?.to_string();
        let opened = self.opened.get(&path, || {
            let found = zarr_hierarchy::open_node_and_others(&*self.store, &path, self.dialect)
                .map_err(|error| zarr_hierarchy::with_hierarchy_hint(error, &*self.store, &path))?;
            Ok::<_, Error>(OpenedNode {
                found: self.arrays.as_read(found),
                array: OnceLock::new(),
                variable: OnceLock::new(),
                image: OnceLock::new(),
                place: OnceLock::new(),
            })
        });
        Ok(opened?)
    }

    /// Returns the children of the group at `path`, made by `make` unless cached. If `is_further`, the request is for a further page, and
    /// an older list is reused.
    pub(crate) fn list(
        &self,
        path: &str,
        is_further: bool,
        make: impl FnOnce() -> Result<NodesBelow, RequestError>,
    ) -> Result<Arc<NodesBelow>, RequestError> {
        self.lists.get_within(path, if is_further { TIME_OF_PAGES } else { TIME }, make)
    }

    /// Returns the array of an opened node.
    pub(crate) fn array<'o>(&self, opened: &'o OpenedNode) -> Result<&'o Array, RequestError> {
        if let Some(array) = opened.array.get() {
            return Ok(array);
        }
        if opened.found.node.as_array().is_none() {
            return Err(RequestError::argument(format!("{}: found a group, expected an array", opened.found.path)));
        }
        let array = Array::from_found(&self.store, opened.found.clone(), &self.registry, self.arrays.clone())?;
        Ok(opened.array.get_or_init(|| array))
    }

    /// Returns the array as a variable of the data set of its group, or the reason why it is none.
    pub(crate) fn variable<'o>(&self, opened: &'o OpenedNode) -> &'o Result<InDataset, String> {
        opened.variable.get_or_init(|| self.find_variable(&opened.found))
    }

    fn find_variable(&self, found: &StoredNode) -> Result<InDataset, String> {
        let array = found.node.as_array().ok_or("a group")?;
        let is_named = array.dimension_names.as_ref().is_some_and(|names| names.iter().all(Option::is_some));
        if !is_named && !array.shape.is_empty() {
            return Err("its dimensions have no names".to_owned());
        }
        let (Some(above), Some(name)) = (found.path.parent(), found.path.name()) else {
            return Err("it lies in no group".to_owned());
        };
        let group = self.group_of(found.dialect, above).map_err(|error| error.to_string())?;
        let options = DatasetOptions::default().arrays(self.arrays.clone());
        let dataset = Dataset::open_variables(&group, &[name], &options).map_err(|error| error.to_string())?;
        let variable = dataset.variable(name).map_err(|error| error.to_string())?.clone();
        Ok(InDataset { dataset, variable })
    }

    /// Opens the group at `path`, in the dialect of an array in it.
    fn group_of(&self, dialect: Dialect, path: NodePath) -> Result<Group, Error> {
        let found = match zarr_hierarchy::open_group(&*self.store, &path.to_string(), Some(dialect), Copies::Read) {
            Err(error) if error.is_not_found() => StoredNode::implicit(dialect, path),
            found => found?,
        };
        Group::from_found(&self.store, found, &self.registry)
    }

    /// Returns the OME-Zarr image of an opened group; `None` if the node is not an image.
    pub(crate) fn image<'o>(&self, opened: &'o OpenedNode) -> Result<Option<&'o Image>, RequestError> {
        if opened.found.node.as_array().is_some() {
            return Ok(None);
        }
        if let Some(image) = opened.image.get() {
            return Ok(image.as_ref());
        }
        let group = Group::from_found(&self.store, opened.found.clone(), &self.registry)?;
        let image = Image::open(&group)?.map(|image| image.arrays(self.arrays.clone()));
        Ok(opened.image.get_or_init(|| image).as_ref())
    }

    /// Returns where on Earth the elements of an opened array are, or why that cannot be read; `None` if it is not known.
    pub(crate) fn place<'o>(&self, opened: &'o OpenedNode) -> Result<Option<&'o Georeference>, &'o str> {
        let find = || {
            let array = self.array(opened).map_err(|error| error.message)?;
            let found = self.variable(opened).as_ref().ok();
            let place = place_of(array, &opened.found, found.map(|found| (&found.dataset, found.variable.name())));
            place.map_err(|error| error.with_causes())
        };
        opened.place.get_or_init(find).as_ref().map(Option::as_ref).map_err(String::as_str)
    }

    /// Returns the plate or the well that an opened group is; `None` if it is neither.
    pub(crate) fn grid(&self, opened: &OpenedNode) -> Result<Option<ImageGrid>, RequestError> {
        if opened.found.node.as_array().is_some() {
            return Ok(None);
        }
        let group = Group::from_found(&self.store, opened.found.clone(), &self.registry)?;
        Ok(ImageGrid::open(&group)?.map(|grid| grid.arrays(self.arrays.clone())))
    }

    /// Returns the budget for a read, which is strict; 16 times as much if `is_full`.
    pub(crate) fn budget(&self, is_full: bool) -> Budget {
        let factor = if is_full { 16 } else { 1 };
        Budget {
            parts: self.limits.chunks.saturating_mul(factor).max(1),
            bytes: self.limits.decoded_bytes.saturating_mul(factor),
            is_strict: true,
        }
    }
}

/// Opened node, with its array, variable, place or image once needed.
pub(crate) struct OpenedNode {
    pub(crate) found: StoredNode,
    array: OnceLock<Array>,
    variable: OnceLock<Result<InDataset, String>>,
    image: OnceLock<Option<Image>>,
    place: OnceLock<Result<Option<Georeference>, String>>,
}

/// Array as a variable of a data set.
pub(crate) struct InDataset {
    dataset: Dataset,
    pub(crate) variable: Variable,
}

impl InDataset {
    /// Returns the coordinate that labels a dimension; `None` if there is none.
    pub(crate) fn coordinate(&self, dimension: &str) -> Option<&Variable> {
        let coordinate = self.dataset.coordinates().find(|variable| variable.name() == dimension)?;
        coordinate.dimensions().eq([dimension]).then_some(coordinate)
    }

    /// Reads values of the coordinate of a dimension.
    pub(crate) fn labels(&self, dimension: &str, indices: AxisSelection) -> Result<Values, RequestError> {
        Ok(self.dataset.isel(dimension, indices)?.variable(dimension)?.read()?)
    }

    /// Returns whether the variable has one dimension per axis of its array. False for strings that are stored as characters.
    pub(crate) fn has_axes_of(&self, array: &Array) -> bool {
        self.variable.dimensions().count() == array.shape().len()
    }

    /// Reads the values of a selection, which has an entry for each axis.
    pub(crate) fn read(&self, selection: &Selection) -> Result<Values, RequestError> {
        let mut dataset = self.dataset.clone();
        if let Selection::Axes(axes) = selection {
            for (dimension, axis) in self.variable.dimensions().zip(axes) {
                dataset = dataset.isel(dimension, axis.clone())?;
            }
        }
        Ok(dataset.variable(self.variable.name())?.read()?)
    }

    /// Returns the array of decoded values; `None` if they are no numbers or bools, such as dates.
    pub(crate) fn decoded(&self) -> Result<Option<&Array>, RequestError> {
        Ok(self.variable.decoded_whole()?.filter(|array| Numbers::of(array.data_type()).is_some()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zarr_array::{Cast, NewArray, NewGroup};
    use zarr_store::{Counted, MemoryStore};

    /// Decoded chunks stay in the cache when a node is opened again after two seconds.
    #[test]
    fn decoded_chunks_are_kept_from_one_opening_to_the_next() -> Result<(), RequestError> {
        let counted = Arc::new(Counted::new(MemoryStore::new()));
        let store: Arc<dyn Store> = Arc::clone(&counted) as _;
        let mut registry = Registry::default();
        zarr_codec_bytes::CODECS.iter().for_each(|entry| registry.codecs.add(*entry));
        let registry = Arc::new(registry);
        let group = Group::create(&store, "/", NewGroup::new(), &registry)?;
        let new = NewArray::new(&[50_000], "int16").dimension_names(&["x"]).codecs("bytes")?;
        let new = new.attribute("scale_factor", 0.5).attribute("_FillValue", -1);
        group.create_array("a", new)?.write(.., &[4_i16; 50_000])?;
        let mut nodes = Nodes::new(store, registry, &ServeOptions::default());
        nodes.opened = Recent::new(MOST_NODES, Duration::ZERO);
        let read = || {
            counted.take();
            let opened = nodes.open("/a")?;
            let found = nodes.variable(&opened).as_ref().map_err(|why| RequestError::internal(why.as_str()))?;
            let decoded = found.decoded()?.ok_or_else(|| RequestError::internal("not decoded"))?;
            assert_eq!(decoded.read_as::<f64>(10..12, Cast::Lossy)?, [2.0, 2.0]);
            Ok::<_, RequestError>(counted.take().bytes_read)
        };
        let (first, second) = (read()?, read()?);
        assert!(first > 100_000 && second < 10_000, "{first} bytes, then {second}");
        Ok(())
    }
}
