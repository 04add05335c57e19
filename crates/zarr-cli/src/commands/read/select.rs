//! Selections on the command line: by index, by dimension and index, by dimension and label.

use crate::failure::{Failure, Result};
use crate::near::{near, question};
use clap::Args;
use zarr::dataset::{Dataset, Label, Labels};
use zarr::dtype::{Class, DataType, TimeUnit, Unit};
use zarr::grid::AxisSelection;
use zarr::meta::json::Value;
use zarr::{Array, Selection};

/// The heading of arguments that choose elements.
pub(crate) const WHICH: &str = "Which elements";

/// Which elements of an array.
#[derive(Debug, Args)]
pub(crate) struct Chosen {
    /// Which elements, as in numpy: "0:10, 5, ::2, ..."; lists of indices in brackets; or with names of dimensions, "time=0, lat=::2".
    #[arg(long, value_name = "SEL", allow_hyphen_values = true, conflicts_with_all = ["sel", "isel"], help_heading = WHICH)]
    select: Option<String>,
    /// Labels along a dimension: time=2020-01-01..2020-02-01, lat=50~. May be given for several dimensions.
    #[arg(long, value_name = "DIM=LABELS", help_heading = WHICH)]
    pub(crate) sel: Vec<String>,
    /// Indices along a dimension: time=0:10:2. May be given for several dimensions.
    #[arg(long, value_name = "DIM=INDICES", help_heading = WHICH)]
    isel: Vec<String>,
}

impl Chosen {
    /// The selection by index that these arguments ask for.
    pub(crate) fn by_index(&self, array: &Array) -> Result<Selection> {
        by_index(self.select.as_deref(), &self.isel, array)
    }
}

fn by_index(select: Option<&str>, isel: &[String], array: &Array) -> Result<Selection> {
    let names = array.dimension_names().unwrap_or_default();
    if let Some(text) = select {
        return parse(text, array);
    }
    let mut axes = Vec::new();
    for text in isel {
        let (name, indices) = split("--isel", text)?;
        if !names.iter().flatten().any(|known| known == name) {
            return Err(no_dimension(name, array));
        }
        axes.push((name, axis(indices).map_err(|failure| in_argument("--isel", text, failure))?));
    }
    Ok(Selection::by_name(axes, if isel.is_empty() { &[] } else { names })?)
}

/// A selection in the syntax of numpy, or with the names of dimensions.
pub(crate) fn parse(text: &str, array: &Array) -> Result<Selection> {
    Selection::parse(text, array.dimension_names().unwrap_or_default()).map_err(|error| match error {
        zarr::grid::Error::DimensionName { name, found: 0 } => no_dimension(&name, array),
        other => other.into(),
    })
}

/// The error for a dimension that an array lacks.
fn no_dimension(name: &str, array: &Array) -> Failure {
    let names: Vec<&str> = array.dimension_names().unwrap_or_default().iter().flatten().map(String::as_str).collect();
    let expected = match names.as_slice() {
        [] => "the array has no names of dimensions".to_owned(),
        names => format!("expected one of {}", names.join(", ")),
    };
    let failure = Failure::usage(format!("found no dimension {name}: {expected}"));
    match near(name, names) {
        Some(near) => failure.with_hint(question(near)),
        None => failure.with_hint("--select selects by position: --select \"0, ::2\""),
    }
}

/// The indices along one axis: as in numpy, or a list without brackets.
fn axis(text: &str) -> Result<AxisSelection> {
    let Selection::Axes(mut axes) = Selection::parse(text, &[])? else {
        return Err(Failure::usage("expected indices of one dimension"));
    };
    if axes.len() == 1
        && let Some(axis) = axes.pop()
    {
        return Ok(axis);
    }
    let index = |axis: &AxisSelection| match axis {
        AxisSelection::Index(index) => Some(*index),
        _ => None,
    };
    let indices: Option<Vec<i64>> = axes.iter().map(index).collect();
    let indices = indices
        .filter(|indices| !indices.is_empty())
        .ok_or_else(|| Failure::usage("expected an index, start:stop:step, or a list of indices"))?;
    Ok(AxisSelection::Indices(indices))
}

/// A dimension, and what is selected along it.
fn split<'t>(option: &str, text: &'t str) -> Result<(&'t str, &'t str)> {
    let parts = text.split_once('=').map(|(name, rest)| (name.trim(), rest.trim()));
    parts.filter(|(name, rest)| !name.is_empty() && !rest.is_empty()).ok_or_else(|| {
        let example = if option == "--sel" { "time=2020-01" } else { "time=0:10" };
        Failure::usage(format!("{option} {text}: expected a dimension and a selection, as {option} {example}"))
    })
}

fn in_argument(option: &str, text: &str, mut failure: Failure) -> Failure {
    failure.line = format!("{option} {text}: {}", failure.line);
    failure
}

/// Selects the labels of a `--sel` argument, whose dimension the variable has to have. Gives the name of the dimension as well.
pub(super) fn by_label<'t>(dataset: &Dataset, variable: &str, text: &'t str) -> Result<(&'t str, Dataset)> {
    let (name, labels) = split("--sel", text)?;
    let variable = dataset.variable(variable)?;
    if !variable.dimensions().any(|known| known == name) {
        let names: Vec<&str> = variable.dimensions().collect();
        let message = match names.is_empty() {
            true => format!("found no dimension {name}: {} has none left", variable.name()),
            false => format!("found no dimension {name}: {} has {}", variable.name(), names.join(", ")),
        };
        let failure = Failure::usage(message);
        return Err(match near(name, names) {
            Some(near) => failure.with_hint(question(near)),
            None => failure,
        });
    }
    if !dataset.variables().any(|known| known.name() == name) {
        let failure = Failure::usage(format!("dimension {name} has no coordinate, and so no labels"));
        return Err(failure.with_hint("--isel selects indices of it"));
    }
    let data_type = dataset.variable(name)?.data_type()?;
    let labels = parse_labels(labels, &data_type).map_err(|failure| in_argument("--sel", text, failure))?;
    Ok((name, dataset.sel(name, labels).map_err(|error| in_argument("--sel", text, error.into()))?))
}

/// `A`, `A,B,C`, `A..B`, `A..`, `..B` or `A~`. A label that has one of these marks in it stands in double quotes, as in JSON.
fn parse_labels(text: &str, data_type: &DataType) -> Result<Labels> {
    let label = |text: &str| parse_label(text.trim(), data_type);
    let outside = positions_outside_of_quotes(text);
    let range = outside.iter().copied().find(|&at| text.get(at..).is_some_and(|rest| rest.starts_with("..")));
    let commas: Vec<usize> =
        outside.iter().copied().filter(|&at| text.get(at..).is_some_and(|rest| rest.starts_with(','))).collect();
    if let Some(at) = range {
        let (first, last) = (text.get(..at).unwrap_or_default(), text.get(at + 2..).unwrap_or_default());
        return match (first.trim(), last.trim()) {
            ("", "") => Err(Failure::usage("expected a label before or behind ..")),
            (first, "") => Ok(Labels::from_first(label(first)?)),
            ("", last) => Ok(Labels::to_last(label(last)?)),
            (first, last) => Ok(Labels::between(label(first)?, label(last)?)),
        };
    }
    if !commas.is_empty() {
        let mut labels = Vec::new();
        let mut start = 0;
        for end in commas.into_iter().chain([text.len()]) {
            let part = text.get(start..end).unwrap_or_default();
            // A list of one label ends in a comma.
            if !(part.trim().is_empty() && end == text.len()) {
                labels.push(label(part)?);
            }
            start = end + 1;
        }
        return Ok(Labels::from(labels));
    }
    match text.strip_suffix('~') {
        Some(near) => Ok(Labels::nearest(label(near)?)),
        None => Ok(Labels::from(label(text)?)),
    }
}

/// The offsets of the characters that stand in no double quotes.
fn positions_outside_of_quotes(text: &str) -> Vec<usize> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    let mut outside = Vec::new();
    for (at, c) in text.char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' if is_quoted => is_escaped = true,
            '"' => is_quoted = !is_quoted,
            _ if !is_quoted => outside.push(at),
            _ => {}
        }
    }
    outside
}

/// A label of a coordinate of this type.
fn parse_label(text: &str, data_type: &DataType) -> Result<Label> {
    let unfit = |expected: &str| Failure::usage(format!("found label {text:?}, expected {expected}"));
    if text.is_empty() {
        return Err(unfit("a label; an empty string is \"\""));
    }
    if text.starts_with('"') {
        return match Value::from_json(text) {
            Ok(Value::String(text)) => Ok(Label::from(text)),
            _ => Err(unfit("a string in double quotes, as in JSON")),
        };
    }
    match (data_type, data_type.class()) {
        (DataType::TimeDelta64(_), _) => TimeUnit::new(Unit::Nanosecond)
            .parse_delta(text)
            .map(Label::from)
            .ok_or_else(|| unfit("a duration, as 12 h")),
        (DataType::Bool, _) => match text {
            "true" | "True" | "1" => Ok(Label::from(true)),
            "false" | "False" | "0" => Ok(Label::from(false)),
            _ => Err(unfit("true or false")),
        },
        (DataType::DateTime64(_), _) => Ok(Label::from(text)),
        (_, Some(Class::Signed | Class::Unsigned | Class::Float)) => match text.parse::<i128>() {
            Ok(integer) => Ok(Label::from(integer)),
            Err(_) => text.parse::<f64>().map(Label::from).map_err(|_| unfit("a number")),
        },
        _ => Ok(Label::from(text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_have_the_type_of_the_coordinate() {
        let float = |text| parse_labels(text, &DataType::Float64).unwrap();
        assert_eq!(float("50~"), Labels::nearest(50));
        assert_eq!(float("-1.5..2"), Labels::between(-1.5, 2));
        assert_eq!(float("0.5.."), Labels::from_first(0.5));
        assert_eq!(float("..1e3"), Labels::to_last(1000.0));
        assert_eq!(float("1, 2.5,3"), Labels::from(vec![Label::from(1), Label::from(2.5), Label::from(3)]));
        assert_eq!(float("1,"), Labels::from([1]));
        let text = |text| parse_labels(text, &DataType::String).unwrap();
        assert_eq!(text("5"), Labels::from("5"));
        assert_eq!(text("\"a,b..c~\""), Labels::from("a,b..c~"));
        assert_eq!(text("\"a,\\\"b\",c"), Labels::from(["a,\"b", "c"]));
        assert_eq!(text("\"a~\"~"), Labels::nearest("a~"));
        let date = DataType::DateTime64(TimeUnit::new(Unit::Nanosecond));
        assert_eq!(parse_labels("2020-01..2020-02", &date).unwrap(), Labels::between("2020-01", "2020-02"));
        let delta = DataType::TimeDelta64(TimeUnit::new(Unit::Nanosecond));
        assert_eq!(parse_labels("2 us", &delta).unwrap(), Labels::from(2000));
        assert_eq!(parse_labels("true", &DataType::Bool).unwrap(), Labels::from(true));
    }

    #[test]
    fn other_labels_are_refused() {
        for (text, data_type) in [
            ("north", DataType::Float32),
            ("..", DataType::Float32),
            ("1,,2", DataType::Int8),
            ("1~,2", DataType::Int8),
            ("1..2,3", DataType::Int8),
            ("yes", DataType::Bool),
            ("\"a", DataType::String),
            ("~", DataType::String),
        ] {
            assert!(parse_labels(text, &data_type).is_err(), "{text}");
        }
    }

    #[test]
    fn indices_are_those_of_numpy() {
        assert_eq!(axis("-1").unwrap(), AxisSelection::Index(-1));
        assert_eq!(axis("0:10:2").unwrap(), AxisSelection::Range { start: Some(0), stop: Some(10), step: 2 });
        assert_eq!(axis("3,1").unwrap(), AxisSelection::Indices(vec![3, 1]));
        assert_eq!(axis("[3]").unwrap(), AxisSelection::Indices(vec![3]));
        assert!(axis("0:2, 3").is_err() && axis("x").is_err());
    }
}
