//! Projected systems by the keys of their parameters.

use super::{Keys, angle, geographic, length};
use zarr_geo::wkt2::{GeographicCrs, Method, ProjectedCrs, Unit};

/// Keys of the latitude and the longitude of the origin, of the coordinates there and of the scale, of which all that are there mean the same.
const LATITUDE: [&str; 3] = ["ProjNatOriginLatGeoKey", "ProjFalseOriginLatGeoKey", "ProjCenterLatGeoKey"];
const LONGITUDE: [&str; 3] = ["ProjNatOriginLongGeoKey", "ProjFalseOriginLongGeoKey", "ProjCenterLongGeoKey"];
const EASTING: [&str; 3] = ["ProjFalseEastingGeoKey", "ProjCenterEastingGeoKey", "ProjFalseOriginEastingGeoKey"];
const NORTHING: [&str; 3] = ["ProjFalseNorthingGeoKey", "ProjCenterNorthingGeoKey", "ProjFalseOriginNorthingGeoKey"];
const SCALE: [&str; 2] = ["ProjScaleAtNatOriginGeoKey", "ProjScaleAtCenterGeoKey"];

/// Projected system (7.5.7): a method with its parameters.
pub(super) fn projected(keys: Keys<'_>) -> Result<ProjectedCrs, String> {
    let (base, unit) = (geographic(keys)?, length(keys)?);
    // Parameters are in this unit by the specification, and in degrees by other software.
    if angle(keys)? != Unit::degree() {
        return Err("found a projected system whose angles are not in degrees by GeogAngularUnitsGeoKey".to_owned());
    }
    let name = ["PCSCitationGeoKey", "GTCitationGeoKey"].into_iter().find_map(|key| keys.named(key, "PCS Name"));
    let name = name.unwrap_or("unknown");
    if let Some(code) = keys.named_code("ProjectionGeoKey")? {
        return utm(keys, code, name, base, unit);
    }
    let (latitude, longitude) = (keys.first(&LATITUDE)?, keys.first(&LONGITUDE)?);
    let north = || latitude.ok_or_else(|| format!("found no {}", LATITUDE[0]));
    let east = || longitude.ok_or_else(|| format!("found no {}", LONGITUDE[0]));
    let (x, y) = (keys.first(&EASTING)?.unwrap_or(0.0), keys.first(&NORTHING)?.unwrap_or(0.0));
    let scale = keys.first(&SCALE)?;
    let parallel = keys.first(&["ProjStdParallel1GeoKey"])?;
    let scaled = || Ok::<_, String>(vec![north()?, east()?, scale.unwrap_or(1.0), x, y]);
    let no_scale = |values: &[f64]| match scale {
        None | Some(1.0) => Ok(values.to_vec()),
        Some(scale) => Err(format!("found the scale {scale}, which the method does not have")),
    };
    let centred = || no_scale(&[north()?, east()?, x, y]);
    let conic = || {
        let parallels = [keys.need(&["ProjStdParallel1GeoKey"])?, keys.need(&["ProjStdParallel2GeoKey"])?];
        let latitude = keys.need(&[LATITUDE[1], LATITUDE[0], LATITUDE[2]])?;
        let longitude = keys.need(&[LONGITUDE[1], LONGITUDE[0], LONGITUDE[2]])?;
        no_scale(&[latitude, longitude, parallels[0], parallels[1], x, y])
    };
    let at_equator = |values: Vec<f64>| match latitude.unwrap_or(0.0) {
        0.0 => Ok(values),
        latitude => Err(format!("found the latitude {latitude} of the origin, expected 0 for the method")),
    };
    let on_meridian = || at_equator(no_scale(&[east()?, x, y])?);
    let on_parallel = |parallel| at_equator(no_scale(&[parallel, east()?, x, y])?);
    let code = keys.code("ProjCoordTransGeoKey")?;
    let (method, values) = match code {
        Some(1) => (&Method::TRANSVERSE_MERCATOR, scaled()?),
        Some(7) => match parallel {
            Some(parallel) => (&Method::MERCATOR_B, on_parallel(parallel)?),
            None => (&Method::MERCATOR_A, at_equator(vec![0.0, east()?, scale.unwrap_or(1.0), x, y])?),
        },
        Some(8) => (&Method::LAMBERT_CONFORMAL_2, conic()?),
        Some(9) => (&Method::LAMBERT_CONFORMAL_1, scaled()?),
        Some(10) => (&Method::LAMBERT_AZIMUTHAL, centred()?),
        Some(11) => (&Method::ALBERS, conic()?),
        Some(12) => (&Method::AZIMUTHAL_EQUIDISTANT, centred()?),
        Some(13) => (&Method::EQUIDISTANT_CONIC, conic()?),
        Some(14) => (&Method::STEREOGRAPHIC, scaled()?),
        Some(15) => polar(keys, north()?, scale.unwrap_or(1.0), [x, y])?,
        Some(16) => (&Method::OBLIQUE_STEREOGRAPHIC, scaled()?),
        Some(17) => (&Method::EQUIDISTANT_CYLINDRICAL, on_parallel(parallel.unwrap_or(0.0))?),
        Some(18) => (&Method::CASSINI, centred()?),
        Some(19) => (&Method::GNOMONIC, centred()?),
        Some(20) => (&Method::MILLER, on_meridian()?),
        Some(21) => (&Method::ORTHOGRAPHIC, centred()?),
        Some(22) => (&Method::POLYCONIC, centred()?),
        Some(23) => (&Method::ROBINSON, on_meridian()?),
        Some(24) => (&Method::SINUSOIDAL, on_meridian()?),
        Some(25) => (&Method::VAN_DER_GRINTEN, on_meridian()?),
        Some(26) => (&Method::NEW_ZEALAND, centred()?),
        Some(28) => (&Method::CYLINDRICAL_EQUAL_AREA, on_parallel(parallel.unwrap_or(0.0))?),
        Some(other) => return Err(format!("found the method {other} of projection, which is not known")),
        None => return Err("found no ProjCoordTransGeoKey".to_owned()),
    };
    no_others(keys, code, latitude)?;
    Ok(ProjectedCrs::new(name, base, method, &values)?.unit(unit))
}

/// Checks that no parameter is there that the method of a code does not have: it would mean something that is not described. A parallel at the
/// latitude of the origin means nothing.
fn no_others(keys: Keys<'_>, code: Option<u64>, latitude: Option<f64>) -> Result<(), String> {
    let parallels: &[&str] = match code {
        Some(8 | 11 | 13) => &["ProjStdParallel1GeoKey", "ProjStdParallel2GeoKey"],
        Some(7 | 17 | 28) => &["ProjStdParallel1GeoKey"],
        _ => &[],
    };
    // Files that were converted before have the number of the last one.
    let others = [
        "ProjStdParallel1GeoKey",
        "ProjStdParallel2GeoKey",
        "ProjAzimuthAngleGeoKey",
        "ProjRectifiedGridAngleGeoKey",
        "3096",
    ];
    for name in others.into_iter().filter(|name| !parallels.contains(name)) {
        let value = keys.first(&[name])?;
        if value.is_some_and(|value| !name.contains("Parallel") || latitude != Some(value)) {
            return Err(format!("found {name}, which the method does not have"));
        }
    }
    Ok(())
}

/// Polar stereographic: the latitude is that of the pole, with a scale there, or a standard parallel.
fn polar(keys: Keys<'_>, latitude: f64, scale: f64, [x, y]: [f64; 2]) -> Result<(&'static Method, Vec<f64>), String> {
    let names = ["ProjStraightVertPoleLongGeoKey", LONGITUDE[0], LONGITUDE[1], LONGITUDE[2]];
    let longitude = keys.need(&names)?;
    match ((latitude.abs() - 90.0).abs() < 1e-8, scale == 1.0) {
        (_, true) if latitude != 0.0 => Ok((&Method::POLAR_STEREOGRAPHIC_B, vec![latitude, longitude, x, y])),
        (true, _) => Ok((&Method::POLAR_STEREOGRAPHIC_A, vec![latitude, longitude, scale, x, y])),
        _ => Err(format!("found the latitude {latitude} and the scale {scale}, expected a pole, or no scale")),
    }
}

/// Zone of UTM by the code of its projection.
fn utm(keys: Keys<'_>, code: u64, name: &str, base: GeographicCrs, unit: Unit) -> Result<ProjectedCrs, String> {
    let (zone, y) = match code {
        16_001..=16_060 => (code - 16_000, 0.0),
        16_101..=16_160 => (code - 16_100, 10_000_000.0),
        other => return Err(format!("found the projection {other}, which is not known")),
    };
    if unit != Unit::metre() {
        return Err("found UTM in another unit than metres".to_owned());
    }
    let meridian = zone as f64 * 6.0 - 183.0;
    for (names, expected) in [
        (&LATITUDE[..], 0.0),
        (&LONGITUDE, meridian),
        (&SCALE, 0.9996),
        (&EASTING, 500_000.0),
        (&NORTHING, y),
        (&["ProjCoordTransGeoKey"], 1.0),
    ] {
        if let Some(found) = keys.first(names)?.filter(|found| *found != expected) {
            let key = names.iter().find(|name| keys.0.contains_key(name)).copied().unwrap_or_default();
            return Err(format!("found {found} as {key} of the projection {code}, expected {expected}"));
        }
    }
    no_others(keys, Some(1), Some(0.0))?;
    ProjectedCrs::new(name, base, &Method::TRANSVERSE_MERCATOR, &[0.0, meridian, 0.9996, 500_000.0, y])
}
