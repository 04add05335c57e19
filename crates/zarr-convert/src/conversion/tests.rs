//! Conversions against the values that they must keep.

use super::{Action, Conversion, ConvertOptions};
use proptest::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use zarr_array::{Array, NewArray, Registry, Store};
use zarr_meta::Dialect;
use zarr_store::MemoryStore;

fn registry() -> Arc<Registry> {
    let mut registry = Registry::default();
    registry.codecs.add(zarr_codec_bytes::BYTES);
    Arc::new(registry)
}

fn memory() -> Arc<dyn Store> {
    Arc::new(MemoryStore::new())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn elements_stay(
        axes in proptest::collection::vec((0_u64..20, 1_u64..8, 1_u64..8), 0..4),
        written in proptest::collection::vec((0_u64..20, 1_u64..8), 3),
        memory_size in 2_000_u64..40_000,
        v2 in any::<bool>(),
    ) {
        let registry = registry();
        let shape: Vec<u64> = axes.iter().map(|axis| axis.0).collect();
        let (chunks, other): (Vec<u64>, Vec<u64>) = axes.iter().map(|axis| (axis.1, axis.2)).unzip();
        let source = memory();
        let new = NewArray::new(&shape, "int16").chunks(&chunks).codecs("bytes").unwrap().fill(-3);
        let array = Array::create(&source, "/g/a", new, &registry).unwrap();
        // A part is written, so that some chunks are missing.
        let ranges: Vec<_> = shape.iter().zip(&written).map(|(&len, &(start, count))| start.min(len)..(start + count).min(len)).collect();
        let region = zarr_grid::Region::from_ranges(&ranges);
        let count = region.len_checked().unwrap();
        array.write(&region, &(0..count as i16).collect::<Vec<_>>()).unwrap();
        let expected = array.read::<i16>(..).unwrap();

        let options = ConvertOptions::default().chunks(other.clone()).dialect(v2.then_some(Dialect::V2)).memory(memory_size);
        let Ok(conversion) = Conversion::plan(&source, &registry, options) else {
            let size = |shape: &[u64]| 2 * shape.iter().product::<u64>();
            prop_assert!(size(&chunks).max(size(&other)) * 3 > memory_size * 3 / 4);
            return Ok(());
        };
        let target = memory();
        let done = AtomicU64::new(0);
        conversion.run(&target, |progress| {
            if let super::Progress::Done(bytes) = progress {
                done.fetch_add(bytes as u64, Ordering::Relaxed);
            }
        }).unwrap();
        prop_assert_eq!(u128::from(done.into_inner()), conversion.size());
        let converted = Array::open(&target, "/g/a", &registry).unwrap();
        prop_assert_eq!(converted.read::<i16>(..).unwrap(), expected);
        let grid = converted.chunk_grid().regular_chunk_shape().unwrap();
        prop_assert_eq!(grid, other.as_slice());
        prop_assert_eq!(converted.dialect(), if v2 { Dialect::V2 } else { Dialect::V3 });
        let node = conversion.nodes().last().unwrap();
        let copied = chunks == other;
        prop_assert_eq!(node.how, if copied { Action::CopyChunks } else { Action::Reencode });
    }
}

/// Somebody converted a store onto itself and had neither the old data nor the new.
#[test]
fn a_store_is_not_converted_onto_itself() {
    let (registry, store) = (registry(), memory());
    let new = NewArray::new(&[4], "int8").codecs("bytes").unwrap();
    Array::create(&store, "/a", new, &registry).unwrap().write(.., &[1_i8, 2, 3, 4]).unwrap();
    let options = ConvertOptions::default().overwrite(true);
    let conversion = Conversion::plan(&store, &registry, options).unwrap();
    assert!(conversion.run(&store, |_| {}).is_err());
    assert_eq!(Array::open(&store, "/a", &registry).unwrap().read::<i8>(..).unwrap(), [1, 2, 3, 4]);
}

/// A type of one's own, stored as another.
#[derive(Debug)]
struct Level;

impl zarr_dtype::ExtensionType for Level {
    fn storage(&self) -> zarr_dtype::DataType {
        zarr_dtype::DataType::Int16
    }
}

#[test]
fn data_types_of_ones_own_are_converted_by_name() {
    let mut known = Registry::clone(&registry());
    known.data_types.add(zarr_dtype::DataTypeEntry::new(&["level"], |_, _| Ok(Arc::new(Level))));
    let (known, unknown, source) = (Arc::new(known), registry(), memory());
    let level = r#"{"name":"level","configuration":{"of":["sea",1.50]}}"#;
    let new = NewArray::new(&[5], level).chunks(&[2]).codecs("bytes").unwrap().fill(-3);
    Array::create(&source, "/a", new, &known).unwrap().write(0..3, &[1_i16, 2, 3]).unwrap();
    let convert = |options: ConvertOptions, registry: &Arc<Registry>| {
        let target = memory();
        Conversion::plan(&source, registry, options)?.run(&target, |_| {})?;
        Array::open(&target, "/a", &known)
    };

    // Chunks that stay as they are need nobody who knows the type; others do.
    let chunks = || ConvertOptions::default().chunks(vec![3]);
    for (options, registry) in [(ConvertOptions::default(), &unknown), (chunks(), &known)] {
        let array = convert(options, registry).unwrap();
        assert_eq!(array.read::<i16>(..).unwrap(), [1, 2, 3, -3, -3]);
        assert_eq!(array.data_type().to_string(), level, "as it was spelled");
    }
    let error = convert(chunks(), &unknown).unwrap_err();
    assert!(error.to_string().ends_with("/data_type: unknown data type level"), "{error}");

    let v2 = ConvertOptions::default().dialect(Dialect::V2);
    let error = convert(v2, &known).unwrap_err();
    assert_eq!(error.kind(), zarr_hierarchy::ErrorKind::NotExpressible);
    assert!(error.to_string().contains("/data_type"), "{error}");
}
