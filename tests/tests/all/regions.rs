//! Regions of arrays and of data sets that are converted, in every dialect, against reads of the source.

use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;
use zarr::dataset::{Dataset, DatasetOptions, DimensionSelection, Labels};
use zarr_array::{Array, Dialect, NewArray, NewGroup, Store};
use zarr_convert::{Conversion, ConvertOptions, Part, Shards};
use zarr_grid::{AxisRange, AxisSelection, Region};
use zarr_meta::NodePath;
use zarr_store::MemoryStore;

fn memory() -> Arc<dyn Store> {
    Arc::new(MemoryStore::new())
}

fn path(text: &str) -> NodePath {
    NodePath::parse(text).unwrap()
}

/// Dialects that have groups, and so an array at `/g/a`.
fn dialect() -> impl Strategy<Value = Dialect> {
    prop::sample::select(Dialect::ALL.into_iter().filter(|dialect| !dialect.holds_one_array()).collect::<Vec<_>>())
}

/// An axis: chunks in a shard, the length of a chunk, the length of the axis, and the range that is taken.
fn axis() -> impl Strategy<Value = (u64, u64, u64, AxisRange)> {
    (1_u64..4, 1_u64..5, 1_u64..30, any::<(u8, u8)>(), 1_u64..4).prop_map(
        |(in_shard, chunk, len, (start, count), step)| {
            let start = u64::from(start) % len;
            let start = if count % 2 == 0 { start / (chunk * in_shard) * chunk * in_shard } else { start };
            let step = if count % 5 == 0 { step } else { 1 };
            let most = (len - start).div_ceil(step);
            let count = if count % 3 == 0 { most } else { 1 + u64::from(count) % most };
            (in_shard, chunk, len, AxisRange { start, len: count, step })
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn a_region_has_the_elements_of_a_read(
        axes in prop::collection::vec(axis(), 1..4),
        (from, to) in (dialect(), dialect()),
        is_sharded in any::<bool>(),
        codecs in prop::sample::select(vec!["zstd", "transpose,gzip", "none"]),
        chunks in prop::option::of(1_u64..6),
        shards in prop::option::of(prop::sample::select(vec![Shards::None, Shards::Auto])),
        parts in 0_u64..3,
        text in any::<bool>(),
    ) {
        let registry = zarr::registry::default();
        let shape: Vec<u64> = axes.iter().map(|axis| axis.2).collect();
        let chunk: Vec<u64> = axes.iter().map(|axis| axis.1).collect();
        let region = Region::new(axes.iter().map(|axis| axis.3)).unwrap();
        let source = memory();
        let is_text = text && codecs != "transpose,gzip" && from.is_v3() && to.is_v3();
        let order: Vec<String> = (0..shape.len()).rev().map(|axis| axis.to_string()).collect();
        let list = codecs.replace("transpose", &format!("transpose({})", order.join(",")));
        let mut new = NewArray::new(&shape, if is_text { "string" } else { "int32" }).chunks(&chunk).codecs(&*list).unwrap();
        if is_sharded && from.has_shards() {
            new = new.shards(&axes.iter().map(|axis| axis.0 * axis.1).collect::<Vec<_>>());
        }
        let Ok(array) = Array::create(&source, "/g/a", new.dialect(from), &registry) else {
            // Codecs that the dialect does not have.
            prop_assert!(!from.is_v3() && !from.is_v2());
            return Ok(());
        };
        let count: u64 = shape.iter().product();
        match is_text {
            true => array.write(.., &(0..count).map(|number| format!("n{number}")).collect::<Vec<_>>()).unwrap(),
            false => array.write(.., &(0..count as i32).collect::<Vec<_>>()).unwrap(),
        }
        let options = ConvertOptions::default()
            .dialect(to)
            .chunks(chunks.map(|len| vec![len; shape.len()]))
            .shards(shards.filter(|_| to.has_shards()))
            .regions(BTreeMap::from([(path("/g/a"), region.clone())]));
        let target = memory();
        let plan = |part: Option<Part>| Conversion::plan(&source, &registry, options.clone().part(part));
        if let Err(error) = plan(None) {
            prop_assert_eq!(error.kind(), zarr::ErrorKind::NotExpressible, "{}", error);
            return Ok(());
        }
        for number in 1..=parts {
            plan(Some(Part::new(number, parts).unwrap())).unwrap().run(&target, |_| {}).unwrap();
        }
        match parts {
            0 => plan(None).unwrap().run(&target, |_| {}).unwrap(),
            _ => plan(None).unwrap().finish(&target, |_| {}).unwrap(),
        }
        let converted = Array::open(&target, "/g/a", &registry).unwrap();
        prop_assert_eq!(converted.shape(), &region.shape()[..]);
        match is_text {
            true => prop_assert_eq!(converted.read::<String>(..).unwrap(), array.read::<String>(&region).unwrap()),
            false => prop_assert_eq!(converted.read::<i32>(..).unwrap(), array.read::<i32>(&region).unwrap()),
        }
    }
}

/// A data set in which NCZarr lists its dimensions is one after it was cut.
#[test]
fn lists_of_dimensions_have_the_lengths_of_a_region() {
    let registry = zarr::registry::default();
    let source = memory();
    let lists = zarr_json::json!({"dimensions": {"time": {"size": 6, "unlimited": 1}, "x": {"size": 2}}, "arrays": ["time", "t"], "groups": []});
    let new = NewGroup::new().dialect(Dialect::V2).attribute("_nczarr_group", lists);
    let group = zarr_array::Group::create(&source, "/", new, &registry).unwrap();
    let create = |name: &str, shape: &[u64], names: &[&str]| {
        group.create_array(name, NewArray::new(shape, "int32").dimension_names(names)).unwrap()
    };
    create("time", &[6], &["time"]).write(.., &[10, 20, 30, 40, 50, 60]).unwrap();
    create("t", &[6, 2], &["time", "x"]).write(.., &(0..12).collect::<Vec<i32>>()).unwrap();
    let selection =
        DimensionSelection::default().sel("time", Labels::between(20, 40)).isel("x", AxisSelection::Index(1));
    let regions = selection.regions(&source, &NodePath::root(), &registry, &DatasetOptions::default()).unwrap();
    for dialect in [Dialect::V2, Dialect::V3] {
        let target = memory();
        let options = ConvertOptions::default().dialect(dialect).regions(regions.clone());
        Conversion::plan(&source, &registry, options).unwrap().run(&target, |_| {}).unwrap();
        let group = zarr::open(&target).group().unwrap();
        let dataset = Dataset::open(&group).unwrap();
        let sizes: Vec<(&str, u64)> =
            dataset.dimensions().iter().map(|dimension| (dimension.name.as_str(), dimension.size)).collect();
        assert!(sizes.contains(&("time", 3)) && sizes.contains(&("x", 1)) && sizes.len() == 2, "{sizes:?}");
        let values = dataset.variable("t").unwrap().read().unwrap().to_vec::<i32>().unwrap();
        assert_eq!(values, [3, 5, 7], "{dialect}");
    }
}
