//! Stores of the keys under a prefix of another store, or with another prefix in their place.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use crate::{
    Answer, Below, Call, Error, Key, Leftover, Listing, Prefix, Result, SizeVisitor, Store, StoreBase, Wrapper,
};

/// Store of the keys under a prefix of another store; or all keys of another store, in which the keys under one prefix stand in place of
/// those under another.
#[derive(Clone, Debug)]
pub struct Prefixed<S> {
    store: S,
    prefix: Prefix,
    /// Prefix in whose place the keys stand; `None` if they are all keys of this store.
    place: Option<Prefix>,
}

impl<S> Prefixed<S> {
    /// Returns a store of the keys under `prefix` in `store`.
    #[must_use]
    pub fn new(store: S, prefix: Prefix) -> Self {
        Self { store, prefix, place: None }
    }

    /// Returns a store of all keys of `store`, in which the keys under `prefix` stand in place of those under `place`. Lists of a prefix
    /// above `place` have the names in `store`.
    #[must_use]
    pub fn in_place(store: S, prefix: Prefix, place: Prefix) -> Self {
        Self { store, prefix, place: Some(place) }
    }

    fn down(&self, key: &Key) -> Result<Key> {
        match &self.place {
            None => self.prefix.join(key.as_str()),
            Some(place) => place.strip(key).map_or_else(|| Ok(key.clone()), |rest| self.prefix.join(rest)),
        }
    }

    fn down_prefix(&self, prefix: &Prefix) -> Result<Prefix> {
        let Some(place) = &self.place else { return Ok(self.prefix.join_prefix(prefix)) };
        match prefix.as_str().strip_prefix(place.as_str()) {
            Some(rest) => Ok(self.prefix.join_prefix(&Prefix::new(rest)?)),
            None => Ok(prefix.clone()),
        }
    }

    /// Converts a key or prefix of the store below, found in a list of `below`, to its name in this store; `None` if it is not in this
    /// store.
    fn up<'t>(&self, below: &Prefix, found: &'t str) -> Option<Cow<'t, str>> {
        up(&self.prefix, self.place.as_ref(), below, found)
    }

    /// Returns a visitor for the store below, which passes keys to `visit` by their names in this store.
    fn up_visitor(&self, below: &Prefix, visit: &SizeVisitor) -> SizeVisitor {
        let (prefix, place, below, visit) =
            (self.prefix.clone(), self.place.clone(), below.clone(), SizeVisitor::clone(visit));
        Arc::new(move |key: Key, size| {
            let key = up(&prefix, place.as_ref(), &below, key.as_str()).and_then(|key| Key::new(&key).ok());
            if let Some(key) = key {
                visit(key, size);
            }
        })
    }

    fn up_keys(&self, below: &Prefix, keys: &[Key]) -> Vec<Key> {
        keys.iter().filter_map(|key| Key::new(&self.up(below, key.as_str())?).ok()).collect()
    }

    fn up_left(&self, left: Leftover) -> Option<Leftover> {
        let path = left.path.strip_prefix(self.prefix.as_str())?.to_owned();
        Some(Leftover { path, ..left })
    }

    fn up_listing(&self, below: &Prefix, listing: &Listing) -> Listing {
        let up = |prefix: &Prefix| Prefix::new(&self.up(below, prefix.as_str())?).ok();
        Listing { keys: self.up_keys(below, &listing.keys), prefixes: listing.prefixes.iter().filter_map(up).collect() }
    }
}

/// Converts a key or prefix of the store below, which is under `prefix`, to its name at `place` or at the root; `None` if it is not under
/// `prefix`.
fn up<'t>(prefix: &Prefix, place: Option<&Prefix>, below: &Prefix, found: &'t str) -> Option<Cow<'t, str>> {
    let rest = found.strip_prefix(prefix.as_str());
    let Some(place) = place else { return rest.map(Cow::from) };
    match rest.filter(|_| below.as_str().starts_with(place.as_str())) {
        Some(rest) => Some(format!("{place}{rest}").into()),
        None => Some(found.into()),
    }
}

impl<S: fmt::Display> Prefixed<S> {
    /// Replaces the key and the store in an error of the store below by those of this store.
    fn lift(&self, mut error: Error) -> Error {
        if let Error::Range { store, key, .. } | Error::Precondition { store, key, .. } = &mut error {
            *store = self.to_string();
            let below = self.place.clone().unwrap_or_else(Prefix::root);
            if let Some(Ok(known)) = self.up(&below, key.as_str()).map(|known| Key::new(&known)) {
                *key = known;
            }
        }
        error
    }
}

impl<S: fmt::Display> fmt::Display for Prefixed<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.place.is_some() {
            return self.store.fmt(f);
        }
        let store = self.store.to_string();
        let prefix = self.prefix.as_str().trim_end_matches('/');
        write!(f, "{store}{}{prefix}", if store.ends_with(['/', ':']) || prefix.is_empty() { "" } else { "/" })
    }
}

impl<S: StoreBase> Wrapper for Prefixed<S> {
    type Below = S;
    type Over<T: StoreBase + 'static> = Prefixed<T>;

    fn below(&self) -> &S {
        &self.store
    }

    fn over<T: StoreBase + 'static>(&self, below: T) -> Prefixed<T> {
        Prefixed { store: below, prefix: self.prefix.clone(), place: self.place.clone() }
    }

    async fn answer<'a, B: Below + 'a>(&'a self, below: B, call: Call<'a>) -> Result<Answer> {
        let listed = call.listed().cloned();
        let mut call = call.with_names(|key| self.down(key), |prefix| self.down_prefix(prefix))?;
        if let (Call::ListSizes { visit, .. }, Some(listed)) = (&mut call, &listed) {
            *visit = Cow::Owned(self.up_visitor(listed, visit));
        }
        let answer = below.call(call).await.map_err(|error| self.lift(error))?;
        let answer = match answer {
            Answer::GotMany(got) => {
                Answer::GotMany(got.into_iter().map(|got| got.map_err(|error| self.lift(error))).collect())
            }
            answer => answer,
        };
        let Some(listed) = listed else { return Ok(answer) };
        Ok(match answer {
            Answer::Listing(listing) => Answer::Listing(self.up_listing(&listed, &listing)),
            Answer::Keys(keys) => Answer::Keys(self.up_keys(&listed, &keys)),
            Answer::Leftovers(found) => {
                Answer::Leftovers(found.into_iter().filter_map(|left| self.up_left(left)).collect())
            }
            answer => answer,
        })
    }

    fn copied<'k>(&self, key: &'k Key) -> Option<Cow<'k, Key>> {
        self.down(key).ok().map(Cow::Owned)
    }

    fn parent_over(&self, parent: Arc<dyn Store>) -> Option<Arc<dyn Store>> {
        self.place.as_ref().map(|_| parent)
    }
}
