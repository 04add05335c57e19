//! Coordinate reference systems that the keys of GeoTIFF describe by their parameters, without a code of EPSG.
//!
//! Sections are those of OGC GeoTIFF 1.1 (19-008r4). Files often have a parameter under another key of the same meaning, which other
//! software reads: the origin as that of a centre, or of a false origin.

use zarr_geo::wkt2::{Ellipsoid, GeographicCrs, Method, PrimeMeridian, ProjectedCrs, Unit};
use zarr_json::{Map, Value};

/// Value of a key whose meaning other keys describe.
const USER_DEFINED: u64 = 32_767;
/// Code of degrees at EPSG.
const DEGREE: u64 = 9102;
/// Code of metres at EPSG.
const METRE: u64 = 9001;

/// Keys of a file, by their names.
#[derive(Clone, Copy)]
struct Keys<'k>(&'k Map);

impl<'k> Keys<'k> {
    /// Returns a code; `None` without the key, and for the code 0, which says that nothing is known.
    fn code(self, name: &str) -> Option<u64> {
        self.0.get(name)?.as_u64().filter(|code| *code != 0)
    }

    /// Returns the number of the first of several keys of one meaning that is there.
    fn first(self, names: &[&str]) -> Result<Option<f64>, String> {
        let Some((name, value)) = names.iter().find_map(|name| Some((name, self.0.get(name)?))) else {
            return Ok(None);
        };
        match value.as_f64().filter(|number| number.is_finite()) {
            Some(number) => Ok(Some(number)),
            None => Err(format!("found {} as {name}, expected a number", value.excerpt())),
        }
    }

    fn need(self, names: &[&str]) -> Result<f64, String> {
        self.first(names)?.ok_or_else(|| format!("found no {}", names.first().copied().unwrap_or_default()))
    }

    /// Returns a part of a citation, such as that behind `Datum = `; `None` if it names none.
    fn cited(self, key: &str, part: &str) -> Option<&'k str> {
        let text = self.0.get(key)?.as_str()?;
        let found = text.split('|').find_map(|item| item.trim().strip_prefix(part)?.trim().strip_prefix('='));
        found.map(str::trim).filter(|name| !name.is_empty())
    }

    /// Returns the name in a citation, which may be the whole text.
    fn named(self, key: &str, part: &str) -> Option<&'k str> {
        let text = self.0.get(key).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty());
        self.cited(key, part).or_else(|| text.filter(|text| !text.contains(['|', '='])))
    }
}

/// Returns the description in WKT2 of the system that the keys describe by parameters; `None` if they name a code, or no system.
///
/// # Errors
/// The reason why it cannot be described exactly.
pub(crate) fn described(keys: &Map) -> Result<Option<String>, String> {
    let keys = Keys(keys);
    let is_own = |name: &str| keys.code(name) == Some(USER_DEFINED);
    let (is_projected, is_geographic) = match keys.code("GTModelTypeGeoKey") {
        Some(1) => (is_own("ProjectedCSTypeGeoKey") || keys.code("ProjectedCSTypeGeoKey").is_none(), false),
        Some(2) => (false, is_own("GeographicTypeGeoKey")),
        Some(_) => (false, false),
        None => (is_own("ProjectedCSTypeGeoKey"), is_own("GeographicTypeGeoKey")),
    };
    let is_coded = |name: &str| keys.code(name).is_some_and(|code| code != USER_DEFINED);
    let is_other = keys.code("GTModelTypeGeoKey") == Some(USER_DEFINED);
    if is_other && !is_coded("ProjectedCSTypeGeoKey") && !is_coded("GeographicTypeGeoKey") {
        return Err("found a model of the file's own as GTModelTypeGeoKey".to_owned());
    }
    if is_projected {
        // Without a method nothing is described.
        if keys.code("ProjCoordTransGeoKey").is_none() && keys.code("ProjectionGeoKey").is_none() {
            return match is_own("ProjectedCSTypeGeoKey") {
                true => Err("found no ProjCoordTransGeoKey".to_owned()),
                false => Ok(None),
            };
        }
        return projected(keys).map(|crs| Some(crs.wkt2()));
    }
    match is_geographic {
        true => geographic(keys).map(|crs| Some(crs.wkt2())),
        false => Ok(None),
    }
}

/// Unit of angles (7.5.5).
fn angle(keys: Keys<'_>) -> Result<Unit, String> {
    match keys.code("GeogAngularUnitsGeoKey") {
        None | Some(DEGREE) => Ok(Unit::degree()),
        Some(9101) => Ok(Unit::radian()),
        Some(9105) => Ok(Unit::grad()),
        Some(USER_DEFINED) => Unit::new("unknown", keys.need(&["GeogAngularUnitSizeGeoKey"])?),
        Some(other) => Err(format!("found the angular unit {other}, which is not known")),
    }
}

/// Geographic system (7.5.4).
fn geographic(keys: Keys<'_>) -> Result<GeographicCrs, String> {
    if let Some(shift) = keys.0.get("GeogTOWGS84GeoKey")
        && shift.as_array().unwrap_or_default().iter().any(|number| number.as_f64() != Some(0.0))
    {
        return Err("found GeogTOWGS84GeoKey, a transformation to WGS 84".to_owned());
    }
    let unit = angle(keys)?;
    let code = keys.code("GeographicTypeGeoKey").filter(|code| *code != USER_DEFINED);
    let system = match code {
        Some(code) => {
            let known = u32::try_from(code).ok().and_then(GeographicCrs::of_code);
            let known = known.ok_or_else(|| format!("found the geographic system {code}, which is not known"))?;
            same_ellipsoid(&known, ellipsoid(keys)?)?;
            known
        }
        None => own(keys)?,
    };
    let meridian = match (keys.code("GeogPrimeMeridianGeoKey"), keys.first(&["GeogPrimeMeridianLongGeoKey"])?) {
        (None | Some(8901), None | Some(0.0)) => PrimeMeridian::greenwich(),
        (None | Some(USER_DEFINED), Some(longitude)) => {
            let name = keys.cited("GeogCitationGeoKey", "Primem").unwrap_or("unknown");
            PrimeMeridian::new(name, longitude)
        }
        (Some(code), _) => return Err(format!("found the prime meridian {code}, which is not known")),
    };
    if code.is_some() && (meridian != PrimeMeridian::greenwich() || unit != Unit::degree()) {
        return Err("found another prime meridian or angular unit than those of the geographic system".to_owned());
    }
    system.angles(meridian, unit)
}

/// Geographic system of the file's own.
fn own(keys: Keys<'_>) -> Result<GeographicCrs, String> {
    let stated = ellipsoid(keys)?;
    let cited = |part: &str| keys.cited("GeogCitationGeoKey", part);
    let name = keys.named("GeogCitationGeoKey", "GCS Name").unwrap_or("unknown");
    match keys.code("GeogGeodeticDatumGeoKey").filter(|code| *code != USER_DEFINED) {
        Some(code) => {
            let known = u32::try_from(code).ok().and_then(GeographicCrs::of_datum);
            let known = known.ok_or_else(|| format!("found the datum {code}, which is not known"))?;
            same_ellipsoid(&known, stated)?;
            Ok(known)
        }
        None => {
            let ellipsoid =
                stated.ok_or("found no ellipsoid: neither GeogEllipsoidGeoKey nor GeogSemiMajorAxisGeoKey")?;
            Ok(GeographicCrs::new(name, cited("Datum").unwrap_or("unknown"), ellipsoid))
        }
    }
}

fn same_ellipsoid(known: &GeographicCrs, stated: Option<Ellipsoid>) -> Result<(), String> {
    match stated.is_none_or(|stated| stated.is_same(known.ellipsoid())) {
        true => Ok(()),
        false => Err("found another ellipsoid than that of the geographic system or datum".to_owned()),
    }
}

/// Ellipsoid (7.5.3): that of a code, or of its axes; `None` if there is neither.
fn ellipsoid(keys: Keys<'_>) -> Result<Option<Ellipsoid>, String> {
    let major = keys.first(&["GeogSemiMajorAxisGeoKey"])?;
    let code = keys.code("GeogEllipsoidGeoKey").filter(|code| *code != USER_DEFINED);
    let known = code.map(|code| {
        let known = u32::try_from(code).ok().and_then(Ellipsoid::of_code);
        known.ok_or_else(|| format!("found the ellipsoid {code}, which is not known"))
    });
    let known = known.transpose()?;
    let Some(major) = major else { return Ok(known) };
    if keys.code("GeogLinearUnitsGeoKey").is_some_and(|unit| unit != METRE) {
        return Err("found axes of an ellipsoid in another unit than metres".to_owned());
    }
    let name = keys.cited("GeogCitationGeoKey", "Ellipsoid").unwrap_or("unknown");
    let stated = match (keys.first(&["GeogInvFlatteningGeoKey"])?, keys.first(&["GeogSemiMinorAxisGeoKey"])?) {
        (Some(inverse), _) => Ellipsoid::new(name, major, inverse)?,
        (None, Some(minor)) => Ellipsoid::of_axes(name, major, minor)?,
        (None, None) => return known.map(Some).ok_or_else(|| "found no GeogInvFlatteningGeoKey".to_owned()),
    };
    match known {
        Some(known) if !known.is_same(&stated) => {
            Err("found axes of another ellipsoid than GeogEllipsoidGeoKey".to_owned())
        }
        Some(known) => Ok(Some(known)),
        None => Ok(Some(stated)),
    }
}

/// Unit of coordinates (7.5.6).
fn length(keys: Keys<'_>) -> Result<Unit, String> {
    match keys.code("ProjLinearUnitsGeoKey") {
        None | Some(METRE) => Ok(Unit::metre()),
        Some(9002) => Ok(Unit::foot()),
        Some(9003) => Ok(Unit::us_survey_foot()),
        Some(9036) => Ok(Unit::kilometre()),
        Some(USER_DEFINED) => Unit::new("unknown", keys.need(&["ProjLinearUnitSizeGeoKey"])?),
        Some(other) => Err(format!("found the linear unit {other}, which is not known")),
    }
}

/// Keys of the latitude and the longitude of the origin, of the coordinates there and of the scale, in the order in which they are looked for.
const LATITUDE: [&str; 3] = ["ProjNatOriginLatGeoKey", "ProjFalseOriginLatGeoKey", "ProjCenterLatGeoKey"];
const LONGITUDE: [&str; 3] = ["ProjNatOriginLongGeoKey", "ProjFalseOriginLongGeoKey", "ProjCenterLongGeoKey"];
const EASTING: [&str; 3] = ["ProjFalseEastingGeoKey", "ProjCenterEastingGeoKey", "ProjFalseOriginEastingGeoKey"];
const NORTHING: [&str; 3] = ["ProjFalseNorthingGeoKey", "ProjCenterNorthingGeoKey", "ProjFalseOriginNorthingGeoKey"];
const SCALE: [&str; 2] = ["ProjScaleAtNatOriginGeoKey", "ProjScaleAtCenterGeoKey"];

/// Projected system (7.5.7): a method with its parameters.
fn projected(keys: Keys<'_>) -> Result<ProjectedCrs, String> {
    let (base, unit) = (geographic(keys)?, length(keys)?);
    let name = ["PCSCitationGeoKey", "GTCitationGeoKey"].into_iter().find_map(|key| keys.named(key, "PCS Name"));
    let name = name.unwrap_or("unknown");
    if let Some(code) = keys.code("ProjectionGeoKey").filter(|code| *code != USER_DEFINED) {
        return utm(code, name, base, unit);
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
        let [x, y] = ["Easting", "Northing"].map(|axis| {
            let of = |kind: &str| format!("Proj{kind}{axis}GeoKey");
            keys.first(&[&*of("FalseOrigin"), &*of("False"), &*of("Center")])
        });
        let latitude = keys.need(&[LATITUDE[1], LATITUDE[0], LATITUDE[2]])?;
        let longitude = keys.need(&[LONGITUDE[1], LONGITUDE[0], LONGITUDE[2]])?;
        no_scale(&[latitude, longitude, parallels[0], parallels[1], x?.unwrap_or(0.0), y?.unwrap_or(0.0)])
    };
    let at_equator = |values: &[f64]| match latitude.unwrap_or(0.0) {
        0.0 => no_scale(values),
        latitude => Err(format!("found the latitude {latitude} of the origin, expected 0 for the method")),
    };
    let on_meridian = || at_equator(&[east()?, x, y]);
    let on_parallel = |parallel| at_equator(&[parallel, east()?, x, y]);
    let method = keys.code("ProjCoordTransGeoKey");
    let (method, values) = match method {
        Some(1) => (&Method::TRANSVERSE_MERCATOR, scaled()?),
        Some(7) => match parallel {
            Some(parallel) => (&Method::MERCATOR_B, on_parallel(parallel)?),
            None => (&Method::MERCATOR_A, vec![latitude.unwrap_or(0.0), east()?, scale.unwrap_or(1.0), x, y]),
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
    Ok(ProjectedCrs::new(name, base, method, &values)?.unit(unit))
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
fn utm(code: u64, name: &str, base: GeographicCrs, unit: Unit) -> Result<ProjectedCrs, String> {
    let (zone, y) = match code {
        16_001..=16_060 => (code - 16_000, 0.0),
        16_101..=16_160 => (code - 16_100, 10_000_000.0),
        other => return Err(format!("found the projection {other}, which is not known")),
    };
    if unit != Unit::metre() {
        return Err("found UTM in another unit than metres".to_owned());
    }
    let meridian = zone as f64 * 6.0 - 183.0;
    ProjectedCrs::new(name, base, &Method::TRANSVERSE_MERCATOR, &[0.0, meridian, 0.9996, 500_000.0, y])
}

#[cfg(test)]
mod tests {
    use super::*;
    use zarr_json::json;

    /// Systems that pyproj finds equal to those that GDAL reads, as `tests/fixtures/reference_systems.py` checks.
    #[test]
    fn keys_are_described_as_gdal_reads_them() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/reference_systems.json");
        let systems = Value::from_json(&std::fs::read_to_string(path).expect("a file")).expect("JSON");
        let systems = systems.get("geo_keys").and_then(Value::as_object).expect("cases");
        let mut described_count = 0;
        for (name, case) in systems.iter() {
            let found = described(case.get("keys").and_then(Value::as_object).expect("keys"));
            let text = |member: &str| case.get(member).and_then(Value::as_str);
            match text("wkt2") {
                Some(wkt2) => assert_eq!(found.expect(name).as_deref(), Some(wkt2), "{name}"),
                None => assert_eq!(found.expect_err(name), text("reason").expect("a reason"), "{name}"),
            }
            described_count += usize::from(text("wkt2").is_some());
        }
        assert!(described_count >= 40, "{described_count}");
    }

    #[test]
    fn what_is_not_known_exactly_is_refused() {
        let keys = |other: Value| {
            let all = json!({"GTModelTypeGeoKey": 1, "ProjectedCSTypeGeoKey": 32_767, "GeographicTypeGeoKey": 4326,
                "ProjCoordTransGeoKey": 8, "ProjStdParallel1GeoKey": 30, "ProjStdParallel2GeoKey": 60,
                "ProjFalseOriginLatGeoKey": 40, "ProjFalseOriginLongGeoKey": 10, "ProjLinearUnitsGeoKey": 9001});
            let mut all = all.as_object().expect("an object").clone();
            other
                .as_object()
                .expect("an object")
                .iter()
                .for_each(|(name, value)| drop(all.insert(name, value.clone())));
            described(&all)
        };
        let wkt2 = keys(json!({})).expect("known").expect("a description");
        assert!(wkt2.contains("METHOD[\"Lambert Conic Conformal (2SP)\""), "{wkt2}");
        for (other, reason) in [
            (json!({"GeographicTypeGeoKey": 4999}), "the geographic system 4999"),
            (json!({"GeogSemiMajorAxisGeoKey": 6_378_388.0, "GeogInvFlatteningGeoKey": 297.0}), "another ellipsoid"),
            (json!({"GeogPrimeMeridianGeoKey": 8903}), "the prime meridian 8903"),
            (json!({"GeogPrimeMeridianLongGeoKey": 2.5}), "another prime meridian"),
            (json!({"GeogAngularUnitsGeoKey": 9105}), "angular unit"),
            (json!({"GeogTOWGS84GeoKey": [1.0, 0.0, 0.0]}), "GeogTOWGS84GeoKey"),
            (json!({"ProjLinearUnitsGeoKey": 9005}), "the linear unit 9005"),
            (json!({"ProjLinearUnitsGeoKey": 32_767}), "no ProjLinearUnitSizeGeoKey"),
            (json!({"ProjLinearUnitsGeoKey": 32_767, "ProjLinearUnitSizeGeoKey": 0.0}), "a unit of 0"),
            (json!({"ProjCoordTransGeoKey": 3}), "the method 3"),
            (json!({"ProjCoordTransGeoKey": 32_767}), "the method 32767"),
            (json!({"ProjStdParallel2GeoKey": null}), "as ProjStdParallel2GeoKey, expected a number"),
            (json!({"ProjFalseOriginLatGeoKey": 91}), "91 as Latitude of false origin"),
            (json!({"ProjScaleAtNatOriginGeoKey": 0.9}), "the scale 0.9"),
            (json!({"ProjectionGeoKey": 10_101}), "the projection 10101"),
            (json!({"ProjCoordTransGeoKey": 24, "ProjNatOriginLatGeoKey": 5}), "the latitude 5 of the origin"),
            (json!({"ProjCoordTransGeoKey": 15, "ProjScaleAtNatOriginGeoKey": 0.9}), "the scale 0.9, expected a pole"),
            (json!({"GTModelTypeGeoKey": 32_767, "GeographicTypeGeoKey": 32_767}), "a model of the file's own"),
        ] {
            let found = keys(other.clone()).expect_err(reason);
            assert!(found.contains(reason), "{other}: {found}");
        }
        // A zone of UTM, and systems with a code.
        let utm = keys(json!({"ProjectionGeoKey": 16_133})).expect("known").expect("a description");
        assert!(utm.contains("\"Longitude of natural origin\",15,") && utm.contains("10000000"), "{utm}");
        assert_eq!(keys(json!({"ProjectedCSTypeGeoKey": 32_633})), Ok(None));
        assert_eq!(keys(json!({"GTModelTypeGeoKey": 2})), Ok(None));
    }
}
