//! Overview of a data set as text: dimensions, coordinates with their ranges, variables, attributes.

use crate::{Dataset, Variable, calendar_time};
use std::fmt;
use zarr_dtype::{DataType, npy_descr};
use zarr_json::{Map, Value};

/// Lines that `zarr ds` prints: dimensions with their sizes, coordinates with their first and last values, variables with the data types of
/// their values and their units, attributes. See [`Dataset::overview`].
#[derive(Clone, Debug)]
pub struct Overview {
    dimensions: String,
    coordinates: Vec<Row>,
    variables: Vec<Row>,
    attributes: Map,
    broken: Vec<String>,
}

/// Line of a variable: its name with a mark, its dimensions, its data type, and a remark.
#[derive(Clone, Debug)]
struct Row([String; 4]);

impl Dataset {
    /// Returns an overview of the data set as text. Reads the first and the last value of each one-dimensional coordinate.
    pub fn overview(&self) -> Overview {
        Overview::new(self, |_| true)
    }
}

impl Overview {
    /// Returns the overview of a data set, with the coordinates for which `is_shown` returns `true`.
    pub(crate) fn new(dataset: &Dataset, is_shown: impl Fn(&Variable) -> bool) -> Self {
        let dimensions = dataset.dimensions().iter().map(|dimension| {
            let note = if dimension.is_unlimited { " (unlimited)" } else { "" };
            format!("{} {}{note}", dimension.name, dimension.size)
        });
        Self {
            dimensions: dimensions.collect::<Vec<_>>().join(", "),
            coordinates: dataset
                .coordinates()
                .filter(|it| is_shown(it))
                .map(|variable| Row::new(variable, true))
                .collect(),
            variables: dataset.data_variables().map(|variable| Row::new(variable, false)).collect(),
            attributes: dataset.attributes().clone(),
            broken: dataset.broken().iter().map(ToString::to_string).collect(),
        }
    }
}

impl Row {
    fn new(variable: &Variable, is_coordinate: bool) -> Self {
        let dimensions: Vec<&str> = variable.dimensions().collect();
        let mark = if dimensions == [variable.name()] { '*' } else { ' ' };
        let data_type = variable.data_type().map(|data_type| type_name(&data_type));
        let mut remarks = Vec::new();
        match (&data_type, is_coordinate) {
            (Err(error), _) => remarks.push(error.message().to_owned()),
            (Ok(_), true) => remarks.extend(ends(variable)),
            (Ok(_), false) => {}
        }
        // Units of times are part of their encoding.
        remarks.extend(variable.attributes().get("units").and_then(Value::as_str).map(|units| format!("{units:?}")));
        let name = variable.attributes().get("long_name").and_then(Value::as_str);
        remarks.extend(name.filter(|_| !is_coordinate).map(|name| format!("({name})")));
        let data_type = data_type.unwrap_or_else(|_| "undecodable".to_owned());
        Self([
            format!("{mark} {}", variable.name()),
            format!("({})", dimensions.join(", ")),
            data_type,
            remarks.join("  "),
        ])
    }
}

/// Returns the first and the last value of a one-dimensional variable, or the value of a scalar; the message of the error if they cannot be
/// read. `None` for other variables.
fn ends(variable: &Variable) -> Option<String> {
    let at = |index: i64| {
        let part = match variable.dimensions().next() {
            Some(dimension) => variable.select(dimension, &zarr_grid::AxisSelection::Index(index))?,
            None => variable.clone(),
        };
        Ok(short(&part.read()?.text(0)).to_owned())
    };
    let text = match variable.shape().as_slice() {
        [] | [1] => at(0),
        [0] | [_, _, ..] => return None,
        [_] => at(0).and_then(|first| Ok(format!("{first} ... {}", at(-1)?))),
    };
    Some(text.unwrap_or_else(|error: crate::Error| error.message().to_owned()))
}

/// Returns the name of a data type of values: numpy's name for times, the name with the calendar for dates of other calendars.
///
/// ```
/// use zarr_dataset::Values;
/// use zarr_dataset::cf::time::{Calendar, DateTime};
///
/// let dates = Values::of_dates(&[Some(DateTime::new(Calendar::Days360, 2000, 2, 30)?)])?;
/// assert_eq!(zarr_dataset::type_name(dates.data_type()), "dates (360_day)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn type_name(data_type: &DataType) -> String {
    let unit = npy_descr(data_type).and_then(|descr| Some(descr.split_once('[')?.1.to_owned()));
    match (data_type, unit, calendar_time::calendar(data_type)) {
        (DataType::DateTime64(_), Some(unit), _) => format!("datetime64[{unit}"),
        (DataType::TimeDelta64(_), Some(unit), _) => format!("timedelta64[{unit}"),
        (_, _, Some(calendar)) => format!("dates ({})", calendar.name()),
        _ => data_type.to_string(),
    }
}

/// Removes trailing parts that are zero from the time of day of a date.
fn short(text: &str) -> &str {
    let is_time = text.get(4..5) == Some("-") && text.len() >= 19;
    let text = if is_time { text.strip_suffix(".000000000").unwrap_or(text) } else { text };
    let midnight = ["T00:00:00", " 00:00:00"].iter().find_map(|suffix| text.strip_suffix(suffix));
    midnight.filter(|_| is_time).unwrap_or(text)
}

impl fmt::Display for Overview {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Dimensions:  {}", self.dimensions)?;
        let rows = || self.coordinates.iter().chain(&self.variables);
        let width =
            |column: usize| rows().filter_map(|Row(row)| row.get(column)).map(|cell| cell.chars().count()).max();
        let widths = [0, 1, 2].map(|column| width(column).unwrap_or(0));
        for (title, rows) in [("Coordinates", &self.coordinates), ("Data variables", &self.variables)] {
            if rows.is_empty() {
                continue;
            }
            write!(f, "\n{title}:")?;
            for Row([name, dimensions, data_type, remark]) in rows {
                let [first, second, third] = widths;
                let line = format!("{name:first$}  {dimensions:second$}  {data_type:third$}  {remark}");
                write!(f, "\n{}", line.trim_end())?;
            }
        }
        if !self.attributes.is_empty() {
            write!(f, "\nAttributes:")?;
        }
        for (name, value) in self.attributes.iter() {
            match value.as_str() {
                Some(text) => write!(f, "\n  {name}: {text}")?,
                None => write!(f, "\n  {name}: {value}")?,
            }
        }
        for error in &self.broken {
            write!(f, "\nBroken: {error}")?;
        }
        Ok(())
    }
}
