//! Stores that other software wrote, one test for each archive.

use zarr_tests::check_archive;

fn check(archive: &'static str) {
    let report = check_archive(archive).unwrap();
    let faults = report.faults();
    assert!(!report.cases.is_empty());
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn v2() {
    check("v2");
}

#[test]
fn v3() {
    check("v3");
}

#[test]
fn v3_2023() {
    check("v3-2023");
}

#[test]
fn nczarr() {
    check("nczarr");
}

#[test]
fn xarray_v2() {
    check("xarray-v2");
}

#[test]
fn xarray_v3() {
    check("xarray-v3");
}

#[test]
fn v3_protocol_2019() {
    check("v3-protocol-2019");
}

#[test]
fn v3_draft_2022() {
    check("v3-draft-2022");
}

#[test]
fn bad_v3_draft_2022() {
    check("bad-v3-draft-2022");
}

#[test]
fn bad_v2() {
    check("bad-v2");
}

#[test]
fn bad_v3() {
    check("bad-v3");
}

#[test]
fn bad_none() {
    check("bad-none");
}

#[test]
fn v0() {
    check("v0");
}

#[test]
fn v1() {
    check("v1");
}

#[test]
fn v3_zarrita() {
    check("v3-zarrita");
}

#[test]
fn v3_gdal() {
    check("v3-gdal");
}

#[test]
fn v3_zarr_python_2() {
    check("v3-zarr-python-2");
}

#[test]
fn bad_v0() {
    check("bad-v0");
}

#[test]
fn bad_v1() {
    check("bad-v1");
}

#[test]
fn bad_v3_zarrita() {
    check("bad-v3-zarrita");
}

#[test]
fn bad_v3_zarr_python_2() {
    check("bad-v3-zarr-python-2");
}
