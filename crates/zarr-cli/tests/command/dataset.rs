//! `zarr ds`.

use crate::folder::Folder;
use zarr::meta::json::Value;

const CLIMATE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/data/climate.zarr");

// clause: xarray-1
#[test]
fn a_data_set_is_shown_decoded() {
    let folder = Folder::new();
    let text = folder.ok(&["ds", CLIMATE]);
    for line in [
        "Dimensions:  time 12, lat 18, lon 432",
        "* time     (time)            datetime64[ns]  2006-04-16 ... 2007-03-16T12:00:00",
        "* lat      (lat)             float32         -4.9999924 ... 4.4444504  \"degrees_north\"",
        "  anomaly  (time, lat, lon)  float64         \"K\"  (sea surface temperature less its mean of 54 months)",
        "  Conventions: CF-1.8",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
    let value = Value::from_json(&folder.ok(&["ds", CLIMATE, "--json"])).unwrap();
    let at = |pointer: &str| value.pointer(pointer).unwrap_or_else(|| panic!("{pointer}: {value}")).to_string();
    assert_eq!(at("/sizes"), r#"{"time":12,"lat":18,"lon":432}"#);
    assert_eq!(at("/coordinates/time/encoding/calendar"), r#""standard""#);
    assert_eq!(at("/data_variables/anomaly/data_type"), r#""float64""#);
    assert_eq!(at("/data_variables/anomaly/dimensions"), r#"["time","lat","lon"]"#);
}

#[test]
fn no_data_sets_are_errors() {
    let folder = Folder::new();
    folder.ok(&["create", "s", "g/a", "--shape", "4", "--dtype", "int8"]);
    let ran = folder.run(&["ds", "s", "g"]);
    assert_eq!(ran.code, Some(4), "{}", ran.err);
    assert!(ran.err.contains("/g/a: /dimension_names: found none"), "{}", ran.err);
    assert!(folder.ok(&["ds", "s", "g", "--number-dimensions"]).starts_with("Dimensions:  dim_0 4\n"));
    let ran = folder.run(&["ds", "s", "g/a"]);
    assert_eq!(ran.code, Some(3), "{}", ran.err);
    assert!(ran.err.contains("found an array, expected a group"), "{}", ran.err);
}

#[test]
fn headers_are_those_of_ncdump() {
    let folder = Folder::new();
    let text = folder.ok(&["ds", CLIMATE, "--header"]);
    let expected = "\
netcdf climate {
dimensions:
\ttime = 12 ;
\tlat = 18 ;
\tlon = 432 ;
variables:
\tshort anomaly(time, lat, lon) ;
\t\tanomaly:_FillValue = -32768s ;
";
    assert!(text.starts_with(expected), "{text}");
    for line in [
        "\tint64 time(time) ;",
        "\t\ttime:calendar = \"standard\" ;",
        "\t\tsst:_FillValue = NaNf ;",
        "// global attributes:",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
    assert!(text.ends_with("\n}\n"), "{text}");
    let json = Value::from_json(&folder.ok(&["ds", CLIMATE, "--header", "--json"])).unwrap();
    assert_eq!(json.get("cdl").and_then(Value::as_str), Some(text.trim_end()));
}
