//! Options of tables.

/// Encoding of columns that repeat values: coordinates, and variables that lack some of the dimensions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Coordinates {
    /// Runs of equal values, with the index of the end of each (`run_end_encoded`), where a value follows itself; otherwise as
    /// [`Dictionary`](Self::Dictionary).
    RunEnd,
    /// Indices into a dictionary for labels, as they are stored, and indices of dimensions. Other columns have each value in each row:
    /// their values may repeat and be null, which readers refuse in dictionaries.
    Dictionary,
    /// Each value in each row, which every program understands.
    #[default]
    Plain,
}

/// Options of a table.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TableOptions {
    /// Names of the variables that become columns, beside their coordinates; `None` for all variables of the data set.
    pub variables: Option<Vec<String>>,
    /// Names of the dimensions in the order of the rows, outermost first; `None` for the order that [`Batches::new`](crate::Batches::new)
    /// describes. Variables are repeated along those that they lack.
    pub dimensions: Option<Vec<String>>,
    /// Names of the columns of the table that are read; `None` for all. Rows and the order of the columns are those of the whole table.
    pub columns: Option<Vec<String>>,
    /// Encoding of columns that repeat values.
    pub coordinates: Coordinates,
    /// Maximum number of rows of a batch, at least 1.
    pub batch_rows: usize,
    /// Whether rows are in C order of all dimensions. Otherwise they are in C order within blocks of chunks. So less memory suffices to
    /// decode each chunk once: that for a chunk of each variable, if the bounds of their chunks meet.
    pub ordered: bool,
    /// Bound in bytes of the memory for elements, decoded chunks and batches; it does not count batches that the caller keeps. A chunk
    /// that is larger is decoded all the same. Strings count as 32 bytes each in what is read, and in full where they are repeated.
    pub memory: u64,
    /// Whether NaN is null.
    pub nan_is_null: bool,
}

impl Default for TableOptions {
    fn default() -> Self {
        Self {
            variables: None,
            dimensions: None,
            columns: None,
            coordinates: Coordinates::default(),
            batch_rows: 65_536,
            ordered: true,
            memory: 128 << 20,
            nan_is_null: true,
        }
    }
}

impl TableOptions {
    /// Sets [`variables`](Self#structfield.variables).
    #[must_use]
    pub fn variables<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.variables = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// Sets [`dimensions`](Self#structfield.dimensions).
    #[must_use]
    pub fn dimensions<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.dimensions = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// Sets [`columns`](Self#structfield.columns).
    #[must_use]
    pub fn columns<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.columns = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// Sets [`coordinates`](Self#structfield.coordinates).
    #[must_use]
    pub fn coordinates(mut self, coordinates: Coordinates) -> Self {
        self.coordinates = coordinates;
        self
    }

    /// Sets [`batch_rows`](Self#structfield.batch_rows).
    #[must_use]
    pub fn batch_rows(mut self, batch_rows: usize) -> Self {
        self.batch_rows = batch_rows;
        self
    }

    /// Sets [`ordered`](Self#structfield.ordered).
    #[must_use]
    pub fn ordered(mut self, ordered: bool) -> Self {
        self.ordered = ordered;
        self
    }

    /// Sets [`memory`](Self#structfield.memory).
    #[must_use]
    pub fn memory(mut self, memory: u64) -> Self {
        self.memory = memory;
        self
    }

    /// Sets [`nan_is_null`](Self#structfield.nan_is_null).
    #[must_use]
    pub fn nan_is_null(mut self, nan_is_null: bool) -> Self {
        self.nan_is_null = nan_is_null;
        self
    }
}
