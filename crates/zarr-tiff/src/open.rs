//! A file as a store.

use std::collections::HashSet;
use std::sync::Arc;

use zarr_json::{Map, Value, json};
use zarr_store::{Key, Prefix, Result, Store};
use zarr_store_virtual::{Blocks, ChunkKeyForm, Separator, VirtualStore, VirtualStoreBuilder};

use crate::document;
use crate::fault::{Failure, TiffFault};
use crate::geo;
use crate::ifd::{MAX_PAGES, Reader};
use crate::image;
use crate::layout::Layout;
use crate::page::Page;
use crate::series::{Finder, Series};
use crate::source::Source;
use crate::warnings::Warnings;

/// Maximum number of bytes of the documents of a file.
const MAX_DOCUMENTS: usize = 128 << 20;
/// Number of chunks that a file may have besides those that it has bytes for.
const MAX_CHUNKS: u64 = 1 << 32;

/// Opens the TIFF file at a key as a read-only store, which messages show by this name.
///
/// # Errors
/// [`Error::NoStore`](zarr_store::Error::NoStore) if there is no such key; [`Error::Format`](zarr_store::Error::Format) with a
/// [`TiffFault`] if it is no TIFF file, is damaged or has more of something than a limit allows; and the errors of the store below.
pub fn open(store: Arc<dyn Store>, key: Key, name: impl Into<String>) -> Result<VirtualStore> {
    let (source, blocks) = Source::open(name.into(), store, key)?;
    let source = Arc::new(source);
    build(&source, &blocks).map_err(|failure| failure.of(&source.name))?.build()
}

fn build(source: &Arc<Source>, blocks: &Blocks) -> Result<VirtualStoreBuilder, Failure> {
    let (reader, first) = Reader::open(source, blocks)?;
    let (mut pages, mut warnings) = (Vec::new(), Warnings::default());
    let (mut next, mut seen) = (first, HashSet::new());
    while next != 0 {
        if !seen.insert(next) {
            return Err(TiffFault::structure(
                next,
                "a directory that is in the list of pages already",
                "another one, or the end",
            )
            .into());
        }
        let number = pages.len();
        if number == MAX_PAGES {
            return Err(TiffFault::Limit { what: "pages", limit: MAX_PAGES as u64 }.into());
        }
        let ifd = match reader.ifd(next, number) {
            Ok(ifd) => ifd,
            Err(Failure::Fault(fault @ TiffFault::Structure { .. })) if number > 0 => {
                warnings.push(format!("the pages from {number} on are left out: {fault}"));
                break;
            }
            Err(failure) => return Err(failure),
        };
        let mut page = match Page::read(&reader, &ifd) {
            // The fault of the only page is that of the file.
            Err(failure) if number > 0 || ifd.next != 0 => Err(failure.refusal()?),
            page => page?,
        };
        if let Ok(page) = &mut page {
            page.read_parts(&reader, &mut warnings)?;
            page.place = geo::hash_of_place(&reader, &ifd)?;
        }
        pages.push(page);
        next = ifd.next;
    }
    if pages.is_empty() {
        return Err(TiffFault::structure(4, "no page", "the offset of the first one").into());
    }
    let key = source.key().as_str();
    let name = key.rsplit('/').next().unwrap_or(key);
    let mut finder = Finder::new(&reader, &pages, name, warnings);
    let found = finder.find()?;
    let writer = Writer {
        reader: &reader,
        source,
        builder: VirtualStore::builder(&*source.name),
        documents: Vec::new(),
        bytes: 0,
        warnings: finder.warnings,
    };
    writer.write(&found)
}

/// Writes documents and tables of chunks.
struct Writer<'r> {
    reader: &'r Reader<'r>,
    source: &'r Arc<Source>,
    builder: VirtualStoreBuilder,
    /// Documents below the root, by their paths.
    documents: Vec<(String, Value)>,
    bytes: usize,
    warnings: Warnings,
}

impl Writer<'_> {
    fn write(mut self, found: &[Series]) -> Result<VirtualStoreBuilder, Failure> {
        let id = self.builder.source_in_state(self.source.store(), self.source.key().clone(), self.source.state());
        let attributes = match found {
            [only] => self.series(only, "", id)?,
            all => {
                let mut are_images = !all.is_empty();
                for (number, series) in all.iter().enumerate() {
                    let attributes = self.series(series, &format!("{number}/"), id)?;
                    are_images &= attributes.contains_key(image::OME);
                    self.add(number.to_string(), document::group(attributes).into())?;
                }
                Map::from_some([(image::OME, are_images.then(image::attribute_of_all))])
            }
        };
        self.documents.sort_by(|(one, _), (other, _)| one.cmp(other));
        let metadata = Map::from_unique(self.documents);
        let mut root = document::group(attributes);
        root.insert("consolidated_metadata", json!({"kind": "inline", "must_understand": false, "metadata": metadata}));
        let root = Value::from(root).to_string();
        count(&mut self.bytes, &root)?;
        self.builder.document(key("zarr.json")?, root);
        for warning in self.warnings.into_texts() {
            self.builder.warning(warning);
        }
        Ok(self.builder)
    }

    /// Adds the arrays of a series below a prefix. Returns the attributes of its group.
    fn series(&mut self, series: &Series, prefix: &str, id: zarr_store_virtual::SourceId) -> Result<Map, Failure> {
        let fill = document::fill_value(self.reader, &series.page, &mut self.warnings)?;
        let geo = match series.has_one_place {
            true => geo::attribute(self.reader, &series.page.ifd, &mut self.warnings)?,
            false => None,
        };
        let mut layouts: Vec<Layout> = Vec::new();
        for (number, level) in series.levels.iter().enumerate() {
            let layout = Layout::new(&series.axes, level);
            if layout.count().is_none_or(|count| count > MAX_CHUNKS) {
                return Err(TiffFault::Limit { what: "chunks", limit: MAX_CHUNKS }.into());
            }
            let path = format!("{prefix}{number}");
            let table = layout.table(level, self.source, id, &format!("/{path}"));
            let table = table.map_err(|fault| fault.of(&*self.source.name))?;
            let place = geo.as_ref().and_then(|geo| geo::place(geo, layouts.first().unwrap_or(&layout), &layout));
            self.add(path.clone(), document::array(&layout, &level.form, fill.as_ref(), place.as_ref()))?;
            let prefix = Prefix::new(&format!("{path}/"))?;
            self.builder.chunks(prefix, ChunkKeyForm::Default(Separator::Slash), &layout.counts, table);
            layouts.push(layout);
        }
        document::attributes(self.reader, series, (&layouts, geo), &mut self.warnings)
    }

    fn add(&mut self, path: String, document: Value) -> Result<(), Failure> {
        let text = document.to_string();
        count(&mut self.bytes, &text)?;
        self.builder.document(key(&format!("{path}/zarr.json"))?, text);
        self.documents.push((path, document));
        Ok(())
    }
}

/// Counts the bytes of a document.
fn count(bytes: &mut usize, text: &str) -> Result<(), TiffFault> {
    *bytes += text.len();
    match *bytes > MAX_DOCUMENTS {
        true => Err(TiffFault::Limit { what: "bytes of metadata", limit: MAX_DOCUMENTS as u64 }),
        false => Ok(()),
    }
}

fn key(text: &str) -> Result<Key> {
    Key::new(text)
}
