//! Tables of data sets, as files of Arrow and Parquet: a row for each combination of indices of the dimensions.

use super::selected_variable::{group_of, inheriting};
use super::{Read, is_stdout, opened};
use crate::commands::transfer::{Transfer, TransferTotals};
use crate::context::{Context, NodeLocation};
use crate::failure::{Exit, Failure, Result};
use crate::format::OutputForm;
use crate::output::{Output, lost};
use std::error::Error;
use std::io;
use std::sync::Arc;
use zarr::arrow::{Batch, Batches, IpcForm, IpcWriter, Schema, TableOptions};
use zarr::dataset::{Dataset, DatasetOptions};
use zarr::grid::AxisSelection;
use zarr::options::MissingChunks;
use zarr::{ErrorKind, Group};

/// Greatest number of bytes of elements, chunks and batches that are in memory at once.
const MEMORY: u64 = 128 << 20;

/// Part of that memory that a writer of Parquet needs for a row group, which is encoded in memory.
const ROW_GROUP: u64 = 64 << 20;

/// Returns an error if this command cannot write Parquet.
pub(super) fn check_built() -> Result<()> {
    if cfg!(feature = "parquet") {
        return Ok(());
    }
    let failure = Failure::usage("this command is built without Parquet: the feature `parquet` of zarr-cli");
    Err(failure.with_hint("--as arrow writes a file that DuckDB, Polars and pyarrow read, and these write Parquet"))
}

/// Writes the table of a node: of a group with all variables, or of some variables of it.
pub(super) fn write(
    context: &Context,
    args: &Read,
    form: OutputForm,
    location: &NodeLocation,
    missing: MissingChunks,
) -> Result<TransferTotals> {
    let (mut dataset, variables) = selected(context, args, location, missing)?;
    let memory = if form == OutputForm::Parquet { MEMORY - ROW_GROUP } else { MEMORY };
    let options = TableOptions::default().memory(memory);
    let options = variables.into_iter().fold(options, TableOptions::variables);
    if let Some(rows) = args.head {
        // A table without columns reads nothing.
        let none: [&str; 0] = [];
        if let Some((first, _)) = Batches::new(&dataset, &options.clone().columns(none))?.dimensions().first() {
            let stop = Some(i64::try_from(rows).unwrap_or(i64::MAX));
            dataset = dataset.isel(first, AxisSelection::Range { start: None, stop, step: 1 })?;
        }
    }
    let mut batches = Batches::new(&dataset, &options)?;
    let row = 8 * batches.schema().fields().len() as u64;
    let progress = Transfer::of_rows(batches.rows(), row, !is_stdout(args) && !context.global.quiet);
    // An output that cannot be opened is reported before elements are read. The first batch is read before anything is written, so that an
    // early failure leaves nothing behind.
    let output = Output::open(args.output.as_deref(), true)?;
    let mut batch = batches.next().transpose()?;
    let mut writer = TableWriter::begin(args, form, output, batches.schema())?;
    while let Some(rows) = batch {
        writer.write(&rows)?;
        progress.add(rows.rows());
        drop(rows);
        batch = batches.next().transpose()?;
    }
    Ok(progress.finish(writer.finish()?))
}

/// Opens the data set of a node with its selection. The second value is the names of the variables that become columns; `None` for all.
fn selected(
    context: &Context,
    args: &Read,
    location: &NodeLocation,
    missing: MissingChunks,
) -> Result<(Dataset, Option<Vec<String>>)> {
    let found = context.node(location)?;
    let (group, mut names) = match found.node.as_array() {
        Some(_) => {
            // Errors and warnings about the array itself come first.
            context.array_of(location, found)?;
            let (group, name) = group_of(context, location)?.ok_or_else(|| {
                Failure::usage(format!("{location}: the array lies in no group that is a data set, as tables need it"))
            })?;
            (group, vec![name])
        }
        None => (Group::from_found(&location.store, found, &context.registry)?, Vec::new()),
    };
    names.extend(args.more.iter().cloned());
    // As other reads of variables do, read the documents of these themselves, not consolidated metadata, if the store can list.
    let ignore = match names.is_empty() {
        true => !context.believes_copies(&**group.store()),
        false => group.store().capabilities().list,
    };
    let options = DatasetOptions::default().arrays(context.options().missing_chunks(missing));
    let options = options.ignore_consolidated(ignore);
    let listed: Vec<&str> = names.iter().map(String::as_str).collect();
    let (dataset, passed_over) = opened::open(&group, &listed, &options)?;
    let alone = |error| format!("without coordinates other than those of dimensions: {error}");
    context.warnings(passed_over.map(alone).as_slice());
    let dataset = inheriting(context, &location.address, dataset)?;
    let before = opened::dimensions_of(&dataset, &names)?;
    let dataset = args.chosen.of_dataset(context, dataset, &names)?;
    opened::check_labels(&dataset, &names)?;
    context.warnings(&opened::left_out(&dataset, &names, &before)?);
    Ok((dataset, (!names.is_empty()).then_some(names)))
}

/// Writer of a table in one form.
enum TableWriter {
    Arrow(Box<IpcWriter<Output>>, String),
    #[cfg(feature = "parquet")]
    Parquet(Box<zarr::arrow::ParquetWriter<Output>>, String),
}

impl TableWriter {
    /// Begins the table.
    fn begin(args: &Read, form: OutputForm, output: Output, schema: &Arc<Schema>) -> Result<Self> {
        let name = output.name().to_owned();
        #[cfg(feature = "parquet")]
        if form == OutputForm::Parquet {
            let writer = zarr::arrow::ParquetWriter::new(output, schema);
            return match writer {
                Ok(writer) => Ok(Self::Parquet(Box::new(writer), name)),
                Err(error) => Err(failure(&name, &error)),
            };
        }
        debug_assert_ne!(form, OutputForm::Parquet, "the command is built without it");
        let suffix = args.output.as_deref().and_then(|path| path.extension());
        let is_stream = is_stdout(args) || suffix.is_some_and(|suffix| suffix.eq_ignore_ascii_case("arrows"));
        let form = if is_stream { IpcForm::Stream } else { IpcForm::File };
        let writer = IpcWriter::new(output, schema, form).map_err(|error| failure(&name, &error))?;
        Ok(Self::Arrow(Box::new(writer), name))
    }

    fn write(&mut self, batch: &Batch) -> Result<()> {
        match self {
            Self::Arrow(writer, name) => writer.write(batch).map_err(|error| failure(name, &error)),
            #[cfg(feature = "parquet")]
            Self::Parquet(writer, name) => writer.write(batch).map_err(|error| failure(name, &error)),
        }
    }

    /// Writes what is behind the last batch, and gives a file its final name. Returns the number of bytes.
    fn finish(self) -> Result<u64> {
        match self {
            Self::Arrow(writer, name) => writer.finish().map_err(|error| failure(&name, &error))?,
            #[cfg(feature = "parquet")]
            Self::Parquet(writer, name) => writer.finish().map_err(|error| failure(&name, &error))?,
        }
        .finish()
    }
}

/// Returns the failure of a writer of tables into the output called `name`: that of the output, or that of values which the form cannot
/// hold, whichever is found first among the error and its sources.
fn failure(name: &str, error: &(dyn Error + 'static)) -> Failure {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<zarr::Error>() {
            return of_value(error);
        }
        if let Some(error) = error.downcast_ref::<io::Error>() {
            let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<zarr::Error>());
            return inner.map_or_else(|| lost(name, error), of_value);
        }
        cause = error.source();
    }
    Failure::data("table", format!("{name}: {error}"))
}

/// Returns the failure for a value that the form cannot hold, which is no wrong usage of the command.
fn of_value(error: &zarr::Error) -> Failure {
    let mut failure = Failure::from(error);
    if error.kind() == ErrorKind::NotExpressible {
        failure.exit = Exit::Data;
    }
    failure
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_values_are_none_of_the_output() {
        let of_values = || zarr::Error::new(ErrorKind::Limit, "column v: no memory for 5 bytes");
        let full = || io::Error::from(io::ErrorKind::StorageFull);
        let found = |error: &(dyn Error + 'static)| {
            let found = failure("t.arrow", error);
            (found.exit, found.line.clone())
        };
        let expected = (Exit::Data, "column v: no memory for 5 bytes".to_owned());
        assert_eq!(found(&of_values()), expected);
        assert_eq!(found(&io::Error::new(io::ErrorKind::OutOfMemory, of_values())), expected);
        assert_eq!(found(&full()), (Exit::Io, "t.arrow: no storage space".to_owned()));
        assert_eq!(found(&io::Error::other(full())).0, Exit::Io);
        assert_eq!(found(&std::fmt::Error).0, Exit::Data);
    }
}
