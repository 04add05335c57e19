//! `zarr write`: writes elements from a file of numpy, from JSON or from CSV.
//!
//! JSON and CSV are read byte by byte and parsed one element at a time. All elements are read before the first is written (`spool.rs`), so
//! that an error in the file leaves the array unchanged. A file of numpy, whose header gives its size, is written while it is read; in
//! Fortran order its pieces are cut along the last axis. Appended elements are all read before the first is written.

mod casting;
mod decoded;
mod element_conversion;
mod spool;
mod values;

use super::read::select::SelectionArgs;
use super::read::{VariableRequest, labelled};
use super::transfer::Transfer;
use crate::args::NodeArgs;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::npy::Header;
use crate::number;
use crate::selection_pieces::{Order, SelectionPieces};
pub(crate) use casting::Casting;
use clap::{Args, ValueEnum};
use element_conversion::ElementConversion;
use std::fs::{File, Metadata};
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use zarr::convert::Migration;
use zarr::{Array, Selection};

/// Greatest number of bytes of elements that are in memory at once.
const PIECE: u64 = 128 << 20;
/// Greatest number of bytes of appended elements that are in memory at once, besides the elements that do not fill a chunk yet.
const APPENDED: u64 = 16 << 20;
const KEPT: u64 = 64 << 20;

/// The forms of files that elements are written from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum InputForm {
    /// A file of numpy.
    Npy,
    /// Nested arrays.
    Json,
    /// Rows of values as `read --as csv` prints them; a JSON string with escapes such as "\u001b" is decoded.
    Csv,
}

impl InputForm {
    /// Returns the input form for the suffix of a file name; `None` for an unknown suffix.
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
///
/// Values are checked as a whole before the first is written: whether they fit the type of the array and, with --decode, its
/// packing. Elements of JSON and CSV of more than 16 MiB are kept in a temporary file meanwhile, in the folder that TMPDIR names; a file of
/// numpy is read twice where that is needed. From standard input elements of numpy are checked and written piece by piece.
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
    form: Option<InputForm>,
    /// Cast numbers of a file of numpy to the type of the array, as numpy does by this rule. By default none is: a value that the type does
    /// not have is an error under any.
    #[arg(long, value_name = "RULE", num_args = 0..=1, require_equals = true, default_missing_value = "same_kind", conflicts_with = "decode")]
    cast: Option<Casting>,
    /// Write values, as `read --decode` prints them: they are packed by scale_factor and add_offset, missing ones become
    /// _FillValue, dates counts in the units of the array.
    #[arg(long)]
    decode: bool,
    #[command(flatten)]
    chosen: SelectionArgs,
}

pub(crate) fn run(context: &Context, args: &Write) -> Result<()> {
    let location = context.locate(&args.node)?;
    Migration::check_settled(&location.store)?;
    let array = context.array(&location)?;
    let selection = args.chosen.by_index(&array)?;
    let wanted =
        VariableRequest { labels: args.chosen.labels(), is_asked: args.decode, is_default: false, instead: "" };
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

/// Writes the elements of a file to the selection of an array.
fn elements_of(
    args: &Write,
    array: &Array,
    selection: Selection,
    source: &mut Input,
    progress: &Transfer,
) -> Result<()> {
    let Some(form) = values::form(args) else { return from_npy(array, selection, source, args.cast, progress) };
    check_no_cast(args.cast)?;
    let shape = selection.resolve_on(array.chunk_grid())?.result_shape();
    values::write(array, &selection, &mut values::read(form, array.data_type(), &shape, source)?, progress)
}

/// Returns an error if `cast` is given for values in text, which are parsed as the data type of the array.
fn check_no_cast(cast: Option<Casting>) -> Result<()> {
    match cast {
        None => Ok(()),
        Some(_) => {
            Err(Failure::usage("--cast is for elements of numpy: values in text become those of the array's type"))
        }
    }
}

/// Writes the elements of a file of numpy to the selection of an array.
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
    let elements = ElementConversion::of_file(&source.name, &header.data_type, array.data_type(), cast)?;
    source.check_size(&header)?;
    let (order, item) = (header.order_of_axes(), elements.item_size(&header.data_type, array.data_type()));
    let chunk = array.chunk_grid().largest_chunk_shape();
    let mut pieces = SelectionPieces::in_order(order, &selection, &resolved, item, &chunk, PIECE);
    if !pieces.is_one() && elements.may_be_refused() {
        elements_fit(&elements, source)?;
    }
    let mut before = 0_u64;
    while let Some(piece) = pieces.next()? {
        let count = zarr::grid::element_count(&piece.shape).unwrap_or(0);
        let block = elements.read(&header, source, (before, count))?;
        // If one piece is the whole selection, it has the shape of the result; others keep all dimensions.
        let shape = array.selected_shape(&piece.selection)?;
        array.write(piece.selection, block.view_in(order, array.data_type(), &shape)?)?;
        progress.add(usize::try_from(count).unwrap_or(usize::MAX));
        before = before.saturating_add(count);
    }
    source.expect_end()
}

/// Checks all elements of a file before the first is written. Skipped for standard input, which can be read only once.
fn elements_fit(elements: &ElementConversion, source: &Input) -> Result<()> {
    let Some(mut again) = source.again()? else { return Ok(()) };
    let header = Header::read(&again.name, &mut again.input)?;
    elements.check(&header, &mut again)
}

/// Appends the elements of a file to an array along `axis`. Reads all of them before the first is appended.
pub(super) fn appended(
    array: &mut Array,
    axis: usize,
    (form, cast): (Option<InputForm>, Option<Casting>),
    name: &str,
    source: &mut Input,
) -> Result<()> {
    let form = form.or_else(|| InputForm::by_name(Path::new(name))).unwrap_or(InputForm::Npy);
    let data_type = array.data_type().clone();
    let mut shape = array.shape().to_vec();
    let (mut spooled, order) = if form == InputForm::Npy {
        let header = Header::read(&source.name, &mut source.input)?;
        let elements = ElementConversion::of_file(&source.name, &header.data_type, &data_type, cast)?;
        let is_alike = |(at, (found, expected)): (usize, (&u64, &u64))| at == axis || found == expected;
        if header.shape.len() != shape.len() || !header.shape.iter().zip(&shape).enumerate().all(is_alike) {
            let (found, expected) = (number::tuple(&header.shape), number::tuple(&shape));
            let message =
                format!("{}: elements of shape {found}, expected {expected} but along axis {axis}", source.name);
            return Err(Failure::usage(message));
        }
        source.check_size(&header)?;
        let spooled = elements.spool(&header, source, &data_type)?;
        source.expect_end()?;
        shape.clone_from(&header.shape);
        (spooled, header.order_of_axes())
    } else {
        check_no_cast(cast)?;
        (values::appended(form, &data_type, (&mut shape, axis), source)?, Order::C)
    };
    // Number of rows along the axis, and the position of the axis in the file.
    let lengths = order.of(shape.clone());
    let at = match order {
        Order::C => axis,
        Order::Fortran => lengths.len() - 1 - axis,
    };
    let len = |axes: &[u64]| zarr::grid::element_count(axes).unwrap_or(u64::MAX);
    let outer = len(lengths.get(..at).unwrap_or_default());
    let inner = len(lengths.get(at + 1..).unwrap_or_default());
    let added = shape.get(axis).copied().unwrap_or(0);
    let row = outer.saturating_mul(inner).saturating_mul(spooled.item_size());
    // Rows without elements are appended at once.
    let (outer, step) = APPENDED.checked_div(row).map_or((0, added.max(1)), |rows| (outer, rows.max(1)));
    // Up to this number of bytes stays in memory until it fills chunks.
    let mut appender = array.appender(axis)?.buffer_size(row.saturating_mul(added).min(KEPT));
    let mut start = 0;
    while start < added {
        let rows = step.min(added - start);
        let run = |index: u64| ((index * added + start) * inner, rows * inner);
        let block = spooled.runs((0..outer).map(run))?;
        let dims =
            |(at, &len): (usize, &u64)| usize::try_from(if at == axis { rows } else { len }).unwrap_or(usize::MAX);
        let dims: Vec<usize> = shape.iter().enumerate().map(dims).collect();
        appender.append(block.view_in(order, &data_type, &dims)?)?;
        start += rows;
    }
    Ok(appender.finish()?)
}

/// Input: a file, or standard input.
pub(super) struct Input {
    input: CountingReader,
    name: String,
    /// Size of the file in bytes; `None` if it is unknown.
    size: Option<u64>,
    /// Path of the file, if it can be read again.
    path: Option<PathBuf>,
}

/// Reader that counts the bytes that were read.
struct CountingReader {
    input: Box<dyn Read>,
    bytes: u64,
}

impl CountingReader {
    fn new(input: impl Read + 'static) -> Self {
        Self { input: Box::new(input), bytes: 0 }
    }
}

impl Read for CountingReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        self.bytes = self.bytes.saturating_add(count as u64);
        Ok(count)
    }
}

impl Input {
    pub(super) fn open(path: &Path) -> Result<Self> {
        if path == Path::new("-") {
            let name = "standard input".to_owned();
            return Ok(Self { input: CountingReader::new(io::stdin().lock()), name, size: None, path: None });
        }
        let name = path.display().to_string();
        let file = File::open(path).map_err(|error| Failure::input(&name, &error))?;
        let size = file.metadata().ok().filter(Metadata::is_file).map(|metadata| metadata.len());
        let path = size.map(|_| path.to_owned());
        Ok(Self { input: CountingReader::new(BufReader::with_capacity(1 << 20, file)), name, size, path })
    }

    /// Opens the file again at its beginning; `None` if it can be read only once.
    fn again(&self) -> Result<Option<Self>> {
        self.path.as_deref().map(Self::open).transpose()
    }

    /// Checks that the rest of a file of numpy has exactly the bytes of all elements, if its size is known.
    fn check_size(&self, header: &Header) -> Result<()> {
        let Some(left) = self.size.map(|size| size.saturating_sub(self.input.bytes)) else { return Ok(()) };
        let expected = zarr::grid::total_size(&header.shape, header.data_type.item_size() as u64);
        match expected.checked_sub(left.into()) {
            Some(0) => Ok(()),
            Some(missing) => Err(self.ends_early(u64::try_from(missing).unwrap_or(u64::MAX))),
            None => Err(self.goes_on()),
        }
    }

    /// Reads the next `size` bytes. `behind` is the number of bytes that are expected after them, for the error about a short file.
    /// Allocates memory only for bytes that the file has.
    fn items(&mut self, size: u64, behind: u64) -> Result<Vec<u8>> {
        let mut items = Vec::new();
        self.input.by_ref().take(size).read_to_end(&mut items).map_err(|error| Failure::input(&self.name, &error))?;
        match size - items.len() as u64 {
            0 => Ok(items),
            missing => Err(self.ends_early(missing.saturating_add(behind))),
        }
    }

    fn ends_early(&self, missing: u64) -> Failure {
        let message = format!("{}: the file ends {} bytes too early", self.name, number::grouped(missing));
        Failure::data("invalid-metadata", message)
    }

    fn goes_on(&self) -> Failure {
        Failure::data("invalid-metadata", format!("{}: the file continues after the last element", self.name))
    }

    fn expect_end(&mut self) -> Result<()> {
        let mut byte = [0];
        match self.input.read(&mut byte).map_err(|error| Failure::input(&self.name, &error))? {
            0 => Ok(()),
            _ => Err(self.goes_on()),
        }
    }
}
