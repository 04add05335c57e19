//! Elements for dates of calendars that numpy lacks: microseconds since 2000-01-01 in the calendar.

use crate::Result;
use std::sync::Arc;
use zarr_cf::time::{Calendar, DateTime};
use zarr_dtype::{DataType, DataTypeEntry, DataTypes, Extension, ExtensionType, print};
use zarr_json::{Map, NamedConfig, Value};

/// Name of the data type of such dates, which exists in memory only.
pub(crate) const NAME: &str = "zarr-dataset.calendar-time";

/// Element that stands for NaT, a missing date.
const NAT: i64 = i64::MIN;

#[derive(Debug)]
struct CalendarTime(Calendar);

impl ExtensionType for CalendarTime {
    fn storage(&self) -> DataType {
        DataType::Int64
    }

    fn to_json(&self, element: &[u8]) -> Value {
        match from_bytes(element, self.0) {
            Some(date) => Value::from(date.to_string().replacen(' ', "T", 1)),
            None => Value::from("NaT"),
        }
    }

    fn parse(&self, value: &Value) -> Result<Vec<u8>, zarr_dtype::Error> {
        let unfit = || zarr_dtype::Error::invalid(value, "a date as 2000-01-31T12:00:00, or NaT");
        match value.as_str() {
            None => print::parse(&DataType::Int64, value),
            Some("NaT") => Ok(NAT.to_ne_bytes().to_vec()),
            Some(text) => {
                let date = DateTime::parse(text, self.0).map_err(|_| unfit())?;
                to_number(Some(&date)).map(|number| number.to_ne_bytes().to_vec()).map_err(|_| unfit())
            }
        }
    }

    fn to_text(&self, element: &[u8]) -> String {
        from_bytes(element, self.0).map_or_else(|| "NaT".to_owned(), |date| date.to_string())
    }
}

/// Adds the data type of dates to a table of data types.
pub(crate) fn add_to(types: &mut DataTypes) {
    types.add(DataTypeEntry::new(&[NAME], |config, _| {
        let name = config.configuration.get("calendar").and_then(Value::as_str).unwrap_or("standard");
        let calendar = Calendar::parse(name)
            .map_err(|_| zarr_dtype::Error::invalid(&Value::from(name), "a calendar of the CF conventions"))?;
        Ok(Arc::new(CalendarTime(calendar)))
    }));
}

/// Returns the data type of dates of `calendar`.
pub(crate) fn data_type(calendar: Calendar) -> Result<DataType> {
    let mut configuration = Map::new();
    configuration.insert("calendar", calendar.name());
    let extension = Extension::new(NamedConfig::with(NAME, configuration), Arc::new(CalendarTime(calendar)))?;
    Ok(DataType::Extension(extension))
}

/// Returns the calendar of the data type of dates of calendars that numpy lacks, whose elements are 64 bits; `None` for other data types.
pub fn calendar(data_type: &DataType) -> Option<Calendar> {
    let DataType::Extension(extension) = data_type else { return None };
    let name = extension.config().configuration.get("calendar").and_then(Value::as_str);
    name.filter(|_| extension.name() == NAME).and_then(|name| Calendar::parse(name).ok())
}

/// Returns the element of a date; NaT for `None`.
pub(crate) fn to_number(date: Option<&DateTime>) -> Result<i64, String> {
    let Some(date) = date else { return Ok(NAT) };
    let epoch = DateTime::new(date.calendar(), 2000, 1, 1).map_err(|error| error.to_string())?;
    let microseconds = date.microseconds_since(&epoch).and_then(|count| i64::try_from(count).ok());
    microseconds.filter(|&count| count != NAT).ok_or_else(|| format!("{date} is too far from 2000-01-01"))
}

/// Returns the date of an element in `calendar`; `None` for NaT.
pub(crate) fn from_number(number: i64, calendar: Calendar) -> Option<DateTime> {
    let epoch = DateTime::new(calendar, 2000, 1, 1).ok().filter(|_| number != NAT)?;
    epoch.plus_microseconds(number)
}

fn from_bytes(element: &[u8], calendar: Calendar) -> Option<DateTime> {
    element.try_into().ok().map(i64::from_ne_bytes).and_then(|number| from_number(number, calendar))
}
