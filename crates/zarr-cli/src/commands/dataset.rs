//! `zarr ds`: a group as a data set.

use super::describe;
use super::read::inheriting;
use crate::args::NodeArgs;
use crate::context::Context;
use crate::escape;
use crate::failure::{Failure, Result};
use crate::object::{object, or_null};
use clap::Args;
use std::collections::VecDeque;
use zarr::Group;
use zarr::dataset::{Dataset, DatasetOptions, Variable};
use zarr::meta::json::{Map, Value};

/// So many groups are looked at for those that are data sets.
const MOST_GROUPS: usize = 64;
/// So many of them are named.
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
    let options = DatasetOptions::default().number_dimensions(args.number_dimensions).arrays(context.options());
    let dataset = Dataset::open_with(&group, &options).map_err(|error| {
        let is_numbered = error.hint().is_some_and(|hint| hint.starts_with("names can be numbered"));
        let failure = Failure::from(error);
        if is_numbered { failure.with_hint("--number-dimensions calls them dim_0, dim_1...") } else { failure }
    })?;
    let broken = dataset.broken().iter().map(|error| format!("left out, for it cannot be opened: {error}"));
    context.warnings(&broken.collect::<Vec<_>>());
    let dataset = inheriting(context, &location.address, dataset)?;
    if args.header {
        let cdl = dataset.cdl()?;
        return context.page(|| object! { "cdl": cdl.to_string() }, || format!("{cdl}\n"));
    }
    let below = Below::of(&group);
    context.page(
        || object! { ..json(facts.clone(), &dataset), "groups": below.names.clone() },
        || format!("{}{}", overview(&dataset), below.line()),
    )
}

/// The groups below another that have arrays, by their paths from it.
struct Below {
    names: Vec<String>,
    /// Whether some were not looked at.
    is_cut: bool,
}

impl Below {
    /// Looks at a few groups; nothing where they cannot be listed.
    fn of(group: &Group) -> Self {
        let (mut names, mut left, mut looked) = (Vec::new(), VecDeque::from([group.clone()]), 0);
        let prefix = group.path().names().count();
        while let Some(next) = left.pop_front().filter(|_| looked < MOST_GROUPS) {
            looked += 1;
            let Ok(walk) = next.consolidated_children() else { continue };
            if looked > 1 && walk.nodes.iter().any(|node| node.node.as_array().is_some()) {
                names.push(next.path().names().skip(prefix).collect::<Vec<_>>().join("/"));
            }
            for node in walk.nodes.into_iter().filter(|node| node.node.as_array().is_none()) {
                left.extend(Group::from_found(group.store(), node, group.registry()));
            }
        }
        names.sort();
        Self { names, is_cut: !left.is_empty() }
    }

    /// A line that names them.
    fn line(&self) -> String {
        let mut names: Vec<&str> = self.names.iter().take(NAMED).map(String::as_str).collect();
        if names.is_empty() {
            return String::new();
        }
        if self.is_cut || self.names.len() > NAMED {
            names.push("...");
        }
        format!("Groups: {}\n", escape::line(&names.join(", ")))
    }
}

/// The lines of the overview, safe to print.
fn overview(dataset: &Dataset) -> String {
    let text = dataset.overview().to_string();
    text.split('\n').map(|line| format!("{}\n", escape::line(line))).collect()
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
