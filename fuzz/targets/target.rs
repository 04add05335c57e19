//! Any target of `zarr_tests::fuzz` under libFuzzer. Which one: the environment variable `ZARR_FUZZ_TARGET`.
#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
use std::sync::LazyLock;
use zarr_tests::Random;
use zarr_tests::fuzz::Target;

static TARGET: LazyLock<Target> = LazyLock::new(|| {
    let name = std::env::var("ZARR_FUZZ_TARGET").expect("ZARR_FUZZ_TARGET names a target");
    Target::named(&name).unwrap_or_else(|| panic!("no target {name}: see docs/robustness.md"))
});

fuzz_target!(|input: &[u8]| {
    TARGET.run(input);
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    // libFuzzer has a dictionary of compared values, ours keep the form.
    if seed % 4 == 0 {
        return fuzzer_mutate(data, size, max_size);
    }
    let mutated = TARGET.mutate(&mut Random::new(u64::from(seed)), &data[..size]);
    let len = mutated.len().min(max_size);
    data[..len].copy_from_slice(&mutated[..len]);
    len
});
