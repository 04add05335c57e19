//! Targets of the fuzz campaign: functions of bytes that must neither panic nor abort, hang or take much memory, whatever
//! the bytes are; where their inputs come from; and mutations that keep the outer form of an input valid.
//!
//! Three programs run the targets: `cargo test`, `cargo xtask fuzz` and libFuzzer (the folder `fuzz`).

mod chunks;
pub mod cost;
mod documents;
mod files;
mod hdf5;
mod icechunk;
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

/// Target of the fuzz campaign: a function that takes input from elsewhere.
#[derive(Clone, Copy)]
pub struct Target {
    /// Name of the target on the command line, and of its folder of regressions.
    pub name: &'static str,
    kind: Kind,
}

/// Kind of a target, with its parameters.
#[derive(Clone, Copy)]
enum Kind {
    /// Documents of a node under the keys of a dialect.
    Documents(Dialect),
    /// Chunk of an array whose codecs include the one of this name.
    Chunk(&'static str),
    /// Shard whose index alone is mutated.
    ShardIndex,
    /// Zip file.
    Zip,
    /// HDF5 file.
    Hdf5,
    /// File of netCDF-3.
    Netcdf,
    Tiff,
    /// References of kerchunk.
    References,
    /// A file of references in Parquet.
    Parquet,
    /// Files of an Icechunk repository.
    Icechunk,
    /// A short text.
    Text(&'static texts::Text),
}

/// All targets: one for each dialect, one for each codec, and `OTHERS`.
pub static TARGETS: LazyLock<Vec<Target>> = LazyLock::new(|| {
    let registry = chunks::registry();
    let codecs = registry.codecs.iter().map(|entry| Target::of_codec(entry, &registry));
    Dialect::ALL.into_iter().map(Target::of_dialect).chain(OTHERS.iter().copied()).chain(codecs).collect()
});

/// Targets that are neither documents of a dialect nor chunks of a codec.
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
    Target { name: "tiff", kind: Kind::Tiff },
    Target { name: "references", kind: Kind::References },
    Target { name: "references-parquet", kind: Kind::Parquet },
    Target { name: "icechunk", kind: Kind::Icechunk },
    Target { name: "shard-index", kind: Kind::ShardIndex },
];

impl Target {
    /// Returns the target for documents of a dialect.
    fn of_dialect(dialect: Dialect) -> Self {
        Self { name: format!("documents-{dialect}").leak(), kind: Kind::Documents(dialect) }
    }

    /// Returns the target for chunks of arrays with a codec: `chunk-` and the name of the codec, without `numcodecs.` unless another codec
    /// has the shorter name.
    fn of_codec(entry: &CodecEntry, registry: &Registry) -> Self {
        let short = entry
            .name
            .strip_prefix("numcodecs.")
            .filter(|short| registry.codecs.get(short).is_none_or(|other| other.name == entry.name));
        let name = format!("chunk-{}", short.unwrap_or(entry.name).replace(['.', '_'], "-"));
        Self { name: name.leak(), kind: Kind::Chunk(entry.name) }
    }

    /// Returns the target called `name`; `None` if there is none.
    pub fn named(name: &str) -> Option<Self> {
        TARGETS.iter().copied().find(|target| target.name == name)
    }

    /// Runs the target with an input. Returns whether the input was accepted, and not refused with an error.
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
            Kind::Tiff => virtual_files::tiff(input),
            Kind::References => virtual_files::references(input),
            Kind::Parquet => virtual_files::parquet(input),
            Kind::Icechunk => icechunk::run(input),
            Kind::Text(text) => (text.run)(&String::from_utf8_lossy(input)),
        }
    }

    /// Returns valid inputs, and inputs that were broken by hand.
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
            Kind::Tiff => virtual_files::seeds("tiff", "tif")?,
            Kind::References => virtual_files::seeds("references", "json")?,
            Kind::Parquet => virtual_files::parquet_seeds()?,
            Kind::Icechunk => icechunk::seeds()?,
            Kind::Text(text) => (text.seeds)()?,
        };
        inputs.sort();
        inputs.dedup();
        Ok(Seeds { target: *self, inputs })
    }

    /// Returns a mutated form of an input.
    pub fn mutate(&self, random: &mut Random, input: &[u8]) -> Vec<u8> {
        match self.kind {
            Kind::Documents(_) => documents::mutate(random, input),
            Kind::Chunk(_) => chunks::mutate(random, input),
            Kind::ShardIndex => chunks::mutate_index(random, input),
            Kind::Zip => zip::mutate(random, input),
            Kind::Hdf5 | Kind::Netcdf | Kind::Tiff | Kind::References | Kind::Parquet => hdf5::mutate(random, input),
            Kind::Icechunk => icechunk::mutate(random, input),
            Kind::Text(text) => texts::mutate(random, input, text.is_json),
        }
    }

    /// Returns the paths of files with inputs that once were faults.
    ///
    /// # Errors
    /// If the files cannot be listed.
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

/// Returns mutated bytes: flipped, truncated, repeated or overwritten. For inputs whose target is in no library.
pub fn mutated_bytes(random: &mut Random, bytes: &[u8]) -> Vec<u8> {
    crate::mutate::bytes(random, bytes)
}

/// Inputs with which the mutations of a target begin.
#[derive(Clone, Debug)]
pub struct Seeds {
    target: Target,
    inputs: Vec<Vec<u8>>,
}

impl Seeds {
    /// Returns the inputs without mutations.
    pub fn inputs(&self) -> &[Vec<u8>] {
        &self.inputs
    }

    /// Returns the mutated input of a number, which is always the same for that number.
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
