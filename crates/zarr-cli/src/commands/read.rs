//! `zarr read`: prints elements on standard output, or writes them into a file.
//!
//! A variable is read in pieces that fit into memory, by index on its data set, so that the labels of a piece are read with it
//! (`selected_variable.rs`). Forms with labels are tables, tidy rows and records, in the folder `format` of the crate.

mod explain;
mod header;
mod narrow;
mod notes;
mod opened;
pub(crate) mod select;
mod selected_variable;
mod tables;

pub(crate) use selected_variable::{group_of, groups_above, inheriting};

use super::transfer::{Transfer, TransferTotals};
use crate::args::NodeArgs;
use crate::columns::line_width;
use crate::context::{Context, NodeLocation};
use crate::failure::{Failure, Result};
use crate::format::{Cells, OutputForm, TextStyle, format};
use crate::interrupted;
use crate::number;
use crate::object::object;
use crate::output::Output;
use crate::pager::Pager;
use crate::selection_pieces::SelectionPieces;
use crate::usage;
use clap::{Args, ValueEnum};
use header::Header;
use narrow::Ends;
use select::{SelectionArgs, WHICH};
pub(crate) use selected_variable::SelectedVariable;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use zarr::MissingReport;
use zarr::grid::{ChunkIndex, total_size};
use zarr::options::MissingChunks;
use zarr::{Array, ArrayData, Selection};

/// Greatest number of bytes of elements that are in memory at once.
const PIECE: u64 = 128 << 20;
/// The assumed length of an element of variable length, in bytes.
const VARIABLE: u64 = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Missing {
    /// Their elements are the fill value.
    Fill,
    /// The first one is an error.
    Error,
    /// Their elements are the fill value, and a warning lists them.
    Report,
}

const LABELS: &str = "\
Labels (--sel) are values of the coordinate of a dimension: numbers, strings or dates, by its type.
  lat=52.5         the label; a date with parts left out, as time=2020-01, is all times in it
  level=500,850    a list
  lat=60..50       from one to the other, both included, in the order of the coordinate; also
                   time=2020.. and time=..2020
  lat=52.4~        the nearest label
  name=\"a,b\"       a label with one of these marks in it, in double quotes as in JSON
Indices (--isel) are those of numpy: time=0, time=-1, time=0:10:2, time=3,1.";

/// Print elements, or write them to a file.
///
/// The array may be named as URL PATH, URL::PATH or, in a directory, as one path. Its group is the data set that it is a variable of, and
/// values are decoded by the CF conventions; --raw reads elements as they are stored. On a terminal values stand beside their
/// coordinates, below a line with the shape and the type; of more than 1_000 the first and the last 3 along each dimension are printed, as
/// numpy does. In pipes and files there are all of them, and nothing else, unless --decode asks for coordinates. Tables (--as arrow,
/// parquet) have a row for each combination of indices of the dimensions; of a group they have all variables, or those that are named
/// behind URL.
#[derive(Debug, Args)]
#[command(after_long_help = LABELS)]
pub(crate) struct Read {
    #[command(flatten)]
    node: NodeArgs,
    /// Further variables of the group of PATH, as columns of a table.
    #[arg(value_name = "VAR")]
    more: Vec<String>,
    #[command(flatten)]
    chosen: SelectionArgs,
    /// Only the first N along the first dimension of what is selected.
    #[arg(long, value_name = "N", help_heading = WHICH)]
    head: Option<u64>,
    /// Only this field of structs; a period leads to a field of a field: position.x.
    #[arg(long, value_name = "NAME", help_heading = WHICH)]
    field: Option<String>,
    /// Decode values by the CF conventions, and print coordinates beside them: in text a table, in csv a row for each value, in json an
    /// object in the form of xarray's `DataArray.to_dict`, in which NaN and times are strings. The default for text on a terminal;
    /// elsewhere values are decoded and stand alone. A variable that cannot be decoded is an error, where the default prints its elements
    /// as they are stored, with a warning.
    #[arg(long, conflicts_with_all = ["raw", "field"], help_heading = HOW)]
    decode: bool,
    /// Read elements as they are stored; with --sel, those that have the labels.
    #[arg(long, help_heading = HOW)]
    raw: bool,
    /// Print all elements, also on a terminal.
    #[arg(long, help_heading = HOW)]
    all: bool,
    /// Print text as on a terminal, also elsewhere: a line with the shape and the type, and of many elements those at the ends of each
    /// dimension.
    #[arg(long, conflicts_with = "all", hide_short_help = true, help_heading = HOW)]
    elide: bool,
    /// Digits behind the point of floats in text, at most. By default 8 beside coordinates, and elsewhere all that a float has.
    #[arg(long, value_name = "DIGITS", value_parser = clap::value_parser!(u8).range(..=17), help_heading = HOW)]
    precision: Option<u8>,
    /// The output form; by default that of the suffix of --output, else text, or json with --json.
    #[arg(long = "as", value_name = "FORM", help_heading = HOW)]
    form: Option<OutputForm>,
    /// The file to write, which is replaced once everything is written; `-` is standard output.
    #[arg(short, long, value_name = "FILE", help_heading = HOW)]
    output: Option<PathBuf>,
    /// How to read chunks that are not stored: as fill values, as an error, or as fill values with a warning that lists them.
    #[arg(long, value_name = "HOW", default_value = "fill", hide_short_help = true, help_heading = HOW)]
    missing: Missing,
    /// Print the requests that the read makes, without doing it: their keys, ranges and bytes, and how many of them follow each other.
    /// Gets no more than the indexes of shards, and the coordinates that labels are looked up in.
    #[arg(long, conflicts_with_all = ["output", "form", "field", "elide", "precision"], hide_short_help = true, help_heading = HOW)]
    explain: bool,
}

/// Heading in the help of the options for the form of the output.
const HOW: &str = "How to print them";

/// Style and destination of the printed result.
struct View {
    style: TextStyle,
    /// Whether decoded values are printed beside their coordinates.
    is_labelled: bool,
    /// Text printed before the elements; may be empty.
    header: String,
    /// Whether the progress is shown, since the result goes into a file.
    is_reported: bool,
    /// Whether the result goes through a pager, if the environment names one.
    is_paged: bool,
}

pub(crate) fn run(context: &Context, args: &Read) -> Result<()> {
    let report = MissingReport::default();
    let missing_chunks = match args.missing {
        Missing::Fill => MissingChunks::Fill,
        Missing::Error => MissingChunks::Error,
        Missing::Report => MissingChunks::Report(report.clone()),
    };
    let form = form(context, args)?;
    check_form(args, form)?;
    if form == OutputForm::Parquet {
        tables::check_built()?;
    }
    if let Some(file) = args.output.as_deref().filter(|_| !is_stdout(args)) {
        interrupted::watch(&format!("{} is not written", file.display()), context.global.json);
    }
    let location = context.locate(&args.node)?;
    if form.is_table() {
        let done = tables::write(context, args, form, &location, missing_chunks)?;
        return finish(context, args, &report, &done);
    }
    let array = context.array(&location)?;
    let array = array.with(array.options().clone().missing_chunks(missing_chunks))?;
    let mut selection = args.chosen.by_index(&array)?;
    let wanted = VariableRequest {
        labels: args.chosen.labels(),
        is_asked: args.decode,
        is_default: !args.raw && args.field.is_none(),
        instead: "elements are printed as they are stored",
    };
    let mut variable = labelled(context, &wanted, &location, &array, &selection)?;
    let mut header = Header::new(&location, &array, variable.as_ref(), &selection)?;
    if let Some(rows) = args.head {
        let ends = narrow::head(&header.shape(), rows);
        header.cut(&ends);
        take(&array, &mut selection, variable.as_mut(), &ends, false)?;
    }
    let is_labelled = args.decode || args.elide || is_shown(args, form);
    if args.explain {
        return explain::run(context, &array, &selection, variable, is_labelled && form == OutputForm::Text);
    }
    let style = TextStyle { width: line_width(), precision: args.precision.map(usize::from), gaps: Vec::new() };
    let is_reported = !is_stdout(args) && !context.global.quiet;
    let is_paged = args.all && is_shown(args, form) && !context.global.no_pager;
    let mut view = View { style, is_labelled, header: String::new(), is_reported, is_paged };
    if args.elide || is_shown(args, form) {
        if !args.all {
            let ends = narrow::elided(&header.shape(), args.head.is_some());
            header.elide(&ends);
            view.style.gaps = ends.iter().map(|ends| ends.gap()).collect();
            take(&array, &mut selection, variable.as_mut(), &ends, true)?;
        }
        view.header = header.to_string();
    }
    let done = match variable {
        Some((variable, is_decoded)) => variable.print(args, form, is_decoded, &view)?,
        None => plain(args, &array, &selection, form, &view)?,
    };
    finish(context, args, &report, &done)
}

/// Reports chunks that are not stored, and the summary of a read into a file.
fn finish(context: &Context, args: &Read, report: &MissingReport, done: &TransferTotals) -> Result<()> {
    if let Some(file) = args.output.as_deref() {
        interrupted::leaves(format!("{} is written", file.display()));
    }
    context.warnings(missing(&report.take()).as_slice());
    match args.output.as_deref().filter(|_| !is_stdout(args)) {
        Some(file) => summarize(context, file, done),
        None => Ok(()),
    }
}

/// Returns the form of the output, by the arguments or by the name of the output file.
fn form(context: &Context, args: &Read) -> Result<OutputForm> {
    let named = match args.output.as_deref().filter(|_| args.form.is_none() && !is_stdout(args)) {
        Some(file) => OutputForm::by_name(file)?,
        None => args.form,
    };
    Ok(named.unwrap_or(if context.global.json { OutputForm::Json } else { OutputForm::Text }))
}

/// Returns an error if options for text or for elements are given with another form.
fn check_form(args: &Read, form: OutputForm) -> Result<()> {
    if let Some(word) = args.more.first().filter(|_| !form.is_table()) {
        let message = format!("found {} behind {}, expected one array", args.more.join(" "), args.node.path);
        let meant = args.chosen.unquoted(&args.more).unwrap_or_else(|| usage::hint_of_word("read", word));
        let is_name = word.chars().any(char::is_alphabetic) && !word.contains('=');
        let tables = "tables have several variables: --as arrow, --as parquet";
        return Err(Failure::usage(message).with_hint(if is_name { tables.to_owned() } else { meant }));
    }
    if form.is_table() && (args.raw || args.field.is_some()) {
        let option = if args.raw { "--raw" } else { "--field" };
        return Err(Failure::usage(format!("{option} is of elements alone, and a table has decoded values")));
    }
    let option = if args.elide { "--elide" } else { "--precision" };
    match form != OutputForm::Text && (args.elide || args.precision.is_some()) {
        true => Err(Failure::usage(format!("{option} is of text alone")).with_hint("--as text")),
        false => Ok(()),
    }
}

fn is_stdout(args: &Read) -> bool {
    args.output.as_deref().is_none_or(|path| path == Path::new("-"))
}

/// Returns whether the output is text on a terminal.
fn is_shown(args: &Read, form: OutputForm) -> bool {
    form == OutputForm::Text && is_stdout(args) && std::io::stdout().is_terminal()
}

/// Narrows the selection to the elements that `ends` leaves.
fn take(
    array: &Array,
    selection: &mut Selection,
    variable: Option<&mut (SelectedVariable<'_>, bool)>,
    ends: &[Ends],
    is_elided: bool,
) -> Result<()> {
    match variable {
        Some((variable, _)) => variable.narrow(ends, is_elided),
        None => {
            *selection = narrow::narrowed(selection, array.shape(), ends);
            Ok(())
        }
    }
}

/// Prints the summary of a read into a file.
fn summarize(context: &Context, file: &Path, done: &TransferTotals) -> Result<()> {
    let file = file.display().to_string();
    context.summary(|| done.facts_behind(object! { "output": file.as_str() }), || done.line(&file))
}

/// Options for reading an array as a variable of its data set.
pub(crate) struct VariableRequest<'a> {
    /// Selected labels along dimensions, as `--sel` gives them.
    pub(crate) labels: &'a [String],
    /// Whether `--decode` asks for decoded values, so that it is an error if they cannot be decoded.
    pub(crate) is_asked: bool,
    /// Whether values are decoded by default if possible, and else read as they are stored.
    pub(crate) is_default: bool,
    /// Beginning of the warning that values are read as they are stored.
    pub(crate) instead: &'a str,
}

/// Opens the array as a variable of its data set, if the options ask for it. The second value says whether the values are decoded. `None`
/// if the array is read as it is stored.
pub(crate) fn labelled<'c>(
    context: &'c Context,
    wanted: &VariableRequest<'_>,
    location: &NodeLocation,
    array: &Array,
    selection: &Selection,
) -> Result<Option<(SelectedVariable<'c>, bool)>> {
    let is_decoded = wanted.is_asked || wanted.is_default;
    let is_asked = wanted.is_asked || !wanted.labels.is_empty();
    if !is_decoded && !is_asked {
        return Ok(None);
    }
    // Indices beyond the array are reported as for any array.
    selection.resolve_on(array.chunk_grid())?;
    let warn = |failure: &Failure| context.warnings(&[format!("{}: {}", wanted.instead, failure.line)]);
    match SelectedVariable::open(context, wanted.labels, location, array, array.options(), selection) {
        Ok(None) if is_asked => {
            let option = if wanted.is_asked { "--decode" } else { "--sel" };
            let message = match array.dimension_names() {
                Some(names) if names.iter().all(Option::is_some) => "the array lies in no group that is a data set",
                _ => "the dimensions of the array have no names, so that it is no variable of a data set",
            };
            let failure = Failure::usage(format!("{location}: {option}: {message}"));
            Err(failure.with_hint("--select selects by position: --select \"0, ::2\""))
        }
        // Report an invalid encoding before anything is printed.
        Ok(Some(variable)) if is_decoded => match variable.check() {
            Ok(()) => Ok(Some((variable, true))),
            Err(failure) if wanted.is_asked => Err(failure),
            Err(failure) => {
                warn(&failure);
                Ok(Some((variable, false)))
            }
        },
        Ok(variable) => Ok(variable.map(|variable| (variable, false))),
        Err(failure) if !is_asked => {
            warn(&failure);
            Ok(None)
        }
        Err(failure) => Err(failure),
    }
}

/// Returns an error for a selection whose elements take more bytes than a file can have.
fn check_size(shape: &[u64], item: u64) -> Result<()> {
    let bytes = total_size(shape, item);
    if i64::try_from(bytes).is_ok() {
        return Ok(());
    }
    let (all, brief) = (number::grouped(bytes), number::size(bytes));
    let message = format!("the selection has {all} bytes ({brief}), more than any file can hold");
    Err(Failure::usage(message).with_hint("select a part of it with --select"))
}

/// Splits the selection into the pieces in which it is read.
fn pieces(array: &Array, selection: &Selection) -> Result<SelectionPieces> {
    let resolved = selection.resolve_on(array.chunk_grid())?;
    let item = if array.data_type().is_variable() { VARIABLE } else { array.data_type().item_size() as u64 };
    Ok(SelectionPieces::new(selection, &resolved, item, &array.part_shape(), PIECE))
}

/// Prints elements as they are stored, without labels.
fn plain(args: &Read, array: &Array, selection: &Selection, form: OutputForm, view: &View) -> Result<TransferTotals> {
    let resolved = selection.resolve_on(array.chunk_grid())?;
    let mut shape = resolved.result_shape().to_vec();
    // A field may have axes of its own.
    let data_type = match &args.field {
        None => array.data_type().clone(),
        Some(name) => {
            // An empty selection has the type and shape of the field, and reads no data.
            let none = ArrayData::from_items(array.data_type(), &[0], &[], None)?.field(name)?;
            shape.extend(none.shape().iter().skip(1));
            none.data_type().clone()
        }
    };
    check_size(&resolved.output_shape(), array.data_type().item_size() as u64)?;
    let read = |selection: Selection| match &args.field {
        None => array.read_data(selection).map(Cells::Stored),
        Some(name) => array.read_field(name, selection).map(Cells::Stored),
    };
    let mut printer = format(form, &data_type, &shape, &view.style)?;
    let mut pieces = pieces(array, selection)?;
    let mut out = view.open(args, form)?;
    // The first piece is read before any output, so that an early failure leaves nothing behind.
    let mut piece = pieces.next()?;
    let mut data = piece.map(|piece| read(piece.selection)).transpose()?;
    let progress = view.progress(&shape, data_type.item_size());
    out.text(&view.header)?;
    printer.begin(&mut out)?;
    while let Some(elements) = data {
        printer.piece(&elements, &[], &mut out)?;
        progress.add(elements.data().len());
        drop(elements);
        piece = pieces.next()?;
        data = piece.map(|piece| read(piece.selection)).transpose()?;
    }
    printer.end(&mut out)?;
    Ok(progress.finish(out.finish()?))
}

impl View {
    /// Opens the output: the pager, standard output or a file.
    fn open(&self, args: &Read, form: OutputForm) -> Result<Output> {
        match self.is_paged {
            true => Ok(Output::paged(Pager::by_environment(true))),
            false => Output::open(args.output.as_deref(), matches!(form, OutputForm::Raw | OutputForm::Npy)),
        }
    }

    /// Returns the progress of a read of elements of this shape; `item` is the size of an element in bytes.
    fn progress(&self, shape: &[u64], item: usize) -> Transfer {
        Transfer::new(shape, item as u64, self.is_reported)
    }
}

/// Greatest number of chunks that a warning names.
const NAMED: usize = 10;

/// Returns the warning that `chunks` are not stored; `None` without chunks.
fn missing(chunks: &[ChunkIndex]) -> Option<String> {
    let named: Vec<String> = chunks.iter().take(NAMED).map(|chunk| format!("{chunk:?}")).collect();
    let more = if chunks.len() > NAMED { ", ..." } else { "" };
    let count = match chunks.len() {
        0 => return None,
        1 => "1 chunk is".to_owned(),
        MissingReport::MOST => format!("at least {} chunks are", MissingReport::MOST),
        count => format!("{count} chunks are"),
    };
    Some(format!("{count} not stored and read as fill values: {}{more}", named.join(", ")))
}
