//! Advice on all data variables of a data set: one layout by names of dimensions, found for the largest of them.

use super::facts::{cost_json, storage_json};
use super::given::{Given, measured, source, storage, target};
use super::lines::{Ends, Table, dialect_option, heading, layout_options, notes, quoted, row, sides};
use crate::commands::rounding::no_data_variables;
use crate::context::{Context, NodeLocation};
use crate::escape;
use crate::failure::{Failure, Result};
use crate::object::{object, or_null};
use crate::table::lines;
use zarr::Array;
use zarr::meta::json::{Map, Value};
use zarr::stats::advise::{Advice, AdviseOptions, LayoutCost, Subject};

/// Array of the data set, with the costs of its present layout and of the one that is advised.
#[derive(Debug)]
struct Row {
    path: String,
    present: Option<LayoutCost>,
    advised: LayoutCost,
}

pub(super) fn run(
    context: &Context,
    given: &Given,
    location: &NodeLocation,
    path: &str,
    options: AdviseOptions,
) -> Result<()> {
    let mut arrays = arrays(context, location, &options)?;
    let options = match arrays.fit.first() {
        Some((array, _)) => options.storage(storage(given, array)?),
        None => options,
    };
    let options = &options;
    let found = measured(context, || rows(&arrays, given, options))?;
    for (path, why) in found.unusable {
        context.warnings(&[format!("{path}: left as it is: {why}")]);
        arrays.left_out.push(path);
    }
    arrays.left_out.sort();
    let (rows, advice) = (found.rows, found.advice);
    let ends = format!(
        "{} {}{}",
        quoted(&source(given, location, path)),
        quoted(&target(&location.address)),
        dialect_option(given.dialect)
    );
    let commands = commands(&rows, &ends, location);
    let json = || json(&rows, &advice, options, &commands, &arrays.left_out);
    let (Some((_, subject)), [only]) = (arrays.fit.first(), rows.as_slice()) else {
        return context.print(json, || text(&rows, &advice, options, &commands, &arrays.left_out));
    };
    // One array has all its layouts, as if it were named.
    let ends = Ends {
        source: source(given, location, path),
        target: target(&location.address),
        node: Some(only.path.clone()),
        dialect: given.dialect,
    };
    let table = Table { subject, advice: &advice, options, ends: Some(&ends) };
    context.print(json, || {
        let others = commands.first().map_or_else(String::new, |command| format!("All else:\n  {command}\n"));
        format!("{}\n{}{}{others}", escape::line(&only.path), table.text(), left_as_it_is(&arrays.left_out))
    })
}

/// Returns the commands that make the layouts: one for everything that stays as it is, groups and files beside nodes among it, and one for
/// each array. `ends` are source, target and dialect.
fn commands(rows: &[Row], ends: &str, location: &NodeLocation) -> Vec<String> {
    let node =
        if location.path.is_root() { String::new() } else { format!(" --node {}", quoted(&location.path.to_string())) };
    let excluded: String = rows.iter().map(|row| format!(" --exclude {}", quoted(&row.path))).collect();
    let others = format!("zarr convert {ends}{node}{excluded}");
    let of_row = |row: &Row| {
        let layout = layout_options(&row.advised, row.present.as_ref());
        format!("zarr convert {ends} --node {} {layout}", quoted(&row.path))
    };
    std::iter::once(others).chain(rows.iter().map(of_row)).collect()
}

/// Arrays of a data set.
#[derive(Debug)]
struct Arrays {
    /// Data variables that have the dimensions of all accesses, the largest first.
    fit: Vec<(Array, Subject)>,
    /// Paths of the other arrays, coordinates among them.
    left_out: Vec<String>,
}

fn arrays(context: &Context, location: &NodeLocation, options: &AdviseOptions) -> Result<Arrays> {
    let walk = context.walk_to_show(location)?;
    context.hidden(&walk);
    let mut found = Arrays { fit: Vec::new(), left_out: Vec::new() };
    let no_data = no_data_variables(&walk.nodes);
    for node in walk.nodes.into_iter().filter(|node| node.node.as_group().is_none()) {
        let path = node.path.to_string();
        if no_data.contains(&node.path) {
            found.left_out.push(path);
            continue;
        }
        let array = match Array::from_found(&location.store, node, &context.registry, context.options()) {
            Ok(array) => array,
            Err(error) => {
                context.warnings(&[format!("{path}: left as it is: {error}")]);
                found.left_out.push(path);
                continue;
            }
        };
        let names = array.dimension_names().unwrap_or_default();
        let fits = options.reads.iter().chain(&options.writes).all(|access| access.fits(names));
        let is_planned = fits && !names.is_empty() && !array.data_type().is_variable() && !array.shape().contains(&0);
        match is_planned {
            true => {
                let subject = Subject::of(&array)?;
                found.fit.push((array, subject));
            }
            false => found.left_out.push(path),
        }
    }
    if let Some(error) = walk.broken.into_iter().next() {
        context.warnings(&[format!("left out, for it cannot be opened: {error}")]);
    }
    found.fit.sort_by_key(|(_, subject)| std::cmp::Reverse(subject.bytes()));
    if found.fit.is_empty() {
        let failure = Failure::usage(format!("{location}: no array has all dimensions of the reads and writes"));
        return Err(failure.with_hint("`zarr tree` shows the dimensions of each array"));
    }
    Ok(found)
}

/// Layouts of the arrays of a data set.
#[derive(Debug)]
struct Rows {
    rows: Vec<Row>,
    /// Advice on the largest array.
    advice: Advice,
    /// Paths of arrays whose layouts cannot be counted, with the reasons.
    unusable: Vec<(String, zarr::Error)>,
}

/// Counts the present layout of each array, and the layout that is advised for the largest one.
fn rows(arrays: &Arrays, given: &Given, options: &AdviseOptions) -> zarr::Result<Rows> {
    let Some((array, leader)) = arrays.fit.first() else {
        return Err(zarr::Error::argument("no array has all dimensions of the reads and writes"));
    };
    let leader = leader.clone().dialect(given.dialect_for(array.dialect()));
    let mut advice = Advice::on(&leader, options)?;
    if arrays.fit.len() > 1 {
        advice.layouts.truncate(1);
    }
    let Some(first) = advice.layouts.first().cloned() else {
        return Err(zarr::Error::argument("no layout could be counted"));
    };
    let (mut rows, mut unusable) = (Vec::new(), Vec::new());
    for (number, (array, subject)) in arrays.fit.iter().enumerate() {
        let (present, advised) = match number {
            0 => (advice.present.clone(), first.clone()),
            _ => {
                // Chunks are as long as the array at most, as `zarr convert` makes them.
                let lengths = |shape: &[u64]| {
                    let of_axis = |(axis, name): (usize, &Option<String>)| {
                        let len = subject.shape().get(axis).copied().unwrap_or(1);
                        let given = leader.names().iter().position(|known| known.is_some() && known == name);
                        let kept = array.part_shape().get(axis).copied().unwrap_or(len);
                        given.and_then(|axis| shape.get(axis)).copied().unwrap_or(kept).clamp(1, len.max(1))
                    };
                    subject.names().iter().enumerate().map(of_axis).collect::<Vec<u64>>()
                };
                let chunks = lengths(&first.layout.chunks);
                let shards = first.layout.shards.as_ref().map(|shards| {
                    let whole =
                        |(shard, &chunk): (u64, &u64)| shard.div_ceil(chunk.max(1)).saturating_mul(chunk.max(1));
                    lengths(shards).into_iter().zip(&chunks).map(whole).collect()
                });
                let layout = first.layout.with_shapes(chunks, shards);
                match Advice::compare(subject, &layout, options) {
                    Ok(costs) => costs,
                    Err(error) => {
                        unusable.push((array.path().to_string(), error));
                        continue;
                    }
                }
            }
        };
        rows.push(Row { path: array.path().to_string(), present, advised });
    }
    Ok(Rows { rows, advice, unusable })
}

fn text(rows: &[Row], advice: &Advice, options: &AdviseOptions, commands: &[String], left_out: &[String]) -> String {
    let mut table = vec![heading(advice, options)];
    for array in rows {
        let path = escape::line(&array.path);
        table.extend(array.present.as_ref().map(|cost| row(&format!("{path} now"), cost, options)));
        table.push(row(&format!("{path} advised"), &array.advised, options));
    }
    let mut text = format!("{}\n{}", escape::line(&options.storage.to_string()), lines(&sides(&table), &table));
    text.push_str(&left_as_it_is(left_out));
    commands.iter().for_each(|command| text.push_str(&format!("  {command}\n")));
    text.push_str(&notes(advice, options));
    text
}

/// Line that names the arrays that stay as they are; empty if there are none.
fn left_as_it_is(left_out: &[String]) -> String {
    if left_out.is_empty() {
        return String::new();
    }
    let paths: Vec<_> = left_out.iter().map(|path| escape::line(path)).collect();
    format!("Coordinates, and arrays without the dimensions of all accesses, stay as they are: {}\n", paths.join(", "))
}

fn json(rows: &[Row], advice: &Advice, options: &AdviseOptions, commands: &[String], left_out: &[String]) -> Map {
    let arrays = rows.iter().map(|row| {
        Value::from(object! {
            "path": row.path.as_str(),
            "present": or_null(row.present.as_ref().map(|cost| cost_json(cost, advice, None))),
            "advised": cost_json(&row.advised, advice, None),
        })
    });
    object! {
        "storage": storage_json(&options.storage),
        "prices": options.prices.to_json(),
        "arrays": arrays.collect::<Vec<_>>(),
        "left_out": left_out.to_vec(),
        "commands": commands.to_vec(),
    }
}
