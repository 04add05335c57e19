//! `zarr info`: everything about one node.

mod stored;

use super::describe::{self, Parts};
use super::tree::extents;
use crate::args;
use crate::context::{Context, Place};
use crate::failure::Result;
use crate::{escape, number, output};
use stored::Stored;
use zarr::meta::json::{Map, Value};
use zarr::meta::{ArrayMetadata, Found, Node, NodePath};
use zarr::{Array, Error};

pub(crate) fn run(context: &Context, node: &args::Node) -> Result<()> {
    let place = context.place(node)?;
    let found = place.found()?;
    let attributes = found.attributes().map(drop).map_err(|error| Error::from(error.clone()));
    let mut facts = Facts::default();
    let opened = match &found.node {
        Node::Array(array) => {
            context.hint_of_hidden([&found]);
            facts.array(context, &place, &found, array)?
        }
        Node::Group(_) => facts.group(context, &place, &found)?,
    };
    facts.attributes(&found);
    facts.warnings(&found, opened.as_ref().ok().and_then(Option::as_ref));
    if context.global.json {
        output::json(&Value::Object(facts.json))?;
    } else {
        output::print(&facts.text)?;
    }
    // What could be told was told; that the data cannot be read is an error all the same.
    opened?;
    attributes.map_err(|error| in_place(&place, error))
}

/// An error with its place in front.
fn in_place(place: &Place, error: Error) -> crate::failure::Failure {
    let mut failure = crate::failure::Failure::from(error);
    failure.line = format!("{}: {}: {}", place.store, place.path, failure.line);
    failure.store = Some(place.store.to_string());
    failure.path = Some(place.path.to_string());
    failure
}

/// What is told, in both forms.
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

    fn node(&mut self, found: &Found) {
        self.json = describe::facts(found);
        let documents: Vec<String> =
            found.documents.iter().map(|(key, bytes)| format!("{key} {}", number::size(bytes.len() as u64))).collect();
        let format = match found.implicit {
            true => format!("{} (implied by the nodes below)", found.dialect),
            false => format!("{} ({})", found.dialect, documents.join(", ")),
        };
        let kind = if found.node.as_array().is_some() { "Array" } else { "Group" };
        self.line("Type", kind);
        self.line("Zarr format", &format);
    }

    fn group(&mut self, context: &Context, place: &Place, found: &Found) -> Result<zarr::Result<Option<Array>>> {
        self.node(found);
        if !place.store.capabilities().list {
            return Ok(Ok(None));
        }
        let walk = context.walked(place, zarr::walk(&*place.store, &place.path.to_string(), place.dialect)?);
        context.hidden(&walk);
        let below = |node: &&Found| node.path != found.path;
        let count = |wanted: &str, direct: bool| {
            let is = |node: &&Found| {
                describe::kind(node) == wanted && (!direct || node.path.parent().as_ref() == Some(&found.path))
            };
            walk.nodes.iter().filter(below).filter(is).count() as u64
        };
        for (label, kind) in [("Arrays", "array"), ("Groups", "group")] {
            let (children, all) = (count(kind, true), count(kind, false));
            self.json.insert(label.to_lowercase(), all);
            self.line(label, &format!("{} here, {} in all", number::grouped(children), number::grouped(all)));
        }
        let names: Vec<&NodePath> = walk
            .nodes
            .iter()
            .filter(below)
            .map(|node| &node.path)
            .filter(|path| path.parent().as_ref() == Some(&found.path))
            .collect();
        self.json.insert("children", names.iter().filter_map(|path| path.name()).map(Value::from).collect::<Vec<_>>());
        Ok(walk.broken.into_iter().chain(walk.bad_copies).next().map_or(Ok(None), Err))
    }

    fn array(
        &mut self,
        context: &Context,
        place: &Place,
        found: &Found,
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
        let parts = Parts::new(array);
        if let Some(shard) = &parts.shard {
            self.line("Shard shape", &extents(shard));
        }
        self.line("Chunk shape", &extents(&parts.chunk));
        self.line("Chunk grid", &array.chunk_grid.name);
        let separator = array.chunk_key_encoding.configuration.get("separator").map(|it| format!(" {it}"));
        self.line("Chunk keys", &format!("{}{}", array.chunk_key_encoding.name, separator.unwrap_or_default()));
        self.line("Codecs", &describe::long_codecs(&array.codecs));
        self.json.insert("metadata", found.node.to_value());
        let opened = Array::from_found(&place.store, found.clone(), &context.registry, context.options());
        if let Ok(array) = &opened {
            let stored = Stored::of(array)?;
            stored.tell(self, array);
        }
        Ok(opened.map(Some))
    }

    fn attributes(&mut self, found: &Found) {
        for (place, (name, value)) in found.node.attributes().iter().enumerate() {
            let label = if place == 0 { "Attributes" } else { "" };
            self.line(label, &format!("{name} = {}", value.excerpt()));
        }
    }

    fn warnings(&mut self, found: &Found, array: Option<&Array>) {
        let warnings = array.map_or(found.warnings.as_slice(), Array::warnings);
        let warnings: Vec<String> = warnings.iter().map(ToString::to_string).collect();
        for warning in &warnings {
            self.line("Warning", warning);
        }
        self.json.insert("warnings", warnings);
    }
}
