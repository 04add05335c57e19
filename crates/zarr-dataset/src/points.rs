//! Selection of several points at once, along one new dimension.

use crate::dimensions::Dimension;
use crate::index::Index;
use crate::indexer::Indexer;
use crate::{Dataset, Error, Labels, Result};
use std::sync::Arc;

impl Dataset {
    /// Selects points: each point has one index along each of the given dimensions. These dimensions become one dimension called `name`, in
    /// the place of the first of them; variables without any of them stay unchanged.
    ///
    /// This is `dataset.isel(lat=DataArray(.., dims="points"), lon=DataArray(.., dims="points"))` in xarray. Points may be in any order and
    /// may repeat; a read fetches each chunk that has points once.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use zarr_array::{Group, NewArray, NewGroup, Registry, Store};
    /// # use zarr_dataset::Dataset;
    /// # let mut registry = Registry::default();
    /// # zarr_codec_bytes::CODECS.iter().for_each(|entry| registry.codecs.add(*entry));
    /// # let store: Arc<dyn Store> = Arc::new(zarr_store::MemoryStore::new());
    /// # let group = Group::create(&store, "/", NewGroup::new(), &Arc::new(registry))?;
    /// let new = NewArray::new(&[2, 3], "int32").dimension_names(&["lat", "lon"]).codecs("bytes")?;
    /// group.create_array("v", new)?.write(.., &[1, 2, 3, 4, 5, 6])?;
    /// let points = Dataset::open(&group)?.isel_points("points", [("lat", [0, 1, 1]), ("lon", [2, 0, -1])])?;
    /// let v = points.variable("v")?.read()?;
    /// assert_eq!((v.dimensions(), v.to_vec::<i32>()?), (&["points".to_owned()][..], vec![3, 4, 6]));
    /// # Ok::<(), zarr_array::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Argument`](crate::ErrorKind::Argument) if there is no such dimension or index, if the dimensions have different numbers
    /// of indices, or if another dimension is called `name`.
    pub fn isel_points<D: Into<String>, I: Into<Vec<i64>>>(
        &self,
        name: &str,
        indices: impl IntoIterator<Item = (D, I)>,
    ) -> Result<Self> {
        let indices: Vec<(String, Vec<i64>)> =
            indices.into_iter().map(|(dimension, indices)| (dimension.into(), indices.into())).collect();
        let Some((first, len)) = indices.first().map(|(dimension, indices)| (dimension, indices.len())) else {
            return Err(Error::argument("found no dimension of points, expected one at least"));
        };
        for (number, (dimension, list)) in indices.iter().enumerate() {
            self.check_dimension(dimension)?;
            if indices.iter().take(number).any(|(other, _)| other == dimension) {
                return Err(Error::argument(format!("dimension {dimension}: found twice among those of points")));
            }
            if list.len() != len {
                let found = list.len();
                let message = format!("dimension {dimension}: found {found} indices of points, but {len} of {first}");
                return Err(Error::argument(message));
            }
        }
        let is_selected = |dimension: &str| indices.iter().any(|(selected, _)| selected == dimension);
        if self.dimensions().iter().any(|known| known.name == name && !is_selected(name)) {
            let error = Error::argument(format!("there is a dimension {name} already"));
            return Err(error.with_hint("points need another name"));
        }
        let mut dimensions = Vec::new();
        let mut chosen: Vec<(String, Arc<[u64]>)> = Vec::new();
        for known in self.dimensions() {
            let Some((dimension, list)) = indices.iter().find(|(dimension, _)| *dimension == known.name) else {
                dimensions.push(known.clone());
                continue;
            };
            if chosen.is_empty() {
                dimensions.push(Dimension { name: name.to_owned(), size: len as u64, is_unlimited: false });
            }
            chosen.push((dimension.clone(), Indexer::chosen(known.size, dimension, list)?));
        }
        let name: Arc<str> = name.into();
        self.with_variables(dimensions, |variable| Ok(variable.select_points(&name, &chosen)))
    }

    /// Selects points: each point has one label of the coordinate of each of the given dimensions. Each dimension has a list of labels,
    /// which are matched exactly or by [`Labels::nearest`]. See [`isel_points`](Self::isel_points).
    ///
    /// ```
    /// # use zarr_dataset::{Dataset, Labels, Result};
    /// # fn stations(dataset: &Dataset) -> Result<Dataset> {
    /// dataset.sel_points("station", [("lat", Labels::nearest([52.5, 48.1])), ("lon", Labels::nearest([13.4, 11.6]))])
    /// # }
    /// ```
    ///
    /// # Errors
    /// The errors of [`isel_points`](Self::isel_points) and [`sel`](Self::sel), and an error for labels that are no list.
    pub fn sel_points<D: Into<String>, L: Into<Labels>>(
        &self,
        name: &str,
        labels: impl IntoIterator<Item = (D, L)>,
    ) -> Result<Self> {
        let mut indices = Vec::new();
        for (dimension, labels) in labels {
            let (dimension, labels) = (dimension.into(), labels.into());
            let coordinate = self.index_coordinate(&dimension)?;
            let found = Index::new(coordinate, &dimension, &labels)?.find_each(&labels)?;
            indices.push((dimension, found.into_iter().map(|index| index as i64).collect::<Vec<_>>()));
        }
        self.isel_points(name, indices)
    }
}
