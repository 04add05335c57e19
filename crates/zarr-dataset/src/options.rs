//! Options for opening data sets.

use zarr_array::Options;

/// Variables that are coordinates, in addition to variables with one dimension of their own name: the argument `decode_coords` of xarray.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecodeCoords {
    /// No other variables.
    None,
    /// Variables that are listed in attributes `coordinates`.
    #[default]
    Coordinates,
    /// Variables that are listed in attributes `coordinates`, and variables that other attributes of the CF conventions name: `bounds`,
    /// `climatology`, `grid_mapping` (also in the form `crs: lat lon`), `cell_measures` and `formula_terms` (`area: name`), `geometry`,
    /// `node_coordinates`, `node_count`, `part_node_count` and `interior_ring`.
    ///
    /// Such an attribute moves to the [`encoding`](crate::Variable::encoding) if all variables that it names exist. Otherwise it stays
    /// an attribute, and names no coordinates; xarray drops it, with a warning.
    All,
}

/// Options for opening a data set.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct DatasetOptions {
    /// Whether dimensions without names are called `dim_0`, `dim_1`, as in xarray. Otherwise they are an error.
    pub number_dimensions: bool,
    /// Whether nodes are listed even if there is consolidated metadata, which may be stale. Opening never compares the two.
    pub ignore_consolidated: bool,
    /// Variables that are coordinates.
    pub decode_coords: DecodeCoords,
    /// Options for opening the arrays of the data set.
    pub arrays: Options,
}

impl DatasetOptions {
    /// Sets whether dimensions without names are called `dim_0`, `dim_1`.
    #[must_use]
    pub fn number_dimensions(mut self, number_dimensions: bool) -> Self {
        self.number_dimensions = number_dimensions;
        self
    }

    /// Sets whether nodes are listed even if there is consolidated metadata, which may be stale.
    #[must_use]
    pub fn ignore_consolidated(mut self, ignore_consolidated: bool) -> Self {
        self.ignore_consolidated = ignore_consolidated;
        self
    }

    /// Sets which variables are coordinates.
    #[must_use]
    pub fn decode_coords(mut self, decode_coords: DecodeCoords) -> Self {
        self.decode_coords = decode_coords;
        self
    }

    /// Sets the options of the arrays, such as a cache or threads.
    #[must_use]
    pub fn arrays(mut self, arrays: Options) -> Self {
        self.arrays = arrays;
        self
    }
}
