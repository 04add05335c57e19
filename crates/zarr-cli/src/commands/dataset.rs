//! `zarr ds`: a group as a data set.

use super::describe;
use crate::args::NodeArgs;
use crate::context::Context;
use crate::escape;
use crate::failure::Result;
use crate::object::{object, or_null};
use clap::Args;
use zarr::Group;
use zarr::dataset::{Dataset, DatasetOptions, Variable};
use zarr::meta::json::{Map, Value};

/// Show a group as a data set: dimensions, coordinates with their ranges, variables, attributes.
///
/// Names of dimensions come from Zarr v3, from xarray (_ARRAY_DIMENSIONS) or from NCZarr; times, packed and missing numbers are decoded
/// as xarray does by the CF conventions. The types are those of the decoded values.
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
    let group = Group::from_found(&location.store, found, &context.registry)?;
    let options = DatasetOptions::default().number_dimensions(args.number_dimensions).arrays(context.options());
    let dataset = Dataset::open_with(&group, &options)?;
    if args.header {
        let cdl = dataset.cdl()?;
        return context.page(|| object! { "cdl": cdl.to_string() }, || format!("{cdl}\n"));
    }
    context.page(|| json(facts, &dataset), || overview(&dataset))
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
