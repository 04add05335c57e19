//! `zarr stats`: prints statistics of the elements of an array, or of their decoded values.

mod group;
mod values;

use super::bar::Bar;
use super::read::select::{SelectionArgs, WHICH};
use super::read::{VariableRequest, group_of, inheriting, labelled};
use crate::args::{NodeArgs, axis_of};
use crate::context::{Context, NodeLocation};
use crate::escape;
use crate::failure::Result;
use crate::format::without_fraction;
use crate::number::{self, grouped, tuple};
use crate::object::{object, or_null};
use crate::table::{Side, bar, has_blocks, lines, seven_digits, share};
use clap::Args;
use values::{brief, complex, deviation, digits, exact};
use zarr::dataset::{Dataset, DatasetOptions};
use zarr::dtype::Class;
use zarr::grid::{AxisSelection, total_size};
use zarr::meta::json::{Map, Value};
use zarr::meta::text::type_in_short;
use zarr::stats::{Extreme, Kind, Row, Scalar, Statistics, StatsOptions, Texts};

/// Greatest number of characters of a bar of the histogram.
const BAR: usize = 30;
/// Greatest number of characters of a bar with the edges beside it.
const WIDTH: usize = 68;
/// Default number of bins of the histogram.
const BINS: usize = 20;
/// Greatest number of printed characters of each of the most common strings.
const TEXT: usize = 48;

/// Heading in the help of the options that choose statistics.
const WHAT: &str = "What to show";

/// Show statistics of an array: extremes, mean, standard deviation, quantiles, a histogram, and how many values are missing; or a line of
/// them for each array of a group.
///
/// Values of a variable of a data set are decoded by the CF conventions, as `read` decodes them; --raw looks at elements as they are
/// stored. The output says which. Each chunk is decoded once, and chunks that are not stored never, unless they
/// hold characters of strings or are selected by lists. Quantiles and the histogram are exact as long as the values, 8 bytes for each, fit a
/// quarter of the memory; else the ranks are off by no more than is printed. Complex numbers are ordered by their magnitudes, strings and bytes by their lengths.
#[derive(Debug, Args)]
pub(crate) struct Stats {
    #[command(flatten)]
    node: NodeArgs,
    #[command(flatten)]
    chosen: SelectionArgs,
    /// The field of structs to look at; a period leads to a field of a field: position.x.
    #[arg(long, value_name = "NAME", help_heading = WHICH)]
    field: Option<String>,
    /// Look at values that are decoded by the CF conventions, or fail: the default looks at elements as they are stored where values
    /// cannot be decoded, with a warning.
    #[arg(long, conflicts_with_all = ["raw", "field"], help_heading = WHICH)]
    decode: bool,
    /// Look at elements as they are stored.
    #[arg(long, help_heading = WHICH)]
    raw: bool,
    /// Also a row of statistics for each index along an axis, by its name or number; at most 1,048,576 rows, and as
    /// many as fit a quarter of the memory (144 bytes each, 224 of complex numbers).
    #[arg(long, value_name = "AXIS", alias = "axis", allow_negative_numbers = true, help_heading = WHAT)]
    along: Option<String>,
    /// The shares of values at which quantiles are taken, from 0 to 1, separated by commas; an empty string for none. By default
    /// 0.01,0.05,0.25,0.5,0.75,0.95,0.99.
    #[arg(long, value_name = "SHARES", value_parser = quantiles, help_heading = WHAT)]
    quantiles: Option<Shares>,
    /// Bins of the histogram, at most 10000; 0 for none. By default 20.
    #[arg(long, value_name = "N", help_heading = WHAT)]
    bins: Option<usize>,
    /// How much memory may be used for data.
    #[arg(long, value_name = "SIZE", default_value = "256MiB", value_parser = number::parse_size)]
    memory: u64,
}

/// Quantiles to compute, as shares from 0 to 1.
#[derive(Clone, Debug)]
struct Shares(Vec<f64>);

fn quantiles(text: &str) -> Result<Shares, String> {
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    let share = |part: &str| match part.parse::<f64>() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err(format!("{part:?} is no share from 0 to 1")),
    };
    parts.map(share).collect::<Result<_, _>>().map(Shares)
}

pub(crate) fn run(context: &Context, args: &Stats) -> Result<()> {
    let location = context.locate(&args.node)?;
    if context.node(&location)?.node.as_group().is_some() {
        return group::run(context, args, &location);
    }
    let mut options =
        StatsOptions::default().bins(args.bins.unwrap_or(BINS)).memory(args.memory).field(args.field.clone());
    if let Some(Shares(shares)) = &args.quantiles {
        options = options.quantiles(shares);
    }
    let measured = ArrayStatistics::of(context, args, &location, options)?;
    let shown = measured.shown();
    context.page(|| shown.json(), || shown.text())
}

/// Statistics of an array, with the labels of its least and greatest value.
struct ArrayStatistics {
    statistics: Statistics,
    path: String,
    dimension: Option<String>,
    places: [Vec<(String, String)>; 2],
}

impl ArrayStatistics {
    fn of(context: &Context, args: &Stats, location: &NodeLocation, options: StatsOptions) -> Result<Self> {
        let array = context.array(location)?;
        let selection = args.chosen.by_index(&array)?;
        let wanted = VariableRequest {
            labels: args.chosen.labels(),
            is_asked: args.decode,
            is_default: !args.raw && args.field.is_none(),
            instead: "the statistics are those of elements as they are stored",
        };
        let variable = labelled(context, &wanted, location, &array, &selection)?;
        let names: Vec<Option<String>> = match &variable {
            Some((variable, true)) => {
                let (dataset, name) = variable.dataset();
                match dataset.variable(name)?.decoded_whole()? {
                    Some(_) => array.dimension_names().unwrap_or_default().to_vec(),
                    None => dataset.variable(name)?.dimensions().map(|name| Some(name.to_owned())).collect(),
                }
            }
            _ => array.dimension_names().unwrap_or_default().to_vec(),
        };
        let rank = if names.is_empty() { array.shape().len() } else { names.len() };
        let along = args.along.as_deref().map(|axis| axis_of("--along", axis, &names, rank)).transpose()?;
        let options = options.along(along);
        let selection = match &variable {
            Some((variable, false)) => variable.stored_selection(None)?,
            _ => selection,
        };
        let decoded = variable.as_ref().filter(|(_, is_decoded)| *is_decoded).map(|(variable, _)| variable.dataset());
        let shape = match decoded {
            Some((dataset, name)) => dataset.variable(name)?.shape(),
            None => selection.resolve_on(array.chunk_grid())?.output_shape().to_vec(),
        };
        let progress = Bar::of_statistics(total_size(&shape, 1), context.global.quiet);
        let advance = |elements: u128| progress.advance(elements);
        let statistics = match decoded {
            Some((dataset, name)) => Statistics::of_variable(dataset, name, &options, advance),
            None => Statistics::of_with(&array, selection, &options, advance),
        };
        progress.finish();
        let statistics = statistics?;
        let dimension = along.and_then(|axis| names.get(axis).cloned().flatten());
        let extremes = [&statistics.numbers.min, &statistics.numbers.max];
        let places = extremes.map(|found| match (decoded, found.as_ref().and_then(|found| found.index.as_ref())) {
            (Some((_, name)), Some(index)) => labels(context, location, name, index).unwrap_or_default(),
            _ => Vec::new(),
        });
        Ok(Self { statistics, path: location.path.to_string(), dimension, places })
    }

    fn shown(&self) -> ShownStatistics<'_> {
        let Self { statistics, path, dimension, places } = self;
        ShownStatistics { statistics, path, dimension: dimension.as_deref(), places }
    }
}

/// Returns the labels of an element along each dimension that has a coordinate. Labels that cannot be read are left out, since they are
/// only for people.
fn labels(context: &Context, location: &NodeLocation, name: &str, index: &[u64]) -> Option<Vec<(String, String)>> {
    let (group, _) = group_of(context, location).ok()??;
    let dataset = Dataset::open_variables(&group, &[name], &DatasetOptions::default()).ok()?;
    // Coordinates of groups above that cannot be read are left out.
    let dataset = inheriting(context, &location.address, dataset.clone()).unwrap_or(dataset);
    let label = |(dimension, &at): (&str, &u64)| {
        let at = i64::try_from(at).ok()?;
        let selected =
            dataset.variable(dimension).ok().filter(|it| it.name() != name && it.dimensions().eq([dimension]));
        let read = selected.and_then(|_| {
            dataset.isel(dimension, AxisSelection::Index(at)).ok()?.variable(dimension).ok()?.read().ok()
        })?;
        Some((dimension.to_owned(), without_fraction(&read.text(0)).to_owned()))
    };
    Some(dataset.variable(name).ok()?.dimensions().zip(index).filter_map(label).collect())
}

/// Statistics of an array, ready to print.
struct ShownStatistics<'a> {
    statistics: &'a Statistics,
    path: &'a str,
    dimension: Option<&'a str>,
    /// Labels of the least and of the greatest value.
    places: &'a [Vec<(String, String)>; 2],
}

impl ShownStatistics<'_> {
    fn json(&self) -> Map {
        let statistics = self.statistics;
        let numbers = &statistics.numbers;
        let extreme = |found: &Option<Extreme>, labels: &[(String, String)]| {
            or_null(found.as_ref().map(|found| {
                let mut facts = object! { "value": found.value.json.clone(), "index": or_null(found.index.clone()) };
                if !labels.is_empty() {
                    facts.insert(
                        "labels",
                        labels.iter().map(|(name, label)| (name.clone(), Value::from(label.as_str()))).collect::<Map>(),
                    );
                }
                facts
            }))
        };
        let sum = match numbers.integer_sum {
            Some(sum) => Value::from(sum),
            None if numbers.sum.is_nan() && statistics.kind == Kind::Time => Value::Null,
            None => Value::from(numbers.sum),
        };
        let quantile = |quantile: &zarr::stats::Quantile| {
            Value::from(object! { "share": quantile.share, "value": quantile.value.json.clone() })
        };
        let missing = if statistics.is_decoded { "missing" } else { "nan" };
        let mut facts = object! {
            "path": self.path,
            "decoded": statistics.is_decoded,
            "data_type": statistics.data_type.to_config().short_value(),
            "shape": statistics.shape.clone(),
            "elements": statistics.elements,
            "elements_not_stored": or_null(statistics.unstored),
        };
        facts.insert(missing, statistics.nan);
        if !statistics.is_decoded {
            facts.insert("fill", or_null(statistics.fill));
        }
        facts = object! {
            ..facts,
            "of": match statistics.kind {
                Kind::Complex => "magnitudes",
                kind if kind.is_textual() => "lengths",
                _ => "values",
            },
            "count": numbers.count,
            "infinite": numbers.infinite,
            "min": extreme(&numbers.min, &self.places[0]),
            "max": extreme(&numbers.max, &self.places[1]),
            "mean": mean(&numbers.mean, &numbers.imaginary_mean),
            "std": json(&numbers.std),
            "sum": if statistics.kind == Kind::Complex { Value::Null } else { sum },
            "quantiles": numbers.quantiles.iter().map(quantile).collect::<Vec<_>>(),
            "rank_error": numbers.rank_error,
            "histogram": or_null(numbers.histogram.as_ref().map(|histogram| object! {
                "edges": histogram.edges.iter().map(|edge| edge.json.clone()).collect::<Vec<_>>(),
                "counts": histogram.counts.clone(),
            })),
        };
        if let Some(texts) = &statistics.texts {
            let common = texts
                .common
                .iter()
                .map(|(text, count)| Value::from(object! { "text": Texts::text(text), "count": *count }));
            facts = object! {
                ..facts,
                "distinct": or_null(texts.distinct),
                "most_common": common.collect::<Vec<_>>(),
                "count_may_lack": texts.missed,
            };
        }
        if let Some(rows) = &statistics.rows {
            let row = |row: Row| {
                let mut facts = object! { "index": row.index, "count": row.count };
                facts.insert(missing, row.nan);
                Value::from(object! {
                    ..facts,
                    "min": json(&row.min),
                    "max": json(&row.max),
                    "mean": mean(&row.mean, &row.imaginary_mean),
                    "std": json(&row.std),
                })
            };
            facts = object! {
                ..facts,
                "along": object! {
                    "axis": rows.axis,
                    "dimension": or_null(self.dimension),
                    "rows": rows.iter().map(row).collect::<Vec<_>>(),
                },
            };
        }
        facts
    }

    fn text(&self) -> String {
        let statistics = self.statistics;
        let numbers = &statistics.numbers;
        let (elements, data_type) = (statistics.elements, type_in_short(&statistics.data_type.to_config()));
        let values =
            if statistics.is_decoded { "values decoded by the CF conventions" } else { "elements as they are stored" };
        let heading = format!("{}: {values}, {data_type} {}", self.path, tuple(&statistics.shape));
        let mut facts: Vec<(String, String)> = vec![("Elements".to_owned(), grouped(elements))];
        let mut add = |label: &str, value: String| facts.push((label.to_owned(), value));
        let part = |count: u128, whole: u128| format!("{} ({})", grouped(count), share(count, whole));
        if let Some(unstored) = statistics.unstored {
            add("Not stored", part(unstored, elements));
        }
        if statistics.values != elements {
            add("Values", grouped(statistics.values));
        }
        if let Some(fill) = statistics.fill {
            add("Fill value", part(fill, statistics.values));
        }
        match (statistics.is_decoded, statistics.kind) {
            (true, _) => add("Missing", part(statistics.nan, statistics.values)),
            (false, Kind::Time) => add("NaT", part(statistics.nan, statistics.values)),
            (false, _) if statistics.nan > 0 || is_float(statistics) => {
                add("NaN", part(statistics.nan, statistics.values));
            }
            (false, _) => {}
        }
        if numbers.infinite > 0 {
            add("Infinite", part(numbers.infinite, statistics.values));
        }
        if statistics.kind == Kind::Truth {
            let truths = numbers.integer_sum.and_then(|sum| u128::try_from(sum).ok()).unwrap_or(0);
            add("True", part(truths, numbers.count));
            add("False", part(numbers.count - truths.min(numbers.count), numbers.count));
        } else {
            self.numbers(&mut add);
        }
        if let Some(texts) = &statistics.texts {
            add(
                "Distinct",
                texts.distinct.map_or("not known: more than are kept".to_owned(), |distinct| grouped(distinct as u64)),
            );
        }
        let width = facts.iter().map(|(label, _)| label.len()).max().unwrap_or(0);
        let mut text = format!("{}\n", escape::line(&heading));
        for (label, value) in &facts {
            text.push_str(&format!("{label:<width$} : {}\n", escape::line(value)));
        }
        if let Some(texts) = &statistics.texts {
            text.push_str(&common(texts));
        }
        if statistics.kind != Kind::Truth {
            text.push_str(&self.histogram());
        }
        text.push_str(&self.rows());
        text
    }

    /// Adds lines about numbers by calls of `add` with a title and a value.
    fn numbers(&self, add: &mut impl FnMut(&str, String)) {
        let (kind, numbers) = (self.statistics.kind, &self.statistics.numbers);
        let prefix = match kind {
            Kind::Complex => "Magnitude ",
            kind if kind.is_textual() => "Length ",
            _ => "",
        };
        let mut labelled = |label: &str, value: String| {
            let label = if prefix.is_empty() { label.to_owned() } else { format!("{prefix}{}", label.to_lowercase()) };
            add(&label, value);
        };
        for (label, found, place) in [("Min", &numbers.min, &self.places[0]), ("Max", &numbers.max, &self.places[1])] {
            if let Some(found) = found {
                let mut at = found.index.as_ref().map(|index| format!(" at {}", tuple(index))).unwrap_or_default();
                at.extend(place.iter().map(|(name, label)| format!(", {name} {label}")));
                labelled(label, format!("{}{at}", exact(&found.value, kind)));
            }
        }
        if kind != Kind::Complex {
            if let Some(mean) = &numbers.mean {
                labelled("Mean", brief(mean, kind));
            }
            if let Some(std) = &numbers.std {
                labelled("Std", deviation(std, kind));
            }
            match numbers.integer_sum {
                Some(sum) => labelled("Sum", sum.to_string()),
                None if kind != Kind::Time && numbers.count > 0 => labelled("Sum", digits(numbers.sum)),
                None => {}
            }
        }
        for quantile in &numbers.quantiles {
            let label = format!("{} %", seven_digits(quantile.share * 100.0));
            labelled(&label, brief(&quantile.value, kind));
        }
        if numbers.rank_error > 0.0 && !numbers.quantiles.is_empty() {
            let percent = seven_digits((numbers.rank_error * 1e5).ceil() / 1e3);
            labelled("Quantiles", format!("of samples; ranks are off by no more than {percent} %"));
        }
        if let (Kind::Complex, Some(mean), Some(imaginary), Some(std)) =
            (kind, &numbers.mean, &numbers.imaginary_mean, &numbers.std)
        {
            add("Mean", complex(mean, imaginary));
            add("Std", digits(std.float));
        }
    }

    fn histogram(&self) -> String {
        let (kind, numbers) = (self.statistics.kind, &self.statistics.numbers);
        let Some(histogram) = &numbers.histogram else { return String::new() };
        let has_blocks = has_blocks();
        let mut edges: Vec<String> = histogram.edges.iter().map(|edge| brief(edge, kind)).collect();
        let mut counts = histogram.counts.clone();
        // Values that lie close together far from zero need all digits.
        if edges.windows(2).any(|pair| pair[0] == pair[1]) {
            edges = histogram.edges.iter().map(|edge| exact(edge, kind).to_owned()).collect();
        }
        // If there is only one value, all bins are the same.
        if edges.first() == edges.last() {
            edges.truncate(2);
            counts = vec![counts.iter().copied().fold(0, u128::saturating_add)];
        }
        let most = counts.iter().copied().max().unwrap_or(0).max(1);
        let width = edges.iter().map(String::len).max().unwrap_or(0);
        let width = BAR.min(WIDTH.saturating_sub(2 * width)).max(8);
        let rows: Vec<Vec<String>> = counts
            .iter()
            .zip(edges.windows(2))
            .map(|(&count, edges)| {
                let edge = |number: usize| edges.get(number).cloned().unwrap_or_default();
                let drawn = bar(count as f64 / most as f64, width, has_blocks);
                vec![edge(0), "..".to_owned(), edge(1), grouped(count), drawn]
            })
            .collect();
        let sides = [Side::Right, Side::Left, Side::Right, Side::Right, Side::Left];
        format!("\n{}", lines(&sides, &rows))
    }

    fn rows(&self) -> String {
        let Some(rows) = &self.statistics.rows else { return String::new() };
        let missing = if self.statistics.is_decoded { "missing" } else { "nan" };
        let name = self.dimension.map_or_else(|| format!("axis {}", rows.axis), str::to_owned);
        let heading = [escape::line(&name).into_owned(), "count".to_owned(), missing.to_owned()];
        let heading = heading.into_iter().chain(["min", "max", "mean", "std"].map(str::to_owned)).collect();
        let kind = self.statistics.kind;
        let cell = |value: &Option<Scalar>| value.as_ref().map_or_else(|| "-".to_owned(), |value| brief(value, kind));
        let row = |row: Row| {
            let mean = match (&row.mean, &row.imaginary_mean) {
                (Some(mean), Some(imaginary)) => complex(mean, imaginary),
                (mean, _) => cell(mean),
            };
            vec![
                row.index.to_string(),
                grouped(row.count),
                grouped(row.nan),
                cell(&row.min),
                cell(&row.max),
                mean,
                row.std.as_ref().map_or_else(|| "-".to_owned(), |std| deviation(std, kind)),
            ]
        };
        let all: Vec<Vec<String>> = std::iter::once(heading).chain(rows.iter().map(row)).collect();
        format!("\n{}", lines(&[Side::Right; 7], &all))
    }
}

/// Returns the lines about the most common strings.
fn common(texts: &Texts) -> String {
    let row = |(text, count): &(Vec<u8>, u128)| {
        let text = Texts::text(text);
        let shown: String = text.chars().take(TEXT).collect();
        let more = if shown.len() < text.len() { "..." } else { "" };
        vec![grouped(*count), format!("\"{}{more}\"", escape::line(&shown))]
    };
    if texts.common.is_empty() {
        return String::new();
    }
    let rows: Vec<Vec<String>> = texts.common.iter().map(row).collect();
    let lack = match texts.missed {
        0 => String::new(),
        missed => format!(" (each up to {} more)", grouped(missed)),
    };
    format!("\nMost common{lack}\n{}", lines(&[Side::Right, Side::Left], &rows))
}

fn is_float(statistics: &Statistics) -> bool {
    match statistics.kind {
        Kind::SmallFloat | Kind::Complex => true,
        Kind::Number => statistics.data_type.storage().class() == Some(Class::Float),
        _ => false,
    }
}

fn json(value: &Option<Scalar>) -> Value {
    or_null(value.as_ref().map(|value| value.json.clone()))
}

/// Returns the mean as JSON; of complex numbers, its real and imaginary part.
fn mean(mean: &Option<Scalar>, imaginary: &Option<Scalar>) -> Value {
    match (mean, imaginary) {
        (Some(mean), Some(imaginary)) => Value::from(vec![mean.json.clone(), imaginary.json.clone()]),
        (mean, _) => json(mean),
    }
}
