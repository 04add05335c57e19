//! `zarr read`: elements, on standard output or into a file.

use crate::args::NodeArgs;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::format::{Form, format};
use crate::number;
use crate::output::Output;
use crate::pieces::Pieces;
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use zarr::grid::{ChunkIndex, total_size};
use zarr::options::MissingChunks;
use zarr::options::MissingReport;
use zarr::{ArrayData, Selection};

/// At most so many bytes of elements are in memory at once.
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

/// Print elements, or write them to a file.
#[derive(Debug, Args)]
pub(crate) struct Read {
    #[command(flatten)]
    node: NodeArgs,
    /// Which elements, as in numpy: "0:10, 5, ::2, ..."; lists of indices in brackets.
    #[arg(long, value_name = "SEL", allow_hyphen_values = true)]
    select: Option<String>,
    /// Only this field of structs; a period leads to a field of a field: position.x.
    #[arg(long, value_name = "NAME")]
    field: Option<String>,
    /// The output form; by default text, or json with --json.
    #[arg(long = "as", value_name = "FORM")]
    form: Option<Form>,
    /// How to read chunks that are not stored: as fill values, as an error, or as fill values with a warning that lists them.
    #[arg(long, value_name = "HOW", default_value = "fill")]
    missing: Missing,
    /// The file to write, which is replaced once everything is written; `-` is standard output.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(crate) fn run(context: &Context, args: &Read) -> Result<()> {
    let report = MissingReport::default();
    let missing_chunks = match args.missing {
        Missing::Fill => MissingChunks::Fill,
        Missing::Error => MissingChunks::Error,
        Missing::Report => MissingChunks::Report(report.clone()),
    };
    let array = context.array(&context.locate(&args.node)?)?;
    let array = array.with(array.options().clone().missing_chunks(missing_chunks))?;
    let form = args.form.unwrap_or(if context.global.json { Form::Json } else { Form::Text });
    let selection: Selection = args.select.as_deref().map_or(Ok(Selection::all()), str::parse)?;
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
    let bytes = total_size(&resolved.output_shape(), array.data_type().item_size() as u64);
    if i64::try_from(bytes).is_err() {
        let (all, brief) = (number::grouped(bytes), number::size(bytes));
        let message = format!("the selection has {all} bytes ({brief}), more than any file can hold");
        return Err(Failure::usage(message).with_hint("select a part of it with --select"));
    }
    let read = |selection: Selection| match &args.field {
        None => array.read_data(selection),
        Some(name) => array.read_field(name, selection),
    };
    let mut printer = format(form, &data_type, &shape)?;
    let item = if array.data_type().is_variable() { VARIABLE } else { array.data_type().item_size() as u64 };
    let mut pieces = Pieces::new(&selection, &resolved, item, &array.part_shape(), PIECE);
    let mut out = Output::open(args.output.as_deref(), matches!(form, Form::Raw | Form::Npy))?;
    // The first piece is read before any output, so that an early failure leaves nothing behind.
    let mut piece = pieces.next()?;
    let mut data = piece.map(|piece| read(piece.selection)).transpose()?;
    printer.begin(&mut out)?;
    while let Some(elements) = data {
        printer.piece(&elements, &mut out)?;
        drop(elements);
        piece = pieces.next()?;
        data = piece.map(|piece| read(piece.selection)).transpose()?;
    }
    printer.end(&mut out)?;
    out.finish()?;
    context.warnings(missing(&report.take()).as_slice());
    Ok(())
}

/// Chunks named in a warning.
const NAMED: usize = 10;

/// The warning that chunks are not stored, if some are not.
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
