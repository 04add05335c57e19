//! Metadata of images as text and as JSON.

use crate::axis::Axis;
use crate::multiscales::{Level, Multiscale, Multiscales};
use zarr_json::{Map, Value};
use zarr_meta::text::rounded;

impl Multiscales {
    /// Returns the metadata as JSON, as `zarr info --json` prints it: the member `ome` of its documentation.
    ///
    /// ```
    /// # use zarr_json::json;
    /// # use zarr_ome::Multiscales;
    /// # let axis = |name: &str| json!({"name": (name), "type": "space", "unit": "micrometer"});
    /// # let level = json!({"path": "0", "coordinateTransformations": [{"type": "scale", "scale": [0.5, 0.5]}]});
    /// # let attributes = json!({"ome": {"version": "0.5", "multiscales": [{"axes": [(axis("y")), (axis("x"))], "datasets": [(level)]}]}});
    /// let image = Multiscales::read(attributes.as_object().unwrap())?.unwrap();
    /// let facts = zarr_json::Value::Object(image.facts());
    /// assert_eq!(facts.pointer("/images/0/levels/0/scale").unwrap().to_string(), "[0.5,0.5]");
    /// assert_eq!(image.lines()[1], ("Axes".to_owned(), "y (space, µm), x (space, µm)".to_owned()));
    /// # Ok::<(), zarr_ome::Error>(())
    /// ```
    pub fn facts(&self) -> Map {
        let channels = self.channels.iter().map(|channel| text(channel.label.as_deref())).collect();
        map([
            ("version", Value::from(self.version.to_string())),
            ("labels", Value::from(self.is_labels)),
            ("images", Value::Array(self.images.iter().map(of_image).collect())),
            ("channels", Value::Array(channels)),
            ("deviations", Value::Array(self.deviations.iter().map(|text| Value::from(text.as_str())).collect())),
        ])
    }

    /// Returns the metadata as lines of a label and a fact, as `zarr info` prints them: the size of the image, its axes, levels and
    /// channels. A line with an empty label continues the fact before.
    pub fn lines(&self) -> Vec<(String, String)> {
        let mut lines = vec![("OME-Zarr".to_owned(), format!("{}, {self}", self.version))];
        for (number, image) in self.images.iter().enumerate() {
            if number > 0 {
                let name = image.name.as_deref().unwrap_or("without a name");
                lines.push(("Image".to_owned(), format!("{name}, {image}")));
            }
            let axes =
                image.axes.iter().enumerate().map(|(number, axis)| axis_in_short(axis, image.unit_symbol(number)));
            lines.push(("Axes".to_owned(), axes.collect::<Vec<_>>().join(", ")));
            for (number, level) in image.levels.iter().enumerate() {
                let label = if number == 0 { "Levels" } else { "" };
                lines.push((label.to_owned(), level_in_short(level)));
            }
        }
        let labels: Vec<&str> = self.channels.iter().map(|channel| channel.label.as_deref().unwrap_or("-")).collect();
        if !labels.is_empty() {
            lines.push(("Channels".to_owned(), labels.join(", ")));
        }
        lines
    }
}

fn map<const N: usize>(members: [(&str, Value); N]) -> Map {
    members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Returns a string as JSON, or null for `None`.
fn text(text: Option<&str>) -> Value {
    text.map_or(Value::Null, Value::from)
}

fn of_image(image: &Multiscale) -> Value {
    let axis = |axis: &Axis| {
        let members = [
            ("name", axis.name.as_str().into()),
            ("type", text(axis.kind.name())),
            ("unit", text(axis.unit.as_deref())),
        ];
        Value::Object(map(members))
    };
    let level = |level: &Level| {
        let numbers = |list: &[f64]| Value::Array(list.iter().map(|&number| Value::from(number)).collect());
        let members = [
            ("path", level.path.as_str().into()),
            ("scale", numbers(&level.scale)),
            ("translation", numbers(&level.translation)),
        ];
        Value::Object(map(members))
    };
    Value::Object(map([
        ("name", text(image.name.as_deref())),
        ("axes", Value::Array(image.axes.iter().map(axis).collect())),
        ("levels", Value::Array(image.levels.iter().map(level).collect())),
        ("unplaced", text(image.unplaced.as_deref())),
    ]))
}

/// Returns an axis as `y (space, µm)`.
fn axis_in_short(axis: &Axis, unit: Option<&str>) -> String {
    match (axis.kind.name(), unit) {
        (Some(kind), Some(unit)) => format!("{} ({kind}, {unit})", axis.name),
        (Some(detail), None) | (None, Some(detail)) => format!("{} ({detail})", axis.name),
        (None, None) => axis.name.clone(),
    }
}

/// Returns a level as `0  scale (1, 0.65, 0.65)`.
fn level_in_short(level: &Level) -> String {
    let numbers = |list: &[f64]| list.iter().map(|&number| rounded(number, 7)).collect::<Vec<_>>().join(", ");
    let is_moved = level.translation.iter().any(|&offset| offset != 0.0);
    let moved = if is_moved { format!("  from ({})", numbers(&level.translation)) } else { String::new() };
    format!("{}  scale ({}){moved}", level.path, numbers(&level.scale))
}
