//! Units of the coordinates of reference systems.

use crate::Crs;
use zarr_json::Value;

/// Codes of EPSG of widely used systems in degrees of latitude and longitude.
const IN_DEGREES: [u32; 12] = [4171, 4258, 4267, 4269, 4283, 4326, 4612, 4674, 4686, 4979, 7844, 10_781];
/// Ranges of codes of EPSG of widely used systems in metres: UTM zones, web and world Mercator, polar and national grids.
const IN_METRES: [(u32, u32); 16] = [
    (2056, 2056),
    (2154, 2154),
    (3031, 3031),
    (3034, 3035),
    (3395, 3395),
    (3413, 3413),
    (3857, 3857),
    (3995, 3996),
    (6931, 6933),
    (25_828, 25_838),
    (26_901, 26_923),
    (27_700, 27_700),
    (28_992, 28_992),
    (31_370, 31_370),
    (32_601, 32_660),
    (32_701, 32_760),
];

impl Crs {
    /// Returns the unit of the coordinates: `degrees`, `m`, or another that a description names. `None` if it is unknown: of codes only
    /// those of widely used systems are known, since there is no database.
    ///
    /// ```
    /// use zarr_geo::Crs;
    ///
    /// assert_eq!(Crs::epsg(4326).unit(), Some("degrees"));
    /// assert_eq!(Crs::epsg(32633).unit(), Some("m"));
    /// assert_eq!(Crs::epsg(2225).unit(), None);
    /// ```
    pub fn unit(&self) -> Option<&str> {
        match self {
            Self::Code(_) => self.epsg_code().and_then(of_code),
            Self::Wkt2(text) => of_wkt(text).or_else(|| self.epsg_code().and_then(of_code)),
            Self::ProjJson(map) => {
                let axis = map.get("coordinate_system").and_then(|system| system.pointer("/axis/0/unit"));
                let named = axis.and_then(|unit| unit.as_str().or_else(|| unit.get("name").and_then(Value::as_str)));
                named.map(symbol).or_else(|| self.epsg_code().and_then(of_code))
            }
        }
    }
}

fn of_code(code: u32) -> Option<&'static str> {
    match code {
        code if IN_DEGREES.contains(&code) => Some("degrees"),
        code if IN_METRES.iter().any(|(first, last)| (*first..=*last).contains(&code)) => Some("m"),
        _ => None,
    }
}

/// Returns the unit that a description in WKT names for its coordinate system, behind `CS` or in an axis; `None` if there is none, since units
/// in other places are those of the ellipsoid, of parameters or of heights.
///
/// WKT1 has the unit of coordinates behind the other parts. Of systems that consist of others, the unit is that of the horizontal one.
pub(crate) fn of_wkt(text: &str) -> Option<&str> {
    let keyword = text.trim_start().split(['[', '(']).next().unwrap_or_default().trim_end().to_ascii_uppercase();
    let (expected, is_first) = match keyword.as_str() {
        "GEOGCRS" | "GEOGRAPHICCRS" | "GEODCRS" | "GEODETICCRS" => ("ANGLEUNIT", false),
        "PROJCRS" | "PROJECTEDCRS" => ("LENGTHUNIT", false),
        "GEOGCS" | "PROJCS" => ("UNIT", true),
        "BOUNDCRS" | "COMPOUNDCRS" | "COMPD_CS" => return of_wkt(horizontal(text)?),
        _ => return None,
    };
    let is_unit = |word: &str| ["UNIT", expected].iter().any(|unit| word.eq_ignore_ascii_case(unit));
    // Keywords of the brackets that are open.
    let mut open: Vec<&str> = Vec::new();
    let (mut word, mut quoted, mut is_behind) = (0, None, is_first);
    for (at, byte) in text.bytes().enumerate() {
        match (byte, quoted) {
            (b'"', Some(start)) => {
                let is_of_axes = match open.as_slice() {
                    [_, unit] => is_unit(unit),
                    [_, axis, unit] => axis.eq_ignore_ascii_case("AXIS") && is_unit(unit),
                    _ => false,
                };
                if is_behind && is_of_axes {
                    return text.get(start..at).map(symbol);
                }
                quoted = None;
            }
            (b'"', None) => quoted = Some(at + 1),
            (_, Some(_)) => {}
            (b'[' | b'(', None) => {
                let keyword = text.get(word..at).unwrap_or_default().trim();
                open.push(keyword);
                is_behind |= open.len() == 2 && keyword.eq_ignore_ascii_case("CS");
                word = at + 1;
            }
            (b']' | b')', None) => {
                open.pop();
                if open.is_empty() {
                    break;
                }
            }
            (b',', None) => word = at + 1,
            _ => {}
        }
    }
    None
}

/// Returns the rest of a description from its first projected or geographic system on.
fn horizontal(text: &str) -> Option<&str> {
    let upper = text.to_ascii_uppercase();
    let start = upper.find(['[', '('])?;
    let inner = upper.get(start..)?;
    let keywords = ["PROJCRS", "PROJECTEDCRS", "PROJCS", "GEOGCRS", "GEOGRAPHICCRS", "GEOGCS"];
    let opened = keywords.iter().flat_map(|keyword| ['[', '('].map(|bracket| format!("{keyword}{bracket}")));
    let at = opened.filter_map(|keyword| inner.find(&keyword)).min()?;
    text.get(start + at..)
}

/// Returns the symbol of a unit; the unit itself if it has none.
fn symbol(unit: &str) -> &str {
    match unit {
        "degree" | "degrees" | "Degree" => "degrees",
        "metre" | "meter" | "metres" | "meters" | "Metre" | "Meter" => "m",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_name_their_units() {
        let unit = |text: &str| text.parse::<Crs>().unwrap().unit().map(str::to_owned);
        let geographic = r#"GEOGCRS["a",DATUM["b",ELLIPSOID["c",6378137,298.2,LENGTHUNIT["metre",1]]],CS[ellipsoidal,2],ANGLEUNIT["degree",0.0174]]"#;
        assert_eq!(unit(geographic).as_deref(), Some("degrees"));
        let projected = r#"PROJCRS["a",BASEGEOGCRS["b",ELLIPSOID["c",1,2,LENGTHUNIT["metre",1]]],CS[Cartesian,2],LENGTHUNIT["US survey foot",0.3]]"#;
        assert_eq!(unit(projected).as_deref(), Some("US survey foot"));
        // The unit of the ellipsoid and that of heights are not the unit of coordinates.
        let in_feet = |unit: &str| {
            let base = r#"BASEGEOGCRS["b",ELLIPSOID["c",1,2,LENGTHUNIT["metre",1]]]"#;
            format!(
                r#"PROJCRS["a, UNIT[""x""]",{base},CS[Cartesian,2]{unit},AREA["d"],VERTICALEXTENT[-1,2,LENGTHUNIT["metre",1]]]"#
            )
        };
        let axes = r#",AXIS["e",east,ORDER[1],LENGTHUNIT["foot",0.3048]],AXIS["n",north,LENGTHUNIT["foot",0.3048]]"#;
        for (text, expected) in [
            (r#",AXIS["e",east],UNIT["US survey foot",0.3048006]"#, Some("US survey foot")),
            (r#", lengthunit [ "US survey foot", 0.3048006 ]"#, Some("US survey foot")),
            (axes, Some("foot")),
            (r#",AXIS["e",east],AXIS["n",north]"#, None),
        ] {
            assert_eq!(unit(&in_feet(text)).as_deref(), expected, "{text}");
        }
        assert_eq!(unit(&in_feet(",UNIT(\"m\",1)").replace('[', "(").replace(']', ")")).as_deref(), Some("m"));
        let json = r#"{"type":"ProjectedCRS","name":"a","coordinate_system":{"axis":[{"name":"E","unit":"metre"}]}}"#;
        assert_eq!(unit(json).as_deref(), Some("m"));
        let json =
            r#"{"type":"X","name":"a","coordinate_system":{"axis":[{"unit":{"type":"LinearUnit","name":"chain"}}]}}"#;
        assert_eq!(unit(json).as_deref(), Some("chain"));
        assert_eq!(unit(r#"{"type":"X","name":"a"}"#), None);
        let old = r#"PROJCS["a",GEOGCS["b",SPHEROID["c",1,2],UNIT["degree",0.0174]],PROJECTION["d"],UNIT["Foot_US",0.3],AXIS["e",EAST]]"#;
        let geographic = r#"GEOGCS["b",SPHEROID["c",1,2],UNIT["Degree",0.0174]]"#;
        assert_eq!((of_wkt(old), of_wkt(geographic)), (Some("Foot_US"), Some("degrees")));
        let both = format!(r#"COMPD_CS["x",{old},VERT_CS["h",UNIT["metre",1]]]"#);
        assert_eq!(of_wkt(&both), Some("Foot_US"));
        let bound = format!("BOUNDCRS[SOURCECRS[{projected}],TARGETCRS[{geographic}]]");
        assert_eq!(of_wkt(&bound), Some("US survey foot"));
        // A part of another system has its own units.
        assert_eq!(of_wkt(r#"COMPD_CS["x",GEOGCS["b"],VERT_CS["h",UNIT["metre",1]]]"#), None);
        assert_eq!((unit("EPSG:3857").as_deref(), unit("EPSG:9999")), (Some("m"), None));
    }
}
