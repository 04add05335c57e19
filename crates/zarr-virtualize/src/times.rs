//! Conversion of times in other units to the units of the first file.

use zarr_array::ArrayData;
use zarr_cf::fill::{FILL_VALUE, from_attribute};
use zarr_cf::time::{Calendar, EncodedNumbers, NumberKind, Numbers, TimeUnits};
use zarr_dtype::DataType;
use zarr_json::{Map, Value};

/// Conversion of the times of a file to other units.
#[derive(Clone, Debug)]
pub(crate) struct Recount {
    from: TimeUnits,
    to: TimeUnits,
    /// Bytes of the element that marks missing data, which is not converted; `None` if no element does.
    mark: Option<Vec<u8>>,
}

/// Returns the attribute `units` if it contains units of times, else `None`.
pub(crate) fn time_units(attributes: &Map) -> Option<&str> {
    attributes.get("units").and_then(Value::as_str).filter(|units| TimeUnits::is_units(units))
}

fn parse(units: &str, attributes: &Map) -> Result<TimeUnits, String> {
    let calendar = match attributes.get("calendar").map(|calendar| (calendar, calendar.as_str())) {
        None => Calendar::Standard,
        Some((_, Some(name))) => Calendar::parse(name).map_err(|error| error.to_string())?,
        Some((other, None)) => return Err(format!("found the calendar {}, expected a name", other.excerpt())),
    };
    TimeUnits::parse(units, calendar).map_err(|error| error.to_string())
}

impl Recount {
    /// Creates the conversion of a variable of `data_type` with the attributes `own`. `from` and `to` are attributes with the units and
    /// calendars before and after.
    pub(crate) fn new(data_type: &DataType, own: &Map, from: &Map, to: &Map) -> Result<Self, String> {
        if let Some(name) = ["scale_factor", "add_offset"].into_iter().find(|name| own.contains_key(name)) {
            return Err(format!("found times with the attribute {name}, which are not counted again"));
        }
        if own.contains_key("_Unsigned") {
            return Err("found times with the attribute _Unsigned, which are not counted again".to_owned());
        }
        let fill = own.get(FILL_VALUE);
        if let Some(missing) = own.get("missing_value").filter(|it| !fill.is_some_and(|fill| fill.semantically_eq(it)))
        {
            let missing = missing.excerpt();
            return Err(format!("found times with the attribute missing_value {missing}, which are not counted again"));
        }
        let units = |attributes: &Map| parse(time_units(attributes).unwrap_or_default(), attributes);
        let (from, to) = (units(from)?, units(to)?);
        if from.calendar() != to.calendar() {
            let (found, expected) = (from.calendar().name(), to.calendar().name());
            return Err(format!("found the calendar {found}, expected {expected}"));
        }
        let read = |value: &Value| {
            let mark = from_attribute(data_type, value).ok().and_then(|mark| mark.to_element(data_type));
            mark.ok_or_else(|| {
                format!("found the attribute {FILL_VALUE} {}, expected an element of the data type", value.excerpt())
            })
        };
        let mark = fill.map(read).transpose()?;
        Ok(Self { from, to, mark: mark.map(|mark| mark.bytes().to_vec()) })
    }

    /// Converts the elements `data`. Fails if a result is not exact.
    pub(crate) fn apply(&self, data: &ArrayData) -> Result<ArrayData, String> {
        if self.marks(data).all(|is_mark| is_mark) {
            return Ok(data.clone());
        }
        macro_rules! whole {
            ($type:ty) => {{
                let given = data.to_vec::<$type>().map_err(|error| error.to_string())?;
                let mut wide = Vec::with_capacity(given.len());
                for number in &given {
                    wide.push(
                        i64::try_from(*number).map_err(|_| format!("found {number}, which is no 64-bit integer"))?,
                    );
                }
                self.without_marks(data, &mut wide, None);
                let counted: Vec<$type> = self.integers(&wide)?;
                ArrayData::from_elements(data.data_type(), data.shape(), &counted)
            }};
        }
        macro_rules! float {
            ($type:ty, $numbers:path) => {{
                let mut given = data.to_vec::<$type>().map_err(|error| error.to_string())?;
                self.without_marks(data, &mut given, Some(<$type>::NAN));
                let counted = self.floats($numbers(&given))?;
                let counted: Vec<$type> = counted.into_iter().map(|number| number as $type).collect();
                self.check($numbers(&given), $numbers(&counted))?;
                ArrayData::from_elements(data.data_type(), data.shape(), &counted)
            }};
        }
        let counted = match data.data_type() {
            DataType::Int8 => whole!(i8),
            DataType::Int16 => whole!(i16),
            DataType::Int32 => whole!(i32),
            DataType::Int64 => whole!(i64),
            DataType::UInt8 => whole!(u8),
            DataType::UInt16 => whole!(u16),
            DataType::UInt32 => whole!(u32),
            DataType::UInt64 => whole!(u64),
            DataType::Float32 => float!(f32, Numbers::F32),
            DataType::Float64 => float!(f64, Numbers::F64),
            other => return Err(format!("found times of the data type {other}, which are not counted again")),
        };
        self.with_marks(data, &counted.map_err(|error| error.to_string())?)
    }

    /// Replaces numbers that mark missing data by `instead`, or by one of the other numbers if `instead` is `None`.
    fn without_marks<T: Copy>(&self, data: &ArrayData, numbers: &mut [T], instead: Option<T>) {
        let marks: Vec<bool> = self.marks(data).collect();
        let other = numbers.iter().zip(&marks).find(|(_, is_mark)| !**is_mark).map(|(number, _)| *number);
        let Some(instead) = instead.or(other) else { return };
        for (number, _) in numbers.iter_mut().zip(marks).filter(|(_, is_mark)| *is_mark) {
            *number = instead;
        }
    }

    /// Returns for each element whether it marks missing data.
    fn marks<'a>(&'a self, data: &'a ArrayData) -> impl Iterator<Item = bool> + 'a {
        let items = data.items().chunks_exact(data.data_type().item_size().max(1));
        items.map(|item| self.mark.as_deref() == Some(item))
    }

    /// Returns `counted`, the converted elements, with the marks of missing data of `data`. Fails if a converted time equals the mark.
    fn with_marks(&self, data: &ArrayData, counted: &ArrayData) -> Result<ArrayData, String> {
        let size = data.data_type().item_size().max(1);
        let mut items = counted.items().to_vec();
        for ((item, before), is_mark) in
            items.chunks_exact_mut(size).zip(data.items().chunks_exact(size)).zip(self.marks(data))
        {
            if is_mark {
                item.copy_from_slice(before);
            } else if self.mark.as_deref() == Some(&*item) {
                return Err(format!("found a time that would become the mark of missing data in {}", self.to.text()));
            }
        }
        ArrayData::from_items(data.data_type(), data.shape(), &items, None).map_err(|error| error.to_string())
    }

    fn integers<T: TryFrom<i64> + Copy>(&self, given: &[i64]) -> Result<Vec<T>, String> {
        // All elements are marks.
        let EncodedNumbers::I64(counted) = self.encoded(Numbers::I64(given), NumberKind::Integer)? else {
            return Err(self.inexact());
        };
        self.check(Numbers::I64(given), Numbers::I64(&counted))?;
        let narrow = |number: &i64| {
            T::try_from(*number)
                .map_err(|_| format!("found {number} in {}, which the data type does not have", self.to.text()))
        };
        counted.iter().map(narrow).collect()
    }

    fn floats(&self, given: Numbers<'_>) -> Result<Vec<f64>, String> {
        match self.encoded(given, NumberKind::Float)? {
            EncodedNumbers::F64(counted) => Ok(counted),
            EncodedNumbers::I64(_) => Err(self.inexact()),
        }
    }

    fn encoded(&self, given: Numbers<'_>, kind: NumberKind) -> Result<EncodedNumbers, String> {
        use zarr_cf::time::Times;
        let encoded = match self.from.decode(given).map_err(|error| error.to_string())? {
            Times::Nanoseconds(times) => self.to.encode_nanoseconds(&times, kind),
            Times::Calendar(dates) => self.to.encode_dates(&dates, kind),
        };
        let encoded = encoded.map_err(|error| error.to_string())?;
        if encoded.units != self.to.written() { Err(self.inexact()) } else { Ok(encoded.numbers) }
    }

    /// Checks that `given` before and `counted` after the conversion decode to the same times.
    fn check(&self, given: Numbers<'_>, counted: Numbers<'_>) -> Result<(), String> {
        let (before, after) = (self.from.decode(given), self.to.decode(counted));
        match (before, after) {
            (Ok(before), Ok(after)) if before == after => Ok(()),
            _ => Err(self.inexact()),
        }
    }

    fn inexact(&self) -> String {
        format!(
            "found times in {:?} that no numbers of the data type count exactly in {:?}, the units of the first file",
            self.from.text(),
            self.to.text()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zarr_json::json;

    fn map(value: &Value) -> Map {
        value.as_object().expect("an object").clone()
    }

    #[test]
    fn times_are_counted_exactly_or_not_at_all() {
        let days = map(&json!({"units": "days since 2000-01-01"}));
        let later = map(&json!({"units": "days since 2000-02-01 00:00:00", "_FillValue": (-1)}));
        let hours = map(&json!({"units": "hours since 2000-01-01"}));
        let noleap = map(&json!({"units": "days since 2000-01-01", "calendar": "noleap"}));
        let counted = |given: &[i32], own: &Map, from: &Map, to: &Map| {
            let data = ArrayData::from_elements(&DataType::Int32, &[given.len() as u64], given).expect("elements");
            let recount = Recount::new(&DataType::Int32, own, from, to)?;
            recount.apply(&data)?.to_vec::<i32>().map_err(|error| error.to_string())
        };
        assert_eq!(counted(&[0, 1, 2], &later, &later, &days), Ok(vec![31, 32, 33]));
        // Marks of missing data stay.
        assert_eq!(counted(&[0, -1, 2], &later, &later, &days), Ok(vec![31, -1, 33]));
        assert_eq!(counted(&[-1, -1], &later, &later, &days), Ok(vec![-1, -1]));
        assert_eq!(counted(&[0, 24, 48], &hours, &hours, &days), Ok(vec![0, 1, 2]));
        assert_eq!(counted(&[1, 2], &days, &days, &hours), Ok(vec![24, 48]));
        assert!(counted(&[0, 6], &hours, &hours, &days).unwrap_err().contains("exactly"));
        assert!(counted(&[i32::MAX / 24 + 1], &days, &days, &hours).unwrap_err().contains("does not have"));
        assert!(counted(&[0], &days, &noleap, &days).unwrap_err().contains("found the calendar noleap, expected"));
        let scaled = map(&json!({"scale_factor": 2.0}));
        assert!(counted(&[0], &scaled, &later, &days).unwrap_err().contains("scale_factor"));
        // A time that would be the mark.
        let marked = map(&json!({"_FillValue": 31}));
        assert!(counted(&[0], &marked, &later, &days).unwrap_err().contains("mark of missing data"));
    }

    #[test]
    fn marks_that_are_not_known_are_refused() {
        let hours = map(&json!({"units": "hours since 2000-01-01"}));
        let days = map(&json!({"units": "days since 2000-01-01"}));
        let refused = |own: Value| Recount::new(&DataType::Int32, &map(&own), &hours, &days).map(|_| ()).unwrap_err();
        assert!(refused(json!({"missing_value": 7})).contains("missing_value 7"));
        assert!(refused(json!({"_Unsigned": "true"})).contains("_Unsigned"));
        assert!(refused(json!({"_FillValue": "none"})).contains("_FillValue"));
        let own = map(&json!({"_FillValue": 7, "missing_value": 7}));
        let recount = Recount::new(&DataType::Int32, &own, &hours, &days).expect("one mark");
        // Seven hours are no whole number of days.
        let data = ArrayData::from_elements(&DataType::Int32, &[2], &[7, 7]).expect("elements");
        assert_eq!(recount.apply(&data).expect("marks").to_vec::<i32>().expect("elements"), [7, 7]);
    }

    #[test]
    fn floats_are_counted_exactly_or_not_at_all() {
        let attributes = |units: &str| map(&json!({"units": units}));
        let (days, hours) = (attributes("days since 2000-01-01"), attributes("hours since 2000-01-02"));
        let data = ArrayData::from_elements(&DataType::Float64, &[3], &[0.0, 6.0, f64::NAN]).expect("elements");
        let counted = Recount::new(&DataType::Float64, &Map::new(), &hours, &days).and_then(|it| it.apply(&data));
        let counted = counted.expect("counted").to_vec::<f64>().expect("floats");
        assert_eq!(counted[..2], [1.0, 1.25]);
        assert!(counted[2].is_nan());
        // 1/3 of a day has no float of 32 bits that is read as 8 hours.
        let data = ArrayData::from_elements(&DataType::Float32, &[1], &[8.0_f32]).expect("elements");
        let counted = Recount::new(&DataType::Float32, &Map::new(), &hours, &days).and_then(|it| it.apply(&data));
        assert!(counted.unwrap_err().contains("exactly"));
    }
}
