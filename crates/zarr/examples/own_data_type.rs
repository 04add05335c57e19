//! Defines a data type, registers it under a name, and creates and opens an array with it.
//!
//! `cargo run -p zarr-rs --example own_data_type`

use std::sync::Arc;
use zarr::dtype::{DataType, DataTypeEntry, DataTypes, Element, Error, ExtensionType, Heap};
use zarr::meta::NamedConfig;
use zarr::meta::json::Value;
use zarr::prelude::*;

/// Data type of temperatures, stored as a number of steps. The configuration has the number of steps per degree: `{"steps": 10}`.
#[derive(Debug)]
struct Temperature {
    steps: i16,
}

/// Entry for the table of data types: the name of the data type, and the function that builds the type from its configuration.
const TEMPERATURE: DataTypeEntry = DataTypeEntry::new(&["example.temperature"], build);

fn build(config: &NamedConfig, _: &DataTypes) -> Result<Arc<dyn ExtensionType>, Error> {
    let steps = config.configuration.get("steps").unwrap_or(&Value::Null);
    let number = steps.as_i64().and_then(|steps| i16::try_from(steps).ok()).filter(|&steps| steps > 0);
    let wrong = || Error::invalid(steps, "steps of a degree, 1 to 32767").within("/configuration/steps");
    Ok(Arc::new(Temperature { steps: number.ok_or_else(wrong)? }))
}

impl ExtensionType for Temperature {
    /// Returns the data type of elements in memory, which the codecs encode.
    fn storage(&self) -> DataType {
        DataType::Int16
    }

    /// Returns an element as degrees: fill values are degrees in metadata documents.
    fn to_json(&self, element: &[u8]) -> Value {
        let steps = element.try_into().map(i16::from_ne_bytes).unwrap_or_default();
        Value::from(f64::from(steps) / f64::from(self.steps))
    }

    fn parse(&self, value: &Value) -> Result<Vec<u8>, Error> {
        let steps = value.as_f64().map(|degrees| (degrees * f64::from(self.steps)).round());
        let steps = steps.filter(|steps| (-32768.0..=32767.0).contains(steps));
        let steps = steps.ok_or_else(|| Error::invalid(value, "degrees"))?;
        #[expect(clippy::cast_possible_truncation, reason = "it is in range")]
        Ok((steps as i16).to_ne_bytes().to_vec())
    }

    fn to_text(&self, element: &[u8]) -> String {
        format!("{} °C", self.to_json(element))
    }
}

/// Rust type of elements, in degrees. A Rust type with the memory layout of the stored elements would implement `as_bytes` and
/// `as_bytes_mut` as well, and be read without a copy.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Celsius(f64);

impl Element for Celsius {
    fn name() -> String {
        "Celsius".to_owned()
    }

    fn accepts(data_type: &DataType) -> bool {
        steps(data_type).is_some()
    }

    fn zeroed_vec(len: usize) -> Result<Vec<Self>, Error> {
        Ok(f64::zeroed_vec(len)?.into_iter().map(Self).collect())
    }

    fn from_items(data_type: &DataType, items: &[u8], heap: &Heap) -> Result<Vec<Self>, Error> {
        Self::check(data_type)?;
        let steps = steps(data_type).unwrap_or(1.0);
        let stored = i16::from_items(data_type.storage(), items, heap)?;
        Ok(stored.into_iter().map(|stored| Self(f64::from(stored) / steps)).collect())
    }

    fn to_items(data_type: &DataType, elements: &[Self], heap: &Heap) -> Result<Vec<u8>, Error> {
        Self::check(data_type)?;
        let steps = steps(data_type).unwrap_or(1.0);
        #[expect(
            clippy::cast_possible_truncation,
            reason = "temperatures beyond the range become the coldest or the hottest"
        )]
        let stored: Vec<i16> = elements.iter().map(|celsius| (celsius.0 * steps).round() as i16).collect();
        i16::to_items(data_type.storage(), &stored, heap)
    }
}

/// Returns the number of steps per degree of `data_type`; `None` if `data_type` is not `example.temperature`.
fn steps(data_type: &DataType) -> Option<f64> {
    match data_type {
        DataType::Extension(own) if own.name() == "example.temperature" => {
            own.config().configuration.get("steps")?.as_f64()
        }
        _ => None,
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The codecs of this build, and our data type.
    let mut registry = zarr::registry::Registry::clone(&zarr::registry::default());
    registry.data_types.add(TEMPERATURE);
    let registry = Arc::new(registry);

    // All codecs that take the storage type can be used.
    let store: Arc<dyn Store> = Arc::new(zarr::store::MemoryStore::new());
    let new = NewArray::new(&[4], r#"{"name": "example.temperature", "configuration": {"steps": 10}}"#)
        .fill(-273.1)
        .codecs(r#"[{"name": "numcodecs.delta", "configuration": {"dtype": "<i2"}}, "bytes", "gzip"]"#)?;
    let array = Array::create(&store, "/a", new, &registry)?;
    array.write(0..3, &[Celsius(21.5), Celsius(21.7), Celsius(-3.0)])?;

    let array = Array::open(&store, "/a", &registry)?;
    println!("{} {}", array.data_type(), array.read_data(..)?.text(0));
    assert_eq!(array.read::<Celsius>(..)?, [21.5, 21.7, -3.0, -273.1].map(Celsius));
    // Built-in types take the stored values.
    assert_eq!(array.read::<i16>(..)?, [215, 217, -30, -2731]);

    // Whoever reads the elements needs the type, and hears of it if it is not there.
    let error = zarr::open((&store, "/a")).array().map(drop).expect_err("the type is not in the usual table");
    println!("{error}");
    Ok(())
}

#[test]
fn it_runs() {
    main().expect("the example runs");
}
