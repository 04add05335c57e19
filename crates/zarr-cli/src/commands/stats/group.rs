//! Statistics of the arrays of a group, in one line for each array.

use super::values::{brief, deviation};
use super::{ArrayStatistics, Stats};
use crate::context::{Context, NodeLocation};
use crate::escape;
use crate::failure::{Failure, Result};
use crate::number::{grouped, tuple};
use crate::report;
use crate::table::{Side, cut, lines};
use std::sync::Arc;
use zarr::meta::text::type_in_short;
use zarr::stats::{Kind, Scalar, StatsOptions};

/// Greatest number of columns of a shape or a data type.
const MOST: usize = 32;

/// Prints the statistics of the arrays directly below a group. An array that cannot have statistics is reported, and the others are printed
/// nevertheless.
pub(super) fn run(context: &Context, args: &Stats, location: &NodeLocation) -> Result<()> {
    let asked = [
        ("--quantiles", args.quantiles.as_ref().is_some_and(|shares| !shares.0.is_empty())),
        ("--bins", args.bins.is_some_and(|bins| bins > 0)),
        ("--along", args.along.is_some()),
        ("--field", args.field.is_some()),
        ("a selection", !args.chosen.is_empty()),
    ];
    if let Some((option, _)) = asked.into_iter().find(|(_, is_asked)| *is_asked) {
        let failure = Failure::usage(format!("{location}: {option} is of one array, and this is a group"));
        return Err(failure.with_hint(context.arrays_below(location)));
    }
    let walk = context.children(location)?.below(&location.path);
    context.hidden(&walk);
    let arrays: Vec<_> = walk.nodes.iter().filter(|node| node.node.as_array().is_some()).collect();
    if arrays.is_empty() {
        let failure = Failure::usage(format!("{location}: found no arrays in the group"));
        return Err(failure.with_hint(context.arrays_below(location)));
    }
    let (mut measured, mut failures) = (Vec::new(), Vec::new());
    for array in arrays {
        let at = NodeLocation {
            store: Arc::clone(&location.store),
            address: location.address.clone(),
            path: array.path.clone(),
            dialect: location.dialect,
        };
        let options = StatsOptions::default().bins(0).quantiles(&[]).memory(args.memory);
        match ArrayStatistics::of(context, args, &at, options) {
            Ok(one) => measured.push(one),
            Err(failure) => failures.push(failure),
        }
    }
    let json = || measured.iter().map(|one| one.shown().json()).collect::<Vec<_>>();
    context.page(json, || text(&measured))?;
    failures.extend(walk.broken.into_iter().chain(walk.bad_consolidated).map(Failure::from));
    report::all(failures.into_iter(), context.global.json)
}

fn text(measured: &[ArrayStatistics]) -> String {
    let heading =
        ["ARRAY", "SHAPE", "TYPE", "COUNT", "MISSING", "MIN", "MAX", "MEAN", "STD"].map(str::to_owned).to_vec();
    let row = |one: &ArrayStatistics| {
        let (statistics, numbers) = (&one.statistics, &one.statistics.numbers);
        let kind = statistics.kind;
        // Statistics of strings, bools and complex numbers need a line that says what they count, so the table lacks them.
        let is_plain = !kind.is_textual() && !matches!(kind, Kind::Truth | Kind::Complex);
        let cell = |value: Option<&Scalar>, print: fn(&Scalar, Kind) -> String| {
            value.filter(|_| is_plain).map_or_else(|| "-".to_owned(), |value| print(value, kind))
        };
        let name = one.path.rsplit('/').next().unwrap_or_default();
        vec![
            escape::line(name).into_owned(),
            cut(&tuple(&statistics.shape), MOST),
            cut(&escape::line(&type_in_short(&statistics.data_type.to_config())), MOST),
            grouped(numbers.count),
            grouped(statistics.nan),
            cell(numbers.min.as_ref().map(|found| &found.value), brief),
            cell(numbers.max.as_ref().map(|found| &found.value), brief),
            cell(numbers.mean.as_ref(), brief),
            cell(numbers.std.as_ref(), deviation),
        ]
    };
    let rows: Vec<Vec<String>> = std::iter::once(heading).chain(measured.iter().map(row)).collect();
    let sides = [
        Side::Left,
        Side::Left,
        Side::Left,
        Side::Right,
        Side::Right,
        Side::Right,
        Side::Right,
        Side::Right,
        Side::Right,
    ];
    lines(&sides, &rows)
}
