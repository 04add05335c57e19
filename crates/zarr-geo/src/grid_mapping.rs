//! Grid mappings of the CF conventions: coordinate reference systems as attributes of a variable that others name.
//!
//! CF describes a coordinate reference system by parameters; programs add WKT in `crs_wkt` (CF) or `spatial_ref` (GDAL, rioxarray).
//! [`read`] knows both, and the parameters of the projections of CF that WKT2 describes. [`attributes`] writes parameters of latitude and
//! longitude and of the UTM zones of WGS 84.
//!
//! ```
//! use zarr_geo::{Crs, grid_mapping};
//!
//! let attributes = grid_mapping::attributes(&Crs::epsg(32633)).unwrap();
//! assert_eq!(attributes.get("grid_mapping_name").unwrap().as_str(), Some("transverse_mercator"));
//! assert_eq!(attributes.get("longitude_of_central_meridian").unwrap().as_f64(), Some(15.0));
//! assert_eq!(grid_mapping::read(&attributes), Some(Crs::epsg(32633)));
//! ```

mod parameters;

use crate::crs::{code_of_wkt, is_wkt2};
use crate::unit::of_wkt;
use crate::wkt2::{Ellipsoid, GeographicCrs};
use crate::{Crs, Transform};
use zarr_json::{Map, Value};

/// Latitude and longitude of WGS 84.
const WGS84: u32 = 4326;

/// Zones of UTM on WGS 84: the code of zone 0, and the offset of northings, of the northern and the southern hemisphere.
const UTM: [(u32, f64); 2] = [(32600, 0.0), (32700, 10_000_000.0)];

/// Ellipsoid of WGS 84.
const ELLIPSOID: [(&str, f64); 2] = [("semi_major_axis", 6_378_137.0), ("inverse_flattening", 298.257_223_563)];

/// Reads the coordinate reference system that the attributes of a grid mapping describe, of coordinates in metres or degrees; `None` if it is
/// not known or cannot be described exactly. [`read_in`] takes the units of the coordinates, and says why.
pub fn read(attributes: &Map) -> Option<Crs> {
    read_in(attributes, None).ok().flatten()
}

/// Reads the coordinate reference system that the attributes of a grid mapping describe: in WKT2 or by a code of EPSG in WKT1, or else by
/// its parameters. These become a code where that is known, and WKT2 otherwise. `units` are the units of the coordinates of y and x, in which
/// lengths among the parameters are. `None` if the attributes are those of no grid mapping.
///
/// ```
/// use zarr_geo::{Crs, grid_mapping};
/// use zarr_json::json;
///
/// let albers = json!({"grid_mapping_name": "albers_conical_equal_area", "standard_parallel": [29.5, 45.5],
///     "latitude_of_projection_origin": 23, "longitude_of_central_meridian": 264, "semi_major_axis": 6378137,
///     "inverse_flattening": 298.257222101, "horizontal_datum_name": "North American Datum 1983"});
/// let crs = grid_mapping::read_in(albers.as_object().unwrap(), Some("m")).unwrap();
/// assert!(matches!(crs, Some(Crs::Wkt2(text)) if text.contains(r#"METHOD["Albers Equal Area""#)));
///
/// let unknown = json!({"grid_mapping_name": "rotated_latitude_longitude"});
/// let reason = grid_mapping::read_in(unknown.as_object().unwrap(), None).unwrap_err();
/// assert_eq!(reason, "found the grid mapping rotated_latitude_longitude, which is not known");
/// ```
///
/// # Errors
/// The reason why the system cannot be described exactly.
pub fn read_in(attributes: &Map, units: Option<&str>) -> Result<Option<Crs>, String> {
    let text = |name: &str| attributes.get(name).and_then(Value::as_str);
    for wkt in ["crs_wkt", "spatial_ref"].into_iter().filter_map(text) {
        let described = is_wkt2(wkt).then(|| Crs::Wkt2(wkt.to_owned()));
        let found = match (code_of_wkt(wkt), &described) {
            (Some(code), _) => Crs::epsg(code),
            (None, Some(described)) => described.clone(),
            (None, None) => continue,
        };
        // The description has the unit of a code too.
        let unit = of_wkt(wkt).or_else(|| found.unit());
        let Some(own) = units else { return Ok(Some(found)) };
        return match unit {
            Some(unit) if are_same_units(own, unit) => Ok(Some(found)),
            Some(unit) => Err(format!("found coordinates in {own:?}, expected {unit}")),
            None => Err(format!("found coordinates in {own:?}, of a system whose unit is not known")),
        };
    }
    let described = parameters::described(attributes, units)?;
    let fits = |crs: &Crs| units.is_none_or(|units| kind(units) == crs.unit());
    Ok(described.map(|described| known(attributes).filter(fits).unwrap_or(described)))
}

/// Returns the name of the grid mapping for two coordinates in the attribute `grid_mapping` of a variable: one name, or names with the
/// coordinates that each is for; `None` if none is for both.
///
/// ```
/// use zarr_geo::grid_mapping::name_for;
///
/// assert_eq!(name_for("crs", ["y", "x"]), Some("crs"));
/// let extended = "crsWGS84: lat lon crsOSGB: x y";
/// assert_eq!(name_for(extended, ["y", "x"]), Some("crsOSGB"));
/// assert_eq!(name_for(extended, ["lat", "lon"]), Some("crsWGS84"));
/// assert_eq!(name_for(extended, ["y", "lon"]), None);
/// ```
pub fn name_for<'t>(text: &'t str, coordinates: [&str; 2]) -> Option<&'t str> {
    if !text.contains(':') {
        return text.split_whitespace().next();
    }
    let mut lists: Vec<(&str, Vec<&str>)> = Vec::new();
    for word in text.split_whitespace() {
        match (word.strip_suffix(':'), lists.last_mut()) {
            (Some(name), _) => lists.push((name, Vec::new())),
            (None, Some((_, named))) => named.push(word),
            (None, None) => {}
        }
    }
    let fits = |named: &[&str]| coordinates.iter().all(|coordinate| named.contains(coordinate));
    lists.into_iter().find(|(_, named)| fits(named)).map(|(name, _)| name)
}

/// Whether two strings of units mean the same unit.
///
/// ```
/// use zarr_geo::grid_mapping::are_same_units;
///
/// assert!(are_same_units("m", "metre") && are_same_units("degrees_north", "degrees east"));
/// assert!(!are_same_units("m", "km"));
/// ```
pub fn are_same_units(one: &str, other: &str) -> bool {
    let plain = |unit: &str| unit.trim().replace('_', " ").to_lowercase();
    match (kind(one), kind(other)) {
        (None, None) => plain(one) == plain(other),
        (one, other) => one == other,
    }
}

/// Returns the name here of a unit that is widely used; `None` for others.
fn kind(unit: &str) -> Option<&'static str> {
    match unit.trim() {
        "m" | "meter" | "meters" | "metre" | "metres" => Some("m"),
        "km" | "kilometer" | "kilometers" | "kilometre" | "kilometres" => Some("km"),
        "rad" | "radian" | "radians" => Some("rad"),
        unit => {
            const DIRECTIONS: [&str; 9] = ["", "_north", " north", "_N", "N", "_east", " east", "_E", "E"];
            let rest = unit.strip_prefix("degrees").or_else(|| unit.strip_prefix("degree"))?;
            DIRECTIONS.contains(&rest).then_some("degrees")
        }
    }
}

/// Returns the system whose parameters [`attributes`] knows. All are of one datum.
fn known(found: &Map) -> Option<Crs> {
    let datum = found.get("horizontal_datum_name").and_then(Value::as_str);
    let is_wgs84 = |base: Option<GeographicCrs>| base.and_then(|base| base.code()) == Some(WGS84);
    if datum.is_some_and(|name| !is_wgs84(GeographicCrs::of_datum_name(name))) {
        return None;
    }
    let text = |name: &str| found.get(name).and_then(Value::as_str).filter(|text| *text != "unknown");
    let has_other_name = text("geographic_crs_name").is_some_and(|name| !is_wgs84(GeographicCrs::of_datum_name(name)));
    let is_other = text("reference_ellipsoid_name")
        .and_then(Ellipsoid::of_name)
        .is_some_and(|named| !GeographicCrs::of_code(WGS84).is_some_and(|base| named.is_same(base.ellipsoid())));
    if has_other_name || is_other {
        return None;
    }
    let candidates = match found.get("grid_mapping_name").and_then(Value::as_str)? {
        "latitude_longitude" => vec![WGS84],
        "transverse_mercator" => {
            let meridian = found.get("longitude_of_central_meridian").and_then(Value::as_f64)?;
            let zone = ((meridian + 183.0) / 6.0).round();
            let zone = (1.0..=60.0).contains(&zone).then_some(zone as u32)?;
            UTM.map(|(base, _)| base + zone).to_vec()
        }
        _ => return None,
    };
    candidates.into_iter().map(Crs::epsg).find(|crs| attributes(crs).is_some_and(|known| agrees(&known, found)))
}

/// Whether all numbers of `known` are in `found`.
fn agrees(known: &Map, found: &Map) -> bool {
    known.iter().filter_map(|(name, value)| Some((name, value.as_f64()?))).all(|(name, number)| {
        let other = found.get(name).and_then(Value::as_f64);
        other.is_some_and(|other| (other - number).abs() <= 1e-9 * number.abs())
    })
}

/// Returns the attributes of a grid mapping for a coordinate reference system; `None` if its parameters are not known: of a code other than
/// EPSG:4326 and the UTM zones of WGS 84, and of PROJJSON. A description in WKT2 is written as it is, without a name of the grid mapping.
pub fn attributes(crs: &Crs) -> Option<Map> {
    let mut attributes = Map::new();
    if let Crs::Wkt2(text) = crs {
        attributes.insert("crs_wkt", text.as_str());
        return Some(attributes);
    }
    let code = crs.epsg_code()?;
    let numbers: Vec<(&str, f64)> = if code == WGS84 {
        attributes.insert("grid_mapping_name", "latitude_longitude");
        vec![("longitude_of_prime_meridian", 0.0)]
    } else {
        let (zone, northing) = UTM.into_iter().find_map(|(base, northing)| {
            let zone = code.checked_sub(base).filter(|zone| (1..=60).contains(zone))?;
            Some((zone, northing))
        })?;
        attributes.insert("grid_mapping_name", "transverse_mercator");
        vec![
            ("longitude_of_prime_meridian", 0.0),
            ("latitude_of_projection_origin", 0.0),
            ("longitude_of_central_meridian", f64::from(zone) * 6.0 - 183.0),
            ("scale_factor_at_central_meridian", 0.9996),
            ("false_easting", 500_000.0),
            ("false_northing", northing),
        ]
    };
    for (name, number) in numbers.into_iter().chain(ELLIPSOID) {
        attributes.insert(name, number);
    }
    Some(attributes)
}

/// Reads the transformation in the attribute `GeoTransform` of a grid mapping, as GDAL and rioxarray write it: six numbers in a text.
pub fn transform(attributes: &Map) -> Option<Transform> {
    let text = attributes.get("GeoTransform").and_then(Value::as_str)?;
    let numbers: Option<Vec<f64>> = text.split_whitespace().map(|number| number.parse().ok()).collect();
    let numbers: [f64; 6] = numbers?.try_into().ok()?;
    numbers.iter().all(|number| number.is_finite()).then(|| Transform::from_gdal(numbers))
}
