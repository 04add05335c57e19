//! Options of comparisons.

use zarr_array::Options;

/// Greatest accepted difference of numbers: `|a - b| <= absolute + relative * |b|`, as in `numpy.isclose`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// Accepted difference as a fraction of the number of the second side.
    pub relative: f64,
    /// Accepted absolute difference.
    pub absolute: f64,
}

/// Options for the comparison of two nodes.
///
/// ```
/// use zarr_compare::CompareOptions;
///
/// let options = CompareOptions::default().tolerance(1e-6, 0.0).equal_nan(true).first(3);
/// assert!(options.values && options.attributes);
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CompareOptions {
    /// Greatest accepted difference of numbers. By default elements are equal if their bits are, so the two zeros differ. A tolerance
    /// applies only to elements that are numbers: fields of structs and inner elements of lists are compared by their bits.
    pub tolerance: Option<Tolerance>,
    /// Whether all NaNs are equal. By default a NaN only equals a NaN with the same bits.
    pub equal_nan: bool,
    /// Whether document members are compared, such as shapes, data types, fill values, chunks and codecs. Default true.
    pub metadata: bool,
    /// Whether attributes are compared. Default true.
    pub attributes: bool,
    /// Whether elements are compared. Default true.
    pub values: bool,
    /// Whether keys below groups that belong to no node are compared ([`other_keys`](zarr_hierarchy::other_keys)). Default true; they are
    /// not compared if a side has a [`dialect`](crate::Side#structfield.dialect), or cannot list.
    pub other_keys: bool,
    /// Greatest number of different elements of each array that are reported with their values. Default 10.
    pub first: usize,
    /// Greatest number of bytes of memory for data. Default 1 GiB.
    pub memory: u64,
    /// Options for reading arrays.
    pub options: Options,
}

impl Default for CompareOptions {
    fn default() -> Self {
        Self {
            tolerance: None,
            equal_nan: false,
            metadata: true,
            attributes: true,
            values: true,
            other_keys: true,
            first: 10,
            memory: 1 << 30,
            options: Options::default(),
        }
    }
}

impl CompareOptions {
    /// Sets [`tolerance`](Self#structfield.tolerance).
    #[must_use]
    pub fn tolerance(mut self, relative: f64, absolute: f64) -> Self {
        self.tolerance = Some(Tolerance { relative, absolute });
        self
    }

    /// Sets [`equal_nan`](Self#structfield.equal_nan).
    #[must_use]
    pub fn equal_nan(mut self, equal_nan: bool) -> Self {
        self.equal_nan = equal_nan;
        self
    }

    /// Sets [`metadata`](Self#structfield.metadata).
    #[must_use]
    pub fn metadata(mut self, metadata: bool) -> Self {
        self.metadata = metadata;
        self
    }

    /// Sets [`attributes`](Self#structfield.attributes).
    #[must_use]
    pub fn attributes(mut self, attributes: bool) -> Self {
        self.attributes = attributes;
        self
    }

    /// Sets [`values`](Self#structfield.values).
    #[must_use]
    pub fn values(mut self, values: bool) -> Self {
        self.values = values;
        self
    }

    /// Sets [`other_keys`](Self#structfield.other_keys).
    #[must_use]
    pub fn other_keys(mut self, other_keys: bool) -> Self {
        self.other_keys = other_keys;
        self
    }

    /// Sets [`first`](Self#structfield.first).
    #[must_use]
    pub fn first(mut self, first: usize) -> Self {
        self.first = first;
        self
    }

    /// Sets [`memory`](Self#structfield.memory).
    #[must_use]
    pub fn memory(mut self, memory: u64) -> Self {
        self.memory = memory;
        self
    }

    /// Sets [`options`](Self#structfield.options).
    #[must_use]
    pub fn options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }
}
