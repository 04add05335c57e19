//! Columns of a table: what is read of them for a box, and their arrays for rows of it.

use crate::build::{Elements, build};
use crate::data::{Buffer, Data};
use crate::fault::Fault;
use crate::kind::Kind;
use crate::options::Coordinates;
use crate::runs::{Repeated, Run};
use crate::schema::Field;
use crate::words::Words;
use crate::{Error, Result};
use bytemuck::cast_slice_mut;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::Arc;
use zarr_dataset::Variable;
use zarr_grid::{AxisSelection, Region, Selection};

/// Greatest number of elements that are read at once: indices of dictionaries have 31 bits.
pub(crate) const MOST_ELEMENTS: u64 = i32::MAX as u64;

/// Column of a table.
#[derive(Debug)]
pub(crate) struct Column {
    name: String,
    source: Source,
    kind: Kind,
    item_size: usize,
    /// Dimension of the table of each dimension of the source.
    dimensions: Vec<usize>,
    /// Lengths of the dimensions of the source.
    shape: Vec<u64>,
    layout: Layout,
    may_miss: bool,
    nan_is_null: bool,
    read: Option<Part>,
    repeated: Option<Repeated>,
}

#[derive(Debug)]
enum Source {
    Variable(Variable),
    /// Indices of a dimension without labels.
    Indices,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    /// Elements of the source are those of the rows.
    Whole,
    /// Elements are repeated.
    Plain,
    RunEnd,
    Dictionary,
}

/// Part of a source that was read.
#[derive(Debug)]
struct Part {
    ranges: Vec<Range<u64>>,
    elements: Elements,
    /// Array of all elements, if it is sliced, or is a dictionary.
    data: Option<Arc<Data>>,
    /// Number of bytes of the longest string that is copied for rows; 0 without such strings.
    longest: u64,
}

impl Column {
    /// Makes the column of a variable. `table` has the names and lengths of the dimensions of the table.
    ///
    /// # Errors
    /// Errors of the variable's metadata; errors for a data type without a type of Arrow, and a dimension that the variable has twice.
    pub(crate) fn of_variable(
        variable: &Variable,
        table: &[(String, u64)],
        coordinates: Coordinates,
        nan_is_null: bool,
    ) -> Result<Self> {
        let named = |error: Error| in_variable(variable, error);
        let data_type = variable.data_type()?;
        let kind = Kind::of(&data_type).map_err(named)?;
        let mut dimensions = Vec::new();
        for name in variable.dimensions() {
            let found = table.iter().position(|(known, _)| known == name);
            let number = found.ok_or_else(|| Error::internal("a dimension that the table lacks"))?;
            if dimensions.contains(&number) {
                let message = format!("found dimension {name} twice, expected dimensions that differ in a table");
                return Err(named(Error::argument(message)));
            }
            dimensions.push(number);
        }
        let is_float = matches!(kind, Kind::Float(_) | Kind::Widened(_));
        let may_miss = kind.may_miss() && (nan_is_null || !is_float);
        let is_label = variable.dimensions().eq([variable.name()]);
        let layout = layout(&dimensions, table, coordinates, is_label);
        let kind = if layout == Layout::Whole { kind } else { kind.repeated() };
        Ok(Self {
            name: variable.name().to_owned(),
            item_size: data_type.item_size(),
            shape: variable.shape(),
            layout,
            source: Source::Variable(variable.clone()),
            kind,
            dimensions,
            may_miss,
            nan_is_null,
            read: None,
            repeated: None,
        })
    }

    /// Makes the column of the indices of a dimension without labels.
    pub(crate) fn of_indices(dimension: usize, table: &[(String, u64)], coordinates: Coordinates) -> Self {
        let (name, len) = table.get(dimension).cloned().unwrap_or_default();
        Self {
            name,
            source: Source::Indices,
            kind: Kind::Same("l".to_owned()),
            item_size: 8,
            dimensions: vec![dimension],
            shape: vec![len],
            layout: layout(&[dimension], table, coordinates, true),
            may_miss: false,
            nan_is_null: false,
            read: None,
            repeated: None,
        }
    }

    /// Returns the name and type of the column.
    pub(crate) fn field(&self) -> Field {
        let values = |name: &str| self.kind.field(name, self.may_miss);
        match self.layout {
            Layout::Whole | Layout::Plain => values(&self.name),
            Layout::Dictionary => {
                let mut field = Field::new(&self.name, "i", self.may_miss);
                field.dictionary = Some(Box::new(values("")));
                field
            }
            Layout::RunEnd => {
                let mut field = Field::new(&self.name, "+r", self.may_miss);
                field.children = vec![Field::new("run_ends", "i", false), values("values")];
                field
            }
        }
    }

    /// Checks the names of the column and of its fields.
    ///
    /// # Errors
    /// The errors of [`Field::check`], with the variable.
    pub(crate) fn check(&self) -> Result<()> {
        self.field().check().map_err(|error| match &self.source {
            Source::Variable(variable) => in_variable(variable, error),
            Source::Indices => error,
        })
    }

    /// Variable of the column; `None` for indices.
    pub(crate) fn variable(&self) -> Option<&Variable> {
        match &self.source {
            Source::Variable(variable) => Some(variable),
            Source::Indices => None,
        }
    }

    /// Dimension of the table of each dimension of the source.
    pub(crate) fn dimensions(&self) -> &[usize] {
        &self.dimensions
    }

    /// Estimated number of bytes of an element, with what it becomes.
    pub(crate) fn bytes_per_element(&self) -> u64 {
        self.kind.bytes_per_element(self.item_size)
    }

    /// Number of elements of the source.
    pub(crate) fn element_count(&self) -> u64 {
        self.shape.iter().fold(1, |elements, &len| elements.saturating_mul(len))
    }

    /// Estimated number of bytes of all elements of the source.
    pub(crate) fn bytes(&self) -> u64 {
        self.element_count().saturating_mul(self.bytes_per_element())
    }

    /// Whether elements of the source are repeated or in another order than the rows.
    pub(crate) fn is_repeated(&self) -> bool {
        self.layout != Layout::Whole
    }

    /// Estimated number of bytes that are made for a row of a batch.
    pub(crate) fn bytes_per_row(&self) -> u64 {
        match self.layout {
            Layout::Whole => 0,
            Layout::Plain => self.bytes_per_element(),
            Layout::Dictionary => size_of::<i32>() as u64,
            Layout::RunEnd => size_of::<i32>() as u64 + self.bytes_per_element(),
        }
    }

    /// Lets at most `threads` threads decode.
    ///
    /// # Errors
    /// The errors of [`Variable::with_threads`].
    pub(crate) fn limit_threads(&mut self, threads: usize) -> Result<()> {
        let Source::Variable(variable) = &mut self.source else { return Ok(()) };
        let wanted = variable.stored().options().threads.unwrap_or_else(zarr_scan::processors);
        if let Some(threads) = NonZeroUsize::new(threads).filter(|threads| *threads < wanted) {
            *variable = variable.with_threads(threads)?;
        }
        Ok(())
    }

    /// Reads what is needed for a box of the table, or all elements for a column that is kept.
    ///
    /// # Errors
    /// The errors of reading the variable, and those of values that the type of Arrow cannot hold.
    pub(crate) fn read(&mut self, ranges: &[Range<u64>], is_kept: bool) -> Result<()> {
        let wanted: Vec<Range<u64>> = match is_kept {
            true => self.shape.iter().map(|&len| 0..len).collect(),
            false => self.dimensions.iter().filter_map(|&number| ranges.get(number).cloned()).collect(),
        };
        if self.read.as_ref().is_none_or(|part| part.ranges != wanted) {
            // Memory is given back before more is asked for.
            self.read = None;
            let elements = self.elements(&wanted)?;
            let has_data = matches!(self.layout, Layout::Whole | Layout::Dictionary);
            let data = has_data.then(|| self.build(&elements, &wanted, Some)).transpose()?.map(Arc::new);
            let is_copied = data.is_none() && elements.heap.is_some();
            let texts = if is_copied { elements.len } else { 0 };
            let longest = (0..texts).map(|index| elements.text_len(index)).max().unwrap_or(0);
            self.read = Some(Part { ranges: wanted, elements, data, longest });
        }
        self.repeated = self.read.as_ref().map(|part| repeated(ranges, &self.dimensions, &part.ranges));
        Ok(())
    }

    /// Releases the memory of what was read of a box.
    pub(crate) fn forget(&mut self) {
        if self.layout == Layout::Whole {
            self.read = None;
        }
    }

    fn elements(&self, ranges: &[Range<u64>]) -> Result<Elements> {
        match &self.source {
            Source::Variable(variable) => Ok(Elements::of_values(variable.part(&Region::from_ranges(ranges))?.read()?)),
            Source::Indices => {
                let range = ranges.first().cloned().unwrap_or_default();
                let len = usize::try_from(range.end - range.start).unwrap_or(usize::MAX);
                let mut words = Words::items(len, 8)?;
                let numbers: &mut [u64] = cast_slice_mut(words.bytes_mut());
                numbers.iter_mut().zip(range).for_each(|(number, index)| *number = index);
                Ok(Elements::of_words(words, len))
            }
        }
    }

    /// Makes the array of elements, of which `read` returns the number in the part `ranges` of the source.
    fn build(
        &self,
        elements: &Elements,
        ranges: &[Range<u64>],
        read: impl FnOnce(usize) -> Option<usize>,
    ) -> Result<Data> {
        build(&self.kind, elements, self.nan_is_null).map_err(|Fault { error, element }| match &self.source {
            Source::Variable(variable) => match element.and_then(read) {
                Some(element) => at_element(variable, ranges, element, error),
                None => in_variable(variable, error),
            },
            Source::Indices => error,
        })
    }

    /// Number of bytes of the longest text of the box that is copied for rows.
    pub(crate) fn longest_text(&self) -> u64 {
        self.read.as_ref().map_or(0, |part| part.longest)
    }

    /// Number of bytes of the strings that are copied for rows of the box that was read last.
    pub(crate) fn text_bytes(&self, rows: Range<usize>) -> u64 {
        let (Some(part), Some(repeated)) = (&self.read, &self.repeated) else { return 0 };
        let mut bytes = 0_u64;
        if part.longest == 0 {
            return bytes;
        }
        repeated.for_each(rows, |run| match run.step {
            0 => {
                let times = if self.layout == Layout::RunEnd { 1 } else { run.count as u64 };
                bytes = bytes.saturating_add(part.elements.text_len(run.first).saturating_mul(times));
            }
            step => {
                for at in 0..run.count {
                    bytes = bytes.saturating_add(part.elements.text_len(run.first + at * step));
                }
            }
        });
        bytes
    }

    /// Makes the array of rows of the box that was read last.
    ///
    /// # Errors
    /// Errors for values that the type of Arrow cannot hold, and if there is no memory.
    pub(crate) fn rows(&self, rows: Range<usize>) -> Result<Data> {
        let (Some(part), Some(repeated)) = (&self.read, &self.repeated) else {
            return Err(Error::internal("a column that was not read"));
        };
        let len = rows.len();
        let data = || part.data.clone().ok_or_else(|| Error::internal("a column without its array"));
        match self.layout {
            Layout::Whole => data()?.slice(rows.start, len),
            Layout::Plain => {
                let mut runs = Vec::new();
                repeated.for_each(rows, |run| runs.push(run));
                let elements = repeat(&part.elements, self.item_size, &runs, len)?;
                self.build(&elements, &part.ranges, |row| indices(&runs).nth(row))
            }
            Layout::Dictionary => {
                let mut words = Words::items(len, 4)?;
                let mut indices = cast_slice_mut::<u8, i32>(words.bytes_mut()).iter_mut();
                let is_addressable = i32::try_from(part.elements.len).is_ok();
                if !is_addressable {
                    return Err(Error::internal("a dictionary of 2^31 values"));
                }
                repeated.for_each(rows, |run| {
                    for (at, index) in indices.by_ref().take(run.count).enumerate() {
                        *index = (run.first + at * run.step) as i32;
                    }
                });
                let mut indices = Data::new(len, None, [Buffer::of_words(words)]).items(size_of::<i32>());
                indices.dictionary = Some(data()?);
                Ok(indices)
            }
            Layout::RunEnd => {
                let (mut runs, mut ends, mut end) = (Vec::new(), Vec::new(), 0);
                repeated.for_each(rows, |run| {
                    let single = if run.step == 0 { 1 } else { run.count };
                    runs.push(Run { count: single, ..run });
                    for _ in 0..single {
                        end += if run.step == 0 { run.count } else { 1 };
                        // A batch has less than 2^31 rows.
                        ends.push(end as i32);
                    }
                });
                let count = ends.len();
                let values = repeat(&part.elements, self.item_size, &runs, count)?;
                let values = self.build(&values, &part.ranges, |row| indices(&runs).nth(row))?;
                let ends = Buffer::of_words(Words::copy(bytemuck::cast_slice(&ends))?);
                let ends = Data::new(count, None, [ends]).items(size_of::<i32>());
                Ok(Data::run_ends(len, ends, values))
            }
        }
    }
}

fn layout(dimensions: &[usize], table: &[(String, u64)], coordinates: Coordinates, is_label: bool) -> Layout {
    if dimensions.iter().copied().eq(0..table.len()) {
        return Layout::Whole;
    }
    let last = dimensions.iter().max().map_or(0, |last| last + 1);
    let repeats = table.iter().skip(last).fold(1_u64, |rows, (_, len)| rows.saturating_mul(*len));
    match coordinates {
        // A transposed variable has as many elements as there are rows.
        _ if dimensions.len() == table.len() => Layout::Plain,
        Coordinates::Plain => Layout::Plain,
        Coordinates::RunEnd if repeats > 1 => Layout::RunEnd,
        Coordinates::RunEnd | Coordinates::Dictionary if is_label => Layout::Dictionary,
        Coordinates::RunEnd | Coordinates::Dictionary => Layout::Plain,
    }
}

/// Returns where the rows of a box have their elements in a part of a source.
fn repeated(ranges: &[Range<u64>], dimensions: &[usize], part: &[Range<u64>]) -> Repeated {
    let mut steps = vec![0; ranges.len()];
    let (mut step, mut start) = (1_usize, 0);
    let length = |range: &Range<u64>| usize::try_from(range.end - range.start).unwrap_or(usize::MAX);
    for (&number, read) in dimensions.iter().zip(part).rev() {
        if let (Some(place), Some(range)) = (steps.get_mut(number), ranges.get(number)) {
            *place = step;
            start += usize::try_from(range.start - read.start).unwrap_or(usize::MAX) * step;
        }
        step *= length(read);
    }
    Repeated::new(start, ranges.iter().map(length).zip(steps))
}

/// Copies elements of `size` bytes to where the `len` rows of `runs` have them.
fn repeat(elements: &Elements, size: usize, runs: &[Run], len: usize) -> Result<Elements> {
    let mut words = Words::items(len, size)?;
    let (from, to) = (elements.bytes(), words.bytes_mut());
    match size {
        1 => repeat_sized::<1>(from, to, runs),
        2 => repeat_sized::<2>(from, to, runs),
        4 => repeat_sized::<4>(from, to, runs),
        8 => repeat_sized::<8>(from, to, runs),
        16 => repeat_sized::<16>(from, to, runs),
        _ => {
            let mut to = to.chunks_exact_mut(size.max(1));
            for index in indices(runs) {
                if let (Some(to), Some(item)) = (to.next(), from.get(index * size..(index + 1) * size)) {
                    to.copy_from_slice(item);
                }
            }
        }
    }
    let missing = elements
        .missing
        .as_ref()
        .map(|missing| indices(runs).map(|index| missing.get(index).copied().unwrap_or(false)).collect());
    Ok(Elements { heap: elements.heap.clone(), missing, ..Elements::of_words(words, len) })
}

fn repeat_sized<const SIZE: usize>(from: &[u8], to: &mut [u8], runs: &[Run]) {
    let (from, mut to) = (from.as_chunks::<SIZE>().0, to.as_chunks_mut::<SIZE>().0);
    for run in runs {
        let Some((part, rest)) = std::mem::take(&mut to).split_at_mut_checked(run.count) else { return };
        to = rest;
        match run.step {
            0 => part.fill(from.get(run.first).copied().unwrap_or([0; SIZE])),
            1 if from.len() >= run.first + run.count => {
                part.copy_from_slice(from.split_at(run.first).1.split_at(run.count).0);
            }
            step => {
                let items = from.iter().skip(run.first).step_by(step.max(1));
                part.iter_mut().zip(items).for_each(|(to, from)| *to = *from);
            }
        }
    }
}

fn indices(runs: &[Run]) -> impl Iterator<Item = usize> {
    runs.iter().flat_map(|run| (0..run.count).map(|at| run.first + at * run.step))
}

/// Adds the variable, the index and the chunk of element `number` of a part of the variable to an error.
fn at_element(variable: &Variable, ranges: &[Range<u64>], number: usize, error: Error) -> Error {
    let mut left = number as u64;
    let mut index: Vec<u64> = ranges
        .iter()
        .rev()
        .map(|range| {
            let len = (range.end - range.start).max(1);
            let at = range.start + left % len;
            left /= len;
            at
        })
        .collect();
    index.reverse();
    let (index, what) = match stored_index(variable, &index) {
        Some(stored) => (stored, "element"),
        None => (index, "selected element"),
    };
    let chunk = variable.stored().chunk_grid().chunk_at(&index).ok().filter(|_| what == "element");
    let error = Error::new(error.kind(), format!("{what} {index:?}: {}", error.message()));
    in_variable(variable, error).at(|location| location.chunk = chunk)
}

/// Returns the index in the stored array of an index of a variable; `None` if points are selected.
fn stored_index(variable: &Variable, index: &[u64]) -> Option<Vec<u64>> {
    let one: Vec<Range<u64>> = index.iter().map(|&at| at..at + 1).collect();
    let Some(Selection::Axes(axes)) = variable.part(&Region::from_ranges(&one)).ok()?.stored_selection() else {
        return None;
    };
    let first = |axis: &AxisSelection| match axis {
        AxisSelection::Index(at) | AxisSelection::Range { start: Some(at), .. } => u64::try_from(*at).ok(),
        AxisSelection::Indices(list) => u64::try_from(*list.first()?).ok(),
        AxisSelection::Range { start: None, .. } => Some(0),
        _ => None,
    };
    axes.iter().map(first).collect()
}

/// Adds the variable to an error.
pub(crate) fn in_variable(variable: &Variable, error: Error) -> Error {
    variable.locate(Error::new(error.kind(), format!("variable {}: {}", variable.name(), error.message())))
}
