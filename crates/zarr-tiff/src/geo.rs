//! GeoTIFF: where the pixels of a page lie on the Earth.

use std::hash::{DefaultHasher, Hash, Hasher};

use zarr_geo::{Crs, Georeference, Registration, Transform};
use zarr_json::{Map, Value, json};

use crate::fault::Failure;
use crate::geo_keys::{self, System};
use crate::ifd::{Ifd, Reader, decoded};
use crate::layout::Layout;
use crate::tags;
use crate::warnings::Warnings;

/// The attribute that has the tags of GeoTIFF.
pub const GEOTIFF: &str = "geotiff";
/// Maximum number of keys.
const MAX_KEYS: usize = 4096;
/// Maximum number of numbers of a tag of GeoTIFF, and of all values of keys together.
const MAX_NUMBERS: usize = 1 << 18;

/// Where the pixels of an image lie: how its attribute `geotiff` describes it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct GeoReference {
    /// Numbers `[a, b, c, d, e, f]` of the corner of the pixel in column `col` and row `row`: `x = a * col + b * row + c` and
    /// `y = d * col + e * row + f`. The centre of the pixel is half a pixel on. `None` if the file has ground control points alone, or none, or if
    /// the pixels have no area. As in GDAL, a scale comes before a matrix, and rows go from north to south whatever the sign of the scale.
    pub transform: Option<[f64; 6]>,
    /// The code of the coordinate reference system at EPSG; `None` if the keys describe it by other numbers.
    pub epsg: Option<u32>,
    /// The description of the coordinate reference system in WKT2, if the keys describe it by a method of projection or an ellipsoid with
    /// their parameters; `None` if they do not, or it cannot be described exactly, of which a file warns when it is opened.
    pub wkt2: Option<String>,
    /// Whether the values are those of points in the centres of the pixels.
    pub is_point: bool,
    /// Transformation with the numbers of the file, which are those of the centres of pixels that are points.
    of_file: Option<Transform>,
}

impl GeoReference {
    /// Reads the attribute `geotiff` of attributes; `None` if they have none.
    ///
    /// ```
    /// use zarr_json::json;
    ///
    /// let attributes = json!({"geotiff": {
    ///     "keys": {"GTRasterTypeGeoKey": 1, "ProjectedCSTypeGeoKey": 32633},
    ///     "model_pixel_scale": [10.0, 10.0, 0.0],
    ///     "model_tiepoint": [0.0, 0.0, 0.0, 500000.0, 4600000.0, 0.0]
    /// }});
    /// let found = zarr_tiff::GeoReference::of(attributes.as_object().unwrap()).unwrap();
    /// assert_eq!(found.epsg, Some(32633));
    /// assert_eq!(found.transform, Some([10.0, 0.0, 500000.0, 0.0, -10.0, 4600000.0]));
    /// ```
    #[must_use]
    pub fn of(attributes: &Map) -> Option<Self> {
        attributes.get(GEOTIFF)?.as_object().map(Self::of_tags)
    }

    fn of_tags(tags: &Map) -> Self {
        let numbers =
            |name: &str| -> Option<Vec<f64>> { tags.get(name)?.as_array()?.iter().map(Value::as_f64).collect() };
        let key = |name: &str| tags.get("keys").and_then(|keys| keys.get(name)).and_then(Value::as_u64);
        let is_point = key("GTRasterTypeGeoKey") == Some(2);
        let by_scale = || {
            let (scale, tie) = (numbers("model_pixel_scale")?, numbers("model_tiepoint")?);
            let (&[width, height, ..], &[column, row, _, x, y, ..]) = (&scale[..], &tie[..]) else { return None };
            // GDAL takes a negative height for one of rows from north to south too.
            let height = height.abs();
            Some([width, 0.0, x - column * width, 0.0, -height, y + row * height])
        };
        let by_matrix = || match numbers("model_transformation")?[..] {
            [a, b, _, c, d, e, _, f, _, _, _, _, _, _, _, _] => Some([a, b, c, d, e, f]),
            _ => None,
        };
        let is_finite = |transform: &Transform| transform.0.iter().all(|number| number.is_finite());
        // Pixels without an area have no place.
        let has_area = |&[a, b, _, d, e, _]: &[f64; 6]| a * e - b * d != 0.0;
        let of_file = by_scale().filter(has_area).or_else(|| by_matrix().filter(has_area)).map(Transform);
        let corner = of_file.map(|of_file| if is_point { of_file.shifted(-0.5, -0.5) } else { of_file });
        let transform = corner.filter(is_finite).map(|corner| corner.0);
        let keys = tags.get("keys").and_then(Value::as_object);
        let (epsg, wkt2) = match keys.and_then(|keys| geo_keys::system(keys).ok().flatten()) {
            Some(System::Code(code)) => (Some(code), None),
            Some(System::Wkt2(text)) => (None, Some(text)),
            None => (None, None),
        };
        Self { transform, epsg, wkt2, is_point, of_file: of_file.filter(is_finite) }
    }
}

/// Returns how many times larger the pixels of a level are along an axis than those of the finest one, from the lengths of both: levels
/// cover the same area.
pub(crate) fn ratio(finest: u64, own: u64) -> f64 {
    finest as f64 / own.max(1) as f64
}

/// Returns where the pixels of a level lie by the tags of its series, whose finest level is given; `None` if the tags do not say, or the
/// level has no axes y and x. Levels cover the same area, as those of GDAL do.
pub(crate) fn place(tags: &Map, finest: &Layout, level: &Layout) -> Option<Georeference> {
    let of_file = GeoReference::of_tags(tags);
    let [rows, columns] = [level.len("y")?, level.len("x")?];
    let (down, across) = (ratio(finest.len("y")?, rows), ratio(finest.len("x")?, columns));
    let crs = of_file.epsg.map(Crs::epsg).or_else(|| of_file.wkt2.clone().map(Crs::Wkt2));
    let place = Georeference::new().dimensions("y", "x").shape(rows, columns);
    // The transformation of points is that of the centres of pixels. The finest level has the numbers of the file.
    let (first, registration) = match of_file.is_point {
        true => ([(across - 1.0) / 2.0, (down - 1.0) / 2.0], Registration::Node),
        false => ([0.0, 0.0], Registration::Pixel),
    };
    let transform = of_file.of_file.map(|finest| finest.shifted(first[0], first[1]).scaled(across, down));
    let place = place.transform(transform).registration(registration);
    // Numbers of JSON are finite.
    let extent = place.computed_extent().filter(|extent| extent.iter().all(|number| number.is_finite()));
    let place = if extent.is_some() { place } else { place.transform(None) };
    (place.transform.is_some() || crs.is_some()).then(|| place.crs(crs))
}

/// The attribute of the tags of a page; `None` if it has none.
pub(crate) fn attribute(reader: &Reader<'_>, ifd: &Ifd, warnings: &mut Warnings) -> Result<Option<Map>, Failure> {
    let mut found = Map::new();
    for (name, tag) in [
        ("model_pixel_scale", tags::MODEL_PIXEL_SCALE),
        ("model_tiepoint", tags::MODEL_TIEPOINT),
        ("model_transformation", tags::MODEL_TRANSFORMATION),
    ] {
        let numbers = warnings.part(reader.floats(ifd, tag, MAX_NUMBERS as u64 + 1))?;
        match numbers {
            Some(numbers) if numbers.len() > MAX_NUMBERS => {
                warnings.push(format!("page {}: {tag} has more than {MAX_NUMBERS} numbers, and is left out", ifd.page))
            }
            Some(numbers) => {
                found.insert(name, numbers);
            }
            None => {}
        }
    }
    let keys = warnings.part(keys(reader, ifd))?;
    if let Some(keys) = keys {
        if let Err(reason) = geo_keys::system(&keys) {
            warnings.push(format!("page {}: the coordinate reference system is left out: {reason}", ifd.page));
        }
        found.insert("keys", keys);
    }
    if found.is_empty() {
        return Ok(None);
    }
    for (name, tag) in [("nodata", tags::GDAL_NODATA), ("gdal_metadata", tags::GDAL_METADATA)] {
        if let Some(text) = warnings.part(reader.text(ifd, tag))? {
            found.insert(name, text.trim());
        }
    }
    Ok(Some(found))
}

/// Hash of the tags that say where a page lies, by which pages of one place are found; `None` if the page has none of these tags.
pub(crate) fn hash_of_place(reader: &Reader<'_>, ifd: &Ifd) -> Result<Option<u64>, Failure> {
    let (mut hasher, mut is_any) = (DefaultHasher::new(), false);
    for tag in [
        tags::MODEL_PIXEL_SCALE,
        tags::MODEL_TIEPOINT,
        tags::MODEL_TRANSFORMATION,
        tags::GEO_KEY_DIRECTORY,
        tags::GEO_DOUBLE_PARAMS,
        tags::GEO_ASCII_PARAMS,
    ] {
        let numbers = match reader.floats(ifd, tag, MAX_NUMBERS as u64) {
            // Whoever reads the tag for its value warns of the fault.
            Err(Failure::Fault(_)) => continue,
            numbers => numbers?,
        };
        let Some(numbers) = numbers else { continue };
        is_any = true;
        (tag.0, numbers.len()).hash(&mut hasher);
        numbers.iter().for_each(|number| number.to_bits().hash(&mut hasher));
    }
    Ok(is_any.then(|| hasher.finish()))
}

/// The keys of a page by their names.
fn keys(reader: &Reader<'_>, ifd: &Ifd) -> Result<Option<Map>, Failure> {
    let Some(directory) = reader.numbers(ifd, tags::GEO_KEY_DIRECTORY, MAX_NUMBERS as u64)? else { return Ok(None) };
    let doubles = reader.floats(ifd, tags::GEO_DOUBLE_PARAMS, MAX_NUMBERS as u64)?.unwrap_or_default();
    let texts = reader.raw(ifd, tags::GEO_ASCII_PARAMS)?.unwrap_or_default();
    let place = |value: u64, count: u64| {
        let start = usize::try_from(value).unwrap_or(usize::MAX);
        start..start.saturating_add(usize::try_from(count).unwrap_or(usize::MAX))
    };
    let (mut keys, mut left) = (Map::new(), MAX_NUMBERS as u64);
    for entry in directory.chunks_exact(4).skip(1).take(MAX_KEYS) {
        let &[key, location, count, value] = entry else { continue };
        let name = key_name(key).map_or_else(|| key.to_string(), str::to_owned);
        // Keys may share values.
        if location != 0 {
            left = left.saturating_sub(count);
        }
        let value = match location {
            _ if left == 0 => None,
            0 => Some(Value::from(value)),
            34736 => match doubles.get(place(value, count)) {
                Some([number]) => Some(Value::from(*number)),
                Some(numbers) => Some(Value::from(numbers.to_vec())),
                None => None,
            },
            34737 => texts.get(place(value, count)).map(|bytes| {
                let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
                Value::from(decoded(&bytes[..end]).trim_end_matches('|'))
            }),
            34735 => directory.get(place(value, count)).map(|numbers| Value::from(numbers.to_vec())),
            _ => None,
        };
        keys.insert(name, value.unwrap_or(json!(null)));
    }
    Ok(Some(keys))
}

/// The name of a key in the specification of GeoTIFF.
fn key_name(key: u64) -> Option<&'static str> {
    Some(match key {
        1024 => "GTModelTypeGeoKey",
        1025 => "GTRasterTypeGeoKey",
        1026 => "GTCitationGeoKey",
        2048 => "GeographicTypeGeoKey",
        2049 => "GeogCitationGeoKey",
        2050 => "GeogGeodeticDatumGeoKey",
        2051 => "GeogPrimeMeridianGeoKey",
        2052 => "GeogLinearUnitsGeoKey",
        2053 => "GeogLinearUnitSizeGeoKey",
        2054 => "GeogAngularUnitsGeoKey",
        2055 => "GeogAngularUnitSizeGeoKey",
        2056 => "GeogEllipsoidGeoKey",
        2057 => "GeogSemiMajorAxisGeoKey",
        2058 => "GeogSemiMinorAxisGeoKey",
        2059 => "GeogInvFlatteningGeoKey",
        2060 => "GeogAzimuthUnitsGeoKey",
        2061 => "GeogPrimeMeridianLongGeoKey",
        2062 => "GeogTOWGS84GeoKey",
        3072 => "ProjectedCSTypeGeoKey",
        3073 => "PCSCitationGeoKey",
        3074 => "ProjectionGeoKey",
        3075 => "ProjCoordTransGeoKey",
        3076 => "ProjLinearUnitsGeoKey",
        3077 => "ProjLinearUnitSizeGeoKey",
        3078 => "ProjStdParallel1GeoKey",
        3079 => "ProjStdParallel2GeoKey",
        3080 => "ProjNatOriginLongGeoKey",
        3081 => "ProjNatOriginLatGeoKey",
        3082 => "ProjFalseEastingGeoKey",
        3083 => "ProjFalseNorthingGeoKey",
        3084 => "ProjFalseOriginLongGeoKey",
        3085 => "ProjFalseOriginLatGeoKey",
        3086 => "ProjFalseOriginEastingGeoKey",
        3087 => "ProjFalseOriginNorthingGeoKey",
        3088 => "ProjCenterLongGeoKey",
        3089 => "ProjCenterLatGeoKey",
        3090 => "ProjCenterEastingGeoKey",
        3091 => "ProjCenterNorthingGeoKey",
        3092 => "ProjScaleAtNatOriginGeoKey",
        3093 => "ProjScaleAtCenterGeoKey",
        3094 => "ProjAzimuthAngleGeoKey",
        3095 => "ProjStraightVertPoleLongGeoKey",
        3096 => "ProjRectifiedGridAngleGeoKey",
        4096 => "VerticalCSTypeGeoKey",
        4097 => "VerticalCitationGeoKey",
        4098 => "VerticalDatumGeoKey",
        4099 => "VerticalUnitsGeoKey",
        5120 => "CoordinateEpochGeoKey",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_those_of_the_model() {
        for (keys, expected) in [
            (json!({"GTModelTypeGeoKey": 1, "ProjectedCSTypeGeoKey": 32_767, "GeographicTypeGeoKey": 4326}), None),
            (json!({"ProjectedCSTypeGeoKey": 32_767, "GeographicTypeGeoKey": 4326}), None),
            (json!({"GTModelTypeGeoKey": 1, "GeographicTypeGeoKey": 4326}), None),
            (
                json!({"GTModelTypeGeoKey": 1, "ProjectedCSTypeGeoKey": 32_633, "GeographicTypeGeoKey": 4326}),
                Some(32_633),
            ),
            (json!({"GTModelTypeGeoKey": 2, "ProjectedCSTypeGeoKey": 32_633, "GeographicTypeGeoKey": 4326}), None),
            (
                json!({"GTModelTypeGeoKey": 2, "ProjectedCSTypeGeoKey": 32_767, "GeographicTypeGeoKey": 4326}),
                Some(4326),
            ),
            // Coordinates of a projection that no key names.
            (json!({"GTModelTypeGeoKey": 32_767, "GeographicTypeGeoKey": 4326}), None),
            (json!({"ProjCoordTransGeoKey": 24, "GeographicTypeGeoKey": 4326}), None),
            (json!({"GTModelTypeGeoKey": null, "GeographicTypeGeoKey": 4326}), None),
            (json!({"GTModelTypeGeoKey": 32_767, "ProjectedCSTypeGeoKey": 32_633}), Some(32_633)),
            (json!({"ProjectedCSTypeGeoKey": 32_633, "ProjLinearUnitsGeoKey": 9002}), None),
            (json!({"ProjectedCSTypeGeoKey": 54_030}), None),
            (json!({"GeographicTypeGeoKey": 4326, "GeogAngularUnitsGeoKey": 9101}), None),
            (json!({"GeographicTypeGeoKey": 4326, "GeogPrimeMeridianGeoKey": null}), None),
            (json!({"GTModelTypeGeoKey": 3, "GeographicTypeGeoKey": 4978}), Some(4978)),
            (json!({"GeographicTypeGeoKey": 4326}), Some(4326)),
        ] {
            let attributes = json!({"geotiff": {"keys": (keys.clone())}});
            let found = GeoReference::of(attributes.as_object().expect("an object")).expect("a place");
            assert_eq!(found.epsg, expected, "{keys}");
        }
    }
}
