use std::sync::atomic::{AtomicUsize, Ordering};

use zarr_store::{ErrorKind, MemoryStore, Precondition, Store, StoreExt};

use super::*;
use crate::{SyncAsAsync, block_on, run, run_async};

fn key(text: &str) -> Key {
    Key::new(text).expect("a key")
}

fn set(text: &str, value: &[u8]) -> Request {
    Request::set(key(text), value.to_vec(), Precondition::None)
}

/// Counts the keys that have a value, by one request after another.
async fn count(io: &Io, keys: &[&str]) -> Result<usize> {
    let mut found = 0;
    for name in keys {
        found += usize::from(io.get(vec![Request::get(key(name))]).await?[0].is_some());
    }
    Ok(found)
}

fn counting<'a>(keys: &'a [&'a str]) -> Script<'a, usize, Error> {
    Script::new(|io| async move { count(&io, keys).await })
}

/// Job without a script: forks `forks`, and then sets the value `name`.
struct Forking {
    name: &'static str,
    forks: Vec<Self>,
    is_set: bool,
}

impl Job for Forking {
    type Output = &'static str;
    type Error = Error;

    fn step(&mut self, _: &mut Vec<Reply>) -> Result<Next<Self>> {
        if !self.forks.is_empty() {
            return Ok(Next::Fork(std::mem::take(&mut self.forks)));
        }
        match std::mem::replace(&mut self.is_set, true) {
            false => Ok(Next::Ask(vec![set(self.name, b"1")])),
            true => Ok(Next::Done(self.name)),
        }
    }
}

/// Job that forks scripts.
enum Group<'a> {
    Whole(Vec<&'a [&'a str]>),
    Part(Script<'a, usize, Error>),
}

impl Job for Group<'_> {
    type Output = ();
    type Error = Error;

    fn step(&mut self, replies: &mut Vec<Reply>) -> Result<Next<Self>> {
        match self {
            Self::Whole(parts) if parts.is_empty() => Ok(Next::Done(())),
            Self::Whole(parts) => {
                Ok(Next::Fork(std::mem::take(parts).into_iter().map(|keys| Self::Part(counting(keys))).collect()))
            }
            Self::Part(script) => match script.step(replies)? {
                Next::Ask(requests) | Next::FetchInto(requests) => Ok(Next::Ask(requests)),
                Next::Fork(_) => panic!("a script forked"),
                Next::Done(_) => Ok(Next::Done(())),
            },
        }
    }
}

fn forking(name: &'static str, forks: Vec<Forking>) -> Forking {
    Forking { name, forks, is_set: false }
}

#[test]
fn a_script_runs_on_stores_that_block_and_on_others() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    store.set_all(&key("a"), b"1").expect("set");
    let names = ["a", "b", "a"];
    assert_eq!(run(&*store, counting(&names)).expect("blocking"), 2);
    let waiting = SyncAsAsync::new(store);
    assert_eq!(block_on(run_async(&waiting, counting(&names))).expect("not blocking"), 2);
}

#[test]
fn a_script_awaits_jobs_with_all_that_they_fork() {
    let store = MemoryStore::new();
    let job = forking("root", vec![forking("a", vec![forking("b", vec![])]), forking("c", vec![])]);
    let name = run(&store, Script::new(|io| async move { io.job(job).await })).expect("run");
    assert_eq!(name, "root");
    let keys: Vec<String> = store.list().expect("list").iter().map(ToString::to_string).collect();
    assert_eq!(keys, ["a", "b", "c", "root"]);
}

#[test]
fn a_script_is_forked_by_a_job() {
    let store = MemoryStore::new();
    run(&store, Group::Whole(vec![&["a", "b"], &["c"], &[]])).expect("run");
}

#[test]
fn jobs_that_run_together_ask_together() {
    let parts: [&[&str]; 4] = [&["a", "b"], &[], &["a"], &["b", "c", "a"]];
    let mut script: Script<'_, Vec<usize>, Error> =
        Script::new(|io| async move { io.all(parts.into_iter().map(counting).collect()).await });
    let (mut rounds, mut replies) = (Vec::new(), Vec::new());
    let counts = loop {
        match script.step(&mut replies).expect("a step") {
            Next::Ask(requests) => {
                rounds.push(requests.len());
                let is_there = |request: &Request| matches!(request, Request::Get { key, .. } if key.as_str() == "a");
                let got = |request| Reply::Got(is_there(request).then(Fetched::new));
                replies = requests.iter().map(got).collect();
            }
            Next::Done(counts) => break counts,
            next => panic!("{next:?}"),
        }
    };
    assert_eq!((rounds, counts), (vec![3, 2, 1], vec![1, 0, 1, 1]));
}

#[test]
fn jobs_that_run_together_end_with_the_first_error() {
    let fails = |text: &'static str| -> Script<'_, (), Error> {
        Script::new(move |io| async move {
            io.sizes(vec![key(text)]).await?;
            Key::new("..").map(drop)
        })
    };
    let all = Script::new(|io| async move { io.all(vec![fails("a"), fails("b")]).await });
    assert_eq!(run(&MemoryStore::new(), all).expect_err("no key").kind(), ErrorKind::Path);
}

#[test]
fn a_script_that_is_dropped_drops_what_it_holds() {
    struct Held<'c>(&'c AtomicUsize);
    impl Drop for Held<'_> {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    let dropped = AtomicUsize::new(0);
    let held = Held(&dropped);
    let mut script: Script<'_, (), Error> = Script::new(|io| async move {
        io.sizes(vec![key("a")]).await?;
        drop(held);
        Ok(())
    });
    assert!(matches!(script.step(&mut Vec::new()), Ok(Next::Ask(_))));
    assert_eq!(dropped.load(Ordering::Relaxed), 0);
    drop(script);
    assert_eq!(dropped.load(Ordering::Relaxed), 1);
}

#[test]
fn a_script_that_waits_for_something_else_ends_with_an_error() {
    let message = |mut script: Script<'_, (), Error>| {
        let error = script.step(&mut Vec::new()).expect_err("an error");
        assert_eq!(error.kind(), ErrorKind::Internal);
        error.to_string()
    };
    let waits = message(Script::new(|_| std::future::pending()));
    assert!(waits.ends_with("waits for something else than replies"), "{waits}");
    let twice = message(Script::new(|io| async move {
        let (mut a, mut b) = (Box::pin(io.ask(vec![set("a", b"1")])), Box::pin(io.ask(vec![set("b", b"1")])));
        poll_fn(|context| match (a.as_mut().poll(context), b.as_mut().poll(context)) {
            (Poll::Pending, Poll::Pending) => Poll::Pending,
            _ => Poll::Ready(()),
        })
        .await;
        Ok(())
    }));
    assert!(twice.ends_with("asks two things at once"), "{twice}");
}

#[test]
fn other_replies_and_steps_after_the_end_are_errors() {
    let names = ["a"];
    for mut replies in [vec![], vec![Reply::Set], vec![Reply::Got(None), Reply::Got(None)]] {
        let mut script = counting(&names);
        assert!(matches!(script.step(&mut Vec::new()), Ok(Next::Ask(requests)) if requests.len() == 1));
        assert_eq!(script.step(&mut replies).expect_err("other replies").kind(), ErrorKind::Internal);
    }
    let mut script = counting(&[]);
    assert!(matches!(script.step(&mut Vec::new()), Ok(Next::Done(0))));
    assert_eq!(script.step(&mut Vec::new()).expect_err("ended").kind(), ErrorKind::Internal);
}
