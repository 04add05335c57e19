//! Requests and steps of jobs are spans. They are in a process of their own, since a subscriber is for all of it.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;
use zarr::Store;
use zarr::prelude::*;
use zarr::store::AsyncAsSync;
use zarr_store_object::BucketStore;
use zarr_testserver::{Bucket, TestServer};

/// The fields of a span, and the names of the spans that it lies in.
#[derive(Clone, Debug, Default)]
struct Seen {
    name: String,
    within: Vec<String>,
    fields: BTreeMap<String, String>,
}

impl Visit for Seen {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.fields.insert(field.name().to_owned(), format!("{value:?}"));
    }
}

#[derive(Clone, Default)]
struct Collect(Arc<Mutex<BTreeMap<u64, Seen>>>);

impl<S: tracing::Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Collect {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let within = context.span_scope(id).into_iter().flatten().skip(1).map(|span| span.name().to_owned()).collect();
        let mut seen = Seen { name: attributes.metadata().name().to_owned(), within, ..Seen::default() };
        attributes.record(&mut seen);
        let mut all = self.0.lock().expect("no panic");
        let number = all.len() as u64;
        all.insert(number, seen);
        if let Some(span) = context.span(id) {
            span.extensions_mut().insert(number);
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        let number = context.span(id).and_then(|span| span.extensions().get::<u64>().copied());
        let mut all = self.0.lock().expect("no panic");
        if let Some(seen) = number.and_then(|number| all.get_mut(&number)) {
            values.record(seen);
        }
    }
}

#[test]
fn requests_and_steps_are_spans_that_show_no_secret() {
    let collect = Collect::default();
    let ours = collect.clone().with_filter(tracing_subscriber::filter::filter_fn(|metadata| {
        metadata.target() == "zarr" || metadata.target() == "test"
    }));
    tracing::subscriber::set_global_default(tracing_subscriber::registry().with(ours)).unwrap();

    let server = TestServer::builder().credentials("name", "s3cr3t-key").bucket("data", Bucket::s3()).start().unwrap();
    let url = server.url();
    let options = [("endpoint", url.as_str()), ("access_key_id", "name"), ("secret_access_key", "s3cr3t-key")];
    let options: Vec<_> = options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let bucket = Arc::new(BucketStore::open("s3://data/x.zarr", &options).unwrap());
    let store: Arc<dyn Store> = Arc::new(AsyncAsSync::new(bucket));
    let new = NewArray::new(&[64, 64], "int32").chunks(&[8, 8]).shards(&[32, 64]);
    let array = zarr::create((&store, "/a")).array(new).unwrap();
    let values: Vec<i32> = (0..4096).collect();
    array.write(.., &values).unwrap();

    // It is read soon enough not to be looked at again.
    let array = array.with(Options::default().look_interval(std::time::Duration::from_secs(3600))).unwrap();
    collect.0.lock().unwrap().clear();
    server.reset_counts();
    let operation = tracing::info_span!(target: "test", "operation");
    assert_eq!(operation.in_scope(|| array.read::<i32>((40, 50))).unwrap(), [values[40 * 64 + 50]]);
    let all: Vec<Seen> = collect.0.lock().unwrap().values().cloned().collect();
    let of = |name: &str| all.iter().filter(|seen| seen.name == name).collect::<Vec<_>>();

    let requests = of("request");
    assert_eq!((requests.len(), server.counts().gets), (2, 2), "{all:#?}");
    for (request, bytes) in requests.iter().zip([None, Some("256")]) {
        assert_eq!((request.fields["operation"].as_str(), request.fields["key"].as_str()), ("\"get\"", "a/c/1/0"));
        assert_eq!(request.fields["store"], "s3://data/x.zarr");
        let found = request.fields["bytes"].as_str();
        assert!(
            bytes.is_none_or(|bytes| found == bytes) || found.parse::<u64>().is_ok_and(|found| found > 0),
            "{request:?}"
        );
        assert!(request.fields["ranges"].contains("bytes"), "{request:?}");
        assert_eq!(request.within.last().map(String::as_str), Some("operation"));
    }
    assert_eq!(of("wait").len(), 2);
    let steps = of("step");
    assert!(steps.len() >= 3 && steps.iter().all(|step| step.fields["job"] == "\"ReadJob\""), "{steps:?}");
    assert!(steps.iter().all(|step| step.within == ["operation"]), "{steps:?}");
    assert!(!format!("{all:?}").contains("s3cr3t"));

    // Values that are set together.
    let store: Arc<dyn Store> = Arc::new(zarr::store::MemoryStore::new());
    let new = NewArray::new(&[64], "int32").chunks(&[8]).codecs("bytes").unwrap();
    let array = zarr::create((&store, "/a")).array(new).unwrap();
    collect.0.lock().unwrap().clear();
    operation.in_scope(|| array.write(.., &(1..65).collect::<Vec<i32>>())).unwrap();
    let all: Vec<Seen> = collect.0.lock().unwrap().values().cloned().collect();
    let requests = all.iter().filter(|seen| seen.name == "request").map(|seen| &seen.fields);
    let sets: Vec<_> =
        requests.map(|it| (it["operation"].as_str(), it["key"].as_str(), it["bytes"].as_str())).collect();
    let [(get, document, _), set, again] = sets[..] else { panic!("{sets:?}") };
    assert_eq!((get, document, again.1), ("\"get\"", "a/zarr.json", "a/zarr.json"), "whether the array is still there");
    assert_eq!(set, ("\"set_many\"", "a/c/0", "256"));
}
