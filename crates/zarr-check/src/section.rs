//! Sections of conventions, in which the rules stand that findings are about.

use crate::Code;

/// Sections of the CF conventions, by codes of findings.
const OF_CODES: [(Code, &str); 14] = [
    (Code::BadUnits, "CF 4.4, time coordinate"),
    (Code::DimensionSizes, "CF 2.4, dimensions"),
    (Code::MissingCoordinate, "CF 5, coordinate systems"),
    (Code::BadEncoding, "CF 8.1, packed data"),
    (Code::BadBounds, "CF 7.1, cell boundaries"),
    (Code::BadFlags, "CF 3.5, flags"),
    (Code::BadGridMapping, "CF 5.6, grid mappings"),
    (Code::BadGeo, "GeoZarr, attributes"),
    (Code::GeoDimensions, "GeoZarr, spatial:dimensions"),
    (Code::GeoContradiction, "GeoZarr, attributes"),
    (Code::MissingAsset, "GeoZarr, multiscales layout"),
    (Code::GeoAdvice, "GeoZarr, attributes"),
    (Code::ImageVersion, "OME-Zarr, metadata"),
    (Code::UnknownImage, "OME-Zarr, metadata"),
];

/// Sections of conventions, by members in the pointer of a finding. The first that occurs in a pointer holds.
const OF_MEMBERS: [(&str, &str); 38] = [
    ("_FillValue", "CF 2.5.1, missing data"),
    ("missing_value", "CF 2.5.1, missing data"),
    ("valid_range", "CF 2.5.1, missing data"),
    ("valid_min", "CF 2.5.1, missing data"),
    ("valid_max", "CF 2.5.1, missing data"),
    ("units", "CF 4.4, time coordinate"),
    ("calendar", "CF 4.4.1, calendar"),
    ("bounds", "CF 7.1, cell boundaries"),
    ("climatology", "CF 7.4, climatological statistics"),
    ("cell_measures", "CF 7.2, cell measures"),
    ("formula_terms", "CF 4.3.3, parametric vertical coordinate"),
    ("grid_mapping", "CF 5.6, grid mappings"),
    ("ancillary_variables", "CF 3.4, ancillary data"),
    ("geometry", "CF 7.5, geometries"),
    ("node_coordinates", "CF 7.5, geometries"),
    ("node_count", "CF 7.5, geometries"),
    ("part_node_count", "CF 7.5, geometries"),
    ("interior_ring", "CF 7.5, geometries"),
    ("proj:code", "GeoZarr, proj:code"),
    ("proj:wkt2", "GeoZarr, proj:wkt2"),
    ("proj:projjson", "GeoZarr, proj:projjson"),
    ("spatial:dimensions", "GeoZarr, spatial:dimensions"),
    ("spatial:bbox", "GeoZarr, spatial:bbox"),
    ("spatial:transform_type", "GeoZarr, spatial:transform_type"),
    ("spatial:transform", "GeoZarr, spatial:transform"),
    ("spatial:shape", "GeoZarr, spatial:shape"),
    ("spatial:registration", "GeoZarr, spatial:registration"),
    ("layout", "GeoZarr, multiscales layout"),
    ("zarr_conventions", "GeoZarr, convention registration"),
    ("scene", "OME-Zarr, \"scene\" metadata"),
    ("axes", "OME-Zarr, \"axes\" metadata"),
    ("coordinateSystems", "OME-Zarr, \"coordinateSystems\" metadata"),
    ("coordinateTransformations", "OME-Zarr, \"coordinateTransformations\" metadata"),
    ("omero", "OME-Zarr, \"omero\" metadata"),
    ("image-label", "OME-Zarr, \"labels\" metadata"),
    ("labels", "OME-Zarr, \"labels\" metadata"),
    ("plate", "OME-Zarr, \"plate\" metadata"),
    ("well", "OME-Zarr, \"well\" metadata"),
];

/// Returns the section of the convention that has the rule which a finding is about; `None` if no convention has it. `pointer` leads from
/// the attributes to the value.
pub(crate) fn of(code: Code, pointer: &str) -> Option<&'static str> {
    let is_member = |name: &str| pointer.split('/').any(|member| member == name);
    let of_member = OF_MEMBERS.iter().find(|(name, _)| is_member(name)).map(|(_, section)| *section);
    let of_code = OF_CODES.iter().find(|(known, _)| *known == code).map(|(_, section)| *section);
    let of_ome = || match is_member("multiscales") {
        true => Some("OME-Zarr, \"multiscales\" metadata"),
        false => (is_member("bioformats2raw.layout") || is_member("series"))
            .then_some("OME-Zarr, \"bioformats2raw.layout\" metadata"),
    };
    of_member.or(of_code).or_else(of_ome)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closest_section_holds() {
        for (code, pointer, section) in [
            (Code::BadPlate, "/ome/plate/wells/0/path", Some("OME-Zarr, \"plate\" metadata")),
            (Code::BadImage, "/multiscales/0/axes/0/name", Some("OME-Zarr, \"axes\" metadata")),
            (Code::LevelScale, "/ome/multiscales/0/datasets", Some("OME-Zarr, \"multiscales\" metadata")),
            (Code::BadEncoding, "/_FillValue", Some("CF 2.5.1, missing data")),
            (Code::BadEncoding, "/scale_factor", Some("CF 8.1, packed data")),
            (Code::StrayKey, "/mine", None),
        ] {
            assert_eq!(of(code, pointer), section, "{pointer}");
        }
    }
}
