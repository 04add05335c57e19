//! Sources of elements: an array as it is stored or decoded, a field of an array, or a variable whose values are composed.

use zarr_array::{Array, ArrayData, Error, Result};
use zarr_codec::ViewMut;
use zarr_dataset::Dataset;
use zarr_dtype::DataType;
use zarr_grid::{AxisSelection, ChunkGrid, Region, Selection};
use zarr_scan::Layout;

/// Assumed length of an element of variable length, in bytes.
const VARIABLE: u64 = 64;

/// Elements of a part, read from a source.
pub(crate) struct PartData {
    pub(crate) data: ArrayData,
    /// Whether each element is missing; `None` if the data type itself has values for missing elements.
    pub(crate) missing: Option<Vec<bool>>,
}

/// Source of elements.
pub(crate) enum ElementSource<'a> {
    Array {
        array: &'a Array,
        field: Option<&'a str>,
    },
    /// Variable of a data set whose strings or bools are composed of stored elements.
    Variable {
        array: &'a Array,
        dataset: &'a Dataset,
        name: &'a str,
        grid: ChunkGrid,
    },
}

impl<'a> ElementSource<'a> {
    /// Makes the source of variable `name` of a data set, within the selection of the data set.
    pub(crate) fn variable(dataset: &'a Dataset, name: &'a str) -> Result<Self> {
        let variable = dataset.variable(name)?;
        let shape = variable.shape();
        let array = variable.stored();
        // As large as the chunks that are stored; where a selection dropped axes, they do not meet chunks alone.
        let part: Vec<u64> = array.part_shape().iter().copied().take(shape.len()).map(|len| len.max(1)).collect();
        let grid = ChunkGrid::regular(&shape, &part)?;
        Ok(Self::Variable { array, dataset, name, grid })
    }

    pub(crate) fn array(&self) -> &Array {
        match self {
            Self::Array { array, .. } | Self::Variable { array, .. } => array,
        }
    }

    /// Whether the grid of the source is the chunk grid of the array.
    pub(crate) fn has_chunks(&self) -> bool {
        matches!(self, Self::Array { .. })
    }

    pub(crate) fn grid(&self) -> &ChunkGrid {
        match self {
            Self::Array { array, .. } => array.chunk_grid(),
            Self::Variable { grid, .. } => grid,
        }
    }

    /// Layout of the chunks in which the source is read.
    pub(crate) fn layout(&self) -> Layout<'_> {
        let part = match self {
            Self::Array { array, .. } => array.part_shape().to_vec(),
            Self::Variable { grid, .. } => grid.largest_chunk_shape().to_vec(),
        };
        let (array, grid, is_stored, item) = (self.array(), self.grid(), self.has_chunks(), self.item_size());
        Layout { array, grid, is_stored, part, item }
    }

    /// Number of bytes of an element that is read; an assumed number for elements of variable length.
    pub(crate) fn item_size(&self) -> u64 {
        let size = |data_type: &DataType| if data_type.is_variable() { VARIABLE } else { data_type.item_size() as u64 };
        match self {
            Self::Array { array, .. } => size(array.data_type()).max(1),
            // Characters of a string lie along a further axis.
            Self::Variable { array, grid, .. } => {
                let characters =
                    array.part_shape().iter().skip(grid.rank()).fold(1_u64, |all, &len| all.saturating_mul(len));
                size(array.data_type()).saturating_mul(characters).max(VARIABLE)
            }
        }
    }

    pub(crate) fn read(&self, region: &Region) -> Result<PartData> {
        match self {
            Self::Array { array, field: None } => Ok(PartData { data: array.read_data(region)?, missing: None }),
            Self::Array { array, field: Some(field) } => {
                Ok(PartData { data: array.read_field(field, region)?, missing: None })
            }
            Self::Variable { dataset, name, .. } => {
                let dimensions: Vec<String> = dataset.variable(name)?.dimensions().map(str::to_owned).collect();
                let mut part = Dataset::clone(dataset);
                for (dimension, range) in dimensions.iter().zip(region.axes()) {
                    let number = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
                    let stop = range.last().map_or(range.start, |last| last.saturating_add(1));
                    let (start, stop) = (Some(number(range.start)), Some(number(stop)));
                    part = part.isel(dimension, AxisSelection::Range { start, stop, step: number(range.step) })?;
                }
                let values = part.variable(name)?.read()?;
                let missing = (0..values.len()).map(|index| values.is_missing(index)).collect();
                Ok(PartData { data: values.data().clone(), missing: Some(missing) })
            }
        }
    }

    /// Reads a selection of the array as a whole.
    pub(crate) fn read_selection(&self, selection: &Selection) -> Result<PartData> {
        let data = match self {
            Self::Array { array, field: None } => array.read_data(selection)?,
            Self::Array { array, field: Some(field) } => array.read_field(field, selection)?,
            Self::Variable { .. } => return Err(Error::internal("a variable is read by regions alone")),
        };
        Ok(PartData { data, missing: None })
    }

    /// Reads several parts at the same time, if requests take long; `None` if it is better to read each part by itself.
    pub(crate) fn read_together(&self, parts: &[Region]) -> Result<Option<Vec<PartData>>> {
        let Self::Array { array, field: None } = self else { return Ok(None) };
        if array.store().as_async().is_none() || array.data_type().is_variable() || parts.len() < 2 {
            return Ok(None);
        }
        let item = array.data_type().item_size();
        let mut data = Vec::with_capacity(parts.len());
        for part in parts {
            let bytes =
                vec![
                    0;
                    usize::try_from(part.len_checked().unwrap_or(u64::MAX)).unwrap_or(usize::MAX).saturating_mul(item)
                ];
            data.push(ArrayData::from_items(array.data_type(), &part.shape(), &bytes, None)?);
        }
        let selections = parts.iter().map(|part| Selection::Region(part.clone()));
        let views: Vec<ViewMut<'_>> = data.iter_mut().map(ArrayData::view_mut).collect();
        array.read_many(selections.zip(views))?;
        Ok(Some(data.into_iter().map(|data| PartData { data, missing: None }).collect()))
    }
}
