//! The targets of the fuzz campaign. How many mutated inputs each gets: the environment variable `ZARR_FUZZ`, else a few.

use std::time::{Duration, Instant};
use zarr_tests::fuzz::{TARGETS, Target};

fn count() -> u64 {
    std::env::var("ZARR_FUZZ").ok().map_or(300, |count| count.parse().expect("ZARR_FUZZ is a number"))
}

/// The share of `targets` that a thread of the tests runs.
fn mutated(targets: impl Iterator<Item = &'static Target>) {
    for target in targets {
        let seeds = target.seeds().unwrap();
        assert!(!seeds.inputs().is_empty(), "{target:?} has no input");
        let taken = (0..count())
            .filter(|&number| {
                let input = seeds.mutated(number);
                let taken = std::panic::catch_unwind(|| target.run(&input));
                assert!(taken.is_ok(), "{target:?} panicked on input {number}: {}", input.escape_ascii());
                taken.unwrap_or(false)
            })
            .count() as u64;
        // Were all of them errors, or none, the mutations would not be of the right kind.
        assert!((count() / 50..count()).contains(&taken), "{target:?}: {taken} of {}", count());
    }
}

fn is_chunk(target: &Target) -> bool {
    target.name.starts_with("chunk-")
}

#[test]
fn mutated_documents_and_texts() {
    mutated(TARGETS.iter().filter(|target| !is_chunk(target)));
}

#[test]
fn mutated_chunks() {
    mutated(TARGETS.iter().filter(|target| is_chunk(target)));
}

#[test]
fn former_faults_stay_mended() {
    let mut files = 0;
    for target in TARGETS.iter() {
        for file in target.regressions().unwrap() {
            let input = std::fs::read(&file).unwrap();
            let start = Instant::now();
            target.run(&input);
            assert!(start.elapsed() < Duration::from_secs(10), "{}: {:?}", file.display(), start.elapsed());
            files += 1;
        }
    }
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("regressions");
    let folders =
        folder.read_dir().map_or(0, |folders| folders.flatten().flat_map(|of| of.path().read_dir()).flatten().count());
    assert_eq!(files, folders, "every file is in the folder of a target");
}
