//! Labels from data sets: positions along axes, and names of values.

use crate::Result;
use crate::labels::{AxisLabels, Positions};
use crate::samples::Samples;
use crate::slice::is_exact;
use zarr_array::Array;
use zarr_dataset::{Dataset, Values, Variable};
use zarr_dtype::{Cast, Class, cast_items};
use zarr_json::{Map, Value};

/// Greatest length of a coordinate that is read for labels.
const MOST_LABELS: u64 = 1 << 22;

impl AxisLabels {
    /// Reads the labels of a dimension from its coordinate in a data set: numbers, dates or names. Without a coordinate, or for one of more
    /// than 4 million elements, the labels are indices. The unit says so where the latitude and the longitude of each element are known: the
    /// picture is no map then.
    ///
    /// # Errors
    /// The errors of [`Variable::read`] for the coordinate.
    pub fn of_dimension(dataset: &Dataset, dimension: &str, samples: &Samples) -> Result<Self> {
        let name = Some(dimension.to_owned());
        let Some(coordinate) = coordinate(dataset, dimension) else {
            let units = is_curvilinear(dataset, dimension).then(|| "index".to_owned());
            return Ok(Self { name, units, ..Self::default() });
        };
        let units = units(coordinate).map(str::to_owned);
        let values = dataset.isel(dimension, samples.to_axis())?.variable(dimension)?.read()?;
        Ok(Self { name, units, positions: positions(&values) })
    }

    /// Reads the labels of indices of a dimension that is not shown, with all digits and units; `None` without a coordinate.
    ///
    /// # Errors
    /// The errors of [`Variable::read`] for the coordinate.
    pub fn at_indices(dataset: &Dataset, dimension: &str, samples: &Samples) -> Result<Option<Vec<String>>> {
        let Some(coordinate) = coordinate(dataset, dimension) else { return Ok(None) };
        let values = dataset.isel(dimension, samples.to_axis())?.variable(dimension)?.read()?;
        let mut labels = texts(&values);
        if is_number(&values)
            && let Some(units) = units(coordinate)
        {
            labels.iter_mut().for_each(|label| *label = format!("{label} {units}"));
        }
        Ok(Some(labels))
    }

    /// Returns whether a picture should have the last sample at the top: positions rise, as latitudes and heights do, and the attribute
    /// `positive` of the coordinate is not `down`.
    pub fn is_upwards(&self, dataset: &Dataset) -> bool {
        let down = self.name.as_deref().and_then(|name| coordinate(dataset, name)).is_some_and(|coordinate| {
            coordinate
                .attributes()
                .get("positive")
                .and_then(Value::as_str)
                .is_some_and(|it| it.eq_ignore_ascii_case("down"))
        });
        self.is_rising() && !down
    }
}

/// Returns the coordinate of a dimension; `None` if there is none, or if it is too long to read.
fn coordinate<'d>(dataset: &'d Dataset, dimension: &str) -> Option<&'d Variable> {
    let variable = dataset.variables().find(|variable| variable.name() == dimension)?;
    let is_it = variable.dimensions().eq([dimension]) && variable.shape().iter().all(|&len| len <= MOST_LABELS);
    is_it.then_some(variable)
}

/// Returns whether latitudes or longitudes differ along a dimension and another one at once.
fn is_curvilinear(dataset: &Dataset, dimension: &str) -> bool {
    let is_angle = |variable: &Variable| units(variable).is_some_and(|units| units.starts_with("degree"));
    let is_along = |variable: &Variable| variable.dimensions().any(|name| name == dimension);
    dataset.coordinates().any(|it| it.shape().len() == 2 && is_along(it) && is_angle(it))
}

fn units(coordinate: &Variable) -> Option<&str> {
    coordinate.attributes().get("units").and_then(Value::as_str)
}

fn is_number(values: &Values) -> bool {
    matches!(values.data_type().class(), Some(Class::Signed | Class::Unsigned | Class::Float))
}

/// Returns the values of a coordinate as positions. Integers that are not exact as floats become strings.
fn positions(values: &Values) -> Positions {
    if is_number(values)
        && let Ok(numbers) = cast_items::<f64>(values.data_type(), values.data().items(), Cast::Lossy)
    {
        let is_float = values.data_type().class() == Some(Class::Float);
        if is_float || numbers.iter().all(|&number| is_exact(number)) {
            return Positions::Numbers(numbers);
        }
    }
    Positions::Texts(texts(values))
}

fn texts(values: &Values) -> Vec<String> {
    let mut texts: Vec<String> = (0..values.len()).map(|index| values.text(index)).collect();
    if is_number(values) {
        return texts;
    }
    // Drop the ending that all of these times have in common and that is zero.
    for end in [".000000000", "T00:00:00", " 00:00:00"] {
        if texts.iter().all(|text| text == "NaT" || text.ends_with(end)) {
            texts.iter_mut().for_each(|text| text.truncate(text.strip_suffix(end).map_or(text.len(), str::len)));
        }
    }
    texts
}

/// Returns the names of values from the attributes `flag_values` and `flag_meanings` of the CF conventions; empty if they are missing or do
/// not match.
pub fn flag_names(attributes: &Map) -> Vec<(f64, String)> {
    let values = match attributes.get("flag_values") {
        Some(Value::Array(values)) => values.iter().filter_map(Value::as_f64).collect(),
        Some(value) => value.as_f64().into_iter().collect::<Vec<f64>>(),
        None => return Vec::new(),
    };
    let meanings = attributes.get("flag_meanings").and_then(Value::as_str).unwrap_or_default();
    let names: Vec<String> = meanings.split_ascii_whitespace().map(str::to_owned).collect();
    // Names are used only if there is exactly one for each value.
    if names.len() == values.len() { values.into_iter().zip(names).collect() } else { Vec::new() }
}

/// Returns the whole array of a variable, without its selection. The array is decoded (`true`) if decoded values are numbers, and otherwise
/// the stored array (`false`), for instance for times.
///
/// # Errors
/// The errors of [`Variable::read`].
pub fn shown_array(variable: &Variable) -> Result<(&Array, bool)> {
    let decoded = variable.decoded_whole()?.filter(|array| crate::Numbers::of(array.data_type()).is_some());
    Ok(decoded.map_or((variable.stored(), false), |array| (array, true)))
}
