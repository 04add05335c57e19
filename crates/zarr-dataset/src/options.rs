//! Options of opening data sets.

use zarr_array::Options;

/// The variables that are coordinates, beside those that have one dimension and its name: the argument `decode_coords` of xarray.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecodeCoords {
    /// No other variables.
    None,
    /// Variables that attributes `coordinates` list.
    #[default]
    Coordinates,
    /// Variables as for [`Coordinates`](Self::Coordinates), and those that other attributes of the CF conventions name: `bounds`,
    /// `climatology`, `grid_mapping` (also in the form `crs: lat lon`), `cell_measures` and `formula_terms` (`area: name`), `geometry`,
    /// `node_coordinates`, `node_count`, `part_node_count` and `interior_ring`.
    ///
    /// Such an attribute moves to the [`encoding`](crate::Variable::encoding) where all variables that it names are there. Else it stays
    /// an attribute, and names no coordinates; xarray drops it, with a warning.
    All,
}

/// Options of opening a data set.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct DatasetOptions {
    /// Whether dimensions without names are called `dim_0`, `dim_1`, as `xarray` calls them. Else they are an error.
    pub number_dimensions: bool,
    /// Whether nodes are looked for although there is consolidated metadata, which may be stale.
    pub ignore_consolidated: bool,
    /// The variables that are coordinates.
    pub decode_coords: DecodeCoords,
    /// Options of opening its arrays.
    pub arrays: Options,
}

impl DatasetOptions {
    /// Dimensions without names are called `dim_0`, `dim_1`.
    #[must_use]
    pub fn number_dimensions(mut self, number_dimensions: bool) -> Self {
        self.number_dimensions = number_dimensions;
        self
    }

    /// Consolidated metadata is not believed.
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

    /// Options of the arrays: a cache, threads.
    #[must_use]
    pub fn arrays(mut self, arrays: Options) -> Self {
        self.arrays = arrays;
        self
    }
}
