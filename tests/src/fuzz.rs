//! Targets of the fuzz campaign: functions of bytes that must neither panic nor abort, hang or take much memory, whatever
//! the bytes are; where their inputs come from; and mutations that keep the outer form of an input valid.
//!
//! Three programs run them: `cargo test`, `cargo xtask fuzz` and libFuzzer (the folder `fuzz`).

mod chunks;
pub mod cost;
mod documents;
mod files;
mod hdf5;
mod laws;
mod texts;
mod virtual_files;
mod zip;

use crate::Fault;
use crate::random::Random;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use zarr_array::Registry;
use zarr_codec::CodecEntry;
use zarr_meta::Dialect;

/// One thing that takes input from elsewhere.
#[derive(Clone, Copy)]
pub struct Target {
    /// Its name on the command line, and of its folder of regressions.
    pub name: &'static str,
    kind: Kind,
}

/// The kind of a target, and its difference from others of the kind.
#[derive(Clone, Copy)]
enum Kind {
    /// The documents of a node under the keys of a dialect.
    Documents(Dialect),
    /// A chunk of an array whose chain has the codec of this name.
    Chunk(&'static str),
    /// A shard of which only the index is mutated.
    ShardIndex,
    /// A zip file.
    Zip,
    /// An HDF5 file.
    Hdf5,
    /// A file of netCDF-3.
    Netcdf,
    /// References of kerchunk.
    References,
    /// A file of references in Parquet.
    Parquet,
    /// A short text.
    Text(&'static texts::Text),
}

/// All targets: one for each dialect and one for each codec beside the others.
pub static TARGETS: LazyLock<Vec<Target>> = LazyLock::new(|| {
    let registry = chunks::registry();
    let codecs = registry.codecs.iter().map(|entry| Target::of_codec(entry, &registry));
    Dialect::ALL.into_iter().map(Target::of_dialect).chain(OTHERS.iter().copied()).chain(codecs).collect()
});

/// The targets that are neither documents of a dialect nor chunks of a codec.
const OTHERS: &[Target] = &[
    Target { name: "json", kind: Kind::Text(&texts::JSON) },
    Target { name: "data-type", kind: Kind::Text(&texts::DATA_TYPE) },
    Target { name: "fill-value", kind: Kind::Text(&texts::FILL_VALUE) },
    Target { name: "selection", kind: Kind::Text(&texts::SELECTION) },
    Target { name: "chunk-key", kind: Kind::Text(&texts::CHUNK_KEY) },
    Target { name: "name", kind: Kind::Text(&texts::NAME) },
    Target { name: "zip", kind: Kind::Zip },
    Target { name: "hdf5", kind: Kind::Hdf5 },
    Target { name: "netcdf", kind: Kind::Netcdf },
    Target { name: "references", kind: Kind::References },
    Target { name: "references-parquet", kind: Kind::Parquet },
    Target { name: "shard-index", kind: Kind::ShardIndex },
];

impl Target {
    /// Chunks of arrays with a codec: `chunk-` and its name without `numcodecs.`, where no other codec has that.
    fn of_dialect(dialect: Dialect) -> Self {
        Self { name: format!("documents-{dialect}").leak(), kind: Kind::Documents(dialect) }
    }

    fn of_codec(entry: &CodecEntry, registry: &Registry) -> Self {
        let short = entry
            .name
            .strip_prefix("numcodecs.")
            .filter(|short| registry.codecs.get(short).is_none_or(|other| other.name == entry.name));
        let name = format!("chunk-{}", short.unwrap_or(entry.name).replace(['.', '_'], "-"));
        Self { name: name.leak(), kind: Kind::Chunk(entry.name) }
    }

    /// The target of a name.
    pub fn named(name: &str) -> Option<Self> {
        TARGETS.iter().copied().find(|target| target.name == name)
    }

    /// Gives the target an input. Whether it was taken, and not an error.
    ///
    /// # Panics
    /// If the tested code has a fault.
    pub fn run(&self, input: &[u8]) -> bool {
        match self.kind {
            Kind::Documents(_) => documents::run(input),
            Kind::Chunk(_) | Kind::ShardIndex => chunks::run(input),
            Kind::Zip => zip::run(input),
            Kind::Hdf5 => hdf5::run(input),
            Kind::Netcdf => virtual_files::netcdf(input),
            Kind::References => virtual_files::references(input),
            Kind::Parquet => virtual_files::parquet(input),
            Kind::Text(text) => (text.run)(&String::from_utf8_lossy(input)),
        }
    }

    /// Inputs that are sound, or were made broken by hand.
    ///
    /// # Errors
    /// If the fixtures cannot be read.
    pub fn seeds(&self) -> Result<Seeds, Fault> {
        let mut inputs = match self.kind {
            Kind::Documents(dialect) => documents::seeds(dialect)?,
            Kind::Chunk(codec) => chunks::seeds(codec)?,
            Kind::ShardIndex => chunks::seeds("sharding_indexed")?,
            Kind::Zip => zip::seeds()?,
            Kind::Hdf5 => hdf5::seeds()?,
            Kind::Netcdf => virtual_files::seeds("netcdf", "nc")?,
            Kind::References => virtual_files::seeds("references", "json")?,
            Kind::Parquet => virtual_files::parquet_seeds()?,
            Kind::Text(text) => (text.seeds)()?,
        };
        inputs.sort();
        inputs.dedup();
        Ok(Seeds { target: *self, inputs })
    }

    /// A mutated form of an input.
    pub fn mutate(&self, random: &mut Random, input: &[u8]) -> Vec<u8> {
        match self.kind {
            Kind::Documents(_) => documents::mutate(random, input),
            Kind::Chunk(_) => chunks::mutate(random, input),
            Kind::ShardIndex => chunks::mutate_index(random, input),
            Kind::Zip => zip::mutate(random, input),
            Kind::Hdf5 | Kind::Netcdf | Kind::References | Kind::Parquet => hdf5::mutate(random, input),
            Kind::Text(text) => texts::mutate(random, input, text.is_json),
        }
    }

    /// The files with inputs that once were faults.
    ///
    /// # Errors
    /// If they cannot be listed.
    pub fn regressions(&self) -> Result<Vec<PathBuf>, Fault> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("regressions").join(self.name);
        if !folder.is_dir() {
            return Ok(Vec::new());
        }
        let in_folder = |error: std::io::Error| format!("{}: {error}", folder.display());
        let mut files = Vec::new();
        for entry in folder.read_dir().map_err(in_folder)? {
            files.push(entry.map_err(in_folder)?.path());
        }
        files.sort();
        Ok(files)
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Bytes that were flipped, cut off, repeated, overwritten: for inputs whose target is in no library.
pub fn mutated_bytes(random: &mut Random, bytes: &[u8]) -> Vec<u8> {
    crate::mutate::bytes(random, bytes)
}

/// The inputs that a target's mutations begin from.
#[derive(Clone, Debug)]
pub struct Seeds {
    target: Target,
    inputs: Vec<Vec<u8>>,
}

impl Seeds {
    /// The inputs as they are.
    pub fn inputs(&self) -> &[Vec<u8>] {
        &self.inputs
    }

    /// The mutated input of a number: the same for the same number.
    pub fn mutated(&self, number: u64) -> Vec<u8> {
        let mut random = Random::new(number);
        let Some(seed) = random.pick(&self.inputs) else { return Vec::new() };
        self.target.mutate(&mut random, seed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_name_is_of_one_target() {
        let names: BTreeSet<_> = TARGETS.iter().map(|target| target.name).collect();
        assert_eq!(names.len(), TARGETS.len());
    }

    #[test]
    fn every_target_takes_most_of_its_seeds() {
        for target in TARGETS.iter() {
            let seeds = target.seeds().unwrap();
            let taken = seeds.inputs().iter().filter(|input| target.run(input)).count();
            // Seeds of documents include deliberately broken ones.
            let due = if matches!(target.kind, Kind::Documents(_) | Kind::Zip) { 3 } else { 2 };
            assert!(taken * due >= seeds.inputs().len().max(1), "{target:?}: {taken} of {}", seeds.inputs().len());
        }
    }
}
