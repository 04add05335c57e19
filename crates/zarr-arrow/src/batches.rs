//! Batches of a table, which are read one after another.

use crate::batch::Batch;
use crate::boxes::{Boxes, parts};
use crate::column::Column;
use crate::options::TableOptions;
use crate::plan::Plan;
use crate::schema::Schema;
use crate::{Error, Result};
use std::ops::Range;
use std::sync::Arc;
use zarr_dataset::{Dataset, Variable};

/// Iterator of the batches of a table.
///
/// A part of a data set is selected before: [`Dataset::sel`], [`Dataset::isel`] and so on. Only chunks that the selection meets are read,
/// by as many threads as the [options of the arrays](zarr_dataset::DatasetOptions::arrays) say. Values of a box of the table are decoded at
/// once, and its batches share them. After an error the iterator ends.
#[derive(Debug)]
pub struct Batches {
    schema: Arc<Schema>,
    dimensions: Vec<(String, u64)>,
    columns: Vec<Column>,
    plan: Plan,
    /// Rows of the box that was read last which are still to be returned.
    left: Range<usize>,
}

impl Batches {
    /// Makes the table of a data set. Nothing is read but the first and last element of times, which decide their type.
    ///
    /// Its dimensions are those of the variable with the most of them, then those that others have beside. Columns are, in this order:
    /// labels of the dimensions, or indices where there are none; other coordinates of the variables; variables. With
    /// [`columns`](TableOptions#structfield.columns) there may be none, so that rows are counted without a read.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`](crate::ErrorKind::Argument) for a name that is no variable or no column, for batches of 0 rows, for no
    /// columns, if two columns have the same name, if a name has a NUL, and if a variable has a dimension twice;
    /// [`ErrorKind::NotExpressible`](crate::ErrorKind::NotExpressible) for a data type without a type of Arrow; the errors of
    /// [`Variable::data_type`].
    pub fn new(dataset: &Dataset, options: &TableOptions) -> Result<Self> {
        if options.batch_rows == 0 {
            return Err(Error::argument("found batches of 0 rows, expected at least 1"));
        }
        let variables: Vec<&Variable> = match &options.variables {
            Some(names) => names.iter().map(|name| dataset.variable(name)).collect::<Result<_>>()?,
            None => dataset.data_variables().collect(),
        };
        // Variables that are asked for bring their coordinates; a whole data set has all of them.
        let coordinates: Vec<&Variable> = match options.variables {
            Some(_) => variables.iter().flat_map(|variable| dataset.coordinates_of(variable)).collect(),
            None => dataset.coordinates().collect(),
        };
        let found = dimensions(variables.iter().chain(&coordinates).copied())?;
        let table = match &options.dimensions {
            Some(names) => named_dimensions(dataset, names, &found)?,
            None => found,
        };
        let mut columns = Vec::new();
        let column = |variable| Column::of_variable(variable, &table, options.coordinates, options.nan_is_null);
        let is_label = |variable: &Variable, name: &str| variable.name() == name && variable.dimensions().eq([name]);
        // Columns that nobody asks for are not made: the types of times are looked up in their elements.
        let is_wanted = |name: &str| options.columns.as_ref().is_none_or(|names| names.iter().any(|it| it == name));
        for (number, (name, _)) in table.iter().enumerate().filter(|(_, (name, _))| is_wanted(name)) {
            columns.push(match dataset.coordinates().find(|variable| is_label(variable, name)) {
                Some(labels) => column(labels)?,
                None => Column::of_indices(number, &table, options.coordinates),
            });
        }
        let is_dimension = |name: &str| table.iter().any(|(dimension, _)| dimension == name);
        let mut names: Vec<&str> = Vec::new();
        let is_asked_for = |variable: &&Variable| variables.iter().any(|other| other.name() == variable.name());
        for &variable in coordinates.iter().filter(|variable| !is_asked_for(variable)).chain(&variables) {
            let name = variable.name();
            // Variables share coordinates, and labels of dimensions are columns already.
            let is_shared = names.contains(&name) && !is_asked_for(&variable);
            if is_shared || (is_dimension(name) && is_label(variable, name)) {
                continue;
            }
            if names.contains(&name) || is_dimension(name) {
                return Err(Error::argument(format!("found two columns {name}, expected names that differ")));
            }
            names.push(name);
            if is_wanted(name) {
                columns.push(column(variable)?);
            }
        }
        let is_column = |name: &str| is_dimension(name) || names.contains(&name);
        if let Some(unknown) = options.columns.iter().flatten().find(|name| !is_column(name)) {
            return Err(Error::argument(format!("found the column {unknown}, which the table lacks")));
        }
        if columns.is_empty() && options.columns.is_none() {
            return Err(Error::argument("found no variables and no dimensions, expected at least one column"));
        }
        columns.iter().try_for_each(Column::check)?;
        let plan = Plan::new(&table, &columns, options);
        columns.iter_mut().try_for_each(|column| column.limit_threads(plan.threads))?;
        Ok(Self {
            schema: Arc::new(Schema { fields: columns.iter().map(Column::field).collect() }),
            dimensions: table,
            columns,
            plan,
            left: 0..0,
        })
    }

    /// Columns of the table.
    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// Names and lengths of the dimensions, outermost first.
    pub fn dimensions(&self) -> &[(String, u64)] {
        &self.dimensions
    }

    /// Number of rows of the table.
    pub fn rows(&self) -> u128 {
        self.dimensions.iter().fold(1, |rows: u128, (_, len)| rows.saturating_mul((*len).into()))
    }

    /// Divides the table into at most `most` parts, for readers beside each other. A part is a range of indices of each dimension; all have
    /// the same ranges but along one dimension, the outermost that has enough chunks. Parts end where chunks do: those of all columns that
    /// are read box by box, or, if they have no common bounds, those of the column with the longest.
    pub fn parts(&self, most: usize) -> Vec<Vec<Range<u64>>> {
        let shape: Vec<u64> = self.dimensions.iter().map(|(_, len)| *len).collect();
        parts(&shape, &self.plan.chunks, most)
    }

    #[cfg(test)]
    pub(crate) fn into_plan(self) -> Plan {
        self.plan
    }

    /// Iterates over the numbers of threads that read the variables.
    #[cfg(test)]
    pub(crate) fn threads(&self) -> impl Iterator<Item = Option<std::num::NonZeroUsize>> {
        self.columns.iter().filter_map(Column::variable).map(|variable| variable.stored().options().threads)
    }

    fn read(&mut self, ranges: &[Range<u64>]) -> Result<()> {
        self.columns.iter_mut().for_each(Column::forget);
        for (column, &is_kept) in self.columns.iter_mut().zip(&self.plan.kept) {
            column.read(ranges, is_kept)?;
        }
        let rows = zarr_grid::element_count(&ranges.iter().map(|range| range.end - range.start).collect::<Vec<_>>());
        self.left =
            0..rows.and_then(|rows| usize::try_from(rows).ok()).ok_or_else(|| Error::internal("a large box"))?;
        Ok(())
    }

    /// Shortens rows, whose number is at least 1 afterwards, until memory has room for the strings that are copied for them.
    fn within_memory(&self, mut rows: Range<usize>) -> Range<usize> {
        let longest = self.columns.iter().map(Column::longest_text).fold(0, u64::saturating_add);
        if longest.saturating_mul(rows.len() as u64) <= self.plan.batch_bytes {
            return rows;
        }
        let bytes = |rows: &Range<usize>| {
            self.columns.iter().map(|column| column.text_bytes(rows.clone())).fold(0, u64::saturating_add)
        };
        while rows.len() > 1 && bytes(&rows) > self.plan.batch_bytes {
            rows.end = rows.start + rows.len() / 2;
        }
        rows
    }

    fn batch(&mut self) -> Result<Batch> {
        let end = self.left.end.min(self.left.start.saturating_add(self.plan.batch_rows));
        let rows = self.within_memory(self.left.start..end);
        self.left.start = rows.end;
        let columns = self.columns.iter().map(|column| column.rows(rows.clone())).collect::<Result<_>>()?;
        if self.left.is_empty() {
            // The caller may be the last one that needs what was read.
            self.columns.iter_mut().for_each(Column::forget);
        }
        Ok(Batch { schema: Arc::clone(&self.schema), rows: rows.len(), columns })
    }
}

impl Iterator for Batches {
    type Item = Result<Batch>;

    fn next(&mut self) -> Option<Result<Batch>> {
        let batch = match self.left.is_empty() {
            true => {
                let ranges = self.plan.boxes.next()?;
                self.read(&ranges).and_then(|()| self.batch())
            }
            false => self.batch(),
        };
        if batch.is_err() {
            (self.left, self.plan.boxes) = (0..0, Boxes::none());
        }
        Some(batch)
    }
}

/// Returns the dimensions of all variables with their lengths, beginning with those of the variable that has the most.
fn dimensions<'v>(variables: impl Iterator<Item = &'v Variable>) -> Result<Vec<(String, u64)>> {
    let mut sorted: Vec<&Variable> = variables.collect();
    sorted.sort_by_key(|variable| std::cmp::Reverse(variable.shape().len()));
    let mut table: Vec<(String, u64)> = Vec::new();
    for variable in sorted {
        for (name, len) in variable.dimensions().zip(variable.shape()) {
            match table.iter().find(|(known, _)| known == name) {
                None => table.push((name.to_owned(), len)),
                Some((_, known)) if *known == len => {}
                Some((_, known)) => {
                    let message = format!("found {len} indices of dimension {name}, expected {known} as of others");
                    return Err(crate::column::in_variable(variable, Error::argument(message)));
                }
            }
        }
    }
    Ok(table)
}

/// Returns the dimensions of these names with their lengths. All that are `needed` must be among them.
fn named_dimensions(dataset: &Dataset, names: &[String], needed: &[(String, u64)]) -> Result<Vec<(String, u64)>> {
    if let Some((name, _)) = needed.iter().find(|(name, _)| !names.contains(name)) {
        return Err(Error::argument(format!("found dimensions {names:?}, expected {name:?} among them")));
    }
    let mut table: Vec<(String, u64)> = Vec::new();
    for name in names {
        if table.iter().any(|(known, _)| known == name) {
            return Err(Error::argument(format!("found dimension {name:?} twice")));
        }
        let all = dataset.dimensions().iter().map(|dimension| (&dimension.name, dimension.size));
        let mut all = needed.iter().map(|(name, len)| (name, *len)).chain(all);
        let len = all.find_map(|(known, len)| (known == name).then_some(len));
        let len = len.ok_or_else(|| Error::argument(format!("found dimension {name:?}, which the data set lacks")))?;
        table.push((name.clone(), len));
    }
    Ok(table)
}
