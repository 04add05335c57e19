//! Which data types and codecs go together.

use zarr_tests::matrix;

#[test]
fn the_table_of_support_is_up_to_date() {
    let cells = matrix::cells(None).unwrap();
    matrix::check(include_str!("../../../docs/support.md"), &cells).unwrap();
}

#[test]
fn conversions_know_the_readers_in_the_table_of_support() {
    let known = matrix::known().unwrap();
    assert_eq!(matrix::document(&known), include_str!("../../../docs/support.md"));
}
