//! Places on Earth of TIFF files that are made here.

use super::*;
use zarr::geo::{Crs, Georeference, Transform};

#[test]
fn texts_of_geotiff_are_counted_in_bytes() {
    let mut file = Made::new();
    let keys = vec![1, 1, 0, 2, 1026, 34737, 2, 0, 2049, 34737, 4, 2];
    let texts = b"\xe9|abc|\0".iter().map(|byte| u64::from(*byte)).collect();
    file.filled(2, 0, &[(34735, 3, keys), (34737, 2, texts)]);
    let found = attributes(&file.opened().0);
    let keys = found.get("geotiff").and_then(|geo| geo.get("keys")).unwrap();
    assert_eq!(keys.get("GTCitationGeoKey").and_then(Value::as_str), Some("\u{e9}"));
    assert_eq!(keys.get("GeogCitationGeoKey").and_then(Value::as_str), Some("abc"));
}

#[test]
fn levels_of_points_cover_the_area_of_their_file() {
    let keys = vec![1, 1, 0, 2, 1025, 0, 1, 2, 2048, 0, 1, 4326];
    let place = |is_point: bool| {
        let mut keys = keys.clone();
        keys[7] = if is_point { 2 } else { 1 };
        [
            (33550, 12, floats(&[0.5, 0.25, 0.0])),
            (33922, 12, floats(&[0.0, 0.0, 0.0, 7.0, 50.0, 0.0])),
            (34735, 3, keys),
        ]
    };
    for (is_point, finest, coarser, extent) in [
        (false, [0.5, 7.0, -0.25, 50.0], [1.0, 7.0, -0.5, 50.0], [7.0, 48.0, 11.0, 50.0]),
        // The file has the coordinates of the centres.
        (true, [0.5, 7.0, -0.25, 50.0], [1.0, 7.25, -0.5, 49.875], [7.0, 48.25, 10.5, 50.0]),
    ] {
        let mut file = Made::new();
        let more = place(is_point);
        file.filled(8, 1, &[&[(254, 4, vec![0])], &more[..]].concat());
        file.filled(4, 2, &[&[(254, 4, vec![1])], &more[..]].concat());
        let (store, _) = file.opened();
        let read = |path: &str| {
            let array = zarr::open((&store, path)).array().unwrap();
            let read = Georeference::read(array.attributes().unwrap()).unwrap();
            assert!(read.faults.is_empty() && read.contradiction().is_none(), "{read:?}");
            assert_eq!((&read.crs, read.registration.name() == "node"), (&Some(Crs::epsg(4326)), is_point));
            let Transform([a, _, c, _, e, f]) = read.transform.unwrap();
            ([a, c, e, f], read.extent().unwrap())
        };
        assert_eq!(read("/0"), (finest, extent));
        assert_eq!(read("/1").0, coarser);
        // Numbers that are too large for an extent are no place.
        let mut file = Made::new();
        file.filled(8, 1, &[(33550, 12, floats(&[1e308, 1e308, 0.0])), (33922, 12, floats(&[0.0; 6]))]);
        let wide = file.opened().0;
        let wide = zarr::open((&wide, "/0")).array().unwrap();
        assert_eq!(Georeference::read(wide.attributes().unwrap()), None);
        let group = zarr::open(&store).group().unwrap();
        assert_eq!(Georeference::read(group.attributes().unwrap()).unwrap().bbox, Some(extent));
        assert!(group.attributes().unwrap().get("ome").is_some());
    }
}

/// Tags of GeoTIFF: the scale, the tie point, the matrix, each left out if it is empty.
fn tags_of_place(scale: &[f64], tie: &[f64], matrix: &[f64]) -> Vec<Entry> {
    let all = [(33550, scale), (33922, tie), (34264, matrix)];
    all.into_iter().filter(|(_, found)| !found.is_empty()).map(|(tag, found)| (tag, 12, floats(found))).collect()
}

/// Keys with which pixels are points or areas, in EPSG:4326.
fn keys(is_point: bool) -> Entry {
    (34735, 3, vec![1, 1, 0, 2, 1025, 0, 1, if is_point { 2 } else { 1 }, 2048, 0, 1, 4326])
}

/// Scale, tie point and matrix of a file, whether pixels are points, and the transformation.
type Case<'c> = (&'c [f64], &'c [f64], &'c [f64], bool, Option<[f64; 6]>);

#[test]
fn places_are_those_of_gdal() {
    let matrix = [3.0, 0.5, 0.0, 100.0, 0.25, -4.0, 0.0, 200.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0];
    let flat = [1.0, 2.0, 0.0, 5.0, 2.0, 4.0, 0.0, 6.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0];
    let (scale, tie) = ([0.5, 0.25, 0.0], [2.0, 3.0, 0.0, 7.0, 50.0, 0.0]);
    let north_up = Some([0.5, 0.0, 6.0, 0.0, -0.25, 50.75]);
    let of_matrix = Some([3.0, 0.5, 100.0, 0.25, -4.0, 200.0]);
    // The expected numbers are those of rasterio 1.4.4, but for pixels without an area.
    let cases: [Case<'_>; 13] = [
        (&scale, &tie, &[], false, north_up),
        (&scale, &tie, &matrix, false, north_up),
        (&[0.5, -0.25, 0.0], &tie, &[], false, north_up),
        (&[-0.5, 0.25, 0.0], &tie, &[], false, Some([-0.5, 0.0, 8.0, 0.0, -0.25, 50.75])),
        (&scale, &tie, &[], true, Some([0.5, 0.0, 5.75, 0.0, -0.25, 50.875])),
        (&[], &[], &matrix, false, of_matrix),
        (&[], &[], &matrix, true, Some([3.0, 0.5, 98.25, 0.25, -4.0, 201.875])),
        (&[0.0, 0.0, 0.0], &tie, &matrix, false, of_matrix),
        (&[0.0, 0.0, 0.0], &tie, &[], false, None),
        (&[0.0, 1.0, 0.0], &tie, &[], false, None),
        (&[0.5], &tie, &[], false, None),
        (&[], &tie, &[], false, None),
        (&[], &[], &flat, false, None),
    ];
    for (scale, tie, matrix, is_point, expected) in cases {
        let mut file = Made::new();
        file.filled(8, 1, &[&tags_of_place(scale, tie, matrix)[..], &[keys(is_point)]].concat());
        let (store, warnings) = file.opened();
        let found = zarr_tiff::GeoReference::of(attributes(&store).as_object().unwrap()).unwrap();
        assert_eq!((found.transform, found.epsg, found.is_point), (expected, Some(4326), is_point), "{warnings:?}");
        let array = zarr::open((&store, "/0")).array().unwrap();
        let read = Georeference::read(array.attributes().unwrap()).unwrap();
        assert!(read.faults.is_empty() && read.contradiction().is_none(), "{read:?}");
        let of_affine = |transform| Georeference::of_affine(transform, found.epsg, is_point);
        assert_eq!(read.transform, expected.and_then(|transform| of_affine(transform).transform));
        assert_eq!((&read.crs, read.registration.name() == "node"), (&Some(Crs::epsg(4326)), is_point));
    }
    // Points keep the numbers of the file, which the way to the corner and back would round.
    let mut file = Made::new();
    let tags = tags_of_place(&[30.0, 30.0, 0.0], &[0.0, 0.0, 0.0, -52.82, 4.1, 0.0], &[]);
    file.filled(8, 1, &[&tags[..], &[keys(true)]].concat());
    let array = zarr::open((&file.opened().0, "/0")).array().unwrap();
    let read = Georeference::read(array.attributes().unwrap()).unwrap();
    assert_eq!(read.transform, Some(Transform([30.0, 0.0, -52.82, 0.0, -30.0, 4.1])));
    // Without keys.
    let mut file = Made::new();
    file.filled(8, 1, &tags_of_place(&scale, &tie, &[]));
    let (store, _) = file.opened();
    let array = zarr::open((&store, "/0")).array().unwrap();
    let read = Georeference::read(array.attributes().unwrap()).unwrap();
    assert_eq!((read.crs, read.transform), (None, north_up.map(Transform)));
}

#[test]
fn levels_of_maps_cover_the_same_area() {
    let matrix = [3.0, 0.5, 0.0, 100.0, 0.25, -4.0, 0.0, 200.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0];
    let (down, across) = (7.0 / 4.0, 9.0 / 5.0);
    for (tags, is_point, [a, b, c, d, e, f]) in [
        // The tie point is not the first pixel.
        (
            tags_of_place(&[0.5, 0.25, 0.0], &[2.0, 3.0, 0.0, 7.0, 50.0, 0.0], &[]),
            false,
            [0.5, 0.0, 6.0, 0.0, -0.25, 50.75],
        ),
        (
            tags_of_place(&[0.5, 0.25, 0.0], &[2.0, 3.0, 0.0, 7.0, 50.0, 0.0], &[]),
            true,
            [0.5, 0.0, 5.75, 0.0, -0.25, 50.875],
        ),
        (tags_of_place(&[], &[], &matrix), false, [3.0, 0.5, 100.0, 0.25, -4.0, 200.0]),
        (tags_of_place(&[], &[], &matrix), true, [3.0, 0.5, 98.25, 0.25, -4.0, 201.875]),
    ] {
        let mut file = Made::new();
        for (number, [width, height]) in [[9, 7], [5, 4]].into_iter().enumerate() {
            let at = file.data(&vec![1; (width * height) as usize]);
            let own = [(254, 4, vec![number as u64]), keys(is_point)];
            file.page(&[&gray([width, height], height, &[at], &[width * height])[..], &own, &tags].concat());
        }
        let (store, _) = file.opened();
        let array = zarr::open((&store, "/1")).array().unwrap();
        let read = Georeference::read(array.attributes().unwrap()).unwrap();
        // The corner of the first pixel stays, and that of points is half a pixel of the level before its centre.
        let corner = match is_point {
            true => read.transform.unwrap().shifted(-0.5, -0.5),
            false => read.transform.unwrap(),
        };
        let expected = [a * across, b * down, c, d * across, e * down, f];
        let is_near = corner.0.iter().zip(&expected).all(|(found, expected)| (found - expected).abs() < 1e-12);
        assert!(is_near, "{corner:?}, expected {expected:?}");
        // The image of OME-Zarr has pixels of the same size.
        let scale = attributes(&store);
        let scale =
            scale.as_object().unwrap().pointer("/ome/multiscales/0/datasets/1/coordinateTransformations/0/scale");
        assert_eq!(scale, Some(&Value::from(vec![down, across])));
    }
}

#[test]
fn pages_of_different_places_are_no_parts_of_one_array() {
    let place =
        |x: f64| vec![(33550, 12, floats(&[0.5, 0.5, 0.0])), (33922, 12, floats(&[0.0, 0.0, 0.0, x, 50.0, 0.0]))];
    let left = |store: &Arc<dyn Store>, path: &str| {
        let array = zarr::open((store, path)).array().unwrap();
        Georeference::read(array.attributes().unwrap()).map(|read| read.transform.unwrap().0[2])
    };
    let reduced = [(254, 4, vec![1])];
    let mut file = Made::new();
    file.filled(4, 1, &place(7.0));
    file.filled(2, 11, &reduced);
    file.filled(4, 2, &place(9.0));
    file.filled(2, 12, &reduced);
    file.filled(4, 3, &place(7.0));
    file.filled(2, 13, &reduced);
    let (store, warnings) = file.opened();
    assert_eq!((read(&store, "/0/0").0, read(&store, "/1/0").0), (vec![2, 4, 4], vec![4, 4]), "{warnings:?}");
    let levels = [read(&store, "/0/1").1, read(&store, "/1/1").1];
    assert_eq!(levels, [[[11; 4], [13; 4]].concat(), vec![12; 4]], "{warnings:?}");
    let at = |path: &str| left(&store, path);
    assert_eq!([at("/0/0"), at("/0/1"), at("/1/0"), at("/1/1")], [Some(7.0), Some(7.0), Some(9.0), Some(9.0)]);
    // A page without a place may be of the array of one before it that has a place; a level behind several arrays says nothing.
    let mut file = Made::new();
    [(1, place(7.0)), (2, vec![]), (3, place(9.0)), (4, vec![])]
        .iter()
        .for_each(|(value, tags)| file.filled(4, *value, tags));
    file.filled(2, 11, &reduced);
    let (store, warnings) = file.opened();
    assert_eq!((read(&store, "/0/0").0, read(&store, "/1/0").0), (vec![2, 4, 4], vec![2, 4, 4]), "{warnings:?}");
    assert_eq!((left(&store, "/0/0"), left(&store, "/1/0")), (Some(7.0), Some(9.0)));
    assert!(warnings.iter().any(|warning| warning.contains("page 4 is left out")), "{warnings:?}");
    // The description says which pages are an array.
    for (x, expected) in [(9.0, None), (7.0, Some(7.0))] {
        let mut file = Made::new();
        file.filled(4, 1, &[&[(270, 2, text("ImageJ=1.53\nslices=2\n"))], &place(7.0)[..]].concat());
        file.filled(4, 2, &place(x));
        let (store, warnings) = file.opened();
        assert_eq!((read(&store, "/0").0, left(&store, "/0")), (vec![2, 4, 4], expected));
        assert_eq!(attributes(&store).get("geotiff").is_some(), expected.is_some());
        let is_told =
            warnings.iter().any(|warning| warning.contains("pages 0 and 1 of an array have different places"));
        assert_eq!(is_told, expected.is_none(), "{warnings:?}");
    }
}
