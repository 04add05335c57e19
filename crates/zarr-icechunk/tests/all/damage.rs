//! Damaged repositories: errors, and no panic, no endless loop and no wrong size.

use std::sync::Arc;

use zarr_icechunk::IcechunkStore;
use zarr_store::{Key, MemoryStore, StoreExt};

use crate::repositories::{files, options};

/// Number of damaged states of the files of a repository that are tested by default.
const ROUNDS: u64 = 1_500;
/// All values are read in one of this many damaged states.
const WHOLE: u64 = 40;

/// Random numbers, which are the same in each run (SplitMix64).
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ z >> 31) as usize % bound
    }
}

/// Returns a file with uncompressed content, so that damage reaches the content.
fn plain(file: &[u8]) -> Vec<u8> {
    let content = zstd::stream::decode_all(&file[39..]).expect("decompressed");
    [&file[..38], &[0], &content].concat()
}

/// Returns a file in which some bytes are changed, or which is cut off.
fn damaged(file: &[u8], chance: &mut Chance) -> Vec<u8> {
    let mut file = file.to_vec();
    match chance.below(8) {
        0 => file.truncate(chance.below(file.len())),
        1 => {
            let at = 39 + chance.below(file.len() - 42) / 4 * 4;
            let numbers = [0, 1, 4, u32::MAX, i32::MAX as u32, file.len() as u32, chance.0 as u32 % 4096];
            let number = numbers[chance.below(numbers.len())];
            if let Some(four) = file.get_mut(at..at + 4) {
                four.copy_from_slice(&number.to_le_bytes());
            }
        }
        _ => {
            for _ in 0..=chance.below(3) {
                let at = chance.below(file.len());
                file[at] = chance.below(256) as u8;
            }
        }
    }
    file
}

/// Opens and lists a repository, and reads some of its values, or all if `is_all`. Returns whether no error was found.
fn look(files: &Arc<MemoryStore>, is_all: bool) -> bool {
    let Ok(store) = IcechunkStore::open(files.clone(), options("main")) else { return false };
    let mut is_whole = true;
    match store.list() {
        Ok(keys) => {
            for key in keys.iter().filter(|_| is_all) {
                match store.get_all(key) {
                    Ok(value) => {
                        let size = store.size(key).expect("a size");
                        assert_eq!(size, value.map(|value| value.len() as u64), "{key}");
                    }
                    Err(_) => is_whole = false,
                }
            }
        }
        Err(_) => is_whole = false,
    }
    for name in ["time/c/0", "group/data/c/0/0", "group/split/c/4/1", "outside/c/9/0"] {
        is_whole &= store.get_all(&Key::new(name).expect("a key")).is_ok();
    }
    is_whole
}

#[test]
fn damage_is_an_error() {
    for name in ["v1.zip", "v2.zip"] {
        let files = Arc::new(files(name));
        let mut metadata = Vec::new();
        for key in files.list().expect("listed") {
            let is_file = ["snapshots/", "manifests/"].iter().any(|folder| key.as_str().starts_with(folder));
            if is_file || key.as_str() == "repo" {
                let file = plain(&files.get_all(&key).expect("get").expect("there"));
                files.set_all(&key, &file).expect("set");
                metadata.push((key, file));
            }
        }
        assert!(look(&files, true), "{name}: nothing is damaged");
        let mut chance = Chance(7);
        let mut broken = 0;
        // `ZARR_DAMAGE=1000000` sets another number.
        let rounds = std::env::var("ZARR_DAMAGE").ok().and_then(|text| text.parse().ok()).unwrap_or(ROUNDS);
        for round in 0..rounds {
            let (key, file) = &metadata[chance.below(metadata.len())];
            files.set_all(key, &damaged(file, &mut chance)).expect("set");
            broken += u64::from(!look(&files, round % WHOLE == 0));
            files.set_all(key, file).expect("set");
        }
        assert!(broken > rounds / 10, "{name}: only {broken} of {rounds} were noticed");
        assert!(look(&files, true));
    }
}
