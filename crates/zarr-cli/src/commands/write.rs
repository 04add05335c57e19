//! `zarr write`: elements from a file of numpy, from JSON or from CSV.

mod casting;
mod decoded;
mod elements;
mod values;

use super::read::select::Chosen;
use super::read::{Wanted, labelled};
use super::transfer::Transfer;
use crate::args::NodeArgs;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::npy::Header;
use crate::number;
use crate::pieces::{Piece, Pieces};
pub(crate) use casting::Casting;
use clap::{Args, ValueEnum};
use elements::Elements;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use zarr::convert::Migration;
use zarr::{Array, Selection};

/// At most so many bytes of elements are in memory at once.
const PIECE: u64 = 128 << 20;

/// The forms of files that elements are written from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Source {
    /// A file of numpy.
    Npy,
    /// Nested arrays.
    Json,
    /// Rows of values as `read --as csv` prints them; a JSON string with escapes such as "\u001b" is decoded.
    Csv,
}

impl Source {
    /// The form that the name of a file tells.
    fn by_name(path: &Path) -> Option<Self> {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("json") => Some(Self::Json),
            Some("csv") => Some(Self::Csv),
            Some("npy") => Some(Self::Npy),
            _ => None,
        }
    }
}

/// Write elements to an array.
#[derive(Debug, Args)]
pub(crate) struct Write {
    #[command(flatten)]
    node: NodeArgs,
    /// A file of numpy (.npy), JSON (.json) or CSV (.csv); `-` is standard input.
    #[arg(long, value_name = "FILE", required_unless_present = "value")]
    from: Option<PathBuf>,
    /// Write this value to all elements that are chosen: a number, a text, a date, or JSON.
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true, conflicts_with_all = ["from", "form", "cast"])]
    value: Option<String>,
    /// The form of the file; by default according to its name, else that of numpy.
    #[arg(long = "as", value_name = "FORM")]
    form: Option<Source>,
    /// Cast numbers of a file of numpy to the type of the array, as numpy does by this rule. By default none is: a value that the type does
    /// not have is an error under any.
    #[arg(long, value_name = "RULE", num_args = 0..=1, require_equals = true, default_missing_value = "same_kind", conflicts_with = "decode")]
    cast: Option<Casting>,
    /// Write values, as `read --decode` prints them: they are packed by scale_factor and add_offset, missing ones become
    /// _FillValue, dates counts in the units of the array.
    #[arg(long)]
    decode: bool,
    #[command(flatten)]
    chosen: Chosen,
}

pub(crate) fn run(context: &Context, args: &Write) -> Result<()> {
    let location = context.locate(&args.node)?;
    Migration::check_settled(&location.store)?;
    let array = context.array(&location)?;
    let selection = args.chosen.by_index(&array)?;
    let wanted = Wanted { labels: args.chosen.labels(), is_asked: args.decode, is_default: false, instead: "" };
    let variable = labelled(context, &wanted, &location, &array, &selection)?;
    let selection = match &variable {
        Some((variable, _)) => variable.stored_selection(None)?,
        None => selection,
    };
    let resolved = selection.resolve_on(array.chunk_grid())?;
    let mut source = args.from.as_deref().map(Input::open).transpose()?;
    let shape = resolved.result_shape();
    let progress = Transfer::new(&shape, array.data_type().item_size() as u64, !context.global.quiet);
    match (&variable, &mut source, &args.value) {
        (Some((variable, true)), source, _) => decoded::write(args, variable, source.as_mut(), &progress)?,
        (_, Some(source), _) => elements_of(args, &array, selection, source, &progress)?,
        (_, None, Some(value)) => values::fill(&array, &selection, value, &progress)?,
        (_, None, None) => {}
    }
    let bytes = source.map_or(0, |source| source.input.bytes);
    let done = progress.finish(bytes);
    context.summary(|| done.facts_behind(location.facts()), || done.line(&location.to_string()))
}

/// Writes the elements of a file.
fn elements_of(
    args: &Write,
    array: &Array,
    selection: Selection,
    source: &mut Input,
    progress: &Transfer,
) -> Result<()> {
    let Some(form) = values::form(args) else { return from_npy(array, selection, source, args.cast, progress) };
    if args.cast.is_some() {
        return Err(Failure::usage("--cast is for elements of numpy: values in text become those of the array's type"));
    }
    let shape = selection.resolve_on(array.chunk_grid())?.result_shape();
    let values = values::read(form, array.data_type(), &shape, source)?;
    values::write(array, selection, &shape, &values)?;
    progress.add(usize::try_from(zarr::grid::element_count(&shape).unwrap_or(u64::MAX)).unwrap_or(usize::MAX));
    Ok(())
}

/// Writes the elements of a file of numpy.
fn from_npy(
    array: &Array,
    selection: Selection,
    source: &mut Input,
    cast: Option<Casting>,
    progress: &Transfer,
) -> Result<()> {
    let resolved = selection.resolve_on(array.chunk_grid())?;
    let shape = resolved.result_shape();
    let header = Header::read(&source.name, &mut source.input)?;
    if header.shape != shape.as_slice() {
        let found = number::tuple(&header.shape);
        let message = format!("{}: elements of shape {found}, expected {}", source.name, number::tuple(&shape));
        return Err(Failure::usage(message)
            .with_hint("--select, --isel and --sel choose the elements to write, by default all"));
    }
    let elements = Elements::of_file(&source.name, &header.data_type, array.data_type(), cast)?;
    if header.fortran && header.shape.len() > 1 {
        // The elements of every row are spread over the whole file.
        let piece = Piece { selection, shape: header.shape.clone() };
        return write_piece(array, &elements, &header, (source, 0), piece, progress);
    }
    let item = (header.data_type.item_size() as u64).max(1);
    let mut pieces = Pieces::new(&selection, &resolved, item, &array.chunk_grid().largest_chunk_shape(), PIECE);
    let mut before = 0_u64;
    while let Some(piece) = pieces.next()? {
        let count = zarr::grid::element_count(&piece.shape).unwrap_or(0);
        // If one piece is the whole selection, it has the shape of the result; others keep all dimensions.
        write_piece(array, &elements, &header, (source, before), piece, progress)?;
        before = before.saturating_add(count);
    }
    source.expect_end()
}

/// Appends the elements of a file to an array.
pub(super) fn appended(
    array: &mut Array,
    axis: usize,
    (form, cast): (Option<Source>, Option<Casting>),
    name: &str,
    source: &mut Input,
) -> Result<()> {
    let form = form.or_else(|| Source::by_name(Path::new(name))).unwrap_or(Source::Npy);
    if form != Source::Npy {
        return values::append(array, axis, form, source);
    }
    let header = Header::read(&source.name, &mut source.input)?;
    let elements = Elements::of_file(&source.name, &header.data_type, array.data_type(), cast)?;
    let count = zarr::grid::element_count(&header.shape).unwrap_or(u64::MAX);
    let mut items = source.items(count.saturating_mul(header.data_type.item_size() as u64))?;
    source.expect_end()?;
    header.data_type.layout().swap(&header.order, &mut items);
    let fortran = header.fortran && header.shape.len() > 1;
    let shape: Vec<usize> = header.shape.iter().map(|&len| usize::try_from(len).unwrap_or(usize::MAX)).collect();
    let data_type = array.data_type().clone();
    elements.with_view(&data_type, &shape, (items, 0), fortran, |view| array.append(axis, view))
}

fn write_piece(
    array: &Array,
    elements: &Elements,
    header: &Header,
    (source, before): (&mut Input, u64),
    piece: Piece,
    progress: &Transfer,
) -> Result<()> {
    let count = zarr::grid::element_count(&piece.shape).unwrap_or(u64::MAX);
    let mut items = source.items(count.saturating_mul(header.data_type.item_size() as u64))?;
    header.data_type.layout().swap(&header.order, &mut items);
    let shape = array.selected_shape(&piece.selection)?;
    let fortran = header.fortran && header.shape.len() > 1;
    let at = piece.selection;
    elements.with_view(array.data_type(), &shape, (items, before), fortran, |view| array.write(at, view))?;
    progress.add(usize::try_from(count).unwrap_or(usize::MAX));
    Ok(())
}

/// A file, or standard input.
pub(super) struct Input {
    input: Counted,
    name: String,
}

/// Counts the bytes that are read.
struct Counted {
    input: Box<dyn Read>,
    bytes: u64,
}

impl Counted {
    fn new(input: impl Read + 'static) -> Self {
        Self { input: Box::new(input), bytes: 0 }
    }
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        self.bytes = self.bytes.saturating_add(count as u64);
        Ok(count)
    }
}

impl Input {
    pub(super) fn open(path: &Path) -> Result<Self> {
        if path == Path::new("-") {
            return Ok(Self { input: Counted::new(io::stdin().lock()), name: "standard input".to_owned() });
        }
        let name = path.display().to_string();
        let file = File::open(path).map_err(|error| Failure::input(&name, &error))?;
        Ok(Self { input: Counted::new(BufReader::with_capacity(1 << 20, file)), name })
    }

    /// The whole input as a string.
    fn text(&mut self) -> Result<String> {
        let mut bytes = Vec::new();
        self.input.read_to_end(&mut bytes).map_err(|error| Failure::input(&self.name, &error))?;
        let broken = |_| Failure::data("invalid-metadata", format!("{}: the file is not UTF-8", self.name));
        String::from_utf8(bytes).map_err(broken)
    }

    /// The next `size` bytes. Memory grows only with bytes that the file has.
    fn items(&mut self, size: u64) -> Result<Vec<u8>> {
        let mut items = Vec::new();
        self.input.by_ref().take(size).read_to_end(&mut items).map_err(|error| Failure::input(&self.name, &error))?;
        if items.len() as u64 == size {
            return Ok(items);
        }
        let missing = size - items.len() as u64;
        let message = format!("{}: the file ends {} bytes too early", self.name, number::grouped(missing));
        Err(Failure::data("invalid-metadata", message))
    }

    fn expect_end(&mut self) -> Result<()> {
        let mut byte = [0];
        match self.input.read(&mut byte).map_err(|error| Failure::input(&self.name, &error))? {
            0 => Ok(()),
            _ => Err(Failure::data(
                "invalid-metadata",
                format!("{}: the file continues after the last element", self.name),
            )),
        }
    }
}
