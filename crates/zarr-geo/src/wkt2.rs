//! Coordinate reference systems by their parameters, written in WKT2 (ISO 19162:2019).
//!
//! GeoTIFF files and grid mappings of CF describe systems without a code by an ellipsoid, a method of projection and the values of its
//! parameters. [`GeographicCrs`] and [`ProjectedCrs`] hold these, and write the description that the attribute `proj:wkt2` has.
//!
//! ```
//! use zarr_geo::wkt2::{GeographicCrs, Method, ProjectedCrs, Unit};
//!
//! let base = GeographicCrs::of_code(4326).unwrap();
//! // Latitude and longitude of the origin, and the coordinates there.
//! let crs = ProjectedCrs::new("Europe", base, &Method::LAMBERT_AZIMUTHAL, &[52.0, 10.0, 4_321_000.0, 3_210_000.0])
//!     .unwrap();
//! assert!(crs.wkt2().starts_with(r#"PROJCRS["Europe",BASEGEOGCRS["WGS 84",DATUM["World Geodetic System 1984","#));
//! assert!(crs.unit(Unit::foot()).wkt2().contains(r#"LENGTHUNIT["foot",0.3048]"#));
//! ```

mod base;
mod method;

pub use base::{Ellipsoid, GeographicCrs, PrimeMeridian};
pub use method::Method;
use method::{Axes, Kind};
use std::fmt::Write as _;

/// Unit of lengths or angles.
#[derive(Clone, Debug, PartialEq)]
pub struct Unit {
    /// Name of the unit.
    name: String,
    /// Metres or radians of one unit.
    factor: f64,
}

impl Unit {
    /// Makes a unit of its name and the number of metres or radians that it has.
    ///
    /// # Errors
    /// A message if the number is not above 0 and finite.
    pub fn new(name: impl Into<String>, factor: f64) -> Result<Self, String> {
        match factor.is_finite() && factor > 0.0 {
            true => Ok(Self { name: name.into(), factor }),
            false => Err(format!("found a unit of {factor} metres or radians, expected a number above 0")),
        }
    }

    /// Metre.
    pub fn metre() -> Self {
        Self { name: "metre".to_owned(), factor: 1.0 }
    }

    /// Kilometre.
    pub fn kilometre() -> Self {
        Self { name: "kilometre".to_owned(), factor: 1000.0 }
    }

    /// International foot.
    pub fn foot() -> Self {
        Self { name: "foot".to_owned(), factor: 0.3048 }
    }

    /// Foot of surveys in the United States.
    pub fn us_survey_foot() -> Self {
        Self { name: "US survey foot".to_owned(), factor: 1200.0 / 3937.0 }
    }

    /// Degree, of which 360 are a full circle.
    pub fn degree() -> Self {
        Self { name: "degree".to_owned(), factor: std::f64::consts::PI / 180.0 }
    }

    /// Grad, of which 400 are a full circle.
    pub fn grad() -> Self {
        Self { name: "grad".to_owned(), factor: std::f64::consts::PI / 200.0 }
    }

    /// Radian.
    pub fn radian() -> Self {
        Self { name: "radian".to_owned(), factor: 1.0 }
    }

    /// Metres or radians of one unit.
    pub fn factor(&self) -> f64 {
        self.factor
    }

    fn text(&self, keyword: &str) -> String {
        format!("{keyword}[{},{}]", quoted(&self.name), self.factor)
    }
}

/// Projected coordinate reference system: a geographic one, a method of projection with the values of its parameters, and the unit of
/// coordinates.
#[derive(Clone, Debug, PartialEq)]
pub struct ProjectedCrs {
    name: String,
    base: GeographicCrs,
    method: &'static Method,
    values: Vec<f64>,
    unit: Unit,
}

impl ProjectedCrs {
    /// Makes a system with coordinates in metres. `values` are those of the parameters of the method, in its order: angles in the unit of
    /// the geographic system, lengths in the unit of coordinates.
    ///
    /// # Errors
    /// A message if a value is outside of its range, or their number is another one.
    pub fn new(
        name: impl Into<String>,
        base: GeographicCrs,
        method: &'static Method,
        values: &[f64],
    ) -> Result<Self, String> {
        if values.len() != method.parameters.len() {
            let (found, expected) = (values.len(), method.parameters.len());
            return Err(format!("{}: found {found} parameters, expected {expected}", method.name));
        }
        for (parameter, &value) in method.parameters.iter().zip(values) {
            let degrees = value * base.unit().factor.to_degrees();
            let is_valid = match parameter.kind {
                Kind::Latitude => degrees.abs() <= 90.0 + 1e-9,
                Kind::Longitude => degrees.abs() <= 360.0 + 1e-9,
                Kind::Scale | Kind::Height => value.is_finite() && value > 0.0,
                Kind::Length => value.is_finite(),
            };
            if !is_valid {
                return Err(format!(
                    "{}: found {value} as {}, which is outside of its range",
                    method.name, parameter.name
                ));
            }
        }
        let conics = [&Method::LAMBERT_CONFORMAL_2, &Method::ALBERS, &Method::EQUIDISTANT_CONIC];
        if let (true, Some([first, second])) = (conics.contains(&method), values.get(2..4))
            && (first + second).abs() < 1e-9
        {
            return Err(format!("{}: found the parallels {first} and {second}, which have no cone", method.name));
        }
        Ok(Self { name: name.into(), base, method, values: values.to_vec(), unit: Unit::metre() })
    }

    /// Sets the unit of coordinates, and of the lengths among the values of parameters.
    #[must_use]
    pub fn unit(self, unit: Unit) -> Self {
        Self { unit, ..self }
    }

    /// Returns the description in WKT2.
    pub fn wkt2(&self) -> String {
        let (angle, length) = (self.base.unit().text("ANGLEUNIT"), self.unit.text("LENGTHUNIT"));
        let mut text =
            format!("PROJCRS[{},BASEGEOGCRS[{}],CONVERSION[\"unnamed\",METHOD[", quoted(&self.name), self.base.inner());
        let _ = write!(text, "{}{}]", quoted(self.method.name), id(self.method.code));
        for (parameter, value) in self.method.parameters.iter().zip(&self.values) {
            let unit = match parameter.kind {
                Kind::Latitude | Kind::Longitude => &angle,
                Kind::Length => &length,
                Kind::Height => "LENGTHUNIT[\"metre\",1]",
                Kind::Scale => "SCALEUNIT[\"unity\",1]",
            };
            let _ = write!(text, ",PARAMETER[{},{value},{unit}{}]", quoted(parameter.name), id(parameter.code));
        }
        let _ = write!(text, "],CS[Cartesian,2],{}]", self.axes(&length));
        text
    }

    /// Axes of the coordinates, as GDAL and PROJ have them: those of a map of a pole lead away from the pole.
    fn axes(&self, unit: &str) -> String {
        let first = self.values.first().copied().unwrap_or_default() * self.base.unit().factor.to_degrees();
        let is_zero = |at: usize| self.values.get(at).is_some_and(|value| *value == 0.0);
        let is_polar = match self.method.axes {
            Axes::Plain => false,
            Axes::Polar => true,
            Axes::PolarAtPole => (first.abs() - 90.0).abs() < 1e-10 && is_zero(1),
        };
        let along = |meridian: u32| format!("MERIDIAN[{meridian},{}]", Unit::degree().text("ANGLEUNIT"));
        let (east, north) = match (is_polar, first > 0.0) {
            (false, _) => ("east".to_owned(), "north".to_owned()),
            (true, true) => (format!("south,{}", along(90)), format!("south,{}", along(180))),
            (true, false) => (format!("north,{}", along(90)), format!("north,{}", along(0))),
        };
        format!("AXIS[\"(E)\",{east},ORDER[1],{unit}],AXIS[\"(N)\",{north},ORDER[2],{unit}]")
    }
}

/// Returns the identifier of a code of EPSG, behind a comma; an empty text if there is none.
fn id(code: Option<u32>) -> String {
    code.map(|code| format!(",ID[\"EPSG\",{code}]")).unwrap_or_default()
}

/// Returns a text in quotes. Line breaks and other control characters become spaces.
fn quoted(text: &str) -> String {
    let plain = |letter: char| if letter.is_control() { ' ' } else { letter };
    format!("\"{}\"", text.chars().map(plain).collect::<String>().replace('"', "\"\""))
}
