use std::future::ready;
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;

use super::*;
use crate::{
    ByteRange, CallBytes, CallPieces, Counted, Error, GetOptions, MemoryStore, Operation, Prefix, Prefixed, ReadOnly,
    SetOptions, SetStream, SizeVisitor, ValueGet,
};

/// Store in memory that notes its calls, blocking and non-blocking.
#[derive(Debug, Default)]
struct Noting {
    memory: MemoryStore,
    log: Mutex<Vec<Vec<String>>>,
}

impl Noting {
    fn answer(&self, call: Call<'_>) -> Result<Answer> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).push(names(&call));
        self.memory.call(call)
    }

    fn take(&self) -> Vec<Vec<String>> {
        std::mem::take(&mut *self.log.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl fmt::Display for Noting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("noting:")
    }
}

impl Store for Noting {
    fn call(&self, call: Call<'_>) -> Result<Answer> {
        self.answer(call)
    }

    fn capabilities(&self) -> Capabilities {
        self.memory.capabilities().locates(true)
    }

    fn access_profile(&self) -> AccessProfile {
        self.memory.access_profile()
    }

    fn location(&self, key: &Key) -> Option<Location> {
        Some(Location::new(key.as_str().len() as u64, 0..3))
    }
}

impl AsyncStore for Noting {
    fn call<'a>(&'a self, call: Call<'a>) -> BoxFuture<'a, Result<Answer>> {
        Box::pin(ready(self.answer(call)))
    }

    fn capabilities(&self) -> Capabilities {
        self.memory.capabilities().locates(true)
    }

    fn access_profile(&self) -> AccessProfile {
        self.memory.access_profile()
    }

    fn location(&self, key: &Key) -> Option<Location> {
        Some(Location::new(key.as_str().len() as u64, 0..3))
    }
}

/// Returns the kind of a call, followed by all keys, prefixes and other names in the call.
fn names(call: &Call<'_>) -> Vec<String> {
    let first = call.name().to_owned();
    let (kind, mut names) = match call {
        Call::Get { .. } => ("get", vec![]),
        Call::GetMany { gets } => ("get_many", gets.iter().skip(1).map(|get| get.key.to_string()).collect()),
        Call::GetInto { .. } => ("get_into", vec![]),
        Call::Set { .. } => ("set", vec![]),
        Call::SetPieces { .. } => ("set_pieces", vec![]),
        Call::BeginSet { .. } => ("begin_set", vec![]),
        Call::AppendToSet { .. } => ("append_to_set", vec![]),
        Call::FinishSet { .. } => ("finish_set", vec![]),
        Call::SetMany { values } => ("set_many", values.iter().skip(1).map(|(key, _)| key.to_string()).collect()),
        Call::CreateMany { values, .. } => {
            ("create_many", values.iter().skip(1).map(|(key, _)| key.to_string()).collect())
        }
        Call::SetPartial { .. } => ("set_partial", vec![]),
        Call::Copy { .. } => ("copy", vec![]),
        Call::Erase { .. } => ("erase", vec![]),
        Call::ErasePrefix { .. } => ("erase_prefix", vec![]),
        Call::RenamePrefix { to, .. } => ("rename_prefix", vec![to.to_string()]),
        Call::ExchangePrefixes { b, .. } => ("exchange_prefixes", vec![b.to_string()]),
        Call::ListDir { .. } => ("list_dir", vec![]),
        Call::ListPrefix { .. } => ("list_prefix", vec![]),
        Call::ListSizes { .. } => ("list_sizes", vec![]),
        Call::FindLink { .. } => ("find_link", vec![]),
        Call::Leftovers { remove: false, .. } => ("leftovers", vec![]),
        Call::Leftovers { remove: true, .. } => ("remove_leftovers", vec![]),
        Call::Pin { .. } => ("pin", vec![]),
        Call::IsInPlace => ("is_in_place", vec![]),
        Call::Lock { .. } => ("try_lock", vec![]),
        Call::Flush => ("flush", vec![]),
        Call::Barrier => ("barrier", vec![]),
    };
    names.insert(0, first);
    names.insert(0, kind.to_owned());
    names
}

/// Calls `check` with a call of each kind.
fn each(check: impl Fn(Call<'_>)) {
    let [a, b] = ["a/x", "a/y"].map(|text| Key::new(text).expect("a key"));
    let [d, e] = ["d/", "e/"].map(|text| Prefix::new(text).expect("a prefix"));
    let (gets, sets) = (GetOptions::default(), SetOptions::default());
    let source = CopySource::new(&Arc::from("a service"), "x");
    let visit: SizeVisitor = Arc::new(|_, _| ());
    let stream = SetStream::new(0, ());
    let values: [(&Key, &[u8]); 2] = [(&a, b"1"), (&b, b"2")];
    let pieces: [&[u8]; 2] = [b"1", b"2"];
    let (mut into, full) = ([0; 3], [ByteRange::Full]);
    let calls = [
        Call::get(&a, &[ByteRange::Full], &gets),
        Call::get_many(vec![ValueGet::new(&a, &full, &gets), ValueGet::new(&b, &full, &gets)]),
        Call::get_into(&a, &mut into),
        Call::set(&a, CallBytes::Lent(b"1"), &sets),
        Call::set_pieces(&a, CallPieces::Lent(&pieces), &sets),
        Call::begin_set(&a, 0, &sets),
        Call::append_to_set(&a, &stream, vec![Bytes::new()]),
        Call::finish_set(&a, &stream, Bytes::new()),
        Call::set_many(&values),
        Call::create_many(&values, crate::Durability::None),
        Call::set_partial(&a, &[(1, &b"1"[..])]),
        Call::copy(&source, &a),
        Call::erase(&a),
        Call::erase_prefix(&d),
        Call::rename_prefix(&d, &e),
        Call::exchange_prefixes(&d, &e),
        Call::list_dir(&d),
        Call::list_prefix(&d),
        Call::list_sizes(&d, &visit),
        Call::find_link(&d),
        Call::leftovers(&d, false),
        Call::leftovers(&d, true),
        Call::pin(&d),
        Call::IsInPlace,
        Call::try_lock(&d),
        Call::Flush,
        Call::Barrier,
    ];
    calls.into_iter().for_each(check);
}

/// Outcome of a call to a wrapper: the call, whether it is a change, whether the wrapper refused it as a write, and the calls that the
/// store below received.
struct Made {
    call: Vec<String>,
    is_change: bool,
    is_refused: bool,
    below: Vec<Vec<String>>,
}

/// Makes a call of each kind to `wrapper`, blocking and non-blocking, and calls `check` with the outcome of each call.
fn each_made<W: Wrapper<Below = Noting>>(wrapper: &W, check: impl Fn(Made)) {
    let made = |call: Call<'_>, make: &dyn Fn(Call<'_>) -> Result<Answer>| {
        let (names, is_change) = (names(&call), call.is_change());
        let is_refused = matches!(make(call), Err(Error::ReadOnly { .. }));
        check(Made { call: names, is_change, is_refused, below: wrapper.below().take() });
    };
    each(|call| made(call, &|call| Store::call(wrapper, call)));
    each(|call| made(call, &|call| at_once(AsyncStore::call(wrapper, call))));
}

#[test]
fn a_store_to_read_refuses_every_change() {
    each_made(&ReadOnly(Noting::default()), |made| {
        let expected = made.is_change || made.call[0] == "try_lock";
        assert_eq!(made.is_refused, expected, "{:?}", made.call);
        assert_eq!(made.below, if expected { vec![] } else { vec![made.call] });
    });
}

#[test]
fn every_name_in_a_call_is_that_of_the_store_below() {
    each_made(&Prefixed::new(Noting::default(), Prefix::new("p/").expect("a prefix")), |made| {
        let mut expected = made.call;
        expected.iter_mut().skip(1).filter(|name| *name != "/").for_each(|name| name.insert_str(0, "p/"));
        assert_eq!(made.below, [expected]);
    });
}

#[test]
fn references_boxes_and_counters_pass_every_call_on() {
    let passes = |made: Made| assert_eq!(made.below, [made.call]);
    each_made(&&Noting::default(), passes);
    each_made(&Box::new(Noting::default()), passes);
    each_made(&Counted::new(Noting::default()), passes);
}

#[test]
fn wrappers_say_where_values_lie() {
    fn check<W: Wrapper<Below = Noting>>(wrapper: &W, below: &str) {
        let key = Key::new("x").expect("a key");
        let expected = Some(Location::new(below.len() as u64, 0..3));
        assert_eq!(Store::location(wrapper, &key), expected, "{wrapper}");
        assert_eq!(AsyncStore::location(wrapper, &key), expected, "{wrapper}");
        assert!(Store::capabilities(wrapper).locates && AsyncStore::capabilities(wrapper).locates);
    }
    check(&ReadOnly(Noting::default()), "x");
    check(&Counted::new(Noting::default()), "x");
    check(&&Noting::default(), "x");
    check(&Box::new(Noting::default()), "x");
    check(&Prefixed::new(Noting::default(), Prefix::new("long/").expect("a prefix")), "long/x");
}

#[test]
fn an_owned_call_is_the_same() {
    each(|call| {
        let (names_before, operation) = (names(&call), call.operation());
        assert_eq!(call.is_change(), matches!(operation, Operation::Set | Operation::Erase));
        match call.into_owned() {
            Some(owned) => assert_eq!((names(&owned), owned.operation()), (names_before, operation)),
            None => assert_eq!(names_before[0], "get_into"),
        }
    });
}
