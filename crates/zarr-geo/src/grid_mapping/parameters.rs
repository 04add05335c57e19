//! Grid mappings that describe a coordinate reference system by its parameters (CF conventions, appendix F).

use crate::Crs;
use crate::wkt2::{Ellipsoid, GeographicCrs, Method, PrimeMeridian, ProjectedCrs, Unit};
use zarr_json::{Map, Value};

/// Parameters that several grid mappings have.
const PARALLEL: &str = "standard_parallel";
const SCALE: &str = "scale_factor_at_projection_origin";
const SCALE_OF_MERIDIAN: &str = "scale_factor_at_central_meridian";
const LATITUDE: &str = "latitude_of_projection_origin";
const LONGITUDE: &str = "longitude_of_projection_origin";
const CENTRAL: &str = "longitude_of_central_meridian";
const DOWN: &str = "straight_vertical_longitude_from_pole";
const HEIGHT: &str = "perspective_point_height";
/// All parameters but the false origin, of grid mappings that are known or not.
const PARAMETERS: [&str; 12] = [
    PARALLEL,
    SCALE,
    SCALE_OF_MERIDIAN,
    LATITUDE,
    LONGITUDE,
    CENTRAL,
    DOWN,
    HEIGHT,
    "azimuth_of_central_line",
    "grid_north_pole_latitude",
    "grid_north_pole_longitude",
    "north_pole_grid_longitude",
];
/// Least semi-major axis that is taken for one in metres.
const LEAST_AXIS: f64 = 100_000.0;

/// Attributes of a grid mapping.
#[derive(Clone, Copy)]
struct Attributes<'a>(&'a Map);

impl<'a> Attributes<'a> {
    fn text(self, name: &str) -> Option<&'a str> {
        self.0.get(name).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty())
    }

    /// Returns the numbers of an attribute, which may be a list; an empty list without the attribute.
    fn numbers(self, name: &str) -> Result<Vec<f64>, String> {
        let Some(value) = self.0.get(name) else { return Ok(Vec::new()) };
        let number = |value: &Value| value.as_f64().filter(|number| number.is_finite());
        let found: Option<Vec<f64>> = match value {
            Value::Array(items) => items.iter().map(number).collect(),
            single => number(single).map(|number| vec![number]),
        };
        found.ok_or_else(|| format!("found {} as {name}, expected numbers", value.excerpt()))
    }

    fn number(self, name: &str) -> Result<Option<f64>, String> {
        match self.numbers(name)?.as_slice() {
            [] => Ok(None),
            [number] => Ok(Some(*number)),
            more => Err(format!("found {} numbers as {name}, expected one", more.len())),
        }
    }

    /// Returns the number of several attributes of one meaning, of which all that are there have to be equal.
    fn need(self, names: &[&str]) -> Result<f64, String> {
        let mut found = None;
        for name in names {
            let Some(number) = self.number(name)? else { continue };
            match found {
                Some((first, other)) if other != number => {
                    return Err(format!("found {other} as {first} and {number} as {name}, expected the same numbers"));
                }
                Some(_) => {}
                None => found = Some((name, number)),
            }
        }
        found.map(|(_, number)| number).ok_or_else(|| format!("found no {}", names.join(" and no ")))
    }
}

/// Returns the system that the parameters describe; `None` without the name of a grid mapping. `units` are those of the coordinates.
///
/// # Errors
/// The reason why it cannot be described exactly.
pub(super) fn described(attributes: &Map, units: Option<&str>) -> Result<Option<Crs>, String> {
    let found = Attributes(attributes);
    let Some(name) = found.text("grid_mapping_name") else { return Ok(None) };
    if found.numbers("towgs84")?.iter().any(|number| *number != 0.0) {
        return Err("found towgs84, a transformation to WGS 84".to_owned());
    }
    others(found, name)?;
    if name == "latitude_longitude" {
        if let Some(other) = units.filter(|units| super::kind(units) != Some("degrees")) {
            return Err(format!("found coordinates in {other:?}, expected degrees"));
        }
        let base = geographic(found)?;
        let crs = base.code().map_or_else(|| Crs::Wkt2(base.wkt2()), Crs::epsg);
        return Ok(Some(crs));
    }
    let (method, values) = method(found, name)?;
    let is_geostationary = [&Method::GEOSTATIONARY_X, &Method::GEOSTATIONARY_Y].contains(&method);
    // Angles of a satellite are told from metres by the units alone.
    let unit = match units {
        None if is_geostationary => return Err("found coordinates without units, expected metres".to_owned()),
        units => length(units)?,
    };
    let title = found.text("projected_crs_name").unwrap_or("unknown");
    Ok(Some(Crs::Wkt2(ProjectedCrs::new(title, geographic(found)?, method, &values)?.unit(unit).wkt2())))
}

/// Checks that no parameter is there that the grid mapping does not have: it would mean something that is not described. A scale of 1 means
/// nothing, nor do other numbers that are 0, or a longitude that is also that of the grid mapping.
fn others(found: Attributes<'_>, name: &str) -> Result<(), String> {
    let own: &[&str] = match name {
        "albers_conical_equal_area" => &[PARALLEL, LATITUDE, CENTRAL],
        "lambert_conformal_conic" => &[PARALLEL, SCALE, LATITUDE, CENTRAL],
        "lambert_cylindrical_equal_area" => &[PARALLEL, SCALE, CENTRAL],
        "mercator" => &[PARALLEL, SCALE, LONGITUDE],
        "polar_stereographic" => &[PARALLEL, SCALE, LATITUDE, LONGITUDE, DOWN],
        "stereographic" => &[SCALE, LATITUDE, LONGITUDE],
        "transverse_mercator" => &[SCALE_OF_MERIDIAN, LATITUDE, CENTRAL],
        "azimuthal_equidistant" | "lambert_azimuthal_equal_area" | "orthographic" => &[LATITUDE, LONGITUDE],
        "geostationary" => &[LATITUDE, LONGITUDE, HEIGHT],
        "latitude_longitude" => &[],
        "sinusoidal" => &[LONGITUDE, CENTRAL],
        // Refused by itself.
        _ => return Ok(()),
    };
    for other in PARAMETERS.into_iter().filter(|other| !own.contains(other)) {
        let numbers = found.numbers(other)?;
        let neutral = if [SCALE, SCALE_OF_MERIDIAN].contains(&other) { 1.0 } else { 0.0 };
        let is_longitude = |name: &str| [LONGITUDE, CENTRAL, DOWN].contains(&name);
        let is_same = || {
            let mut same = own.iter().filter(|own| is_longitude(other) && is_longitude(own));
            same.any(|own| found.numbers(own).is_ok_and(|own| !own.is_empty() && own == numbers))
        };
        if numbers.iter().any(|number| *number != neutral) && !is_same() {
            let value = found.0.get(other).map(Value::excerpt).unwrap_or_default();
            return Err(format!("found {value} as {other}, which {name} does not have"));
        }
    }
    let false_origin = ["false_easting", "false_northing"].into_iter().filter(|_| name == "latitude_longitude");
    for other in false_origin {
        if let Some(number) = found.number(other)?.filter(|number| *number != 0.0) {
            return Err(format!("found {number} as {other}, which {name} does not have"));
        }
    }
    Ok(())
}

/// Returns the unit of lengths that the units of coordinates name: metres if they name none.
fn length(units: Option<&str>) -> Result<Unit, String> {
    match (units, units.and_then(super::kind)) {
        (None, _) | (_, Some("m")) => Ok(Unit::metre()),
        (_, Some("km")) => Ok(Unit::kilometre()),
        (Some(other), _) => Err(format!("found coordinates in {other:?}, expected metres or kilometres")),
    }
}

/// Returns the geographic system: that of a known datum if it is named, and has the ellipsoid that is stated.
fn geographic(found: Attributes<'_>) -> Result<GeographicCrs, String> {
    let stated = ellipsoid(found)?;
    let datum = found.text("horizontal_datum_name");
    let title = found.text("geographic_crs_name");
    let [of_datum, of_title] = [datum, title].map(|name| name.and_then(GeographicCrs::of_datum_name));
    if let (Some(of_datum), Some(of_title)) = (&of_datum, &of_title)
        && of_datum != of_title
    {
        let (datum, title) = (datum.unwrap_or_default(), title.unwrap_or_default());
        return Err(format!("found horizontal_datum_name {datum:?} and geographic_crs_name {title:?}, which differ"));
    }
    // A datum of another name is not that of the system.
    let (known, name) = match (of_datum, datum.filter(|datum| *datum != "unknown")) {
        (None, None) => (of_title, "geographic_crs_name"),
        (of_datum, _) => (of_datum, "horizontal_datum_name"),
    };
    let base = match (known, stated) {
        // Of two axes the flattening is not known as exactly as an inverse flattening states it.
        (Some(known), Some(stated))
            if !match found.0.contains_key("inverse_flattening") {
                true => stated.is_same(known.ellipsoid()),
                false => stated.is_near(known.ellipsoid()),
            } =>
        {
            return Err(format!("found another ellipsoid than that of {name}"));
        }
        (Some(known), _) => known,
        (None, Some(stated)) => GeographicCrs::new(title.unwrap_or("unknown"), datum.unwrap_or("unknown"), stated),
        (None, None) => return Err("found no ellipsoid: neither semi_major_axis nor earth_radius".to_owned()),
    };
    let named = found.text("prime_meridian_name").filter(|name| !name.eq_ignore_ascii_case("Greenwich"));
    let meridian = match (found.number("longitude_of_prime_meridian")?, named) {
        (None, Some(name)) => {
            return Err(format!("found prime_meridian_name {name:?} without longitude_of_prime_meridian"));
        }
        (Some(0.0), Some(name)) if name != "unknown" => {
            return Err(format!("found prime_meridian_name {name:?} and 0 as longitude_of_prime_meridian"));
        }
        (None | Some(0.0), _) => PrimeMeridian::greenwich(),
        (Some(longitude), None) if found.text("prime_meridian_name").is_some() => {
            return Err(format!("found prime_meridian_name Greenwich and {longitude} as longitude_of_prime_meridian"));
        }
        (Some(longitude), named) => PrimeMeridian::new(named.unwrap_or("unknown"), longitude),
    };
    base.angles(meridian, Unit::degree())
}

/// Returns the ellipsoid by its axes, or else by its name; `None` if there is neither.
fn ellipsoid(found: Attributes<'_>) -> Result<Option<Ellipsoid>, String> {
    let named = found.text("reference_ellipsoid_name");
    let known = named.and_then(Ellipsoid::of_name);
    let Some(stated) = axes(found, named.unwrap_or("unknown"))? else { return Ok(known) };
    Ok(Some(match known {
        // Spheres have many radii.
        Some(known) if !stated.is_near(&known) && known.inverse_flattening() == 0.0 => stated.named("unknown"),
        Some(known) if !stated.is_near(&known) => {
            return Err(format!(
                "found another ellipsoid than that of reference_ellipsoid_name {:?}",
                named.unwrap_or_default()
            ));
        }
        _ => stated,
    }))
}

/// Returns the ellipsoid by its axes; `None` without any.
fn axes(found: Attributes<'_>, name: &str) -> Result<Option<Ellipsoid>, String> {
    let [radius, major, minor, inverse] =
        ["earth_radius", "semi_major_axis", "semi_minor_axis", "inverse_flattening"].map(|name| found.number(name));
    let (radius, major, minor, inverse) = (radius?, major?, minor?, inverse?);
    for (axis, name) in [(radius, "earth_radius"), (major, "semi_major_axis")] {
        if let Some(axis) = axis.filter(|axis| (0.0..LEAST_AXIS).contains(axis)) {
            return Err(format!("found {axis} as {name}, expected at least {LEAST_AXIS} metres"));
        }
    }
    let sphere = radius.map(|radius| Ellipsoid::new(name, radius, 0.0)).transpose()?;
    let Some(major) = major else {
        return match sphere {
            None if minor.or(inverse).is_some() => {
                Err("found parts of an ellipsoid, but no semi_major_axis".to_owned())
            }
            Some(sphere)
                if Ellipsoid::of_parts(name, sphere.semi_major_axis(), minor, inverse)?
                    .is_some_and(|stated| !stated.is_near(&sphere)) =>
            {
                Err("found earth_radius and other axes of different ellipsoids".to_owned())
            }
            sphere => Ok(sphere),
        };
    };
    match (sphere, Ellipsoid::of_parts(name, major, minor, inverse)?) {
        (None, None) => Err("found semi_major_axis without inverse_flattening and semi_minor_axis".to_owned()),
        (None, stated) => Ok(stated),
        (Some(sphere), stated) => {
            let stated = stated.map_or_else(|| Ellipsoid::new(name, major, 0.0), Ok)?;
            match stated.is_near(&sphere) {
                true => Ok(Some(sphere)),
                false => Err("found earth_radius and semi_major_axis of different ellipsoids".to_owned()),
            }
        }
    }
}

/// Returns the method of a grid mapping, with the values of its parameters.
fn method(found: Attributes<'_>, name: &str) -> Result<(&'static Method, Vec<f64>), String> {
    let x = found.number("false_easting")?.unwrap_or(0.0);
    let y = found.number("false_northing")?.unwrap_or(0.0);
    let latitude = || found.need(&[LATITUDE]);
    let longitude = || found.need(&[LONGITUDE]);
    let central = || found.need(&[CENTRAL]);
    let parallels = found.numbers(PARALLEL)?;
    let scale = found.number(SCALE)?;
    let one_parallel = || match (parallels.as_slice(), scale) {
        ([parallel], None) => Ok(Some(*parallel)),
        ([], Some(_)) => Ok(None),
        ([], None) => Err("found no standard_parallel".to_owned()),
        _ => Err("found more than one of standard_parallel and scale_factor_at_projection_origin".to_owned()),
    };
    let centred = || Ok::<_, String>(vec![latitude()?, longitude()?, x, y]);
    let conic = |first, second| Ok::<_, String>(vec![latitude()?, central()?, first, second, x, y]);
    Ok(match name {
        "albers_conical_equal_area" => match parallels[..] {
            [first] => (&Method::ALBERS, conic(first, first)?),
            [first, second] => (&Method::ALBERS, conic(first, second)?),
            _ => return Err(format!("found {} numbers as standard_parallel, expected 1 or 2", parallels.len())),
        },
        "azimuthal_equidistant" => (&Method::AZIMUTHAL_EQUIDISTANT, centred()?),
        "geostationary" => {
            if latitude()? != 0.0 {
                return Err("found a geostationary satellite that is not above the equator".to_owned());
            }
            let method = match (found.text("sweep_angle_axis"), found.text("fixed_angle_axis")) {
                (Some("x"), None | Some("y")) | (None, Some("y")) => &Method::GEOSTATIONARY_X,
                (Some("y"), None | Some("x")) | (None, Some("x")) => &Method::GEOSTATIONARY_Y,
                _ => return Err("found no sweep_angle_axis, or one that contradicts fixed_angle_axis".to_owned()),
            };
            (method, vec![longitude()?, found.need(&[HEIGHT])?, x, y])
        }
        "lambert_azimuthal_equal_area" => (&Method::LAMBERT_AZIMUTHAL, centred()?),
        "lambert_conformal_conic" => match parallels[..] {
            [parallel] if parallel == latitude()? => {
                (&Method::LAMBERT_CONFORMAL_1, vec![parallel, central()?, scale.unwrap_or(1.0), x, y])
            }
            [] if scale.is_some() => {
                (&Method::LAMBERT_CONFORMAL_1, vec![latitude()?, central()?, scale.unwrap_or(1.0), x, y])
            }
            _ if scale.is_some_and(|scale| scale != 1.0) => {
                return Err(format!("found {SCALE} beside a {PARALLEL} that is not the latitude of the origin"));
            }
            [parallel] => (&Method::LAMBERT_CONFORMAL_2, conic(parallel, parallel)?),
            [first, second] => (&Method::LAMBERT_CONFORMAL_2, conic(first, second)?),
            _ => return Err(format!("found {} numbers as standard_parallel, expected 1 or 2", parallels.len())),
        },
        "lambert_cylindrical_equal_area" => match one_parallel()? {
            Some(parallel) => (&Method::CYLINDRICAL_EQUAL_AREA, vec![parallel, central()?, x, y]),
            None => return Err("found scale_factor_at_projection_origin, expected standard_parallel".to_owned()),
        },
        "mercator" => match (parallels.as_slice(), scale) {
            // Other software writes both where the parallel is the equator.
            ([] | [0.0], Some(scale)) => (&Method::MERCATOR_A, vec![0.0, longitude()?, scale, x, y]),
            ([parallel], None) => (&Method::MERCATOR_B, vec![*parallel, longitude()?, x, y]),
            _ => return Err("found not one of standard_parallel and scale_factor_at_projection_origin".to_owned()),
        },
        "orthographic" => (&Method::ORTHOGRAPHIC, centred()?),
        "polar_stereographic" => {
            let down = found.need(&[DOWN, LONGITUDE])?;
            let parallel = one_parallel()?;
            // A standard parallel is on the side of its pole, which other software leaves out then.
            let pole = match (found.number(LATITUDE)?, parallel) {
                (None, Some(parallel)) => 90_f64.copysign(parallel),
                _ => latitude()?,
            };
            if pole.abs() != 90.0 {
                return Err(format!("found the latitude {pole} of a pole, expected 90 or -90"));
            }
            match parallel {
                Some(parallel) if parallel * pole > 0.0 => (&Method::POLAR_STEREOGRAPHIC_B, vec![parallel, down, x, y]),
                Some(parallel) => return Err(format!("found the standard parallel {parallel} for the pole {pole}")),
                None => (&Method::POLAR_STEREOGRAPHIC_A, vec![pole, down, scale.unwrap_or(1.0), x, y]),
            }
        }
        "sinusoidal" => (&Method::SINUSOIDAL, vec![found.need(&[LONGITUDE, CENTRAL])?, x, y]),
        "stereographic" => {
            let scale = found.need(&[SCALE])?;
            (&Method::STEREOGRAPHIC, vec![latitude()?, longitude()?, scale, x, y])
        }
        "transverse_mercator" => {
            let scale = found.need(&[SCALE_OF_MERIDIAN])?;
            (&Method::TRANSVERSE_MERCATOR, vec![latitude()?, central()?, scale, x, y])
        }
        other => return Err(format!("found the grid mapping {other}, which is not known")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid_mapping::read_in;
    use zarr_json::json;

    fn read(attributes: &Value, units: Option<&str>) -> Result<Option<Crs>, String> {
        read_in(attributes.as_object().expect("an object"), units)
    }

    /// Members of `given`, with those of WGS 84.
    fn on_wgs84(given: &Value) -> Value {
        let mut all = given.as_object().expect("an object").clone();
        all.insert("semi_major_axis", 6_378_137.0);
        all.insert("inverse_flattening", 298.257_223_563);
        all.into()
    }

    #[test]
    fn units_of_coordinates_are_those_of_the_system() {
        let geographic =
            on_wgs84(&json!({"grid_mapping_name": "latitude_longitude", "longitude_of_prime_meridian": 0}));
        assert_eq!(read(&geographic, Some("degrees_north")), Ok(Some(Crs::epsg(4326))));
        assert_eq!(read(&geographic, None), Ok(Some(Crs::epsg(4326))));
        for units in ["m", "km", "rad", "1"] {
            assert!(read(&geographic, Some(units)).is_err_and(|reason| reason.contains("expected degrees")), "{units}");
        }
        let utm = crate::grid_mapping::attributes(&Crs::epsg(32_633)).expect("known");
        assert_eq!(read_in(&utm, Some("metre")), Ok(Some(Crs::epsg(32_633))));
        assert!(read_in(&utm, Some("degrees_east")).is_err());
        let kilometres = read_in(&utm, Some("km")).expect("described").expect("a system");
        assert!(matches!(kilometres, Crs::Wkt2(text) if text.contains("LENGTHUNIT[\"kilometre\",1000")));
    }

    #[test]
    fn parameters_that_are_not_described_are_refused() {
        let lambert = |more: &Value| {
            let mut all = json!({"grid_mapping_name": "lambert_conformal_conic", "standard_parallel": 46.5,
                "latitude_of_projection_origin": 46.5, "longitude_of_central_meridian": 2});
            if let (Value::Object(all), Some(more)) = (&mut all, more.as_object()) {
                more.iter().for_each(|(name, value)| drop(all.insert(name, value.clone())));
            }
            read(&on_wgs84(&all), Some("m"))
        };
        let scaled = lambert(&json!({"scale_factor_at_projection_origin": 0.999_877_42})).expect("described");
        assert!(matches!(&scaled, Some(Crs::Wkt2(text)) if text.contains("0.99987742")), "{scaled:?}");
        let off = json!({"scale_factor_at_projection_origin": 0.9, "standard_parallel": 45});
        assert!(lambert(&off).is_err_and(|reason| reason.contains("scale_factor_at_projection_origin")));
        let meridian = json!({"scale_factor_at_central_meridian": 0.9});
        assert!(lambert(&meridian).is_err_and(|reason| reason.contains("does not have")));
        let sinusoidal = on_wgs84(&json!({"grid_mapping_name": "sinusoidal", "longitude_of_projection_origin": 0,
            "standard_parallel": 30}));
        assert!(read(&sinusoidal, Some("m")).is_err_and(|reason| reason.contains("standard_parallel")));
        let mut utm = crate::grid_mapping::attributes(&Crs::epsg(32_633)).expect("known");
        utm.insert("standard_parallel", 30);
        assert!(read_in(&utm, Some("m")).is_err());
    }

    /// Contradictions are named, with what was found.
    #[test]
    fn names_and_numbers_that_contradict_are_refused() {
        let utm = crate::grid_mapping::attributes(&Crs::epsg(32_633)).expect("known");
        let geographic = json!({"grid_mapping_name": "latitude_longitude", "longitude_of_prime_meridian": 0});
        let polar = json!({"grid_mapping_name": "polar_stereographic", "latitude_of_projection_origin": 90,
            "straight_vertical_longitude_from_pole": (-45), "standard_parallel": 70});
        let mercator =
            json!({"grid_mapping_name": "mercator", "standard_parallel": 0, "longitude_of_projection_origin": 5});
        for (of, name, value, reason) in [
            (&geographic, "towgs84", json!([598, 73, 418]), "towgs84"),
            (&geographic, "prime_meridian_name", json!("Paris"), "prime_meridian_name \"Paris\" and 0"),
            (&geographic, "semi_minor_axis", json!(6_356_078.9), "semi-minor axis of 6356078.9"),
            (&geographic, "earth_radius", json!(6_371_229), "earth_radius"),
            (&geographic, "reference_ellipsoid_name", json!("Bessel 1841"), "reference_ellipsoid_name \"Bessel 1841\""),
            (&geographic, "geographic_crs_name", json!("ED50"), "that of geographic_crs_name"),
            (&geographic, "latitude_of_projection_origin", json!(30), "found 30 as latitude_of_projection_origin"),
            (&geographic, "semi_major_axis", json!(6378.137), "6378.137 as semi_major_axis"),
            (&polar, "longitude_of_projection_origin", json!(10), "10 as longitude_of_projection_origin"),
            (&mercator, "latitude_of_projection_origin", json!(30), "found 30 as latitude_of_projection_origin"),
            (&mercator, "longitude_of_central_meridian", json!(10), "found 10 as longitude_of_central_meridian"),
            (&mercator, "azimuth_of_central_line", json!(10), "found 10 as azimuth_of_central_line"),
            (&utm.clone().into(), "towgs84", json!([598, 73, 418]), "towgs84"),
        ] {
            let units = if of == &geographic { "degrees" } else { "m" };
            let given = on_wgs84(of);
            assert!(read(&given, Some(units)).is_ok_and(|crs| crs.is_some()), "{name}");
            let mut given = given.as_object().expect("an object").clone();
            given.insert(name, value.clone());
            let found = read_in(&given, Some(units)).expect_err(name);
            assert!(found.contains(reason), "{name} {value}: {found}");
        }
        // Numbers that mean nothing, or the same.
        let mut given = on_wgs84(&mercator).as_object().expect("an object").clone();
        given.insert("latitude_of_projection_origin", 0);
        given.insert("longitude_of_central_meridian", 5);
        assert!(read_in(&given, Some("m")).is_ok_and(|crs| crs.is_some()));
    }

    /// A description is of coordinates in its unit, which has to be known.
    #[test]
    fn units_of_coordinates_are_those_of_descriptions() {
        let wgs84 = r#"GEOGCS["WGS 84",UNIT["degree",0.0174532925199433],AUTHORITY["EPSG","4326"]]"#;
        let projected =
            |unit: &str, code: u32| format!(r#"PROJCS["a",{wgs84},UNIT["{unit}",1],AUTHORITY["EPSG","{code}"]]"#);
        for (text, units, is_read) in [
            (wgs84.to_owned(), "degrees_north", true),
            (wgs84.to_owned(), "degrees north", true),
            (wgs84.to_owned(), "degree east", true),
            (wgs84.to_owned(), "m", false),
            (wgs84.to_owned(), "degree_Celsius", false),
            (projected("metre", 2193), "degrees_east", false),
            (projected("metre", 2193), "m", true),
            (projected("metre", 2193), "ft", false),
            (projected("metre", 2193), "1", false),
            (projected("US survey foot", 2225), "m", false),
            (projected("US survey foot", 2225), "ft", false),
            (projected("US survey foot", 2225), "US_survey_foot", true),
            (r#"PROJCS["a",AUTHORITY["EPSG","2225"]]"#.to_owned(), "m", false),
        ] {
            let found = read(&json!({"crs_wkt": (text.as_str())}), Some(units));
            assert_eq!(found.is_ok_and(|crs| crs.is_some()), is_read, "{text} in {units}");
        }
    }

    #[test]
    fn ellipsoids_that_differ_are_refused() {
        let geographic = |more: &Value| {
            let mut all = on_wgs84(&json!({"grid_mapping_name": "latitude_longitude"}));
            if let (Value::Object(all), Some(more)) = (&mut all, more.as_object()) {
                more.iter().for_each(|(name, value)| drop(all.insert(name, value.clone())));
            }
            read(&all, Some("degrees_north"))
        };
        assert!(geographic(&json!({"earth_radius": 6_371_229})).is_err_and(|reason| reason.contains("earth_radius")));
        // As files have it, to a tenth of a millimetre.
        for (more, code) in [
            (json!({"semi_minor_axis": 6_356_752.314_2, "horizontal_datum_name": "WGS84"}), Some(4326)),
            (json!({"horizontal_datum_name": "WGS_1984"}), Some(4326)),
            (json!({"horizontal_datum_name": "World Geodetic System 1984 ensemble"}), Some(4326)),
            (json!({"horizontal_datum_name": "D_WGS_1984", "longitude_of_prime_meridian": 2.5}), None),
            (json!({"horizontal_datum_name": "a datum of its own"}), None),
        ] {
            let found = geographic(&more).expect("described").expect("a system");
            assert_eq!(found.epsg_code(), code, "{more}");
            // A code is lost with its name.
            assert!(!matches!(&found, Crs::Wkt2(text) if text.contains("WGS 84\",DATUM")), "{more}");
        }
    }
}
