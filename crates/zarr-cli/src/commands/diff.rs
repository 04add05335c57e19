//! `zarr diff`: compares two nodes, and all nodes below them.

use super::bar::Bar;
use super::read::select::ByDimension;
use super::region;
use crate::args::dialect;
use crate::context::{Context, NodeLocation, node_path};
use crate::failure::{Failure, Result};
use crate::format::shorten_times;
use crate::{escape, number};
use clap::{Args, ValueEnum};
use std::fmt::Write;
use std::sync::Arc;
use zarr::Dialect;
use zarr::compare::{
    CompareOptions, Comparison, DifferentElement, Fact, NodeComparison, NotCompared, OtherKeyDiffers, Side,
    ValueDifferences, Values,
};
use zarr::meta::json::Value;

/// Greatest number of printed characters of a value.
const SHOWN: usize = 24;
/// Greatest number of characters of a line, unless a single part is longer.
const WIDTH: usize = 80;

/// Show where two nodes differ, with all below them: nodes, metadata, attributes and elements.
///
/// Other dialects, chunks and codecs of the same data are no difference: the last line counts the nodes that have others, and --layout shows
/// and counts them. The exit code is 0 if the data are the same, and 1 if they differ, or elements cannot be compared: those of other
/// shapes, or of types that are not both numbers. With --quiet there is the exit code alone.
///
/// With --sel and --isel only the elements of the region are compared, of each side by its own labels, and of arrays without the
/// dimensions all; indices are those of A.
#[derive(Debug, Args)]
pub(crate) struct Diff {
    /// A node, as URL::PATH; URL alone is the root.
    #[arg(value_name = "A")]
    a: String,
    /// The node to compare with.
    #[arg(value_name = "B")]
    b: String,
    /// Take numbers for equal if they are apart by at most --atol and this share of the number in B. By default elements are
    /// equal if their bits are.
    #[arg(long, value_name = "SHARE", value_parser = distance)]
    rtol: Option<f64>,
    /// Take numbers for equal if they are apart by at most this much, and --rtol of the number in B.
    #[arg(long, value_name = "NUMBER", value_parser = distance)]
    atol: Option<f64>,
    /// Take all NaNs for equal. By default a NaN equals only one of the same bits.
    #[arg(long)]
    equal_nan: bool,
    #[command(flatten)]
    region: ByDimension,
    /// Parts that are not compared.
    #[arg(long, value_name = "PARTS", value_delimiter = ',')]
    skip: Vec<Skip>,
    /// Show other dialects, chunks and codecs, and count them as differences.
    #[arg(long)]
    layout: bool,
    /// How many different elements of each array are shown.
    #[arg(long = "first", value_name = "N", default_value_t = 10)]
    shown: usize,
    /// See only nodes of this dialect in A, if the store has several.
    #[arg(long, value_name = "DIALECT", value_parser = dialect)]
    dialect_a: Option<Dialect>,
    /// See only nodes of this dialect in B.
    #[arg(long, value_name = "DIALECT", value_parser = dialect)]
    dialect_b: Option<Dialect>,
    /// How much memory may be used for data.
    #[arg(long, value_name = "SIZE", value_parser = number::parse_size, default_value = "1GiB")]
    memory: u64,
}

/// Parts that are not compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Skip {
    /// The elements of arrays.
    Values,
    /// Attributes.
    Attributes,
    /// Shapes, data types, fill values, names of dimensions, layout.
    Metadata,
    /// Files that lie beside nodes and belong to none.
    OtherFiles,
}

pub(crate) fn run(context: &Context, args: &Diff) -> Result<()> {
    let ((a, a_path), (b, b_path)) = (context.node_address(&args.a)?, context.node_address(&args.b)?);
    context.share_options(&[&a, &b])?;
    let side = |address, path: Option<String>, dialect| {
        let path = node_path(path.as_deref().unwrap_or("/"))?;
        let mut side = Side::new(&context.open_store(address)?, path.clone());
        let location = NodeLocation { store: Arc::clone(&side.store), address: address.clone(), path, dialect };
        side.regions = region::of_node(context, &location, &args.region)?;
        side.dialect = dialect;
        Ok::<_, Failure>((side, location))
    };
    let ((first, a_location), (second, b_location)) =
        (side(&a, a_path, args.dialect_a)?, side(&b, b_path, args.dialect_b)?);
    let has = |part: Skip| !args.skip.contains(&part);
    let mut options = CompareOptions::default()
        .equal_nan(args.equal_nan)
        .metadata(has(Skip::Metadata))
        .attributes(has(Skip::Attributes))
        .values(has(Skip::Values))
        .other_keys(has(Skip::OtherFiles))
        .first(args.shown)
        .memory(args.memory)
        .options(context.options());
    if args.rtol.is_some() || args.atol.is_some() {
        options = options.tolerance(args.rtol.unwrap_or(0.0), args.atol.unwrap_or(0.0));
    }
    let bar = Bar::of_elements(context.global.quiet);
    let compared = Comparison::of(&first, &second, &context.registry, &options, |event| bar.show_elements(event));
    bar.finish();
    let comparison = compared.map_err(|error| {
        let is_of = |location: &&NodeLocation| {
            let (store, path) = (location.store.to_string(), location.path.to_string());
            (error.location().store.as_ref(), error.location().path.as_ref()) == (Some(&store), Some(&path))
        };
        match [&a_location, &b_location].into_iter().find(is_of) {
            Some(location) => location.with_near(error),
            None => error.into(),
        }
    })?;
    if !context.global.quiet || context.global.json {
        context.print(|| comparison.to_json(), || text(&comparison, args))?;
    }
    let is_equal = comparison.is_equal() && !(args.layout && comparison.has_other_layout());
    match is_equal {
        true => Ok(()),
        false => Err(Failure::different(format!("{} and {} {}", args.a, args.b, verdict(&comparison)))),
    }
}

/// Parses a number that is at least 0.
fn distance(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| *number >= 0.0);
    number.ok_or_else(|| "expected a number from 0".to_owned())
}

/// Returns `differ`, or `cannot be compared` if no difference is known but some values could not be compared.
fn verdict(comparison: &Comparison) -> &'static str {
    let differs = |node: &NodeComparison| {
        node.facts.iter().chain(&node.attributes).any(|fact| !fact.is_layout)
            || matches!(&node.values, Values::Compared(values) if values.different > 0)
    };
    let has_more = !comparison.only_in_first.is_empty() || !comparison.only_in_second.is_empty();
    match has_more
        || !comparison.other_keys.is_empty()
        || comparison.nodes.iter().any(differs)
        || comparison.not_compared() == 0
    {
        true => "differ",
        false => "cannot be compared",
    }
}

fn text(comparison: &Comparison, args: &Diff) -> String {
    let mut text = String::new();
    for (paths, side) in [(&comparison.only_in_first, "A"), (&comparison.only_in_second, "B")] {
        for path in paths {
            line(&mut text, &format!("{path}  only in {side}"));
        }
    }
    for node in &comparison.nodes {
        push_node(&mut text, node, args.layout);
    }
    for other in &comparison.other_keys {
        let how = match other.how {
            OtherKeyDiffers::OnlyInFirst => "only in A",
            OtherKeyDiffers::OnlyInSecond => "only in B",
            _ => "bytes differ",
        };
        line(&mut text, &format!("{}  file of no node, {how}", other.key));
    }
    let summary = match (comparison.is_equal(), comparison.has_other_layout()) {
        (true, true) if args.layout => "equal, in another layout",
        (true, _) => "equal",
        (false, _) if verdict(comparison) == "differ" => "different",
        (false, _) => "not comparable",
    };
    let mut end = format!("{summary}: {} compared", number::counted(comparison.nodes.len() as u64, "node"));
    end.push_str(&region::told(&args.region));
    for part in Skip::value_variants().iter().filter(|part| args.skip.contains(part)) {
        let name = part.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned());
        // Writing to a string does not fail.
        let _ = write!(end, ", without {name}");
    }
    if comparison.not_compared() > 0 {
        let _ = write!(end, ", elements of {} not", number::grouped(comparison.not_compared() as u64));
    }
    let others = comparison.nodes.iter().filter(|node| node.has_other_layout()).count();
    if others > 0 && !args.layout {
        let _ = write!(end, "; another layout in {} (--layout)", number::grouped(others as u64));
    }
    line(&mut text, &end);
    text
}

fn push_node(text: &mut String, node: &NodeComparison, has_layout: bool) {
    if node.is_equal() && !(has_layout && node.has_other_layout()) {
        return;
    }
    line(text, &node.path);
    node.facts.iter().filter(|fact| has_layout || !fact.is_layout).for_each(|fact| push_fact(text, "", fact));
    node.attributes.iter().for_each(|fact| push_fact(text, "/attributes", fact));
    match &node.values {
        Values::Compared(values) if values.different > 0 => push_values(text, values),
        Values::NotCompared(NotCompared::Shapes) => line(text, "  elements not compared: shapes differ"),
        Values::NotCompared(NotCompared::DataTypes) => line(text, "  elements not compared: data types differ"),
        Values::NotCompared(NotCompared::Kinds) => line(text, "  elements not compared: one is a group"),
        Values::NotCompared(NotCompared::Unknown) => {
            line(
                text,
                "  elements not compared: a data type, codec or other extension is not known, and stored bytes differ",
            );
        }
        _ => {}
    }
}

fn push_fact(text: &mut String, within: &str, fact: &Fact) {
    let value = |value: &Option<Value>| value.as_ref().map_or_else(|| "nothing".to_owned(), short);
    let layout = if fact.is_layout { " (layout)" } else { "" };
    let change = format!("{} -> {}", value(&fact.first), value(&fact.second));
    let whole = format!("  {within}{}: {change}{layout}", fact.pointer);
    if whole.chars().count() <= WIDTH {
        return line(text, &whole);
    }
    line(text, &format!("  {within}{}:{layout}", fact.pointer));
    line(text, &format!("    {change}"));
}

fn push_values(text: &mut String, values: &ValueDifferences) {
    let mut all =
        format!("  {} of {} elements differ", number::grouped(values.different), number::grouped(values.compared));
    if let Some(most) = values.max_abs {
        // Writing to a string does not fail.
        let _ = write!(all, ", by at most {}", Value::from(most));
    }
    if let Some(bounds) = values.bounds.as_ref().filter(|bounds| !bounds.is_empty()) {
        let ranges: Vec<String> = bounds.iter().map(|range| format!("{}:{}", range.start, range.end)).collect();
        let _ = write!(all, ", within [{}]", ranges.join(", "));
    }
    line(text, &all);
    let labels = labels(&values.first);
    for (DifferentElement { index, first, second, .. }, labels) in values.first.iter().zip(labels) {
        let index: Vec<String> = index.iter().map(u64::to_string).collect();
        let labels = if labels.is_empty() { labels } else { format!(" ({labels})") };
        line(text, &format!("    [{}]{labels}: {} -> {}", index.join(", "), short(first), short(second)));
    }
    let more = values.different.saturating_sub(values.first.len() as u128);
    if more > 0 && !values.first.is_empty() {
        line(text, &format!("    {} more", number::grouped(more)));
    }
}

/// Returns the coordinates of each element. Parts at the end of times that are 0 in all of them are cut off.
fn labels(elements: &[DifferentElement]) -> Vec<String> {
    let names = elements.first().map_or(0, |element| element.coordinates.len());
    let mut texts = vec![String::new(); elements.len()];
    for coordinate in 0..names {
        let all = || elements.iter().filter_map(|element| element.coordinates.get(coordinate));
        let mut labels: Vec<String> = all().map(|(_, label)| label.clone()).collect();
        shorten_times(&mut labels);
        for ((text, (name, _)), label) in texts.iter_mut().zip(all()).zip(labels) {
            let comma = if text.is_empty() { "" } else { ", " };
            // Writing to a string does not fail.
            let _ = write!(text, "{comma}{name} {label}");
        }
    }
    texts
}

/// Returns a value as compact JSON, cut to `SHOWN` characters.
fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}...", text.get(..at).unwrap_or_default()),
        None => text,
    }
}

fn line(text: &mut String, content: &str) {
    text.push_str(&escape::line(content));
    text.push('\n');
}
