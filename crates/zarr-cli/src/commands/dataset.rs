//! `zarr ds`: describes a group as a data set.

use super::describe;
use super::read::inheriting;
use crate::args::NodeArgs;
use crate::columns::{padded, widest};
use crate::context::{Context, NodeLocation};
use crate::escape;
use crate::failure::{Failure, Result};
use crate::object::{object, or_null};
use crate::report;
use clap::Args;
use std::collections::VecDeque;
use zarr::Group;
use zarr::dataset::{Dataset, DatasetOptions, Variable};
use zarr::geo::Georeference;
use zarr::meta::json::{Map, Value};

/// Greatest number of groups that are searched for data sets.
const MOST_GROUPS: usize = 64;
/// Greatest number of data sets that are printed.
const NAMED: usize = 12;

/// Show a group as a data set: dimensions, coordinates with their ranges, variables, attributes.
///
/// Names of dimensions come from Zarr v3, from xarray (_ARRAY_DIMENSIONS) or from NCZarr; times, packed and missing numbers are decoded
/// as xarray does by the CF conventions. The types are those of the decoded values. Coordinates of the groups above label dimensions, as in
/// xarray's `DataTree`, and groups below that have variables are named.
#[derive(Debug, Args)]
pub(crate) struct Ds {
    #[command(flatten)]
    node: NodeArgs,
    /// Call dimensions without names dim_0, dim_1 and so on. Else they are an error.
    #[arg(long)]
    number_dimensions: bool,
    /// Show also each group below that has variables, one after the other.
    #[arg(short, long, conflicts_with = "header")]
    recursive: bool,
    /// Print the stored metadata as CDL, as `ncdump -h` of netCDF does: dimensions, variables and attributes of this group and of the
    /// groups below, attributes of the encoding included.
    #[arg(long)]
    header: bool,
}

pub(crate) fn run(context: &Context, args: &Ds) -> Result<()> {
    let location = context.locate(&args.node)?;
    let found = context.node(&location)?;
    let facts = describe::facts(&found);
    let is_array = found.node.as_array().is_some();
    let group = Group::from_found(&location.store, found, &context.registry);
    let group = group.map_err(|error| match location.path.parent().filter(|_| is_array) {
        Some(above) => {
            let above = if above.is_root() { String::new() } else { format!(" {above}") };
            let hint = format!("`zarr ds {}{above}` shows the data set that it is a variable of", location.address);
            Failure::from(error).with_hint(hint)
        }
        None => error.into(),
    })?;
    let all = args.recursive.then(|| GroupsBelow::of(context, &group, usize::MAX));
    let errors = all.as_ref().map(|all| all.failures.iter().map(ToString::to_string).collect());
    let errors: Vec<String> = errors.unwrap_or_default();
    let dataset = open(context, args, &location, &group, &errors).map_err(|failure| {
        match describe::image(group.found()).is_some() {
            true => failure.with_hint(format!(
                "the group is an image of OME-Zarr: `zarr info {node}` describes it, `zarr view {node}` shows it",
                node = location.argument()
            )),
            false => failure,
        }
    })?;
    if args.header {
        let cdl = dataset.cdl()?;
        return context.page(|| object! { "cdl": cdl.to_string() }, || format!("{cdl}\n"));
    }
    let below = all.unwrap_or_else(|| GroupsBelow::of(context, &group, MOST_GROUPS));
    let facts = object! { ..json(facts, &dataset), "groups": below.names() };
    if !args.recursive {
        return context.page(|| facts, || format!("{}{}", overview(&dataset), below.lines(&location)));
    }
    let (mut others, mut text) = (Vec::new(), overview(&dataset));
    for (name, group) in &below.groups {
        // Groups that are no data set are reported, and the others are printed nevertheless.
        match open(context, args, &location, group, &errors) {
            Ok(dataset) => {
                text.push_str(&format!("\n{}:\n{}", escape::line(name), overview(&dataset)));
                others.push(Value::from(json(describe::facts(group.found()), &dataset)));
            }
            Err(failure) => context.warnings(&[failure.line.as_str()]),
        }
    }
    context.page(|| object! { ..facts, "below": others }, || text)?;
    report::all(below.failures.into_iter(), context.global.json)
}

/// Opens a group as a data set, with the coordinates of the groups above it. Warns of variables that cannot be opened, except those whose
/// error is in `errors`.
fn open(context: &Context, args: &Ds, location: &NodeLocation, group: &Group, errors: &[String]) -> Result<Dataset> {
    let ignore = !context.believes_copies(&**group.store());
    let options = DatasetOptions::default().number_dimensions(args.number_dimensions).arrays(context.options());
    let options = options.ignore_consolidated(ignore);
    let dataset = Dataset::open_with(group, &options)?;
    let broken = dataset.broken().iter().map(ToString::to_string).filter(|error| !errors.contains(error));
    let broken = broken.map(|error| format!("left out, for it cannot be opened: {error}"));
    context.warnings(&broken.collect::<Vec<_>>());
    inheriting(context, &location.address, dataset)
}

/// Groups with arrays below another group, by their paths relative to that group.
struct GroupsBelow {
    groups: Vec<(String, Group)>,
    /// Whether some groups were not searched, since there are too many.
    is_cut: bool,
    /// Errors of nodes and groups that cannot be read.
    failures: Vec<zarr::Error>,
}

impl GroupsBelow {
    /// Looks at up to `most` groups; at none where they cannot be listed.
    fn of(context: &Context, group: &Group, most: usize) -> Self {
        let believes_copies = context.believes_copies(&**group.store());
        let (mut groups, mut left, mut looked) = (Vec::new(), VecDeque::from([group.clone()]), 0);
        let (mut failures, can_list) = (Vec::new(), group.store().capabilities().list);
        let prefix = group.path().names().count();
        while looked < most {
            let Some(next) = left.pop_front() else { break };
            looked += 1;
            let walk = match believes_copies {
                true => next.consolidated_children(),
                false => next.children(),
            };
            let walk = match walk {
                Ok(walk) => walk,
                Err(error) => {
                    failures.extend(Some(error).filter(|_| can_list));
                    continue;
                }
            };
            failures.extend(walk.broken.into_iter().chain(walk.bad_consolidated));
            let is_dataset = looked > 1 && walk.nodes.iter().any(|node| node.node.as_array().is_some());
            for node in walk.nodes.into_iter().filter(|node| node.node.as_array().is_none()) {
                match Group::from_found(next.store(), node, next.registry()) {
                    Ok(group) => left.push_back(group),
                    Err(error) => failures.push(error),
                }
            }
            if is_dataset {
                groups.push((next.path().names().skip(prefix).collect::<Vec<_>>().join("/"), next));
            }
        }
        groups.sort_by(|(a, _), (b, _)| a.cmp(b));
        Self { groups, is_cut: !left.is_empty(), failures }
    }

    fn names(&self) -> Vec<&str> {
        self.groups.iter().map(|(name, _)| name.as_str()).collect()
    }

    /// Returns a line for each group, with the command that shows the group as a data set.
    fn lines(&self, location: &NodeLocation) -> String {
        if self.groups.is_empty() {
            return String::new();
        }
        let shown = self.groups.get(..NAMED).unwrap_or(&self.groups);
        let width = widest(shown.iter().map(|(name, _)| escape::line(name)));
        let mut text = "Groups, which -r shows as well:\n".to_owned();
        for (name, group) in shown {
            let command = format!("zarr ds {} {}", location.address, group.path());
            text.push_str(&format!("  {}  {}\n", padded(&escape::line(name), width), escape::line(&command)));
        }
        match (self.is_cut, self.groups.len() - shown.len()) {
            (false, 0) => {}
            (false, more) => text.push_str(&format!("  ... and {more} more\n")),
            (true, _) => text.push_str("  ... and more\n"),
        }
        text
    }
}

/// Returns the lines of the overview of a data set, safe to print.
fn overview(dataset: &Dataset) -> String {
    let text = format!("{}{}", dataset.overview(), places(dataset));
    text.split('\n').map(|line| format!("{}\n", escape::line(line))).collect()
}

/// Returns a line for each place that attributes of GeoZarr give to variables, below the overview; empty if there is none.
fn places(dataset: &Dataset) -> String {
    let of_group = Georeference::read(dataset.attributes());
    let has_own = |variable: &Variable| {
        let attributes = variable.stored().attributes().ok();
        of_group.is_some() || attributes.is_some_and(|attributes| Georeference::read(attributes).is_some())
    };
    if !dataset.data_variables().any(has_own) {
        return String::new();
    }
    let found = match dataset.georeferences() {
        Ok(found) => found,
        Err(error) => return format!("\nPlaces: not known: {error}"),
    };
    let mut places: Vec<(String, Vec<&str>)> = Vec::new();
    for (variable, found) in found.into_iter().filter(|(variable, _)| has_own(variable)) {
        let place = found.to_string();
        match places.iter_mut().find(|(known, _)| *known == place) {
            Some((_, names)) => names.push(variable.name()),
            None => places.push((place, vec![variable.name()])),
        }
    }
    let line = |(place, names): &(String, Vec<&str>)| format!("\n  {}: {place}", names.join(", "));
    match places.is_empty() {
        true => String::new(),
        false => format!("\nPlaces:{}", places.iter().map(line).collect::<String>()),
    }
}

fn json(facts: Map, dataset: &Dataset) -> Map {
    let sizes = dataset.dimensions().iter().map(|dimension| (dimension.name.clone(), Value::from(dimension.size)));
    let variables = |is_coordinate: bool| {
        let names: Vec<&str> = dataset.coordinates().map(Variable::name).collect();
        let of_kind = dataset.variables().filter(|variable| names.contains(&variable.name()) == is_coordinate);
        Map::from_unique(of_kind.map(|it| (it.name().to_owned(), Value::from(variable(it)))).collect::<Vec<_>>())
    };
    object! {
        ..facts,
        "attributes": dataset.attributes().clone(),
        "sizes": Map::from_unique(sizes),
        "coordinates": variables(true),
        "data_variables": variables(false),
        "broken": dataset.broken().iter().map(ToString::to_string).collect::<Vec<_>>(),
    }
}

fn variable(variable: &Variable) -> Map {
    let (data_type, error) = match variable.data_type() {
        Ok(data_type) => (Some(data_type.to_config().short_value()), None),
        Err(error) => (None, Some(error.to_string())),
    };
    object! {
        "dimensions": variable.dimensions().collect::<Vec<_>>(),
        "shape": variable.shape(),
        "data_type": or_null(data_type),
        "error": or_null(error),
        "attributes": variable.attributes().clone(),
        "encoding": variable.encoding(),
    }
}
