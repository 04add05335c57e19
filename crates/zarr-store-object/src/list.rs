//! Lists.

use std::sync::Arc;

use futures::TryStreamExt;
use object_store::path::Path;
use zarr_store::{Key, Listing, Operation, Prefix, Result, SizeVisitor};

use crate::bucket::Bucket;

pub(crate) async fn list_dir(inner: Arc<Bucket>, prefix: Prefix) -> Result<Listing> {
    let above = path(&inner, Operation::List, &prefix)?;
    let exchange = inner.exchange(0);
    let found = exchange.during(inner.store.list_with_delimiter(above.as_ref())).await;
    let found = found.map_err(|error| inner.error(&exchange, Operation::List, shown(&prefix), &error))?;
    let address = &inner.subject.address;
    let keys = found.objects.iter().filter_map(|object| address.key(object.location.as_ref())).collect();
    let prefixes = found.common_prefixes.iter().filter_map(|below| {
        let below = address.key(below.as_ref())?;
        Prefix::new(&format!("{below}/")).ok()
    });
    Ok(Listing::new(keys, prefixes.collect()))
}

pub(crate) async fn list_prefix(inner: Arc<Bucket>, prefix: Prefix) -> Result<Vec<Key>> {
    let above = path(&inner, Operation::List, &prefix)?;
    let exchange = inner.exchange(0);
    let listed = async {
        let mut objects = inner.store.list(above.as_ref());
        let mut keys = Vec::new();
        while let Some(object) = objects.try_next().await? {
            keys.extend(inner.subject.address.key(object.location.as_ref()));
        }
        Ok::<_, object_store::Error>(keys)
    };
    let listed = exchange.during(listed).await;
    let mut keys = listed.map_err(|error| inner.error(&exchange, Operation::List, shown(&prefix), &error))?;
    keys.sort_unstable();
    // A page that came twice, of which the entries would be counted twice.
    keys.dedup();
    Ok(keys)
}

pub(crate) async fn list_sizes(inner: Arc<Bucket>, prefix: Prefix, visit: SizeVisitor) -> Result<()> {
    let above = path(&inner, Operation::List, &prefix)?;
    let exchange = inner.exchange(0);
    let listed = async {
        let mut objects = inner.store.list(above.as_ref());
        let mut last: Option<Key> = None;
        while let Some(object) = objects.try_next().await? {
            let key = inner.subject.address.key(object.location.as_ref());
            // Keys come in their order: one that came before is of a page that came twice.
            if let Some(key) = key.filter(|key| last.as_ref().is_none_or(|last| last < key)) {
                last = Some(key.clone());
                visit(key, object.size);
            }
        }
        Ok::<_, object_store::Error>(())
    };
    exchange.during(listed).await.map_err(|error| inner.error(&exchange, Operation::List, shown(&prefix), &error))
}

/// The path under which the objects of a prefix are; `None` for all of the bucket.
pub(crate) fn path(inner: &Bucket, operation: Operation, prefix: &Prefix) -> Result<Option<Path>> {
    let name = inner.subject.address.prefix.join_prefix(prefix);
    let Some(name) = name.as_str().strip_suffix('/') else { return Ok(None) };
    inner.object(operation, shown(prefix), name).map(Some)
}

fn shown(prefix: &Prefix) -> &str {
    if prefix.is_root() { "/" } else { prefix.as_str() }
}
