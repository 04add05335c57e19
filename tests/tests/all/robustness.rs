//! Damaged input. How much of it: the environment variable `ZARR_ROBUSTNESS`, else a little.

use zarr_tests::{damaged_chunks, damaged_documents};

fn count() -> u64 {
    std::env::var("ZARR_ROBUSTNESS").ok().map_or(3000, |count| count.parse().expect("ZARR_ROBUSTNESS is a number"))
}

#[test]
fn metadata_documents() {
    let damage = damaged_documents(count()).unwrap();
    assert_eq!(damage.inputs, count());
    // Were all of them errors, or none, the damage would not be of the right kind.
    assert!((damage.inputs / 10..damage.inputs).contains(&damage.errors), "{damage:?}");
}

#[test]
fn chunks() {
    let damage = damaged_chunks(count()).unwrap();
    assert_eq!(damage.inputs, count());
    assert!((damage.inputs / 10..damage.inputs).contains(&damage.errors), "{damage:?}");
}
