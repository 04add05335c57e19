//! Coordinate reference systems that the keys of GeoTIFF describe by their parameters, without a code of EPSG.
//!
//! Sections are those of OGC GeoTIFF 1.1 (19-008r4). Files often have a parameter under another key of the same meaning, which other
//! software reads: the origin as that of a centre, or of a false origin.

mod projected;

use projected::projected;
use zarr_geo::Crs;
use zarr_geo::wkt2::{Ellipsoid, GeographicCrs, PrimeMeridian, Unit};
use zarr_json::{Map, Value};

/// Value of a key whose meaning other keys describe.
const USER_DEFINED: u64 = 32_767;
/// Code of degrees at EPSG.
const DEGREE: u64 = 9102;
/// Code at EPSG of degrees that are written in any form.
const DEGREE_OF_ANY_FORM: u64 = 9122;
/// Code of metres at EPSG.
const METRE: u64 = 9001;

/// Keys of a file, by their names.
#[derive(Clone, Copy)]
struct Keys<'k>(&'k Map);

impl<'k> Keys<'k> {
    /// Returns a code; `None` without the key, and for the code 0, which says that nothing is known.
    fn code(self, name: &str) -> Result<Option<u64>, String> {
        let Some(value) = self.0.get(name) else { return Ok(None) };
        match value.as_u64() {
            Some(code) => Ok(Some(code).filter(|code| *code != 0)),
            None => Err(format!("found {} as {name}, expected a code", value.excerpt())),
        }
    }

    /// Returns a code without which nothing is known; `None` without the key.
    fn known_code(self, name: &str) -> Result<Option<u64>, String> {
        match self.code(name)? {
            None if self.0.contains_key(name) => Err(format!("found 0 as {name}, expected a code")),
            code => Ok(code),
        }
    }

    /// Returns a code; `None` as well if other keys describe what it names.
    fn named_code(self, name: &str) -> Result<Option<u64>, String> {
        Ok(self.code(name)?.filter(|code| *code != USER_DEFINED))
    }

    /// Returns the number of several keys of one meaning, of which all that are there have to be equal.
    fn first(self, names: &[&str]) -> Result<Option<f64>, String> {
        let mut found = None;
        for name in names {
            let Some(value) = self.0.get(name) else { continue };
            let number = value.as_f64().filter(|number| number.is_finite());
            let number = number.ok_or_else(|| format!("found {} as {name}, expected a number", value.excerpt()))?;
            match found {
                Some((first, other)) if other != number => {
                    return Err(format!("found {other} as {first} and {number} as {name}, expected the same numbers"));
                }
                Some(_) => {}
                None => found = Some((name, number)),
            }
        }
        Ok(found.map(|(_, number)| number))
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

/// Coordinate reference system of keys.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum System {
    /// Code of EPSG.
    Code(u32),
    /// Description in WKT2.
    Wkt2(String),
}

/// Returns the system that the keys name by a code, or describe by parameters; `None` if they do neither.
///
/// # Errors
/// The reason why it is not known exactly.
pub(crate) fn system(keys: &Map) -> Result<Option<System>, String> {
    const PROJECTED: &str = "ProjectedCSTypeGeoKey";
    const GEOGRAPHIC: &str = "GeographicTypeGeoKey";
    let keys = Keys(keys);
    let (projected_code, geographic_code) = (keys.code(PROJECTED)?, keys.code(GEOGRAPHIC)?);
    let has_method = keys.code("ProjCoordTransGeoKey")?.is_some() || keys.code("ProjectionGeoKey")?.is_some();
    let is_projected = match keys.code("GTModelTypeGeoKey")? {
        Some(1) => true,
        Some(2 | 3) if projected_code.is_some_and(|code| code != USER_DEFINED) => {
            let code = projected_code.unwrap_or_default();
            return Err(format!("found {code} as {PROJECTED} of a system that is not projected by GTModelTypeGeoKey"));
        }
        Some(2) => false,
        Some(3) => return geocentric(geographic_code),
        // A projection that the keys have no method for is no geographic system.
        Some(USER_DEFINED) if projected_code.is_none_or(|code| code == USER_DEFINED) => {
            return Err("found a model of the file's own as GTModelTypeGeoKey".to_owned());
        }
        Some(USER_DEFINED) => true,
        Some(other) => return Err(format!("found {other} as GTModelTypeGeoKey, expected 1, 2 or 3")),
        None => projected_code.is_some() || has_method,
    };
    match (is_projected, if is_projected { projected_code } else { geographic_code }) {
        (true, Some(USER_DEFINED)) if !has_method => Err("found no ProjCoordTransGeoKey".to_owned()),
        // Without a method nothing is described.
        (true, None) if !has_method => Ok(None),
        (true, None | Some(USER_DEFINED)) => projected(keys).map(|crs| Some(System::Wkt2(crs.wkt2()))),
        (true, Some(code)) => {
            let code = epsg(PROJECTED, code)?;
            same_unit(keys, code)?;
            Ok(Some(System::Code(code)))
        }
        (false, Some(code)) if code != USER_DEFINED => {
            let code = epsg(GEOGRAPHIC, code)?;
            if GeographicCrs::of_code(code).is_some() {
                same_angle(keys, code)?;
                if meridian(keys)? != PrimeMeridian::greenwich() {
                    return Err(format!("found another prime meridian than that of EPSG:{code}"));
                }
            }
            Ok(Some(System::Code(code)))
        }
        (false, None)
            if !["GeogGeodeticDatumGeoKey", "GeogEllipsoidGeoKey", "GeogSemiMajorAxisGeoKey"]
                .iter()
                .any(|name| keys.0.contains_key(name)) =>
        {
            Ok(None)
        }
        (false, _) => geographic(keys).map(|crs| Some(System::Wkt2(crs.wkt2()))),
    }
}

/// Returns the code of a key as one of EPSG.
fn epsg(name: &str, code: u64) -> Result<u32, String> {
    let own = u32::try_from(code).ok().filter(|code| u64::from(*code) < USER_DEFINED);
    own.ok_or_else(|| format!("found {code} as {name}, which is no code of EPSG"))
}

fn geocentric(code: Option<u64>) -> Result<Option<System>, String> {
    match code {
        Some(USER_DEFINED) => Err("found a geocentric system of the file's own".to_owned()),
        Some(code) => epsg("GeographicTypeGeoKey", code).map(|code| Some(System::Code(code))),
        None => Ok(None),
    }
}

/// Checks that coordinates are in the unit of a projected system, where both are known.
fn same_unit(keys: Keys<'_>, code: u32) -> Result<(), String> {
    if Crs::epsg(code).unit() != Some("m") {
        return Ok(());
    }
    let [name, size] = ["ProjLinearUnitsGeoKey", "ProjLinearUnitSizeGeoKey"];
    check_unit(keys, name, size, &[METRE], &Unit::metre())
        .map_err(|found| format!("{found}, expected metres, which EPSG:{code} has"))
}

/// Checks that angles are in degrees, as those of a geographic system with a code.
fn same_angle(keys: Keys<'_>, code: u32) -> Result<(), String> {
    let [name, size] = ["GeogAngularUnitsGeoKey", "GeogAngularUnitSizeGeoKey"];
    check_unit(keys, name, size, &[DEGREE, DEGREE_OF_ANY_FORM], &Unit::degree())
        .map_err(|found| format!("{found}, expected degrees, which EPSG:{code} has"))
}

/// Checks that a key says one of the codes of a unit, and another one its size, as far as they say any.
fn check_unit(keys: Keys<'_>, name: &str, size: &str, codes: &[u64], unit: &Unit) -> Result<(), String> {
    match (keys.code(name)?, keys.first(&[size])?) {
        (Some(code), _) if code != USER_DEFINED && !codes.contains(&code) => Err(format!("found {code} as {name}")),
        (Some(USER_DEFINED), None) => Err(format!("found {USER_DEFINED} as {name}, and no {size}")),
        (_, Some(stated)) if !is_size(stated, unit) => Err(format!("found {stated} as {size}")),
        _ => Ok(()),
    }
}

/// Whether a number is the size of a unit, which files round. The sizes of the two feet differ by twice the tolerance.
fn is_size(stated: f64, unit: &Unit) -> bool {
    (stated - unit.factor()).abs() <= 1e-6 * unit.factor()
}

/// Returns the unit that a key names by its code, or by its size in metres or radians; `None` without the key.
fn unit(keys: Keys<'_>, name: &str, size: &str, known: impl Fn(u64) -> Option<Unit>) -> Result<Option<Unit>, String> {
    let stated = keys.first(&[size])?;
    let code = match (keys.known_code(name)?, stated) {
        (Some(code), _) => code,
        (None, None) => return Ok(None),
        // Other software writes units that have no code without the key.
        (None, Some(stated)) => return Err(format!("found {stated} as {size}, and no {name}")),
    };
    if code == USER_DEFINED {
        return Unit::new("unknown", keys.need(&[size])?).map(Some);
    }
    let unit = known(code).ok_or_else(|| format!("found {code} as {name}, which is not known"))?;
    match stated.filter(|stated| !is_size(*stated, &unit)) {
        Some(stated) => Err(format!("found {stated} as {size} of the unit {code}, expected {}", unit.factor())),
        None => Ok(Some(unit)),
    }
}

/// Unit of angles (7.5.5): degrees without the key, as other software has it.
fn angle(keys: Keys<'_>) -> Result<Unit, String> {
    let unit = unit(keys, "GeogAngularUnitsGeoKey", "GeogAngularUnitSizeGeoKey", |code| match code {
        DEGREE | DEGREE_OF_ANY_FORM => Some(Unit::degree()),
        9101 => Some(Unit::radian()),
        9105 => Some(Unit::grad()),
        _ => None,
    })?;
    Ok(unit.unwrap_or_else(Unit::degree))
}

/// Geographic system (7.5.4).
fn geographic(keys: Keys<'_>) -> Result<GeographicCrs, String> {
    if let Some(shift) = keys.0.get("GeogTOWGS84GeoKey")
        && !shift.as_array().is_some_and(|numbers| numbers.iter().all(|number| number.as_f64() == Some(0.0)))
    {
        return Err(match shift {
            Value::Array(_) => "found GeogTOWGS84GeoKey, a transformation to WGS 84".to_owned(),
            other => format!("found {} as GeogTOWGS84GeoKey, expected a list of numbers", other.excerpt()),
        });
    }
    for name in ["GTCitationGeoKey", "GeogCitationGeoKey", "PCSCitationGeoKey"] {
        // Other software takes it in place of the keys.
        let text = keys.0.get(name).and_then(Value::as_str);
        if text.is_some_and(|text| text.trim_start().starts_with("ESRI PE String")) {
            return Err(format!("found an ESRI PE String as {name}, which is not read"));
        }
    }
    let unit = angle(keys)?;
    let code = keys.named_code("GeographicTypeGeoKey")?;
    let system = match code {
        Some(code) => {
            let known = u32::try_from(code).ok().and_then(GeographicCrs::of_code);
            let known = known.ok_or_else(|| format!("found the geographic system {code}, which is not known"))?;
            same_ellipsoid(&known, ellipsoid(keys)?)?;
            known
        }
        None => own(keys)?,
    };
    let meridian = meridian(keys)?;
    if code.is_some() && (meridian != PrimeMeridian::greenwich() || unit != Unit::degree()) {
        return Err("found another prime meridian or angular unit than those of the geographic system".to_owned());
    }
    system.angles(meridian, unit)
}

/// Meridian from which longitudes are counted.
fn meridian(keys: Keys<'_>) -> Result<PrimeMeridian, String> {
    const LONGITUDE: &str = "GeogPrimeMeridianLongGeoKey";
    match (keys.known_code("GeogPrimeMeridianGeoKey")?, keys.first(&[LONGITUDE])?) {
        (None | Some(8901), None | Some(0.0)) => Ok(PrimeMeridian::greenwich()),
        (None | Some(USER_DEFINED), Some(longitude)) => {
            let name = keys.cited("GeogCitationGeoKey", "Primem").unwrap_or("unknown");
            Ok(PrimeMeridian::new(name, longitude))
        }
        (Some(8901), Some(longitude)) => {
            Err(format!("found GeogPrimeMeridianGeoKey 8901, which is Greenwich, and {longitude} as {LONGITUDE}"))
        }
        (Some(code), _) => Err(format!("found the prime meridian {code}, which is not known")),
    }
}

/// Geographic system of the file's own.
fn own(keys: Keys<'_>) -> Result<GeographicCrs, String> {
    let stated = ellipsoid(keys)?;
    let cited = |part: &str| keys.cited("GeogCitationGeoKey", part);
    let name = keys.named("GeogCitationGeoKey", "GCS Name").unwrap_or("unknown");
    match keys.named_code("GeogGeodeticDatumGeoKey")? {
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
    let code = keys.named_code("GeogEllipsoidGeoKey")?;
    let known = code.map(|code| {
        let known = u32::try_from(code).ok().and_then(Ellipsoid::of_code);
        known.ok_or_else(|| format!("found the ellipsoid {code}, which is not known"))
    });
    let known = known.transpose()?;
    let Some(major) = major else { return Ok(known) };
    if unit_of_lengths(keys, "GeogLinearUnitsGeoKey", "GeogLinearUnitSizeGeoKey")? != Unit::metre() {
        return Err("found axes of an ellipsoid in another unit than metres".to_owned());
    }
    let name = keys.cited("GeogCitationGeoKey", "Ellipsoid").unwrap_or("unknown");
    let (inverse, minor) = (keys.first(&["GeogInvFlatteningGeoKey"])?, keys.first(&["GeogSemiMinorAxisGeoKey"])?);
    let Some(stated) = Ellipsoid::of_parts(name, major, minor, inverse)? else {
        return match known {
            Some(known) if (known.semi_major_axis() - major).abs() > 1e-3 => {
                Err("found axes of another ellipsoid than GeogEllipsoidGeoKey".to_owned())
            }
            Some(known) => Ok(Some(known)),
            None => Err("found no GeogInvFlatteningGeoKey".to_owned()),
        };
    };
    match known {
        Some(known) if !known.is_same(&stated) => {
            Err("found axes of another ellipsoid than GeogEllipsoidGeoKey".to_owned())
        }
        Some(known) => Ok(Some(known)),
        None => Ok(Some(stated)),
    }
}

/// Unit of coordinates (7.5.6): metres without the key, as other software has it.
fn length(keys: Keys<'_>) -> Result<Unit, String> {
    unit_of_lengths(keys, "ProjLinearUnitsGeoKey", "ProjLinearUnitSizeGeoKey")
}

fn unit_of_lengths(keys: Keys<'_>, name: &str, size: &str) -> Result<Unit, String> {
    let unit = unit(keys, name, size, |code| match code {
        METRE => Some(Unit::metre()),
        9002 => Some(Unit::foot()),
        9003 => Some(Unit::us_survey_foot()),
        9036 => Some(Unit::kilometre()),
        _ => None,
    })?;
    Ok(unit.unwrap_or_else(Unit::metre))
}

#[cfg(test)]
mod tests {
    use super::*;
    use zarr_json::json;

    /// Description of a system; `None` of one with a code.
    fn described(keys: &Map) -> Result<Option<String>, String> {
        Ok(system(keys)?.and_then(|system| match system {
            System::Wkt2(text) => Some(text),
            System::Code(_) => None,
        }))
    }

    /// Returns keys with others, which replace those of the same name.
    fn with(keys: &Value, others: &Value) -> Map {
        let mut all = keys.as_object().expect("an object").clone();
        for (name, value) in others.as_object().expect("an object").iter() {
            all.insert(name, value.clone());
        }
        all
    }

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
            described(&with(&all, &other))
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
            (json!({"ProjLinearUnitsGeoKey": 9005}), "9005 as ProjLinearUnitsGeoKey"),
            (json!({"ProjLinearUnitsGeoKey": 32_767}), "no ProjLinearUnitSizeGeoKey"),
            (json!({"ProjLinearUnitsGeoKey": 32_767, "ProjLinearUnitSizeGeoKey": 0.0}), "a unit of 0"),
            (json!({"ProjCoordTransGeoKey": 3}), "the method 3"),
            (json!({"ProjCoordTransGeoKey": 32_767}), "the method 32767"),
            (json!({"ProjStdParallel2GeoKey": null}), "as ProjStdParallel2GeoKey, expected a number"),
            (json!({"ProjFalseOriginLatGeoKey": 91}), "91 as Latitude of false origin"),
            (json!({"ProjScaleAtNatOriginGeoKey": 0.9}), "the scale 0.9"),
            (json!({"ProjectionGeoKey": 10_101}), "the projection 10101"),
            (json!({"ProjCoordTransGeoKey": 24, "ProjFalseOriginLatGeoKey": 5}), "the latitude 5 of the origin"),
            (json!({"ProjCoordTransGeoKey": 15, "ProjScaleAtNatOriginGeoKey": 0.9}), "the scale 0.9, expected a pole"),
            (json!({"GTModelTypeGeoKey": 32_767, "GeographicTypeGeoKey": 32_767}), "a model of the file's own"),
            (json!({"GTModelTypeGeoKey": 32_767}), "a model of the file's own"),
            (json!({"GTModelTypeGeoKey": 7}), "found 7 as GTModelTypeGeoKey"),
            (json!({"GTModelTypeGeoKey": 3, "GeographicTypeGeoKey": 32_767}), "geocentric"),
            (json!({"ProjectedCSTypeGeoKey": 54_030}), "54030 as ProjectedCSTypeGeoKey"),
            (json!({"GeogAngularUnitSizeGeoKey": 0.0157}), "0.0157 as GeogAngularUnitSizeGeoKey, and no"),
            (json!({"GeogAngularUnitsGeoKey": 9102, "GeogAngularUnitSizeGeoKey": 0.0157}), "of the unit 9102"),
            (json!({"ProjLinearUnitSizeGeoKey": 0.3048}), "0.3048 as ProjLinearUnitSizeGeoKey of the unit 9001"),
            (json!({"ProjNatOriginLatGeoKey": 23}), "as ProjNatOriginLatGeoKey and 40 as ProjFalseOriginLatGeoKey"),
            (json!({"ProjFalseEastingGeoKey": 0, "ProjCenterEastingGeoKey": 5}), "the same numbers"),
            (json!({"ProjScaleAtNatOriginGeoKey": 1, "ProjScaleAtCenterGeoKey": 0.9}), "the same numbers"),
            (json!({"ProjStdParallel1GeoKey": (-60)}), "no cone"),
            (json!({"GeogTOWGS84GeoKey": null}), "null as GeogTOWGS84GeoKey"),
            (json!({"GeogTOWGS84GeoKey": 5.0}), "as GeogTOWGS84GeoKey, expected a list"),
            (json!({"GeogPrimeMeridianGeoKey": null}), "null as GeogPrimeMeridianGeoKey"),
            (json!({"GeogPrimeMeridianGeoKey": 0}), "0 as GeogPrimeMeridianGeoKey"),
            (json!({"PCSCitationGeoKey": "ESRI PE String = PROJCS[...]"}), "an ESRI PE String as PCSCitationGeoKey"),
            (json!({"3096": 53.1}), "found 3096"),
            (json!({"ProjectionGeoKey": 16_133}), "found 40 as ProjFalseOriginLatGeoKey of the projection 16133"),
            (
                json!({"ProjCoordTransGeoKey": 7, "ProjStdParallel1GeoKey": 40, "ProjStdParallel2GeoKey": 40}),
                "the latitude 40 of the origin",
            ),
            (
                json!({"GeographicTypeGeoKey": 32_767, "GeogSemiMajorAxisGeoKey": 6_378_137.0,
                    "GeogSemiMinorAxisGeoKey": 6_356_752.3, "GeogInvFlatteningGeoKey": 0.0}),
                "which differ",
            ),
            (
                json!({"GeographicTypeGeoKey": 32_767, "GeogEllipsoidGeoKey": 7030, "GeogAngularUnitsGeoKey": 9105}),
                "not in degrees",
            ),
            (json!({"ProjLinearUnitsGeoKey": 0}), "found 0 as ProjLinearUnitsGeoKey"),
            (json!({"GeogAngularUnitsGeoKey": [9102, 9102]}), "as GeogAngularUnitsGeoKey, expected a code"),
            (json!({"ProjCoordTransGeoKey": 9, "ProjFalseOriginLatGeoKey": 45}), "found ProjStdParallel1GeoKey"),
            (json!({"ProjRectifiedGridAngleGeoKey": 5}), "found ProjRectifiedGridAngleGeoKey"),
            (json!({"GeogPrimeMeridianGeoKey": 8901, "GeogPrimeMeridianLongGeoKey": 2.5}), "which is Greenwich"),
        ] {
            let found = keys(other.clone()).expect_err(reason);
            assert!(found.contains(reason), "{other}: {found}");
        }
        // A zone of UTM, and systems with a code.
        let utm = json!({"GTModelTypeGeoKey": 1, "ProjectedCSTypeGeoKey": 32_767, "GeographicTypeGeoKey": 4326,
            "ProjectionGeoKey": 16_133, "ProjFalseEastingGeoKey": 500_000.0});
        let utm = described(utm.as_object().expect("an object")).expect("known").expect("a description");
        assert!(utm.contains("\"Longitude of natural origin\",15,") && utm.contains("10000000"), "{utm}");
        assert_eq!(keys(json!({"ProjectedCSTypeGeoKey": 32_633})), Ok(None));
        assert_eq!(keys(json!({"GTModelTypeGeoKey": 2})), Ok(None));
    }

    /// Keys of units beside a code have to be those of the system, which may be rounded or not known.
    #[test]
    fn units_beside_a_code_are_those_of_its_system() {
        let degrees = json!({"GeographicTypeGeoKey": 4326});
        let metres = json!({"ProjectedCSTypeGeoKey": 32_633});
        for (system, beside, reason) in [
            (&degrees, json!({"GeogAngularUnitsGeoKey": 9102}), None),
            (&degrees, json!({"GeogAngularUnitsGeoKey": 0}), None),
            (&degrees, json!({"GeogAngularUnitSizeGeoKey": 0.0174533}), None),
            (&degrees, json!({"GeogAngularUnitsGeoKey": 32_767, "GeogAngularUnitSizeGeoKey": 0.0174532925}), None),
            (&degrees, json!({"GeogAngularUnitsGeoKey": 9105}), Some("9105 as GeogAngularUnitsGeoKey, expected deg")),
            (&degrees, json!({"GeogAngularUnitsGeoKey": 32_767}), Some("no GeogAngularUnitSizeGeoKey")),
            (&degrees, json!({"GeogAngularUnitSizeGeoKey": 0.0157}), Some("0.0157 as GeogAngularUnitSizeGeoKey")),
            (&degrees, json!({"GeogPrimeMeridianLongGeoKey": 2.5}), Some("another prime meridian")),
            (&metres, json!({"ProjLinearUnitsGeoKey": 9001, "ProjLinearUnitSizeGeoKey": 1.0}), None),
            (&metres, json!({"ProjLinearUnitsGeoKey": 0}), None),
            (&metres, json!({"ProjLinearUnitsGeoKey": 32_767, "ProjLinearUnitSizeGeoKey": 1.0}), None),
            (&metres, json!({"ProjLinearUnitsGeoKey": 9002}), Some("9002 as ProjLinearUnitsGeoKey, expected metres")),
            (&metres, json!({"ProjLinearUnitSizeGeoKey": 0.3048}), Some("0.3048 as ProjLinearUnitSizeGeoKey")),
        ] {
            match (super::system(&with(system, &beside)), reason) {
                (Ok(Some(System::Code(_))), None) => {}
                (Err(found), Some(reason)) => assert!(found.contains(reason), "{beside}: {found}"),
                (found, _) => panic!("{beside}: {:?}", found.map(|system| system.is_some())),
            }
        }
    }
}
