//! Summary of a node in a few lines.

use crate::sizes::{ArraySizes, StoredSizes};
use crate::{StoredNode, Walk, Warning};
use std::fmt;
use zarr_json::{NamedConfig, Value};
use zarr_meta::text::{
    ChunkShapes, codecs_in_full, extents, fields, grouped, line, percent, ratio, size, tuple, type_in_short,
};
use zarr_meta::{ArrayMetadata, Node};

/// Summary of a node in a few lines, as the command `zarr info` prints it. Its [`Display`](fmt::Display) has one line for each fact, and
/// escapes characters that control a terminal.
///
/// A summary is made from metadata, so nodes whose data type or codecs are unknown have one, too. Facts that need requests to the store are
/// added with [`sizes`](Self::sizes) for an array, and [`below`](Self::below) for a group.
///
/// ```
/// # use std::sync::Arc;
/// # use zarr_array::{Array, NewArray, Registry, Store};
/// # let mut registry = Registry::default();
/// # registry.codecs.add(zarr_codec_bytes::BYTES);
/// # let registry = Arc::new(registry);
/// # let store: Arc<dyn Store> = Arc::new(zarr_store::MemoryStore::new());
/// let array = Array::create(&store, "/a", NewArray::new(&[3, 4], "int16").codecs("bytes")?, &registry)?;
/// let sizes = array.sizes()?;
/// let text = array.summary().sizes(&sizes).to_string();
/// assert!(text.contains("Shape              : (3, 4)\n"));
/// assert!(text.contains("Chunks initialized : 0 of 1 (0 %)"));
/// let section = [("Instrument".to_owned(), "radar".to_owned())];
/// assert!(array.summary().section(&section).to_string().ends_with("\nInstrument         : radar"));
/// # Ok::<(), zarr_array::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use = "it does nothing but to be printed"]
pub struct Summary<'n> {
    found: &'n StoredNode,
    data_type: Option<&'n NamedConfig>,
    warnings: &'n [Warning],
    sizes: Option<&'n ArraySizes>,
    below: Option<&'n Walk>,
    section: &'n [(String, String)],
}

impl<'n> Summary<'n> {
    /// Makes the summary of a node from its metadata.
    pub fn of(found: &'n StoredNode) -> Self {
        Self { found, data_type: None, warnings: &found.warnings, sizes: None, below: None, section: &[] }
    }

    /// Shows `data_type` in place of the data type of the document: the type as which the array is [read](crate::Options::fallback_type)
    /// instead.
    pub fn data_type(mut self, data_type: &'n NamedConfig) -> Self {
        self.data_type = Some(data_type);
        self
    }

    /// Shows `warnings` in place of the warnings of the document alone.
    pub fn warnings(mut self, warnings: &'n [Warning]) -> Self {
        self.warnings = warnings;
        self
    }

    /// Adds the sizes of an array.
    pub fn sizes(mut self, sizes: &'n ArraySizes) -> Self {
        self.sizes = Some(sizes);
        self
    }

    /// Adds the numbers of arrays and groups that a [`walk`](zarr_hierarchy::walk) from this group found.
    pub fn below(mut self, walk: &'n Walk) -> Self {
        self.below = Some(walk);
        self
    }

    /// Adds facts at the end, such as facts of a convention, each a label and a value. If the label is empty, the value continues the value
    /// before.
    pub fn section(mut self, facts: &'n [(String, String)]) -> Self {
        self.section = facts;
        self
    }

    fn facts(&self) -> Facts {
        let mut facts = Facts::default();
        facts.node(self.found);
        if let Node::Array(array) = &self.found.node {
            facts.array(array, self.data_type.unwrap_or(&array.data_type));
        }
        if let Some(sizes) = self.sizes {
            facts.sizes(sizes);
        }
        if let Some(walk) = self.below {
            facts.below(self.found, walk);
        }
        for (index, (name, value)) in self.found.node.attributes().iter().enumerate() {
            facts.add(if index == 0 { "Attributes" } else { "" }, format!("{name} = {}", value.excerpt()));
        }
        for warning in self.warnings {
            facts.add("Warning", warning.to_string());
        }
        facts.0.extend_from_slice(self.section);
        facts
    }
}

impl fmt::Display for Summary<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (label, value)) in self.facts().0.iter().enumerate() {
            let colon = if label.is_empty() { ' ' } else { ':' };
            write!(f, "{}{label:<18} {colon} {}", if index == 0 { "" } else { "\n" }, line(value))?;
        }
        Ok(())
    }
}

/// Labels and values of the lines, in order. A value without a label continues the value before.
#[derive(Default)]
struct Facts(Vec<(String, String)>);

impl Facts {
    fn add(&mut self, label: impl Into<String>, value: impl Into<String>) {
        self.0.push((label.into(), value.into()));
    }

    fn node(&mut self, found: &StoredNode) {
        let documents: Vec<String> =
            found.documents.iter().map(|(key, bytes)| format!("{key} {}", size(bytes.len() as u64))).collect();
        let format = match found.implicit {
            true => format!("{} (implicit: shown by the nodes below)", found.dialect),
            false => format!("{} ({})", found.dialect, documents.join(", ")),
        };
        self.add("Type", if found.node.as_array().is_some() { "Array" } else { "Group" });
        self.add("Zarr format", format);
    }

    fn array(&mut self, array: &ArrayMetadata, data_type: &NamedConfig) {
        self.add("Data type", type_in_short(data_type));
        for field in fields(data_type) {
            self.add("", field);
        }
        let fill = array.fill_value.as_ref().map_or("undefined (null), reads as zero".to_owned(), Value::excerpt);
        self.add("Fill value", fill);
        let names = array.dimension_names.as_ref().map(|names| {
            let names: Vec<&str> = names.iter().map(|name| name.as_deref().unwrap_or("-")).collect();
            format!("  dims ({})", names.join(", "))
        });
        self.add("Shape", format!("{}{}", tuple(&array.shape), names.unwrap_or_default()));
        let shapes = ChunkShapes::new(array);
        if let Some(shard) = &shapes.shard {
            self.add("Shard shape", extents(shard));
        }
        self.add("Chunk shape", extents(&shapes.chunk));
        self.add("Chunk grid", array.chunk_grid.name.clone());
        let separator = array.chunk_key_encoding.configuration.get("separator").map(|it| format!(" {it}"));
        self.add("Chunk keys", format!("{}{}", array.chunk_key_encoding.name, separator.unwrap_or_default()));
        self.add("Codecs", codecs_in_full(&array.codecs));
    }

    fn sizes(&mut self, sizes: &ArraySizes) {
        if let Some(elements) = sizes.elements {
            self.add("No. bytes", format!("{} ({})", size(elements), grouped(elements)));
        }
        if let Some(padded) = sizes.padded.filter(|&padded| sizes.elements != Some(padded)) {
            self.add("Padded", format!("{} with the overhang of chunks at the edges", size(padded)));
        }
        let kind = if sizes.is_sharded { "Shards" } else { "Chunks" };
        match &sizes.stored {
            Some(stored) => self.stored(sizes, stored, kind),
            None => self.add(kind, grouped(sizes.chunks)),
        }
    }

    fn stored(&mut self, sizes: &ArraySizes, stored: &StoredSizes, kind: &str) {
        let (bytes, count) = (stored.bytes(), stored.chunks.len() as u64);
        self.add("No. bytes stored", format!("{} ({})", size(bytes), grouped(bytes)));
        if let (Some(logical), Some(written)) = (sizes.elements, stored.elements) {
            let (logical, written) = (ratio(logical, bytes), ratio(written, bytes));
            self.add("Storage ratio", format!("{logical} logical, {written} over written chunks"));
        }
        let share = percent(count, sizes.chunks);
        let text = format!("{} of {} ({share})", grouped(count), grouped(sizes.chunks));
        self.add(format!("{kind} initialized"), text);
        if let [least, .., most] = stored.chunks.as_slice() {
            let median = stored.chunks.get(stored.chunks.len() / 2).copied().unwrap_or(0);
            let [least, median, most] = [*least, median, *most].map(size);
            self.add(format!("{} bytes", &kind[..5]), format!("min {least}  median {median}  max {most}"));
        }
    }

    fn below(&mut self, group: &StoredNode, walk: &Walk) {
        let below = || walk.nodes.iter().filter(|node| node.path != group.path);
        for (label, is_array) in [("Arrays", true), ("Groups", false)] {
            let of_kind = || below().filter(|node| node.node.as_array().is_some() == is_array);
            let children = of_kind().filter(|node| node.path.parent().as_ref() == Some(&group.path));
            let (here, all) = (grouped(children.count() as u64), grouped(of_kind().count() as u64));
            self.add(label, format!("{here} here, {all} in all"));
        }
    }
}
