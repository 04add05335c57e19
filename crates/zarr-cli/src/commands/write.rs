//! `zarr write`: elements from a file of numpy, from JSON or from CSV.

mod elements;
mod values;

use crate::args::Write;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::npy::Header;
use crate::number;
use crate::pieces::{Piece, Pieces};
use elements::Elements;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;
use zarr::{Array, Migration, Selection};

/// Elements are held in memory in pieces of at most so many bytes.
const PIECE: u64 = 128 << 20;

pub(crate) fn run(context: &Context, args: &Write) -> Result<()> {
    let place = context.place(&args.node)?;
    Migration::check_settled(&place.store)?;
    let array = context.array(&place)?;
    let selection: Selection = args.select.as_deref().map_or(Ok(Selection::all()), str::parse)?;
    let resolved = selection.resolve_on(array.chunk_grid())?;
    let mut source = Source::open(&args.from)?;
    if let Some(form) = values::form(args) {
        let values = values::read(form, &array, &resolved.result_shape(), &mut source)?;
        return values::write(&array, selection, &resolved.result_shape(), &values);
    }
    let header = Header::read(&source.name, &mut source.input)?;
    let shape = resolved.result_shape();
    if header.shape != shape.as_slice() {
        let found = number::tuple(&header.shape);
        let message = format!("{}: elements of shape {found}, expected {}", source.name, number::tuple(&shape));
        return Err(Failure::usage(message).with_hint("--select says where elements go, by default everywhere"));
    }
    let elements = Elements::new(&header.data_type, array.data_type()).ok_or_else(|| {
        let message = format!("{}: elements of type {}, expected {}", source.name, header.data_type, array.data_type());
        Failure::usage(message)
    })?;
    if header.fortran && header.shape.len() > 1 {
        // The first element of every row is spread over all of the file.
        let piece = Piece { selection, shape: header.shape.clone() };
        return write_piece(&array, &elements, &header, &mut source, piece);
    }
    let item = (header.data_type.item_size() as u64).max(1);
    let mut pieces = Pieces::new(&selection, &resolved, item, &array.chunk_grid().largest_chunk_shape(), PIECE);
    while let Some(piece) = pieces.next()? {
        // A piece that is the whole selection has the shape of the result, others keep all dimensions.
        write_piece(&array, &elements, &header, &mut source, piece)?;
    }
    source.expect_end()
}

fn write_piece(array: &Array, elements: &Elements, header: &Header, source: &mut Source, piece: Piece) -> Result<()> {
    let count = zarr::grid::element_count(&piece.shape).unwrap_or(u64::MAX);
    let mut items = source.items(count.saturating_mul(header.data_type.item_size() as u64))?;
    header.data_type.layout().swap(&header.order, &mut items);
    let shape = array.selected_shape(&piece.selection)?;
    let fortran = header.fortran && header.shape.len() > 1;
    elements.write(array, piece.selection, &shape, items, fortran)
}

/// A file, or standard input.
struct Source {
    input: Box<dyn Read>,
    name: String,
}

impl Source {
    fn open(path: &Path) -> Result<Self> {
        if path == Path::new("-") {
            return Ok(Self { input: Box::new(io::stdin().lock()), name: "standard input".to_owned() });
        }
        let name = path.display().to_string();
        let file = File::open(path).map_err(|error| Failure::input(&name, &error))?;
        Ok(Self { input: Box::new(BufReader::with_capacity(1 << 20, file)), name })
    }

    /// All of it as text.
    fn text(&mut self) -> Result<String> {
        let mut bytes = Vec::new();
        self.input.read_to_end(&mut bytes).map_err(|error| Failure::input(&self.name, &error))?;
        let broken = |_| Failure::data("invalid-metadata", format!("{}: no text in UTF-8", self.name));
        String::from_utf8(bytes).map_err(broken)
    }

    /// The next `size` bytes. No memory is asked for that the file has not filled.
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
            _ => Err(Failure::data("invalid-metadata", format!("{}: bytes behind the last element", self.name))),
        }
    }
}
