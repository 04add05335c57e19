//! Tests of advice: counted requests beside plans of real arrays, choices, costs.

use crate::{create, memory, registry};
use proptest::prelude::*;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use zarr_array::{Array, NewArray, Store};
use zarr_grid::Region;
use zarr_stats::advise::{Access, Advice, AdviseOptions, CountedLayout, Prices, RequestCounter, Storage, Subject};
use zarr_store::{AccessProfile, Answer, AsyncStore, BoxFuture, Call, Capabilities, MemoryStore, Result, StoreKind};

/// Values in memory that are read as those of another kind of store.
#[derive(Clone, Debug)]
struct As(Arc<MemoryStore>, AccessProfile);

impl fmt::Display for As {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("as:")
    }
}

impl Store for As {
    fn call(&self, call: Call<'_>) -> Result<Answer> {
        self.0.call(call)
    }

    fn capabilities(&self) -> Capabilities {
        self.0.capabilities()
    }

    fn access_profile(&self) -> AccessProfile {
        self.1
    }

    fn as_async(&self) -> Option<Arc<dyn AsyncStore>> {
        (self.1.kind == StoreKind::Remote).then(|| Arc::new(self.clone()) as Arc<dyn AsyncStore>)
    }
}

impl AsyncStore for As {
    fn call<'a>(&'a self, call: Call<'a>) -> BoxFuture<'a, Result<Answer>> {
        Box::pin(std::future::ready(Store::call(self, call)))
    }

    fn capabilities(&self) -> Capabilities {
        Store::capabilities(self)
    }

    fn access_profile(&self) -> AccessProfile {
        self.1
    }
}

/// Layout of an array along one axis: length of an inner chunk, inner chunks of a shard, elements, and the region that is read.
type Axis = (u64, u64, u64, (u64, u64));

fn axis() -> impl Strategy<Value = Axis> {
    (1_u64..6, 1_u64..4, 1_u64..25).prop_flat_map(|(chunk, inner, len)| {
        let len = (0..len, 1..=len).prop_map(move |(start, count)| (start, count.min(len - start)));
        (Just(chunk), Just(inner), len.clone().prop_map(|(start, count)| start + count), len)
    })
}

/// Checks the counts of a read beside the plan of an array with elements.
fn check(axes: &[(u64, u64, u64)], regions: &[(u64, u64)], codecs: &str, sharded: bool, profile: AccessProfile) {
    let chunks: Vec<u64> = axes.iter().map(|axis| axis.0).collect();
    let shards: Vec<u64> = axes.iter().map(|axis| axis.0 * axis.1).collect();
    // Shards at the edge of an array lack inner chunks, which counts do not know.
    let shape: Vec<u64> = match sharded {
        true => axes.iter().zip(&shards).map(|(axis, shard)| axis.2.div_ceil(*shard) * shard).collect(),
        false => axes.iter().map(|axis| axis.2).collect(),
    };
    let values = Arc::new(MemoryStore::new());
    let store: Arc<dyn Store> = values.clone();
    let new = NewArray::new(&shape, "int16").chunks(&chunks).codecs(codecs).unwrap();
    let new = if sharded { new.shards(&shards) } else { new };
    let array = Array::create(&store, "/a", new, &registry()).unwrap();
    let count = shape.iter().product::<u64>() as usize;
    array.write(.., &(0..count).map(|at| (at % 999) as i16 + 1).collect::<Vec<i16>>()).unwrap();
    let far: Arc<dyn Store> = Arc::new(As(values, profile));
    let ranges: Vec<_> =
        regions.iter().zip(&shape).map(|(&(start, len), &all)| start.min(all)..(start + len).min(all)).collect();
    let region = Region::from_ranges(&ranges);
    let plan = array.through(&far).plan(&region).unwrap();
    let raw = 2 * chunks.iter().product::<u64>();
    let layout = CountedLayout::new("int16", &chunks, codecs, if codecs == "crc32c" { raw + 4 } else { raw });
    let layout = layout.shards(sharded.then_some(shards));
    let mut counter = RequestCounter::new(&layout, profile, &registry()).unwrap();
    let counted = counter.count(&region).unwrap();
    let found = (counted.chunks, counted.certain, counted.rounds, counted.range_bytes, counted.unsized_requests);
    // The rest of a value that is read in parts follows its first part, which a plan cannot know without the size of the value.
    let rounds = if counted.requests > counted.certain { plan.rounds.max(2) } else { plan.rounds };
    let planned = (plan.chunks, plan.request_count, rounds, plan.range_bytes, plan.unsized_requests);
    assert_eq!(found, planned, "{layout:?} {shape:?} {region:?}");
    assert_eq!(Some(counted.decoded), plan.decoded_bytes, "{layout:?} {shape:?} {region:?}");
    // The same by the counts that are known now.
    assert_eq!(counter.count(&region).unwrap(), counted);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(160))]

    #[test]
    fn counts_are_those_of_plans(
        axes in proptest::collection::vec(axis(), 0..4),
        codecs in prop_oneof![Just("crc32c"), Just("none"), Just("gzip(1)")],
        sharded in any::<bool>(),
        kind in 0..3,
        gap in 0_u64..60,
        part in prop_oneof![Just(None), (8_u64..200).prop_map(Some)],
    ) {
        // Chunks of a shard that are compressed to different sizes are not as counted.
        prop_assume!(!sharded || codecs != "gzip(1)");
        let profile = match kind {
            0 => AccessProfile::MEMORY,
            1 => AccessProfile::LOCAL.merging(gap, 200),
            _ => AccessProfile::REMOTE.merging(gap, 200).part_size(part),
        };
        let regions: Vec<(u64, u64)> = axes.iter().map(|axis| axis.3).collect();
        let axes: Vec<(u64, u64, u64)> = axes.iter().map(|&(chunk, inner, len, _)| (chunk, inner, len)).collect();
        check(&axes, &regions, codecs, sharded, profile);
    }
}

fn accesses(texts: &[&str]) -> Vec<Access> {
    texts.iter().map(|text| Access::parse(text).unwrap()).collect()
}

fn options(reads: &[&str]) -> AdviseOptions {
    AdviseOptions::default().reads(accesses(reads)).storage(Storage::s3()).time(Duration::ZERO)
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn one_read_gets_its_chunks_and_two_a_choice() {
    let names = names(&["time", "lat", "lon"]);
    let subject = Subject::described(&[8760, 721, 1440], "float32", &names, &registry()).unwrap();
    let one = Advice::on(&subject, &options(&["time=1"])).unwrap();
    assert_eq!(one.layouts[0].layout.chunks[0], 1);
    assert_eq!((one.sample, one.present.is_none()), (0, true));
    let series = Advice::on(&subject, &options(&["lat=1,lon=1"])).unwrap();
    assert!(series.layouts[0].layout.chunks[0] >= 2190, "{:?}", series.layouts[0].layout);
    let both = Advice::on(&subject, &options(&["time=1", "lat=1,lon=1"])).unwrap();
    assert!((1..=3).contains(&both.layouts.len()));
    let balanced = &both.layouts[0];
    // A balanced layout is no disaster for either read, as those of one read are for the other.
    for (access, least) in both.least.iter().enumerate() {
        assert!(balanced.accesses[access].seconds < 40.0 * least, "{balanced:?}");
    }
    for (layout, best_for) in both.layouts.iter().zip(&both.best_for).skip(1) {
        let access = best_for.unwrap();
        assert!(layout.accesses[access].seconds < balanced.accesses[access].seconds / 1.2);
        assert!((0..2).any(|other| layout.accesses[other].seconds > balanced.accesses[other].seconds));
    }
    assert!(both.layouts.iter().all(|layout| layout.objects < 100_000), "{both:?}");
}

#[test]
fn the_first_layout_is_close_to_the_best_of_all_shapes() {
    let shape = [20_000, 4096];
    for (reads, at) in
        [(&["0=1"][..], "s3"), (&["1=1"], "50ms,20MB/s"), (&["0=256,1=256"], "local"), (&["0=1", "1=1"], "s3")]
    {
        let subject = Subject::described(&shape, "float32", &[], &registry()).unwrap();
        let options = options(reads).storage(at.parse().unwrap());
        let advice = Advice::on(&subject, &options).unwrap();
        let first = &advice.layouts[0];
        let lengths = |len: u64| (0..20).map(|power| 1_u64 << power).take_while(move |part| *part < len).chain([len]);
        let shapes = lengths(shape[0]).flat_map(|rows| lengths(shape[1]).map(move |columns| vec![rows, columns]));
        let shapes = shapes.filter(|part| (1 << 15..=1 << 24).contains(&part.iter().product::<u64>()));
        let costs: Vec<Vec<f64>> = shapes
            .map(|part| Advice::cost_of(&subject, &first.layout.with_shapes(part, None), &options).unwrap())
            .chain([first.clone()])
            .map(|cost| cost.accesses.iter().map(|access| access.seconds).collect())
            .collect();
        let least: Vec<f64> =
            (0..reads.len()).map(|access| costs.iter().map(|cost| cost[access]).fold(f64::MAX, f64::min)).collect();
        // The mean of the factors by which reads are slower than they could be, and the largest of them.
        let value = |cost: &Vec<f64>| {
            let factors: Vec<f64> = cost.iter().zip(&least).map(|(seconds, least)| seconds / least).collect();
            let mean = factors.iter().map(|factor| factor.ln()).sum::<f64>() / factors.len() as f64;
            mean.exp() * factors.iter().copied().fold(1.0, f64::max)
        };
        let best = costs.iter().map(value).fold(f64::MAX, f64::min);
        let found = value(costs.last().unwrap());
        assert!(found <= 1.15 * best, "{reads:?} {at} {found} {best} {:?}", first.layout);
    }
}

#[test]
fn a_bad_layout_is_seen_and_a_good_one_stays() {
    let new = NewArray::new(&[400, 64, 64], "int32").dimension_names(&["time", "y", "x"]);
    let fill = |array: &Array| {
        let elements: Vec<i32> = (0..400 * 64 * 64).map(|at| at / 7).collect();
        array.write(.., &elements).unwrap();
    };
    let bad = create(&memory(), "/", new.clone().chunks(&[1, 64, 64]).codecs("zstd(1)").unwrap());
    fill(&bad);
    let options = options(&["y=1,x=1"]).codecs(vec!["zstd(1)".to_owned(), "gzip(1)".to_owned()]);
    let advice = Advice::on(&Subject::of(&bad).unwrap(), &options).unwrap();
    let present = advice.present.clone().unwrap();
    assert_eq!((present.accesses[0].requests, present.objects), (400.0, 400));
    assert!(advice.layouts[0].accesses[0].requests < 10.0, "{:?}", advice.layouts[0]);
    assert!(advice.sample > 0);
    // What is advised is as good as counted when it is there.
    let layout = &advice.layouts[0].layout;
    let again = new.chunks(&layout.chunks).codecs(layout.codecs.codecs.as_str()).unwrap();
    let again = match &layout.shards {
        Some(shards) => again.shards(shards),
        None => again,
    };
    let good = create(&memory(), "/", again);
    fill(&good);
    let subject = Subject::of(&good).unwrap();
    let present = Advice::present_cost(&subject, &options).unwrap().unwrap();
    assert_eq!(present.accesses[0].requests, advice.layouts[0].accesses[0].requests);
    let (found, counted) = (present.stored, advice.layouts[0].stored);
    // Chunks at the edges are measured without the elements beyond, which such regular elements do not hide.
    assert!((found / counted - 1.0).abs() < 0.3, "{found} {counted} {layout:?}");
}

#[test]
fn writes_of_parts_of_chunks_read_them_before() {
    let names = names(&["time", "x"]);
    let subject = Subject::described(&[1000, 1 << 20], "uint8", &names, &registry()).unwrap();
    let options = options(&[]).writes(accesses(&["time=1"]));
    let advice = Advice::on(&subject, &options).unwrap();
    let best = &advice.layouts[0];
    assert_eq!(best.layout.shards.as_ref().unwrap_or(&best.layout.chunks)[0], 1, "{best:?}");
    assert!(advice.is_write(0));
    let whole = best.layout.with_shapes(vec![1, 1 << 20], None);
    let parts = best.layout.with_shapes(vec![2, 1 << 20], None);
    let cost = |layout| Advice::layout_cost(&subject, layout, &options).unwrap().accesses[0];
    assert_eq!((cost(&whole).requests, cost(&whole).bytes), (1.0, f64::from(1 << 20)));
    assert_eq!((cost(&parts).requests, cost(&parts).bytes), (2.0, f64::from(1 << 22)));
    assert!(cost(&parts).price > cost(&whole).price);
}

#[test]
fn unusable_subjects_and_accesses_are_refused() {
    let described = |shape: &[u64], data_type| Subject::described(shape, data_type, &[], &registry());
    assert!(described(&[10, 0], "int8").unwrap_err().to_string().contains("no elements"));
    assert!(described(&[10], "string").unwrap_err().to_string().contains("variable"));
    assert!(described(&[10], "no_such_type").is_err());
    let subject = described(&[10], "int8").unwrap();
    assert!(Advice::on(&subject, &options(&[])).unwrap_err().to_string().contains("no reads"));
    assert!(Advice::on(&subject, &options(&["time=1"])).unwrap_err().to_string().contains("\"time\""));
    let scalar = described(&[], "float64").unwrap();
    assert_eq!(Advice::on(&scalar, &options(&["all"])).unwrap().layouts[0].objects, 1);
    let other = create(&memory(), "/", NewArray::new(&[4, 4], "int8"));
    assert!(subject.clone().sampled_from(&other).unwrap_err().to_string().contains("2 dimensions"));
    let other = create(&memory(), "/", NewArray::new(&[4], "int16"));
    assert!(subject.sampled_from(&other).unwrap_err().to_string().contains("int16, expected int8"));
}

#[test]
fn layouts_with_too_many_parts_are_refused_or_passed_over() {
    let counter = |chunks: &[u64], shards: Option<Vec<u64>>| {
        let layout = CountedLayout::new("int16", chunks, "none", 2).shards(shards);
        RequestCounter::new(&layout, AccessProfile::LOCAL, &registry())
    };
    let error = counter(&[1], Some(vec![1 << 24])).unwrap_err().to_string();
    assert!(error.contains("16777216 inner chunks"), "{error}");
    // Each of 30 axes has a first and a last chunk that are met in part.
    let part = Region::from_ranges(&vec![1..3; 30]);
    let error = counter(&[2; 30], None).unwrap().count(&part).unwrap_err().to_string();
    assert!(error.contains("1073741824 ways"), "{error}");
    let whole = Region::from_ranges(&vec![0..4; 30]);
    assert_eq!(counter(&[2; 30], None).unwrap().count(&whole).unwrap().chunks, 1 << 30);
    // Shapes of many dimensions end soon, with advice or with the reason why there is none.
    for (shape, reads) in
        [(vec![8; 20], "all"), (vec![3; 40], "all"), (vec![8; 20], "0=3,5=3,9=5"), (vec![2; 60], "all")]
    {
        let subject = Subject::described(&shape, "uint8", &[], &registry()).unwrap();
        match Advice::on(&subject, &options(&[reads])) {
            Ok(advice) => assert!(!advice.layouts.is_empty()),
            Err(error) => assert!(error.to_string().contains("ways"), "{error}"),
        }
    }
    // An array whose shards are too many parts has advice, without the layout that is there.
    let new = NewArray::new(&[1 << 22], "uint8").chunks(&[1]).codecs("none").unwrap().shards(&[1 << 22]);
    let array = create(&memory(), "/", new);
    let advice = Advice::on(&Subject::of(&array).unwrap(), &options(&["0=10"])).unwrap();
    assert!(advice.present.is_none() && !advice.layouts.is_empty());
}

#[test]
fn arrays_keep_their_codecs_where_they_cannot_have_others() {
    let numbers = create(&memory(), "/", NewArray::new(&[64, 64], "int32").chunks(&[8, 8]).codecs("gzip(1)").unwrap());
    numbers.write(.., &(0..4096).collect::<Vec<i32>>()).unwrap();
    let options = options(&["0=1"]).codecs(vec!["transpose(1,0),zstd(1)".to_owned()]);
    let advice = Advice::on(&Subject::of(&numbers).unwrap(), &options).unwrap();
    let line = create(&memory(), "/", NewArray::new(&[64], "int32").chunks(&[8]).codecs("gzip(1)").unwrap());
    line.write(.., &(0..64).collect::<Vec<i32>>()).unwrap();
    let subject = Subject::of(&line).unwrap();
    let mut layout = advice.layouts[0].layout.with_shapes(vec![64], None);
    layout.codecs.codecs = "transpose(1,0),zstd(1)".to_owned();
    assert!(Advice::layout_cost(&subject, &layout, &options).is_err());
    let (present, advised) = Advice::compare(&subject, &layout, &options).unwrap();
    assert_eq!(present.unwrap().objects, 8);
    assert_eq!((advised.objects, advised.layout.chunks.clone()), (1, vec![64]));
    assert!(advised.layout.codecs.configs.iter().any(|codec| codec.name == "gzip"), "{advised:?}");
}

#[test]
fn arrays_of_small_chunks_are_measured_on_some() {
    let array = create(&memory(), "/", NewArray::new(&[1 << 16], "int32").chunks(&[2]).codecs("none").unwrap());
    array.write(.., &(0..1 << 16).collect::<Vec<i32>>()).unwrap();
    let advice = Advice::on(&Subject::of(&array).unwrap(), &options(&["all"])).unwrap();
    // 1024 chunks of 8 bytes.
    assert_eq!(advice.sample, 8192);
}

#[test]
fn stores_are_measured_and_prices_counted() {
    let array = create(&memory(), "/", NewArray::new(&[1000], "int32").chunks(&[100]).codecs("none").unwrap());
    assert!(Storage::probe(&array).unwrap_err().to_string().contains("no chunk"));
    array.write(.., &(0..1000).collect::<Vec<i32>>()).unwrap();
    let storage = Storage::probe(&array).unwrap();
    assert!(storage.latency > 0.0 && storage.bandwidth > 0.0, "{storage:?}");
    let mut prices = Prices::s3();
    (prices.get_1000, prices.storage_gb_month, prices.put_1000) = (1000.0, 1e9, 2000.0);
    let options = options(&["all"]).prices(prices);
    let present = Advice::present_cost(&Subject::of(&array).unwrap(), &options).unwrap().unwrap();
    assert_eq!((present.accesses[0].price, present.month, present.first_write), (10.0, 4000.0, 20.0));
}
