//! Batches of a table, which are read one after another.

use crate::batch::Batch;
use crate::boxes::{Boxes, Chunks, Rows};
use crate::column::{Column, MOST_ELEMENTS};
use crate::options::TableOptions;
use crate::schema::Schema;
use crate::{Error, Result};
use std::ops::Range;
use std::sync::Arc;
use zarr_array::Options;
use zarr_dataset::{Dataset, Variable};
use zarr_grid::AxisSelection;
use zarr_scan::Memory;

/// Number of bytes of a box for which reading in parallel pays, and which memory that is reused is fast for.
const WANTED_BYTES: u64 = 8 << 20;

/// Iterator of the batches of a table.
///
/// A part of a data set is selected before: [`Dataset::sel`], [`Dataset::isel`] and so on. Only chunks that the selection meets are read, by as
/// many threads as the [options of the arrays](zarr_dataset::DatasetOptions::arrays) say. Values of a box of the table are decoded at once, and
/// its batches share them. After an error the iterator ends.
#[derive(Debug)]
pub struct Batches {
    schema: Arc<Schema>,
    dimensions: Vec<(String, u64)>,
    columns: Vec<Column>,
    boxes: Boxes,
    batch_rows: usize,
    /// Number of bytes up to which a column that repeats values is read once and kept.
    kept: u64,
    /// Rows of the box that was read last which are still to be returned.
    left: Range<usize>,
}

impl Batches {
    /// Makes the table of a data set. Nothing is read but the first and last element of times, which decide their type.
    ///
    /// Its dimensions are those of the variable with the most of them, then those that others have beside. Columns are, in this order: labels of
    /// the dimensions, or indices where there are none; other coordinates of the variables; variables.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`](crate::ErrorKind::Argument) for a name that is no variable, for batches of 0 rows, and if a variable has a
    /// dimension twice; [`ErrorKind::NotExpressible`](crate::ErrorKind::NotExpressible) for a data type without a type of Arrow; the errors of
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
        for (number, (name, _)) in table.iter().enumerate() {
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
            columns.push(column(variable)?);
        }
        let (boxes, kept) = boxes(&table, &columns, options);
        Ok(Self {
            schema: Arc::new(Schema { fields: columns.iter().map(Column::field).collect() }),
            dimensions: table,
            columns,
            boxes,
            batch_rows: options.batch_rows.min(i32::MAX as usize),
            kept,
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

    fn read(&mut self, ranges: &[Range<u64>]) -> Result<()> {
        self.columns.iter_mut().for_each(Column::forget);
        self.columns.iter_mut().try_for_each(|column| column.read(ranges, self.kept))?;
        let rows = zarr_grid::element_count(&ranges.iter().map(|range| range.end - range.start).collect::<Vec<_>>());
        self.left =
            0..rows.and_then(|rows| usize::try_from(rows).ok()).ok_or_else(|| Error::internal("a large box"))?;
        Ok(())
    }

    fn batch(&mut self) -> Result<Batch> {
        let end = self.left.end.min(self.left.start.saturating_add(self.batch_rows));
        let rows = self.left.start..end;
        self.left.start = end;
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
                let ranges = self.boxes.next()?;
                self.read(&ranges).and_then(|()| self.batch())
            }
            false => self.batch(),
        };
        if batch.is_err() {
            (self.left, self.boxes) = (0..0, Boxes::none());
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

/// Divides memory: returns the boxes in which the table is read, and the number of bytes up to which a column is kept.
fn boxes(table: &[(String, u64)], columns: &[Column], options: &TableOptions) -> (Boxes, u64) {
    let is_wide = |column: &&Column| column.dimensions().len() == table.len();
    let (wide, narrow): (Vec<&Column>, Vec<&Column>) = columns.iter().partition(is_wide);
    let mut chunks: Vec<Chunks> = table.iter().map(|_| Chunks { len: 1, first: 1 }).collect();
    for column in &wide {
        let Some(variable) = column.variable() else { continue };
        for (&number, found) in column.dimensions().iter().zip(chunks_of(variable)) {
            if let Some(chunk) = chunks.get_mut(number).filter(|chunk| chunk.len < found.len) {
                *chunk = found;
            }
        }
    }
    let shape: Vec<u64> = table.iter().map(|(_, len)| *len).collect();
    let parts: Vec<_> = wide.iter().filter_map(|column| column.variable()).map(|variable| variable.stored()).collect();
    let parts: Vec<_> = parts.iter().map(|array| (array.part_shape(), array.data_type().item_size() as u64)).collect();
    let threads = parts_threads(columns);
    let memory = Memory::new(options.memory, parts.iter().map(|(shape, item)| (&shape[..], *item)), &threads);
    let decoding = memory.for_thread().saturating_mul(memory.threads_in(u64::MAX) as u64);
    let bytes = memory.bytes().saturating_sub(decoding).max(memory.bytes() / 2);
    let kept = bytes / 8 / (narrow.len() as u64).max(1);
    // A column that is not kept has at most an element for each row of a box.
    let read = wide.iter().chain(narrow.iter().filter(|column| column.bytes() > kept));
    let row = read.map(|column| column.bytes_per_element()).fold(0, u64::saturating_add).max(1);
    // Columns that repeat values are made for each batch, and the caller may keep the box before.
    let most = (bytes / 4 / row).clamp(1, MOST_ELEMENTS);
    let wanted = (WANTED_BYTES.max(decoding) / row).max(options.batch_rows as u64).min(most);
    (Boxes::new(&shape, &chunks, Rows { wanted, most }, options.ordered), kept)
}

/// Returns the options of the arrays that are read.
fn parts_threads(columns: &[Column]) -> Options {
    columns.iter().find_map(Column::variable).map_or_else(Options::default, |it| it.stored().options().clone())
}

/// Returns the chunks along each dimension of a variable, in selected indices.
fn chunks_of(variable: &Variable) -> Vec<Chunks> {
    let array = variable.stored();
    let part = array.part_shape();
    let Some(zarr_grid::Selection::Axes(axes)) = variable.stored_selection() else {
        return variable.shape().iter().map(|_| Chunks { len: 1, first: 1 }).collect();
    };
    let left = axes.iter().zip(&part).filter(|(axis, _)| !matches!(axis, AxisSelection::Index(_)));
    let chunk = |(axis, &len): (&AxisSelection, &u64)| match *axis {
        AxisSelection::Range { start, step: 1, .. } => {
            let start = start.and_then(|start| u64::try_from(start).ok()).unwrap_or(0);
            Chunks { len: len.max(1), first: len.max(1) - start % len.max(1) }
        }
        AxisSelection::Range { step, .. } => {
            let len = (len / step.unsigned_abs().max(1)).max(1);
            Chunks { len, first: len }
        }
        _ => Chunks { len: len.max(1), first: len.max(1) },
    };
    left.map(chunk).collect()
}
