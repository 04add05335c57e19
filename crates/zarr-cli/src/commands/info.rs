//! `zarr info`: prints everything about one node.

use super::{chunks, describe, explain, geozarr};
use crate::args::NodeArgs;
use crate::context::{Context, NodeLocation};
use crate::failure::{Failure, Result};
use crate::object::object;
use clap::Args;
use zarr::check::{Finding, layout_advice};
use zarr::dataset::inherited_georeference;
use zarr::geo::Georeference;
use zarr::hierarchy::Summary;
use zarr::meta::json::Map;
use zarr::meta::{Node, StoredNode};
use zarr::store::signature_of_file;
use zarr::{Array, Error};

/// Files that are stores of Zarr: their documents are those that are shown.
const STORES: [&str; 2] = ["a zip file", "a SQLite file"];

/// Show everything about one node, and how much of it is stored.
#[derive(Debug, Args)]
pub(crate) struct Info {
    #[command(flatten)]
    node: NodeArgs,
    /// Draw which chunks (shards, if it is sharded) of an array are stored: each character stands for some of them.
    #[arg(long)]
    chunks: bool,
    /// The axes of the drawing, down and across, by their names or numbers; by default the two with the most chunks.
    #[arg(long, value_name = "DOWN,ACROSS", requires = "chunks", allow_hyphen_values = true)]
    axes: Option<String>,
    /// Tell what is unusual or costly about the layout, and the verb that mends it.
    #[arg(long, conflicts_with = "chunks")]
    explain: bool,
}

pub(crate) fn run(context: &Context, args: &Info) -> Result<()> {
    let location = context.locate(&args.node)?;
    let found = context.node(&location)?;
    let attributes = found.attributes().map(drop).map_err(|error| Error::from(error.clone()));
    context.warn_of_unfinished(&location);
    // All known facts are printed before the error about data that cannot be read.
    match &found.node {
        Node::Array(_) => array(context, args, &location, &found)?,
        Node::Group(_) if args.chunks => {
            let failure = Failure::usage(format!("{location}: a group has no chunks"));
            return Err(failure.with_hint("`zarr du` shows how much of a store the nodes below it take"));
        }
        Node::Group(_) => group(context, args, &location, &found)?,
    }
    attributes.map_err(|error| located(&location, error))
}

/// Converts an error to a failure that begins with the location of the node.
fn located(location: &NodeLocation, error: Error) -> Failure {
    let mut failure = Failure::from(error);
    failure.line = format!("{location}: {}", failure.line);
    failure.store = Some(location.store.to_string());
    failure.path = Some(location.path.to_string());
    failure
}

/// The line about the file of another format that the store is, if it is one.
fn source(location: &NodeLocation) -> Vec<(String, String)> {
    let address = location.address.inner().unwrap_or(&location.address);
    let signature = address.path().filter(|path| path.is_file()).and_then(signature_of_file);
    let of_file = signature.filter(|signature| !STORES.contains(&signature.what));
    let line = of_file.map(|signature| ("Source".to_owned(), format!("{}, shown as Zarr", signature.what)));
    line.into_iter().collect()
}

/// Georeference of a node, with what it inherits. Warns if that cannot be read.
fn georeference(context: &Context, location: &NodeLocation, found: &StoredNode) -> Option<Georeference> {
    inherited_georeference(&*location.store, found).unwrap_or_else(|error| {
        let own = geozarr::georeference(found);
        if own.is_some() {
            context.warnings(&[format!("{location}: the place that it inherits cannot be read: {error}")]);
        }
        own
    })
}

/// Lines about where the elements of a node are by its attributes of GeoZarr, and the faults of these.
fn place(georeference: Option<&Georeference>) -> (Vec<(String, String)>, Vec<String>) {
    let Some(georeference) = georeference else { return Default::default() };
    let faults: Vec<String> = georeference.faults.iter().map(ToString::to_string).collect();
    let mut lines = georeference.lines();
    lines.extend(faults.iter().map(|fault| ("Warning".to_owned(), fault.clone())));
    (lines, faults)
}

/// Prints a node: `facts` with --json.
fn print(
    context: &Context,
    location: &NodeLocation,
    facts: Map,
    found: &StoredNode,
    warnings: &[zarr::hierarchy::Warning],
    summary: Summary<'_>,
    advice: Option<&[Finding]>,
) -> Result<()> {
    let mut warnings: Vec<String> = warnings.iter().map(ToString::to_string).collect();
    let mut lines = source(location);
    let georeference = georeference(context, location, found);
    let (of_place, mut faults) = place(georeference.as_ref());
    let facts = describe::with_georeference(facts, georeference.as_ref());
    lines.extend(of_place);
    warnings.append(&mut faults);
    lines.extend(explain::lines(advice, found.node.as_group().is_some()));
    let facts = explain::facts(facts, advice);
    context.page(|| object! { ..facts, "warnings": warnings }, || format!("{}\n", summary.section(&lines)))
}

/// Prints a group, with a section about the image that it is.
fn print_group(
    context: &Context,
    location: &NodeLocation,
    facts: Map,
    found: &StoredNode,
    summary: Summary<'_>,
    advice: Option<&[Finding]>,
) -> Result<()> {
    let Some(image) = describe::image(found) else {
        return print(context, location, facts, found, &found.warnings, summary, advice);
    };
    let mut warnings: Vec<String> = found.warnings.iter().map(ToString::to_string).collect();
    let (mut lines, mut faults) = match &image {
        Ok(image) => (image.lines(), image.deviations.clone()),
        Err(error) => (Vec::new(), vec![error.to_string()]),
    };
    lines.extend(faults.iter().map(|fault| ("Warning".to_owned(), fault.clone())));
    let georeference = georeference(context, location, found);
    let (of_place, of_geo) = place(georeference.as_ref());
    let facts = describe::with_georeference(facts, georeference.as_ref());
    lines.extend(of_place);
    faults.extend(of_geo);
    warnings.append(&mut faults);
    lines.extend(explain::lines(advice, true));
    let facts = explain::facts(facts, advice);
    context.print(|| object! { ..facts, "warnings": warnings }, || format!("{}\n", summary.section(&lines)))
}

fn group(context: &Context, args: &Info, location: &NodeLocation, found: &StoredNode) -> Result<()> {
    if !location.store.capabilities().list {
        if args.explain {
            context
                .warnings(&[format!("{location}: the store cannot list, so that layouts below it are not looked at")]);
        }
        return print_group(context, location, describe::facts(found), found, Summary::of(found), None);
    }
    let walk = context.below_to_show(location, found, None)?;
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
    let advice = args.explain.then(|| explain::of_walk(context, location, &walk));
    print_group(context, location, facts, found, Summary::of(found).below(&walk), advice.as_deref())?;
    walk.broken.into_iter().chain(walk.bad_consolidated).next().map_or(Ok(()), |error| Err(error.into()))
}

fn array(context: &Context, args: &Info, location: &NodeLocation, found: &StoredNode) -> Result<()> {
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
            let summary = array.summary().sizes(&sizes);
            match args.chunks {
                true => chunks::print(context, &array, facts, summary, args.axes.as_deref()),
                false => {
                    let advice = args.explain.then(|| layout_advice(&array, &sizes));
                    print(context, location, facts, found, array.warnings(), summary, advice.as_deref())
                }
            }
        }
        Err(error) => {
            let summary = Summary::of(found);
            let summary = instead.map_or(summary, |data_type| summary.data_type(data_type));
            print(context, location, facts, found, &found.warnings, summary, None)?;
            Err(error.into())
        }
    }
}
