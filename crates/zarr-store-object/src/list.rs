//! Lists of keys.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
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
    let names = &inner.subject.address.names;
    let keys = found.objects.iter().filter_map(|object| names.listed_key(&object.location)).collect();
    let prefixes = found.common_prefixes.iter().filter_map(|below| {
        let below = names.listed_key(below)?;
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
            keys.extend(inner.subject.address.names.listed_key(&object.location));
        }
        Ok::<_, object_store::Error>(keys)
    };
    let listed = exchange.during(listed).await;
    let mut keys = listed.map_err(|error| inner.error(&exchange, Operation::List, shown(&prefix), &error))?;
    keys.sort_unstable();
    // A page may have come twice: do not count its entries twice.
    keys.dedup();
    Ok(keys)
}

pub(crate) async fn list_sizes(inner: Arc<Bucket>, prefix: Prefix, visit: SizeVisitor) -> Result<()> {
    let above = path(&inner, Operation::List, &prefix)?;
    let exchange = inner.exchange(0);
    let listed = async {
        let mut objects = inner.store.list(above.as_ref());
        let mut seen = Seen::new(RECENT);
        while let Some(object) = objects.try_next().await? {
            let key = inner.subject.address.names.listed_key(&object.location);
            // A page may have come twice: do not count its entries twice.
            if let Some(key) = key.filter(|key| seen.is_new(key)) {
                visit(key, object.size);
            }
        }
        Ok::<_, object_store::Error>(())
    };
    exchange.during(listed).await.map_err(|error| inner.error(&exchange, Operation::List, shown(&prefix), &error))
}

/// Least number of keys that a listing remembers while they arrive in order: more than are in several pages.
const RECENT: usize = 1 << 16;

/// Keys that a listing has returned, to detect a page that arrives twice. Most services list in order, so that few hashes are stored.
/// Directory buckets of S3 and hierarchical namespaces of Azure list in another order: from the first key out of order on, the hashes
/// of all keys are stored, 16 bytes each.
///
/// A key that was not returned before is always new. A key that was returned before only counts as new if it was forgotten, that is,
/// if it was followed by at least `at_least` keys in order.
struct Seen {
    largest: Option<Key>,
    in_order: bool,
    at_least: usize,
    recent: HashSet<u128>,
    older: HashSet<u128>,
    hashers: [RandomState; 2],
}

impl Seen {
    fn new(at_least: usize) -> Self {
        let hashers = [RandomState::new(), RandomState::new()];
        Self { largest: None, in_order: true, at_least, recent: HashSet::new(), older: HashSet::new(), hashers }
    }

    /// Returns whether the listing returns this key for the first time, and remembers it.
    fn is_new(&mut self, key: &Key) -> bool {
        let [high, low] = self.hashers.each_ref().map(|hasher| u128::from(hasher.hash_one(key.as_str())));
        let hash = high << 64 | low;
        if self.largest.as_ref().is_none_or(|largest| largest < key) {
            self.largest = Some(key.clone());
        } else if self.recent.contains(&hash) || self.older.contains(&hash) {
            return false;
        } else {
            self.in_order = false;
        }
        if self.in_order && self.recent.len() >= self.at_least {
            std::mem::swap(&mut self.recent, &mut self.older);
            self.recent.clear();
        }
        self.recent.insert(hash);
        true
    }
}

/// Returns the path under which the objects of a prefix are; `None` for the whole bucket.
pub(crate) fn path(inner: &Bucket, operation: Operation, prefix: &Prefix) -> Result<Option<Path>> {
    let name = inner.subject.address.names.object(prefix.as_str());
    let Some(name) = name.strip_suffix('/') else { return Ok(None) };
    inner.object(operation, shown(prefix), name).map(Some)
}

fn shown(prefix: &Prefix) -> &str {
    if prefix.is_root() { "/" } else { prefix.as_str() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(at_least: usize, names: impl IntoIterator<Item = usize>) -> (Vec<usize>, Seen) {
        let mut seen = Seen::new(at_least);
        let new = |name: &usize| seen.is_new(&Key::new(&format!("a/{name:06}")).expect("a key"));
        let new = names.into_iter().filter(new).collect();
        (new, seen)
    }

    #[test]
    fn keys_in_order_are_forgotten_and_pages_that_repeat_are_known() {
        let pages = |page: usize| (page * 10..page * 10 + 10).cycle().take(20);
        let (new, seen) = given(30, (0..100).flat_map(pages));
        assert_eq!(new, (0..1000).collect::<Vec<_>>());
        assert!(seen.recent.len() + seen.older.len() <= 60);
    }

    #[test]
    fn no_key_is_lost_in_any_order() {
        let sorted: Vec<usize> = (0..1000).collect();
        let all = |names: Vec<usize>| {
            let (mut new, _) = given(8, names);
            new.sort_unstable();
            new
        };
        assert_eq!(all((0..1000).rev().collect()), sorted);
        assert_eq!(all((0..1000).map(|at| at * 7 % 1000).collect()), sorted);
        // The first half last, behind more keys than are kept of those in order.
        assert_eq!(all((500..1000).chain(0..500).collect()), sorted);
        // Once they are out of order each key is kept.
        let backwards = (0..1000).rev();
        assert_eq!(all(backwards.clone().chain(backwards).collect()), sorted);
    }
}
