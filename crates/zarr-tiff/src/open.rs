//! A file as a store.

use std::collections::HashSet;
use std::sync::Arc;

use zarr_json::{Map, Value, json};
use zarr_store::{Key, Prefix, Result, Store};
use zarr_store_virtual::{ChunkKeyForm, Separator, VirtualStore, VirtualStoreBuilder};

use crate::document;
use crate::fault::{Failure, TiffFault};
use crate::ifd::{MAX_PAGES, Reader};
use crate::image;
use crate::layout::Layout;
use crate::page::Page;
use crate::series::{Finder, Series};
use crate::source::{Blocks, Source};
use crate::tags;

/// Maximum number of bytes of the documents of a file.
const MAX_DOCUMENTS: usize = 128 << 20;
/// Maximum number of warnings that are kept.
const MAX_WARNINGS: usize = 100;
/// Number of chunks that a file may have besides those that it has bytes for.
const MAX_CHUNKS: u64 = 1 << 32;

/// Whether these are the first bytes of a TIFF file, classic or BigTIFF; four tell.
///
/// ```
/// assert!(zarr_tiff::is_tiff(b"II*\0\x08\0\0\0"));
/// assert!(!zarr_tiff::is_tiff(b"\x89PNG"));
/// ```
#[must_use]
pub fn is_tiff(head: &[u8]) -> bool {
    [b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"].iter().any(|magic| head.starts_with(*magic))
}

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
    let mut pages = Vec::new();
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
        if pages.len() == MAX_PAGES {
            return Err(TiffFault::Limit { what: "pages", limit: MAX_PAGES as u64 }.into());
        }
        let ifd = reader.ifd(next, pages.len())?;
        pages.push((Page::read(&reader, &ifd)?, ifd.next));
        next = ifd.next;
    }
    if pages.is_empty() {
        return Err(TiffFault::structure(4, "no page", "the offset of the first one").into());
    }
    let pages: Vec<_> = pages.into_iter().map(|(page, _)| page).collect();
    let description = match pages.first() {
        Some(Ok(page)) => reader.text(&page.ifd, tags::IMAGE_DESCRIPTION)?,
        _ => None,
    };
    let mut finder = Finder { reader: &reader, pages: &pages, warnings: Vec::new() };
    let found = finder.find(description.as_deref())?;
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
    warnings: Vec<String>,
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
        self.builder.document(key("zarr.json")?, Value::from(root).to_string());
        let left = self.warnings.len().saturating_sub(MAX_WARNINGS);
        for warning in self.warnings.into_iter().take(MAX_WARNINGS) {
            self.builder.warning(warning);
        }
        if left > 0 {
            self.builder.warning(format!("{left} more warnings are left out"));
        }
        Ok(self.builder)
    }

    /// Adds the arrays of a series below a prefix. Returns the attributes of its group.
    fn series(&mut self, series: &Series, prefix: &str, id: zarr_store_virtual::SourceId) -> Result<Map, Failure> {
        let fill = document::fill_value(self.reader, &series.page)?;
        let mut layouts = Vec::new();
        for (number, level) in series.levels.iter().enumerate() {
            let layout = Layout::new(&series.axes, &level.form);
            if layout.count().is_none_or(|count| count > MAX_CHUNKS) {
                return Err(TiffFault::Limit { what: "chunks", limit: MAX_CHUNKS }.into());
            }
            let path = format!("{prefix}{number}");
            let table = layout.table(level, self.source, id, &format!("/{path}"));
            let table = table.map_err(|fault| fault.of(&*self.source.name))?;
            self.add(path.clone(), document::array(&layout, &level.form, fill.as_ref()))?;
            let prefix = Prefix::new(&format!("{path}/"))?;
            self.builder.chunks(prefix, ChunkKeyForm::Default(Separator::Slash), &layout.counts, table);
            layouts.push(layout);
        }
        document::attributes(self.reader, series, &layouts)
    }

    fn add(&mut self, path: String, document: Value) -> Result<(), Failure> {
        let text = document.to_string();
        self.bytes += text.len();
        if self.bytes > MAX_DOCUMENTS {
            return Err(TiffFault::Limit { what: "bytes of metadata", limit: MAX_DOCUMENTS as u64 }.into());
        }
        self.builder.document(key(&format!("{path}/zarr.json"))?, text);
        self.documents.push((path, document));
        Ok(())
    }
}

fn key(text: &str) -> Result<Key> {
    Key::new(text)
}
