//! Coordinate reference systems, as attributes name or describe them.

use std::fmt;
use zarr_json::{Map, Value};

/// Keywords with which the description of a coordinate reference system in WKT2 begins.
const WKT2: [&str; 12] = [
    "GEOGCRS",
    "GEODCRS",
    "PROJCRS",
    "BOUNDCRS",
    "COMPOUNDCRS",
    "ENGCRS",
    "VERTCRS",
    "DERIVEDPROJCRS",
    "GEOGRAPHICCRS",
    "GEODETICCRS",
    "PROJECTEDCRS",
    "ENGINEERINGCRS",
];

/// Codes of EPSG of systems in a Mercator projection on the equator: world Mercator, web Mercator and its older code.
const MERCATOR: [u32; 3] = [3395, 3785, 3857];

/// Coordinate reference system: a code, or a description.
///
/// ```
/// use zarr_geo::Crs;
///
/// let crs: Crs = "EPSG:4326".parse().unwrap();
/// assert_eq!((crs.epsg_code(), crs.to_string().as_str()), (Some(4326), "EPSG:4326"));
/// let wkt = r#"PROJCRS["WGS 84 / UTM zone 33N",BASEGEOGCRS["WGS 84"],ID["EPSG",32633]]"#;
/// assert_eq!(wkt.parse::<Crs>().unwrap().epsg_code(), Some(32633));
/// assert!("utm33".parse::<Crs>().is_err());
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Crs {
    /// Authority and code, such as `EPSG:4326`.
    Code(String),
    /// Description in WKT2 (ISO 19162).
    Wkt2(String),
    /// Description in PROJJSON.
    ProjJson(Map),
}

impl Crs {
    /// Coordinate reference system with a code of EPSG.
    pub fn epsg(code: u32) -> Self {
        Self::Code(format!("EPSG:{code}"))
    }

    /// Returns the code of EPSG, also if a description ends with it; `None` if there is none.
    pub fn epsg_code(&self) -> Option<u32> {
        match self {
            Self::Code(code) => code.strip_prefix("EPSG:")?.parse().ok(),
            Self::Wkt2(text) => code_of_wkt(text),
            Self::ProjJson(map) => {
                let id = map.get("id")?;
                (id.get("authority").and_then(Value::as_str) == Some("EPSG"))
                    .then(|| id.get("code"))??
                    .as_u64()?
                    .try_into()
                    .ok()
            }
        }
    }

    /// Returns the name of the coordinate reference system: the code, or the name in the description; `None` if that has no name.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Code(code) => Some(code),
            Self::Wkt2(text) => text.split('"').nth(1),
            Self::ProjJson(map) => map.get("name").and_then(Value::as_str),
        }
    }

    /// Returns whether the coordinates are of a Mercator projection on the equator, such as EPSG:3857, by the code or the name of the method.
    /// Distances on such a map are longer than those on the ground, by the more, the further it is from the equator.
    ///
    /// ```
    /// use zarr_geo::Crs;
    ///
    /// assert!(Crs::epsg(3857).is_mercator());
    /// assert!(!Crs::epsg(32633).is_mercator());
    /// ```
    pub fn is_mercator(&self) -> bool {
        let is_named = |method: &str| {
            let method = method.to_ascii_lowercase();
            method.contains("mercator") && !method.contains("transverse") && !method.contains("oblique")
        };
        let method = match self {
            Self::Code(_) => None,
            Self::Wkt2(text) => method_of_wkt(text),
            Self::ProjJson(map) => {
                map.get("conversion").and_then(|conversion| conversion.pointer("/method/name")).and_then(Value::as_str)
            }
        };
        method.is_some_and(is_named) || self.epsg_code().is_some_and(|code| MERCATOR.contains(&code))
    }

    /// Returns the attribute that has the coordinate reference system.
    pub fn attribute(&self) -> &'static str {
        match self {
            Self::Code(_) => "proj:code",
            Self::Wkt2(_) => "proj:wkt2",
            Self::ProjJson(_) => "proj:projjson",
        }
    }

    /// Returns the value of the attribute.
    pub fn to_value(&self) -> Value {
        match self {
            Self::Code(text) | Self::Wkt2(text) => Value::from(text.as_str()),
            Self::ProjJson(map) => Value::Object(map.clone()),
        }
    }
}

/// Whether a text has the form `AUTHORITY:CODE`.
pub(crate) fn is_code(text: &str) -> bool {
    text.split_once(':').is_some_and(|(authority, code)| {
        let is_authority = !authority.is_empty() && authority.bytes().all(|byte| byte.is_ascii_uppercase());
        is_authority && !code.is_empty() && code.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// Whether a text is a description in WKT2, and not in WKT1.
pub(crate) fn is_wkt2(text: &str) -> bool {
    let keyword = text.trim_start().split(['[', '(']).next().unwrap_or_default().trim_end();
    text.contains(['[', '(']) && WKT2.iter().any(|known| keyword.eq_ignore_ascii_case(known))
}

/// Name of the method of projection in a description in WKT2.
fn method_of_wkt(text: &str) -> Option<&str> {
    let is_method = |before: &str| {
        let before = before.trim_end().trim_end_matches(['[', '(']).trim_end();
        let start = before.rfind([',', '[', '(']).map_or(0, |at| at + 1);
        let word = before.get(start..).unwrap_or_default().trim();
        ["METHOD", "PROJECTION"].iter().any(|keyword| word.eq_ignore_ascii_case(keyword))
    };
    let mut parts = text.split('"');
    // Between two quoted texts are keywords.
    while let (Some(before), Some(quoted)) = (parts.next(), parts.next()) {
        if is_method(before) {
            return Some(quoted);
        }
    }
    None
}

/// Code of EPSG with which a description in WKT ends: `ID["EPSG",4326]]` in WKT2, `AUTHORITY["EPSG","4326"]]` in WKT1.
pub(crate) fn code_of_wkt(text: &str) -> Option<u32> {
    let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let inner = text.strip_suffix("]]")?;
    let start = ["ID[\"EPSG\",", "AUTHORITY[\"EPSG\","]
        .into_iter()
        .filter_map(|mark| inner.rfind(mark).and_then(|at| inner.get(at + mark.len()..)));
    start.filter_map(|code| code.trim_matches('"').parse().ok()).next()
}

impl std::str::FromStr for Crs {
    type Err = String;

    /// Parses a code such as `EPSG:4326`, or a description in WKT2 or PROJJSON.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        if is_code(text) {
            return Ok(Self::Code(text.to_owned()));
        }
        if is_wkt2(text) {
            return Ok(Self::Wkt2(text.to_owned()));
        }
        match Value::from_json(text) {
            Ok(Value::Object(map)) => Ok(Self::ProjJson(map)),
            _ => Err("expected a code such as EPSG:4326, WKT2 or PROJJSON".to_owned()),
        }
    }
}

/// Shows the code, or the name and the kind of the description.
impl fmt::Display for Crs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self {
            Self::Code(code) => return f.write_str(code),
            Self::Wkt2(_) => "WKT2",
            Self::ProjJson(_) => "PROJJSON",
        };
        match (self.name(), self.epsg_code()) {
            (Some(name), Some(code)) => write!(f, "{name} (EPSG:{code}, {kind})"),
            (Some(name), None) => write!(f, "{name} ({kind})"),
            (None, _) => f.write_str(kind),
        }
    }
}
