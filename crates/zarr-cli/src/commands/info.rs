//! `zarr info`: everything about one node.

mod stored;

use super::describe::{self, ChunkShapes};
use super::tree::extents;
use crate::args::NodeArgs;
use crate::context::{Context, NodeLocation};
use crate::failure::Result;
use crate::{escape, number};
use clap::Args;
use stored::Stored;
use zarr::meta::json::{Map, Value};
use zarr::meta::{ArrayMetadata, Node, StoredNode};
use zarr::{Array, Error};

/// Show everything about one node, and how much of it is stored.
#[derive(Debug, Args)]
pub(crate) struct Info {
    #[command(flatten)]
    node: NodeArgs,
}

pub(crate) fn run(context: &Context, args: &Info) -> Result<()> {
    let location = context.locate(&args.node)?;
    let found = context.node(&location)?;
    let attributes = found.attributes().map(drop).map_err(|error| Error::from(error.clone()));
    let mut facts = Facts::default();
    let opened = match &found.node {
        Node::Array(array) => {
            context.hint_of_hidden([&found]);
            facts.array(context, &location, &found, array)?
        }
        Node::Group(_) => facts.group(context, &location, &found)?,
    };
    facts.attributes(&found);
    facts.warnings(&found, opened.as_ref().ok().and_then(Option::as_ref));
    context.print(|| facts.json, || facts.text)?;
    // All known facts are printed by now; unreadable data is an error all the same.
    opened?;
    attributes.map_err(|error| located(&location, error))
}

/// An error with its location in front.
fn located(location: &NodeLocation, error: Error) -> crate::failure::Failure {
    let mut failure = crate::failure::Failure::from(error);
    failure.line = format!("{location}: {}", failure.line);
    failure.store = Some(location.store.to_string());
    failure.path = Some(location.path.to_string());
    failure
}

/// The facts that are printed, in both forms.
#[derive(Debug, Default)]
struct Facts {
    json: Map,
    text: String,
}

impl Facts {
    fn line(&mut self, label: &str, value: &str) {
        let colon = if label.is_empty() { ' ' } else { ':' };
        self.text.push_str(&format!("{label:<18} {colon} {}\n", escape::line(value)));
    }

    fn node(&mut self, found: &StoredNode) {
        self.json = describe::facts(found);
        let documents: Vec<String> =
            found.documents.iter().map(|(key, bytes)| format!("{key} {}", number::size(bytes.len() as u64))).collect();
        let format = match found.implicit {
            true => format!("{} (implicit: shown by the nodes below)", found.dialect),
            false => format!("{} ({})", found.dialect, documents.join(", ")),
        };
        let kind = if found.node.as_array().is_some() { "Array" } else { "Group" };
        self.line("Type", kind);
        self.line("Zarr format", &format);
    }

    fn group(
        &mut self,
        context: &Context,
        location: &NodeLocation,
        found: &StoredNode,
    ) -> Result<zarr::Result<Option<Array>>> {
        self.node(found);
        if !location.store.capabilities().list {
            return Ok(Ok(None));
        }
        let walk = context.walk(location)?;
        context.hidden(&walk);
        let below: Vec<&StoredNode> = walk.nodes.iter().filter(|node| node.path != found.path).collect();
        let is_child = |node: &&&StoredNode| node.path.parent().as_ref() == Some(&found.path);
        let children: Vec<&StoredNode> = below.iter().filter(is_child).copied().collect();
        for (label, kind) in [("Arrays", "array"), ("Groups", "group")] {
            let count = |nodes: &[&StoredNode]| nodes.iter().filter(|node| describe::kind(node) == kind).count() as u64;
            self.json.insert(label.to_lowercase(), count(&below));
            let (here, all) = (number::grouped(count(&children)), number::grouped(count(&below)));
            self.line(label, &format!("{here} here, {all} in all"));
        }
        self.json.insert("children", children.iter().filter_map(|node| node.path.name()).collect::<Vec<_>>());
        Ok(walk.broken.into_iter().chain(walk.bad_copies).next().map_or(Ok(None), Err))
    }

    fn array(
        &mut self,
        context: &Context,
        location: &NodeLocation,
        found: &StoredNode,
        array: &ArrayMetadata,
    ) -> Result<zarr::Result<Option<Array>>> {
        self.node(found);
        let instead = context.global.fallback_type.as_ref().filter(|_| found.fallback.is_some());
        if let Some(data_type) = instead {
            self.json.insert("data_type", data_type.short_value());
        }
        let data_type = instead.unwrap_or(&array.data_type);
        self.line("Data type", &describe::short_type(data_type));
        for field in describe::fields(data_type) {
            self.line("", &field);
        }
        let fill = array.fill_value.as_ref().map_or("undefined (null), reads as zero".to_owned(), Value::excerpt);
        self.line("Fill value", &fill);
        let names = array.dimension_names.as_ref().map(|names| {
            let names: Vec<&str> = names.iter().map(|name| name.as_deref().unwrap_or("-")).collect();
            format!("  dims ({})", names.join(", "))
        });
        self.line("Shape", &format!("{}{}", number::tuple(&array.shape), names.unwrap_or_default()));
        let shapes = ChunkShapes::new(array);
        if let Some(shard) = &shapes.shard {
            self.line("Shard shape", &extents(shard));
        }
        self.line("Chunk shape", &extents(&shapes.chunk));
        self.line("Chunk grid", &array.chunk_grid.name);
        let separator = array.chunk_key_encoding.configuration.get("separator").map(|it| format!(" {it}"));
        self.line("Chunk keys", &format!("{}{}", array.chunk_key_encoding.name, separator.unwrap_or_default()));
        self.line("Codecs", &describe::long_codecs(&array.codecs));
        self.json.insert("metadata", found.node.to_value());
        let opened = Array::from_found(&location.store, found.clone(), &context.registry, context.options());
        if let Ok(array) = &opened {
            let stored = Stored::of(array)?;
            stored.tell(self, array);
        }
        Ok(opened.map(Some))
    }

    fn attributes(&mut self, found: &StoredNode) {
        for (index, (name, value)) in found.node.attributes().iter().enumerate() {
            let label = if index == 0 { "Attributes" } else { "" };
            self.line(label, &format!("{name} = {}", value.excerpt()));
        }
    }

    fn warnings(&mut self, found: &StoredNode, array: Option<&Array>) {
        let warnings = array.map_or(found.warnings.as_slice(), Array::warnings);
        let warnings: Vec<String> = warnings.iter().map(ToString::to_string).collect();
        for warning in &warnings {
            self.line("Warning", warning);
        }
        self.json.insert("warnings", warnings);
    }
}
