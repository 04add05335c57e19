//! Georeferences as text and as JSON.

use crate::Georeference;
use std::fmt;
use zarr_json::{Map, Value};

impl Georeference {
    /// Returns the georeference as lines of a label and a fact: the coordinate reference system, the extent, the size of pixels, the
    /// levels. A line with an empty label continues the fact before.
    pub fn lines(&self) -> Vec<(String, String)> {
        let mut lines = Vec::new();
        let mut add = |label: &str, fact: String| lines.push((label.to_owned(), fact));
        if let Some(crs) = &self.crs {
            add("CRS", crs.to_string());
        }
        if let Some([left, bottom, right, top]) = self.extent() {
            let [left, bottom, right, top] = [left, bottom, right, top].map(short);
            add("Extent", format!("x {left} to {right}, y {bottom} to {top}"));
        }
        if let Some(transform) = self.transform {
            let (width, height) = transform.pixel_size();
            add("Pixels", format!("{} x {}, {}", short(width), short(height), self.meaning()));
        }
        for (number, level) in self.levels.iter().enumerate() {
            let size = level.shape.map(|[rows, columns]| format!("  {rows} x {columns}")).unwrap_or_default();
            let pixels = level.transform.map(|transform| {
                let (width, height) = transform.pixel_size();
                format!("  pixels of {} x {}", short(width), short(height))
            });
            let label = if number == 0 { "Levels" } else { "" };
            add(label, format!("{}{size}{}", level.asset, pixels.unwrap_or_default()));
        }
        lines
    }

    /// Meaning of the coordinates: `areas` or `points`.
    fn meaning(&self) -> &'static str {
        match self.registration {
            crate::Registration::Pixel => "areas",
            crate::Registration::Node => "points",
        }
    }

    /// Returns the georeference as JSON, as `zarr info --json` prints it: the member `geo` of its documentation.
    pub fn facts(&self) -> Map {
        let numbers = |list: Option<Vec<f64>>| list.map_or(Value::Null, Value::from);
        let sizes = |list: Option<[u64; 2]>| list.map_or(Value::Null, |list| Value::from(list.to_vec()));
        let level = |level: &crate::Level| {
            let members = [
                ("asset", Value::from(level.asset.as_str())),
                ("shape", sizes(level.shape)),
                ("transform", numbers(level.transform.map(|transform| transform.0.to_vec()))),
            ];
            Value::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
        };
        let size = self.transform.map(|transform| {
            let (width, height) = transform.pixel_size();
            vec![width, height]
        });
        let faults: Vec<String> = self.faults.iter().map(ToString::to_string).collect();
        let members = [
            ("crs", self.crs.as_ref().map_or(Value::Null, |crs| Value::from(crs.to_string()))),
            ("epsg", self.crs.as_ref().and_then(crate::Crs::epsg_code).map_or(Value::Null, Value::from)),
            ("dimensions", self.dimensions.as_ref().map_or(Value::Null, |names| Value::from(names.to_vec()))),
            ("extent", numbers(self.extent().map(|extent| extent.to_vec()))),
            ("transform", numbers(self.transform.map(|transform| transform.0.to_vec()))),
            ("pixel_size", numbers(size)),
            ("registration", Value::from(self.registration.name())),
            ("levels", Value::Array(self.levels.iter().map(level).collect())),
            ("deviations", Value::from(faults)),
        ];
        members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }
}

/// Number in at most ten significant digits.
fn short(number: f64) -> String {
    let digits = (9.0 - number.abs().max(1e-9).log10().floor()).clamp(0.0, 15.0) as usize;
    let text = format!("{number:.digits$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// Shows the georeference in a line: `EPSG:32633, pixels of 10 x 10, x 500000 to 509760, y 4989760 to 5000000`.
impl fmt::Display for Georeference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        parts.extend(self.crs.as_ref().map(ToString::to_string));
        parts.extend(self.transform.map(|transform| {
            let (width, height) = transform.pixel_size();
            format!("pixels of {} x {}", short(width), short(height))
        }));
        parts.extend(self.extent().map(|extent| {
            let [left, bottom, right, top] = extent.map(short);
            format!("x {left} to {right}, y {bottom} to {top}")
        }));
        if self.levels.len() > 1 {
            parts.push(format!("{} levels", self.levels.len()));
        }
        f.write_str(&parts.join(", "))
    }
}
