//! Hierarchies as certain fields of science have them: Zarr v2, arrays of many types, strings among them.

use crate::noise::Noise;
use std::path::Path;
use std::sync::Arc;
use zarr::dtype::Element;
use zarr::{Dialect, NewArray, Store};
use zarr_bench_protocol::Failure;

/// A hierarchy that is made.
struct Tables {
    store: Arc<dyn Store>,
    codec: &'static str,
}

impl Tables {
    /// An array of some elements in chunks of `chunk`.
    fn add<T: Element>(
        &self,
        path: &str,
        data_type: &str,
        shape: &[u64],
        chunk: &[u64],
        elements: &[T],
    ) -> Result<(), Failure> {
        let bytes = if data_type == "string" { r#"{"name":"vlen-utf8"}"# } else { crate::cases::LITTLE };
        let codecs = format!("[{bytes},{}]", self.codec);
        let new = NewArray::new(shape, data_type).chunks(chunk).codecs(&codecs)?.dialect(Dialect::V2);
        Ok(zarr::create((&self.store, path)).array(new)?.write(.., elements)?)
    }
}

fn texts(noise: &mut Noise, count: u64, kinds: u64) -> Vec<String> {
    (0..count).map(|_| format!("value-{}", noise.below(kinds))).collect()
}

/// As VCF Zarr: genotypes of some samples at many variants, and data of each variant and sample.
pub(crate) fn genotypes(path: &Path, small: bool) -> Result<(), Failure> {
    let codec = r#"{"name":"blosc","configuration":{"cname":"zstd","clevel":7,"shuffle":"bitshuffle","typesize":1,"blocksize":0}}"#;
    let tables = Tables { store: zarr::store::create(&path.display().to_string())?, codec };
    let (variants, samples) = (if small { 5_000 } else { 40_000 }, 1000);
    let noise = &mut Noise::new(5);
    let mut calls = Vec::new();
    for _ in 0..variants {
        let share = noise.below(64);
        calls.extend(
            (0..2 * samples).map(|_| i8::from(noise.below(128) < share * share / 64) - i8::from(noise.below(500) == 0)),
        );
    }
    tables.add("/call_genotype", "int8", &[variants, samples, 2], &[10_000, 1000, 2], &calls)?;
    let missing: Vec<bool> = calls.iter().map(|&call| call < 0).collect();
    tables.add("/call_genotype_mask", "bool", &[variants, samples, 2], &[10_000, 1000, 2], &missing)?;
    let phased: Vec<bool> = calls.iter().step_by(2).map(|&call| call > 0).collect();
    tables.add("/call_genotype_phased", "bool", &[variants, samples], &[10_000, 1000], &phased)?;
    let positions: Vec<i32> = (0..variants).map(|number| (number * 97 + noise.below(97)) as i32).collect();
    tables.add("/variant_position", "int32", &[variants], &[10_000], &positions)?;
    let quality: Vec<f32> = (0..variants).map(|_| noise.below(10_000) as f32 / 100.0).collect();
    tables.add("/variant_quality", "float32", &[variants], &[10_000], &quality)?;
    let alleles: Vec<String> =
        (0..2 * variants).map(|_| ["A", "C", "G", "T", "TA"][noise.below(5) as usize].to_owned()).collect();
    tables.add("/variant_allele", "string", &[variants, 2], &[10_000, 2], &alleles)?;
    let names: Vec<String> = (0..variants).map(|_| format!("rs{}", noise.below(1 << 30))).collect();
    tables.add("/variant_id", "string", &[variants], &[10_000], &names)?;
    tables.add("/sample_id", "string", &[samples], &[1000], &texts(noise, samples, 1 << 20))
}

/// Makes a hierarchy like those of AnnData: a sparse matrix in three arrays, and tables of many short columns, strings and categories among
/// them.
pub(crate) fn cells(path: &Path, small: bool) -> Result<(), Failure> {
    let codec =
        r#"{"name":"blosc","configuration":{"cname":"lz4","clevel":5,"shuffle":"shuffle","typesize":4,"blocksize":0}}"#;
    let tables = Tables { store: zarr::store::create(&path.display().to_string())?, codec };
    let (rows, filled) = if small { (2_000, 250_000) } else { (10_000, 4_000_000) };
    let noise = &mut Noise::new(6);
    let data: Vec<f32> = (0..filled).map(|_| noise.below(64) as f32).collect();
    tables.add("/X/data", "float32", &[filled], &[250_000], &data)?;
    let columns: Vec<i32> = (0..filled).map(|_| noise.below(30_000) as i32).collect();
    tables.add("/X/indices", "int32", &[filled], &[250_000], &columns)?;
    let starts: Vec<i64> = (0..=rows).map(|row| (row * filled / rows) as i64).collect();
    tables.add("/X/indptr", "int64", &[rows + 1], &[rows + 1], &starts)?;
    for column in 0..30 {
        tables.add(&format!("/obs/text{column}"), "string", &[rows], &[rows], &texts(noise, rows, rows))?;
        let codes: Vec<i8> = (0..rows).map(|_| noise.below(12) as i8).collect();
        tables.add(&format!("/obs/kind{column}/codes"), "int8", &[rows], &[rows], &codes)?;
        tables.add(&format!("/obs/kind{column}/categories"), "string", &[12], &[12], &texts(noise, 12, 100))?;
        let counts: Vec<f64> = (0..rows).map(|_| noise.below(10_000) as f64).collect();
        tables.add(&format!("/obs/count{column}"), "float64", &[rows], &[rows], &counts)?;
    }
    Ok(())
}
