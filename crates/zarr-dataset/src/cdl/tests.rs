use crate::Dataset;
use std::sync::Arc;
use zarr_array::{Group, Registry, Store};
use zarr_store::{Key, MemoryStore, StoreExt};

/// Opens a data set of metadata documents in memory. Arrays have no chunks.
fn opened(documents: &[(&str, &str)]) -> Dataset {
    let store = MemoryStore::new();
    for (key, text) in documents {
        store.set_all(&Key::new(key).unwrap(), text.as_bytes()).unwrap();
    }
    let store: Arc<dyn Store> = Arc::new(store);
    let mut registry = Registry::default();
    zarr_codec_bytes::CODECS.iter().for_each(|entry| registry.codecs.add(*entry));
    Dataset::open(&Group::open(&store, "/", &Arc::new(registry)).unwrap()).unwrap()
}

fn v2(shape: &str, dtype: &str, fill: &str) -> String {
    format!(
        r#"{{"zarr_format": 2, "shape": {shape}, "chunks": {shape}, "dtype": "{dtype}", "fill_value": {fill}, "order": "C",
        "compressor": null, "filters": null}}"#
    )
}

fn v3(shape: &str, data_type: &str, names: &str, attributes: &str) -> String {
    format!(
        r#"{{"zarr_format": 3, "node_type": "array", "shape": {shape}, "data_type": {data_type}, "fill_value": 0,
        "chunk_grid": {{"name": "regular", "configuration": {{"chunk_shape": {shape}}}}},
        "chunk_key_encoding": {{"name": "default"}}, "codecs": [{{"name": "bytes", "configuration": {{"endian": "little"}}}}],
        "dimension_names": {names}, "attributes": {attributes}}}"#
    )
}

/// The example "CDL Syntax" of the netCDF Users Guide, which xarray stored in Zarr v2, is printed as `ncgen` and `ncdump -h` print it.
/// Types of attributes that netCDF does not fix are guessed, and unlimited dimensions are not stored.
#[test]
fn the_example_of_the_users_guide() {
    let t = r#"{"_ARRAY_DIMENSIONS": ["time", "lat", "lon"], "long_name": "temperature", "units": "celsius"}"#;
    let rh =
        r#"{"_ARRAY_DIMENSIONS": ["time", "lat", "lon"], "long_name": "relative humidity", "valid_range": [0.0, 1.0]}"#;
    let lat = r#"{"_ARRAY_DIMENSIONS": ["lat"], "units": "degrees_north"}"#;
    let dataset = opened(&[
        (".zgroup", r#"{"zarr_format": 2}"#),
        (".zattrs", r#"{"title": "example", "version": 3}"#),
        ("lat/.zarray", &v2("[10]", "<i4", "null")),
        ("lat/.zattrs", lat),
        ("t/.zarray", &v2("[2, 10, 5]", "<f4", "\"NaN\"")),
        ("t/.zattrs", t),
        ("rh/.zarray", &v2("[2, 10, 5]", "<i2", "-1")),
        ("rh/.zattrs", rh),
    ]);
    let expected = "\
netcdf foo {
dimensions:
\tlat = 10 ;
\ttime = 2 ;
\tlon = 5 ;
variables:
\tint lat(lat) ;
\t\tlat:units = \"degrees_north\" ;
\tshort rh(time, lat, lon) ;
\t\trh:_FillValue = -1s ;
\t\trh:long_name = \"relative humidity\" ;
\t\trh:valid_range = 0., 1. ;
\tfloat t(time, lat, lon) ;
\t\tt:_FillValue = NaNf ;
\t\tt:long_name = \"temperature\" ;
\t\tt:units = \"celsius\" ;

// global attributes:
\t\t:title = \"example\" ;
\t\t:version = 3 ;
}";
    // Whole floats of JSON are integers to a type of integers.
    assert_eq!(dataset.cdl().unwrap().named("foo").to_string(), expected.replace("0., 1. ;", "0s, 1s ;"));
    assert!(dataset.cdl().unwrap().to_string().starts_with("netcdf dataset {"));
}

#[test]
fn groups_are_nested_and_inherit_dimensions() {
    let group = |attributes: &str| format!(r#"{{"zarr_format": 3, "node_type": "group", "attributes": {attributes}}}"#);
    let dataset = opened(&[
        ("zarr.json", &group("{}")),
        ("x/zarr.json", &v3("[3]", "\"float64\"", "[\"x\"]", r#"{"_FillValue": "AAAAAAAA+H8="}"#)),
        ("g/zarr.json", &group(r#"{"title": "in g"}"#)),
        ("g/w/zarr.json", &v3("[3, 4]", "\"int64\"", "[\"x\", \"z\"]", "{}")),
        ("g/h/zarr.json", &group("{}")),
        ("g/h/w/zarr.json", &v3("[2, 4]", "\"bool\"", "[\"x\", \"z\"]", "{}")),
        ("g-1/zarr.json", &group("{}")),
        (
            "g-1/c/zarr.json",
            &v3("[]", "\"complex64\"", "[]", "{}").replace("\"fill_value\": 0", "\"fill_value\": [0, 0]"),
        ),
        ("g-1/broken/zarr.json", "{"),
    ]);
    let text = dataset.cdl().unwrap().named("n").to_string();
    let expected = "\
netcdf n {
types:
  opaque(8) complex64 ;
dimensions:
\tx = 3 ;
variables:
\tdouble x(x) ;
\t\tx:_FillValue = NaN ;

group: g {
  dimensions:
  \tz = 4 ;
  variables:
  \tint64 w(x, z) ;

  // group attributes:
  \t\t:title = \"in g\" ;

  group: h {
    dimensions:
    \tx = 2 ;
    variables:
    \tubyte w(x, z) ;
    } // group h
  } // group g

group: g-1 {
  variables:
  \tcomplex64 c ;
  } // group g-1
}
// ";
    assert!(text.starts_with(expected) && text.contains("/g-1/broken"), "{text}");
}

/// Documents that netCDF-C 4.9.0 wrote are printed as `ncdump -h` prints them.
#[test]
fn nczarr_has_types_and_unlimited_dimensions() {
    let root = r#"{"zarr_format": 2, "_NCZARR_SUPERBLOCK": {"version": "2.0.0"}, "_NCZARR_GROUP":
        {"dims": {"y": {"size": 5, "unlimited": 1}, "x": 4}, "vars": ["v", "s"], "groups": []}}"#;
    let nczarr = |text: String, dims: &str| {
        text.replacen('{', &format!(r#"{{"_NCZARR_ARRAY": {{"dimrefs": {dims}, "storage": "chunked"}}, "#), 1)
    };
    let attributes = r#"{"_FillValue": -1, "scale": 1.0, "n": 2, "_ARRAY_DIMENSIONS": ["y", "x"],
        "_NCZARR_ATTR": {"types": {"_FillValue": "<i4", "scale": "<f4", "n": "<u8"}}}"#;
    let dataset = opened(&[
        (".zgroup", root),
        (".zattrs", r#"{"title": "hello", "_NCProperties": "version=2", "_NCZARR_ATTR": {"types": {"title": "<U1"}}}"#),
        ("v/.zarray", &nczarr(v2("[5, 4]", "<i4", "-1"), r#"["/y", "/x"]"#)),
        ("v/.zattrs", attributes),
        (
            "s/.zarray",
            &nczarr(v2("[1]", "<f4", "9.96921e+36"), "[]")
                .replace("\"storage\": \"chunked\"", "\"storage\": \"scalar\""),
        ),
        ("s/.zattrs", "{}"),
    ]);
    let expected = "\
netcdf store {
dimensions:
\ty = UNLIMITED ; // (5 currently)
\tx = 4 ;
variables:
\tint v(y, x) ;
\t\tv:_FillValue = -1 ;
\t\tv:scale = 1.f ;
\t\tv:n = 2ULL ;
\tfloat s ;

// global attributes:
\t\t:title = \"hello\" ;
}";
    assert_eq!(dataset.cdl().unwrap().named("store").to_string(), expected);
}
