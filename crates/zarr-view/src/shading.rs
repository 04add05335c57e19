//! Colours of values: by a range, or by categories.

use crate::color_map::{ColorMap, Rgb};
use crate::coloring::Coloring;
use crate::range::Range;
use crate::slice::Numbers;
use crate::{Error, Result};

/// Greatest number of different integers that are shown as categories by default.
const MOST_CATEGORIES: usize = 12;
/// Least average number of elements per category, unless categories have names or are requested.
const ELEMENTS_EACH: usize = 4;

/// Options for the colours of a picture.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ShadingOptions {
    /// Colour map; by default viridis, or category colours for integers with few different values.
    pub map: Option<ColorMap>,
    /// Range of values; by default percentiles 2 to 98.
    pub range: Option<Range>,
    /// Whether the scale is logarithmic.
    pub is_log: bool,
    /// Names of values that are categories, for instance from the CF attribute `flag_meanings`.
    pub names: Vec<(f64, String)>,
    /// Whether elements are known to be categories, such as labels of segments.
    pub is_categorical: bool,
}

/// Mapping of values to colours.
#[derive(Clone, Debug, PartialEq)]
pub enum Shading {
    /// The colour depends on the position of the value in a range.
    Even(Coloring),
    /// The colour depends on the category of the value.
    Categories(Categories),
}

impl Shading {
    /// Chooses the shading for `values` by the options, with defaults that depend on the values: two colours for bools, categories for
    /// integers with few different values. A diverging map has 0 in its middle if there are values on both sides of 0.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`](crate::ErrorKind::Argument) for a logarithmic scale with a range whose bounds are not positive.
    pub fn new(values: &[f64], numbers: Numbers, options: &ShadingOptions) -> Result<Self> {
        if let (true, Some(range @ Range::Bounds(first, last))) = (options.is_log, options.range)
            && !(first > 0.0 && last > 0.0)
        {
            return Err(Error::argument(format!(
                "found range {range}, expected positive numbers, whose logarithms are shown"
            )));
        }
        let map = options.map;
        let is_even = map.is_some_and(|map| !map.is_categorical()) || options.range.is_some() || options.is_log;
        let may_be = numbers != Numbers::Floats && (!is_even || options.is_categorical);
        let wants = options.is_categorical || map.is_some_and(ColorMap::is_categorical) || !options.names.is_empty();
        if may_be && (!is_even || wants) {
            let few = match wants {
                true => Some(Categories::distinct(values)),
                false => Categories::few(values, MOST_CATEGORIES),
            };
            let is_sure = wants || numbers == Numbers::Bools;
            if let Some(few) = few.filter(|few| is_sure || few.len().saturating_mul(ELEMENTS_EACH) <= values.len()) {
                return Ok(Self::Categories(Categories::new(few, numbers, &options.names)));
            }
        }
        let map = map.unwrap_or(ColorMap::VIRIDIS);
        let range = options.range.unwrap_or_default();
        let of_none = if options.is_log { (1.0, 10.0) } else { (0.0, 1.0) };
        let (mut first, mut last) = range.of(values, options.is_log).unwrap_or(of_none);
        if map.is_diverging() && first < 0.0 && last > 0.0 && !matches!(range, Range::Bounds(..)) {
            last = last.max(-first);
            first = -last;
        }
        let coloring = Coloring::new(map, first, last);
        Ok(Self::Even(if options.is_log { coloring.logarithmic() } else { coloring }))
    }

    /// Returns the colour of a value.
    pub fn pixel(&self, value: f64) -> Rgb {
        match self {
            Self::Even(coloring) => coloring.pixel(value),
            Self::Categories(categories) => categories.pixel(value),
        }
    }
}

/// Values that are categories, each with a colour and name.
#[derive(Clone, Debug, PartialEq)]
pub struct Categories {
    /// Categories, in ascending order of their values.
    pub(crate) entries: Vec<Category>,
}

/// Category of values.
#[derive(Clone, Debug, PartialEq)]
pub struct Category {
    /// Value of the elements in the category.
    pub value: f64,
    /// Colour of the category.
    pub color: Rgb,
    /// Name of the category; the value as a string if it has no name.
    pub name: String,
}

impl Categories {
    /// Returns the different values except NaN, ascending.
    fn distinct(values: &[f64]) -> Vec<f64> {
        // -0.0 is 0.
        let known = values.iter().filter(|value| !value.is_nan()).map(|&value| if value == 0.0 { 0.0 } else { value });
        let mut distinct: Vec<f64> = known.collect();
        distinct.sort_unstable_by(f64::total_cmp);
        distinct.dedup();
        distinct
    }

    /// Returns the different values except NaN, ascending; `None` if there are more than `most`, which must be small.
    fn few(values: &[f64], most: usize) -> Option<Vec<f64>> {
        let mut few = Vec::<f64>::new();
        for &value in values.iter().filter(|value| !value.is_nan()) {
            if few.contains(&value) {
                continue;
            }
            if few.len() >= most {
                return None;
            }
            few.push(value);
        }
        Some(Self::distinct(&few))
    }

    fn new(values: Vec<f64>, numbers: Numbers, names: &[(f64, String)]) -> Self {
        let colors = ColorMap::CIVIDIS.colors();
        let entry = |(number, value): (usize, f64)| {
            let name = names.iter().find(|(named, _)| *named == value).map(|(_, name)| name.clone());
            let (color, text) = match numbers {
                Numbers::Bools if value == 0.0 => (colors.first().copied().unwrap_or_default(), "false".to_owned()),
                Numbers::Bools => (colors.last().copied().unwrap_or_default(), "true".to_owned()),
                _ => (Self::color(number), value.to_string()),
            };
            Category { value, color, name: name.unwrap_or(text) }
        };
        Self { entries: values.into_iter().enumerate().map(entry).collect() }
    }

    /// Returns the colour of the category with index `number`. Neighbouring categories have different colours.
    pub(crate) fn color(number: usize) -> Rgb {
        ColorMap::TAB20.category(TAB20_ORDER.get(number % TAB20_ORDER.len()).copied().unwrap_or(number))
    }

    /// Returns the categories, in ascending order of their values.
    pub fn entries(&self) -> &[Category] {
        &self.entries
    }

    /// Returns the index of the category of a value; `None` if it is in no category.
    pub fn number(&self, value: f64) -> Option<usize> {
        let value = if value == 0.0 { 0.0 } else { value };
        self.entries.binary_search_by(|known| known.value.total_cmp(&value)).ok()
    }

    /// Returns the colour of a value; that of missing values if it is in no category.
    pub fn pixel(&self, value: f64) -> Rgb {
        let entry = self.number(value).and_then(|number| self.entries.get(number));
        entry.map_or(Coloring::MISSING, |entry| entry.color)
    }
}

/// Order of the colours of `tab20`: saturated colours before pale ones, and the two greys, which look like missing values, at the end.
const TAB20_ORDER: [usize; 20] = [0, 2, 4, 6, 8, 10, 12, 16, 18, 1, 3, 5, 7, 9, 11, 13, 17, 19, 15, 14];

#[cfg(test)]
mod tests {
    use super::*;

    fn shading(values: &[f64], numbers: Numbers, options: &ShadingOptions) -> Shading {
        Shading::new(values, numbers, options).unwrap()
    }

    #[test]
    fn integers_with_few_values_are_categories() {
        let few: Vec<f64> = (0..100).map(|number| f64::from(number % 3)).chain([f64::NAN]).collect();
        let many: Vec<f64> = (0..100).map(f64::from).collect();
        let default = ShadingOptions::default();
        let Shading::Categories(categories) = shading(&few, Numbers::Integers, &default) else { panic!("categories") };
        assert_eq!(categories.entries().len(), 3);
        assert_eq!(categories.pixel(1.0), [0xff, 0x7f, 0x0e]);
        assert_eq!(categories.pixel(f64::NAN), Coloring::MISSING);
        let is_even = |values: &[f64], numbers, options: &ShadingOptions| {
            matches!(shading(values, numbers, options), Shading::Even(_))
        };
        assert!(is_even(&few, Numbers::Floats, &default));
        assert!(is_even(&many, Numbers::Integers, &default));
        assert!(is_even(&few[..8], Numbers::Integers, &default));
        let with = |map| ShadingOptions { map: Some(map), ..ShadingOptions::default() };
        assert!(is_even(&few, Numbers::Integers, &with(ColorMap::MAGMA)));
        assert!(!is_even(&many, Numbers::Integers, &with(ColorMap::TAB20)));
        let logarithmic = ShadingOptions { is_log: true, ..ShadingOptions::default() };
        assert!(is_even(&few, Numbers::Integers, &logarithmic));
    }

    #[test]
    fn bools_have_two_colours() {
        let Shading::Categories(categories) = shading(&[0.0, 1.0], Numbers::Bools, &ShadingOptions::default()) else {
            panic!("categories")
        };
        let names: Vec<&str> = categories.entries().iter().map(|entry| entry.name.as_str()).collect();
        assert_eq!(names, ["false", "true"]);
        assert_eq!(categories.pixel(1.0), [254, 232, 56]);
    }

    #[test]
    fn logarithms_are_of_positive_numbers() {
        let options = |range| ShadingOptions { range, is_log: true, ..ShadingOptions::default() };
        for text in ["0:25", "-1:1", "5:0"] {
            let error = Shading::new(&[1.0], Numbers::Floats, &options(text.parse().ok())).unwrap_err();
            assert!(error.to_string().contains(&format!("found range {text}, expected positive numbers")), "{error}");
        }
        for values in [&[0.0, -3.0, f64::NAN][..], &[]] {
            let Shading::Even(coloring) = shading(values, Numbers::Floats, &options(None)) else { panic!("a range") };
            assert_eq!(coloring.bounds(), (1.0, 10.0));
            assert_eq!((coloring.pixel(0.0), coloring.value(0.0)), (Coloring::MISSING, 1.0));
        }
    }

    #[test]
    fn diverging_maps_have_zero_in_the_middle() {
        let options = |range| ShadingOptions { map: Some(ColorMap::COOLWARM), range, ..ShadingOptions::default() };
        let bounds = |values: &[f64], range| match shading(values, Numbers::Floats, &options(range)) {
            Shading::Even(coloring) => coloring.bounds(),
            Shading::Categories(_) => panic!("a range"),
        };
        assert_eq!(bounds(&[-1.0, 3.0], Some(Range::Full)), (-3.0, 3.0));
        assert_eq!(bounds(&[1.0, 3.0], Some(Range::Full)), (1.0, 3.0));
        assert_eq!(bounds(&[-1.0, 3.0], Some(Range::Bounds(-1.0, 3.0))), (-1.0, 3.0));
        assert_eq!(bounds(&[f64::NAN], None), (0.0, 1.0));
    }
}
