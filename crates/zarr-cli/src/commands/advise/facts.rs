//! Advice as JSON.

use super::lines::Table;
use crate::object::{object, or_null};
use zarr::meta::json::Map;
use zarr::stats::advise::{Advice, LayoutCost, Storage};

pub(super) fn json(table: &Table<'_>) -> Map {
    let Table { subject, advice, options, ends } = table;
    let storage = &options.storage;
    object! {
        "path": or_null(ends.map(|ends| ends.node.clone().unwrap_or_else(|| "/".to_owned()))),
        "shape": subject.shape().to_vec(),
        "bytes": subject.bytes(),
        "storage": storage_json(storage),
        "prices": options.prices.to_json(),
        "sample_bytes": advice.sample,
        "present": or_null(advice.present.as_ref().map(|cost| cost_json(cost, advice, None))),
        "layouts": advice.layouts.iter().enumerate().map(|(number, cost)| {
            let best_for = advice.best_for.get(number).copied().flatten();
            object! {
                ..cost_json(cost, advice, best_for),
                "command": or_null(table.command(cost)),
            }
        }).collect::<Vec<_>>(),
    }
}

pub(super) fn storage_json(storage: &Storage) -> Map {
    object! {
        "name": storage.name.as_str(),
        "latency": storage.latency,
        "bandwidth": storage.bandwidth,
        "concurrency": storage.concurrency,
    }
}

/// Returns a layout with its costs as JSON. `best_for` is the number of the access for which it is recommended.
pub(super) fn cost_json(cost: &LayoutCost, advice: &Advice, best_for: Option<usize>) -> Map {
    let accesses = cost.accesses.iter().zip(&advice.accesses).enumerate().map(|(number, (of_access, access))| {
        object! {
            "access": access.to_string(),
            "write": advice.is_write(number),
            "seconds": of_access.seconds,
            "requests": of_access.requests,
            "bytes": of_access.bytes,
            "decoded_bytes": of_access.decoded,
            "price": of_access.price,
        }
    });
    let codecs = &cost.layout.codecs;
    object! {
        "best_for": or_null(best_for.and_then(|number| advice.accesses.get(number)).map(ToString::to_string)),
        "chunks": cost.layout.chunks.clone(),
        "shards": or_null(cost.layout.shards.clone()),
        "codecs": codecs.configs.iter().map(|codec| codec.to_value()).collect::<Vec<_>>(),
        "ratio": codecs.ratio,
        "stored_bytes": cost.stored,
        "objects": cost.objects,
        "price_per_month": cost.month,
        "price_of_writing": cost.first_write,
        "accesses": accesses.collect::<Vec<_>>(),
    }
}
