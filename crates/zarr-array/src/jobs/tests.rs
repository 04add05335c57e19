use super::{LOCK_PATIENCE, TakeLock};
use crate::core::ArrayCore;
use crate::node::{self, EraseBroken, EraseNode, ReplaceNode};
use crate::read::{ReadContext, ReadJob};
use crate::write::WriteJob;
use crate::{Array, Error, ErrorKind, NewArray, Registry, Result};
use std::sync::Arc;
use std::time::Duration;
use zarr_codec::{Access, View, ViewMut};
use zarr_grid::Region;
use zarr_meta::{Dialect, Node};
use zarr_store::{Capabilities, Coalesce, Durability, Job, MemoryStore, Next, Prefix, Reply, Request, Store, run};

/// A job whose driver answers other requests than were asked, after so many right answers.
#[derive(Debug)]
struct Lying<J> {
    job: J,
    left: usize,
}

impl<J: Job<Error = Error>> Job for Lying<J> {
    type Output = J::Output;
    type Error = Error;

    fn step(&mut self, replies: &[Reply]) -> Result<Next<Self>> {
        let next = if replies.is_empty() || self.left > 0 {
            self.left -= usize::from(!replies.is_empty());
            self.job.step(replies)?
        } else {
            self.job.step(&replies.iter().map(|_| Reply::Renamed(true)).collect::<Vec<_>>())?
        };
        Ok(match next {
            Next::Ask(requests) | Next::Fill(requests) => Next::Ask(requests),
            Next::Fork(jobs) => Next::Fork(jobs.into_iter().map(|job| Self { job, left: self.left }).collect()),
            Next::Done(output) => Next::Done(output),
        })
    }
}

/// Runs a job, each time with one more right answer, until all of them are. `least`: how many it needs at least.
fn answered_wrongly<J: Job<Error = Error>>(least: usize, new: impl Fn(&'static ArrayCore) -> J) {
    let mut registry = Registry::default();
    registry.codecs.add(zarr_codec_bytes::ENTRY);
    let registry = Arc::new(registry);
    for left in 0..100 {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let array = NewArray::new(&[5], "int8").chunks(&[2]).attribute("a", 1).dialect(Dialect::V2);
        let array = Array::create(&store, "/a", array.codecs_text("bytes").unwrap(), &registry).unwrap();
        array.write(.., &[1_i8; 5]).unwrap();
        let job =
            Lying { job: new(Box::leak(Box::new(array.core.with_found(array.core.found.clone()).unwrap()))), left };
        match run(&*store, job) {
            Ok(_) => {
                assert!(left >= least, "done after {left} answers");
                return;
            }
            Err(error) => assert_eq!(error.kind(), ErrorKind::Internal, "{left}: {error}"),
        }
    }
    panic!("the job does not end");
}

const ALL: Capabilities = Capabilities {
    write: true,
    list: true,
    suffix_ranges: true,
    conditional: true,
    durable: false,
    erases_at_once: false,
};

#[test]
fn a_write_of_whole_chunks_and_of_parts_takes_no_other_reply() {
    let write = |core, range: std::ops::Range<u64>| {
        let data = View::new(&[7; 5][..usize::try_from(range.end - range.start).unwrap()], 1, &[4]);
        let region = Region::from_ranges(std::slice::from_ref(&range));
        WriteJob::new(core, &region, data.unwrap(), Durability::None, ALL, &Coalesce::NEVER)
    };
    // A get and a set for each part.
    answered_wrongly(1, |core| write(core, 0..4));
    answered_wrongly(2, |core| write(core, 1..5));
}

#[test]
fn a_read_takes_no_other_reply() {
    answered_wrongly(1, |core| {
        let context = Box::leak(Box::new(ReadContext::new(core, Access::default(), false)));
        let out = ViewMut::new(vec![0; 5].leak(), 1, &[5]).unwrap();
        ReadJob::new(context, &Region::whole(&[5]), out).unwrap()
    });
}

#[test]
fn nodes_are_read_written_and_erased_by_no_other_reply() {
    let path = |text| node::parse_path(text).unwrap();
    answered_wrongly(2, |core| EraseNode::new(core.found.clone(), ALL));
    answered_wrongly(2, |core| EraseBroken::new(core.found.path.clone(), Dialect::V2, ALL));
    answered_wrongly(2, |core| {
        let mut metadata = core.metadata().clone();
        metadata.shape = [6].into();
        let edit = node::Edit::reshape(&core.found, Node::Array(metadata));
        ReplaceNode::new(&core.found, edit, ALL)
    });
    for new in ["/b", "/c/b"] {
        answered_wrongly(3, |core| node::create(path(new), Dialect::V2, &core.found.node, false, ALL).unwrap());
    }
    answered_wrongly(3, |core| node::create(path("/a"), Dialect::V2, &core.found.node, true, ALL).unwrap());
}

#[test]
fn a_lock_that_is_never_given_back_is_not_waited_for_forever() {
    let mut take = TakeLock::new(Prefix::new("g/a/").unwrap());
    let (mut waited, mut reply) = (Duration::ZERO, Vec::new());
    let error = loop {
        match take.step(&reply) {
            Ok(Next::Ask(requests)) => match requests.as_slice() {
                [Request::Lock { .. }] => reply = vec![Reply::Locked(None)],
                [Request::Pause { duration }] => {
                    waited += *duration;
                    reply = vec![Reply::Paused];
                }
                _ => panic!("unexpected {requests:?}"),
            },
            Ok(next) => panic!("unexpected {next:?}"),
            Err(error) => break error,
        }
    };
    assert_eq!((error.kind(), error.location().key.as_deref()), (ErrorKind::Conflict, Some("g/a/")));
    assert!(waited > LOCK_PATIENCE && waited < 2 * LOCK_PATIENCE, "{waited:?}");
}
