//! `zarr info`: everything about one node.

use super::describe;
use crate::args::NodeArgs;
use crate::context::{Context, NodeLocation};
use crate::escape;
use crate::failure::Result;
use crate::object::object;
use clap::Args;
use zarr::hierarchy::Summary;
use zarr::meta::json::Map;
use zarr::meta::{Node, StoredNode};
use zarr::ome::Multiscales;
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
    // All known facts are printed first; unreadable data is an error all the same.
    match &found.node {
        Node::Array(_) => array(context, &location, &found)?,
        Node::Group(_) => group(context, &location, &found)?,
    }
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

/// Prints a node: `facts` with --json.
fn print(context: &Context, facts: Map, warnings: &[zarr::hierarchy::Warning], summary: Summary<'_>) -> Result<()> {
    let warnings: Vec<String> = warnings.iter().map(ToString::to_string).collect();
    context.print(|| object! { ..facts, "warnings": warnings }, || format!("{summary}\n"))
}

/// Prints a group, with a section about the image that it is.
fn print_group(context: &Context, facts: Map, found: &StoredNode, summary: Summary<'_>) -> Result<()> {
    let Some(image) = describe::image(found) else { return print(context, facts, &found.warnings, summary) };
    let mut warnings: Vec<String> = found.warnings.iter().map(ToString::to_string).collect();
    let mut lines = Vec::new();
    let mut faults = match &image {
        Ok(image) => {
            lines = image_lines(image);
            image.deviations.clone()
        }
        Err(error) => vec![error.to_string()],
    };
    lines.extend(faults.iter().map(|fault| ("Warning".to_owned(), fault.clone())));
    warnings.append(&mut faults);
    let line = |(label, value): &(String, String)| {
        let colon = if label.is_empty() { ' ' } else { ':' };
        format!("{label:<18} {colon} {}\n", escape::line(value))
    };
    let section = || lines.iter().map(line).collect::<String>();
    context.print(|| object! { ..facts, "warnings": warnings }, || format!("{summary}\n{}", section()))
}

/// The facts about an image: its size, its axes, each level.
fn image_lines(image: &Multiscales) -> Vec<(String, String)> {
    let mut lines = vec![("OME-Zarr".to_owned(), format!("{}, {image}", image.version))];
    for (number, multiscale) in image.images.iter().enumerate() {
        if number > 0 {
            let name = multiscale.name.as_deref().unwrap_or("without a name");
            lines.push(("Image".to_owned(), format!("{name}, {multiscale}")));
        }
        let axis = |axis: &zarr::ome::Axis| match (axis.kind.name(), axis.unit_symbol()) {
            (Some(kind), Some(unit)) => format!("{} ({kind}, {unit})", axis.name),
            (Some(detail), None) | (None, Some(detail)) => format!("{} ({detail})", axis.name),
            (None, None) => axis.name.clone(),
        };
        lines.push(("Axes".to_owned(), multiscale.axes.iter().map(axis).collect::<Vec<_>>().join(", ")));
        for (number, level) in multiscale.levels.iter().enumerate() {
            let numbers = |list: &[f64]| list.iter().map(f64::to_string).collect::<Vec<_>>().join(", ");
            let is_moved = level.translation.iter().any(|&offset| offset != 0.0);
            let moved = if is_moved { format!("  from ({})", numbers(&level.translation)) } else { String::new() };
            let label = if number == 0 { "Levels" } else { "" };
            lines.push((label.to_owned(), format!("{}  scale ({}){moved}", level.path, numbers(&level.scale))));
        }
    }
    let labels: Vec<&str> = image.channels.iter().map(|channel| channel.label.as_deref().unwrap_or("-")).collect();
    if !labels.is_empty() {
        lines.push(("Channels".to_owned(), labels.join(", ")));
    }
    lines
}

fn group(context: &Context, location: &NodeLocation, found: &StoredNode) -> Result<()> {
    if !location.store.capabilities().list {
        return print_group(context, describe::facts(found), found, Summary::of(found));
    }
    let walk = context.walk(location)?;
    context.hidden(&walk);
    let below = || walk.nodes.iter().filter(|node| node.path != found.path);
    let count = |kind: &str| below().filter(|node| describe::kind(node) == kind).count();
    let children = below().filter(|node| node.path.parent().as_ref() == Some(&found.path));
    let facts = object! {
        ..describe::facts(found),
        "arrays": count("array"),
        "groups": count("group"),
        "children": children.filter_map(|node| node.path.name()).collect::<Vec<_>>(),
    };
    print_group(context, facts, found, Summary::of(found).below(&walk))?;
    walk.broken.into_iter().chain(walk.bad_copies).next().map_or(Ok(()), |error| Err(error.into()))
}

fn array(context: &Context, location: &NodeLocation, found: &StoredNode) -> Result<()> {
    context.hint_of_hidden([found]);
    let mut facts = describe::facts(found);
    let instead = context.global.fallback_type.as_ref().filter(|_| found.fallback.is_some());
    if let Some(data_type) = instead {
        facts.insert("data_type", data_type.short_value());
    }
    facts.insert("metadata", found.node.to_value());
    match Array::from_found(&location.store, found.clone(), &context.registry, context.options()) {
        Ok(array) => {
            let sizes = array.sizes()?;
            for (name, value) in sizes.facts().iter() {
                facts.insert(name, value.clone());
            }
            print(context, facts, array.warnings(), array.summary().sizes(&sizes))
        }
        Err(error) => {
            let summary = Summary::of(found);
            let summary = instead.map_or(summary, |data_type| summary.data_type(data_type));
            print(context, facts, &found.warnings, summary)?;
            Err(error.into())
        }
    }
}
