//! Grid mappings that describe a coordinate reference system by its parameters (CF conventions, appendix F).

use crate::Crs;
use crate::wkt2::{Ellipsoid, GeographicCrs, Method, PrimeMeridian, ProjectedCrs, Unit};
use zarr_json::{Map, Value};

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

    /// Returns the number of the first of several attributes of one meaning that is there.
    fn need(self, names: &[&str]) -> Result<f64, String> {
        for name in names {
            if let Some(number) = self.number(name)? {
                return Ok(number);
            }
        }
        Err(format!("found no {}", names.join(" and no ")))
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
    if name == "latitude_longitude" {
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
    let known = datum.and_then(GeographicCrs::of_datum_name);
    let base = match (known, stated) {
        (Some(known), Some(stated)) if !stated.is_same(known.ellipsoid()) => {
            return Err("found another ellipsoid than that of horizontal_datum_name".to_owned());
        }
        (Some(known), _) => known,
        (None, Some(stated)) => {
            let name = found.text("geographic_crs_name").unwrap_or("unknown");
            GeographicCrs::new(name, datum.unwrap_or("unknown"), stated)
        }
        (None, None) => return Err("found no ellipsoid: neither semi_major_axis nor earth_radius".to_owned()),
    };
    let meridian = match found.number("longitude_of_prime_meridian")? {
        None if found.text("prime_meridian_name").is_some_and(|name| name != "Greenwich") => {
            return Err("found prime_meridian_name without longitude_of_prime_meridian".to_owned());
        }
        None | Some(0.0) => PrimeMeridian::greenwich(),
        Some(longitude) => PrimeMeridian::new(found.text("prime_meridian_name").unwrap_or("unknown"), longitude),
    };
    base.angles(meridian, Unit::degree())
}

/// Returns the ellipsoid by its axes, or else by its name; `None` if there is neither.
fn ellipsoid(found: Attributes<'_>) -> Result<Option<Ellipsoid>, String> {
    let named = found.text("reference_ellipsoid_name");
    let name = named.unwrap_or("unknown");
    if let Some(radius) = found.number("earth_radius")? {
        return Ellipsoid::new(name, radius, 0.0).map(Some);
    }
    let Some(major) = found.number("semi_major_axis")? else { return Ok(named.and_then(Ellipsoid::of_name)) };
    let (minor, inverse) = (found.number("semi_minor_axis")?, found.number("inverse_flattening")?);
    match (inverse, minor) {
        (Some(inverse), None) => Ellipsoid::new(name, major, inverse).map(Some),
        (None, Some(minor)) => Ellipsoid::of_axes(name, major, minor).map(Some),
        (Some(inverse), Some(minor)) => {
            let (one, other) = (Ellipsoid::new(name, major, inverse)?, Ellipsoid::of_axes(name, major, minor)?);
            match one.is_same(&other) {
                true => Ok(Some(one)),
                false => Err("found inverse_flattening and semi_minor_axis of different ellipsoids".to_owned()),
            }
        }
        (None, None) => Err("found semi_major_axis without inverse_flattening and semi_minor_axis".to_owned()),
    }
}

/// Returns the method of a grid mapping, with the values of its parameters.
fn method(found: Attributes<'_>, name: &str) -> Result<(&'static Method, Vec<f64>), String> {
    const CENTRAL: &str = "longitude_of_central_meridian";
    const LONGITUDE: &str = "longitude_of_projection_origin";
    let x = found.number("false_easting")?.unwrap_or(0.0);
    let y = found.number("false_northing")?.unwrap_or(0.0);
    let latitude = || found.need(&["latitude_of_projection_origin"]);
    let longitude = || found.need(&[LONGITUDE]);
    let central = || found.need(&[CENTRAL]);
    let parallels = found.numbers("standard_parallel")?;
    let scale = found.number("scale_factor_at_projection_origin")?;
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
            (method, vec![longitude()?, found.need(&["perspective_point_height"])?, x, y])
        }
        "lambert_azimuthal_equal_area" => (&Method::LAMBERT_AZIMUTHAL, centred()?),
        "lambert_conformal_conic" => match parallels[..] {
            [parallel] if parallel == latitude()? => {
                (&Method::LAMBERT_CONFORMAL_1, vec![parallel, central()?, 1.0, x, y])
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
            let down = found.need(&["straight_vertical_longitude_from_pole", LONGITUDE])?;
            let parallel = one_parallel()?;
            // A standard parallel is on the side of its pole, which other software leaves out then.
            let pole = match (found.number("latitude_of_projection_origin")?, parallel) {
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
            let scale = found.need(&["scale_factor_at_projection_origin"])?;
            (&Method::STEREOGRAPHIC, vec![latitude()?, longitude()?, scale, x, y])
        }
        "transverse_mercator" => {
            let scale = found.need(&["scale_factor_at_central_meridian"])?;
            (&Method::TRANSVERSE_MERCATOR, vec![latitude()?, central()?, scale, x, y])
        }
        other => return Err(format!("found the grid mapping {other}, which is not known")),
    })
}
