//! Files of other formats in the verbs that read, and in those that write.

use std::fs;
use std::path::Path;

use crate::folder::Folder;

/// A file of netCDF-3 of `tests/fixtures`, and what it becomes.
fn with_netcdf() -> Folder {
    let folder = Folder::new();
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/netcdf/cdf2.nc");
    fs::copy(fixture, folder.path("x.nc")).unwrap();
    folder
}

#[test]
fn verbs_that_read_take_netcdf_files() {
    let folder = with_netcdf();
    let tree = folder.ok(&["tree", "x.nc"]);
    assert!(tree.starts_with("x.nc  v3 group  30 arrays, 0 groups\n"), "{tree}");
    assert!(tree.contains("|- time            (time 4)"), "{tree}");
    let header = folder.ok(&["ds", "x.nc", "--header"]);
    assert!(
        header.contains("time:units = \"days since 2001-01-01\"") && header.contains("char chars(time, text)"),
        "{header}"
    );
    assert_eq!(folder.ok(&["read", "x.nc", "fixed_s", "--select", "2,4", "--raw"]).trim(), "81");
    assert_eq!(folder.ok(&["read", "x.nc/letters"]).lines().last(), Some("letters"));
    for args in [
        &["ls", "x.nc"][..],
        &["info", "x.nc::/time"],
        &["info", "netcdf:x.nc", "time"],
        &["stats", "x.nc", "record_d"],
        &["du", "x.nc"],
        &["digest", "x.nc"],
        &["check", "x.nc"],
        &["attrs", "x.nc"],
    ] {
        folder.ok(args);
    }
    for verb in ["convert", "cp"] {
        let name = format!("{verb}.zarr");
        folder.ok(&[verb, "x.nc", &name]);
        folder.ok(&["diff", "x.nc", &name]);
        assert_eq!(folder.ok(&["digest", "x.nc"]), folder.ok(&["digest", &name]));
    }
}

#[test]
fn verbs_that_write_leave_netcdf_files_alone() {
    let folder = with_netcdf();
    let before = fs::read(folder.path("x.nc")).unwrap();
    for args in [
        &["attrs", "x.nc", "--set", "a=1"][..],
        &["create", "x.nc", "a", "--shape", "2", "--dtype", "int8"],
        &["rm", "x.nc", "time"],
        &["write", "x.nc", "time", "--value", "1"],
        &["cp", "x.nc/time", "x.nc::/other"],
    ] {
        let ran = folder.run(args);
        assert_ne!(ran.code, Some(0), "{args:?}");
        assert!(
            ran.err.contains("the store is read-only") && ran.err.contains("zarr convert"),
            "{args:?}: {}",
            ran.err
        );
    }
    assert_eq!(fs::read(folder.path("x.nc")).unwrap(), before);
}

#[test]
fn references_lead_to_other_places_where_that_is_allowed() {
    let folder = with_netcdf();
    fs::create_dir(folder.path("elsewhere")).unwrap();
    fs::rename(folder.path("x.nc"), folder.path("elsewhere/x.nc")).unwrap();
    let references = |url: &str| {
        let array = r#"{\"zarr_format\":2,\"shape\":[2],\"chunks\":[2],\"dtype\":\"|S2\",\"compressor\":null,\"filters\":null,\"fill_value\":null,\"order\":\"C\"}"#;
        let text = format!(
            r#"{{"version":1,"templates":{{"u":"{url}"}},"refs":{{".zgroup":"{{\"zarr_format\":2}}","a/.zarray":"{array}","a/0":["{{{{u}}}}/x.nc",0,4]}}}}"#
        );
        fs::create_dir_all(folder.path("refs")).unwrap();
        fs::write(folder.path("refs/refs.json"), text).unwrap();
    };
    let read = |args: &[&str]| folder.run(&[&["read", "refs/refs.json", "a", "--raw"], args].concat());
    let elsewhere = folder.path("elsewhere").display().to_string();
    for url in [elsewhere.clone(), format!("file://{elsewhere}")] {
        references(&url);
        let ran = read(&[]);
        assert_eq!(ran.code, Some(5), "{}", ran.err);
        assert!(ran.err.contains("references lead elsewhere only where the caller allows it"), "{}", ran.err);
        assert!(ran.err.contains("--store-option allow="), "{}", ran.err);
        for allowed in [elsewhere.as_str(), "elsewhere", "https://host,elsewhere"] {
            let ran = read(&["--store-option", &format!("allow={allowed}")]);
            assert_eq!(ran.code, Some(0), "{allowed}: {}", ran.err);
        }
        assert_ne!(read(&["--store-option", "allow=else"]).code, Some(0));
    }
    references("../elsewhere");
    assert_ne!(read(&["--store-option", "allow=elsewhere"]).code, Some(0));
    let ran = folder.run(&["tree", "elsewhere", "--store-option", "allow=x"]);
    assert!(ran.err.contains("option allow is not known"), "{}", ran.err);
}
