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
fn hdf5() {
    check("hdf5");
}

// clause: xarray-19
#[test]
fn xarray_v2() {
    check("xarray-v2");
}

// clause: xarray-20
#[test]
fn xarray_v3() {
    check("xarray-v3");
}

// clause: p2019-1, p2019-7, p2019-9, p2019-10, p2019-12, p2019-14
#[test]
fn v3_protocol_2019() {
    check("v3-protocol-2019");
}

// clause: d2022-2, d2022-6, d2022-9, d2022-10, d2022-11, d2022-14, d2022-20, d2022-26, d2022-29, d2022-31, d2022-33,
// clause: d2022-49, d2022-50, d2022-51, d2022-52, d2022-53, d2022-54, d2022-55, d2022-67, d2022-69, d2022-103,
// clause: d2022-113, d2022-124, d2022-134, d2022-138, d2022-144, d2022-149, d2022-171, d2022-178, d2022-179,
// clause: d2022-200, d2022-206, d2022-209
#[test]
fn v3_draft_2022() {
    check("v3-draft-2022");
}

// clause: d2022-3, d2022-12, d2022-23, d2022-104, d2022-108, d2022-119, d2022-127, d2022-135, d2022-142, d2022-148,
// clause: d2022-152, d2022-210, d2022-212, d2022-213
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

// clause: v1-2, v1-9, v1-10, v1-12, v1-16, v1-18, v1-19, v1-20, v1-21, v1-26, v1-27, v1-28
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
