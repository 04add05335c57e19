use crate::core::ArrayCore;
use crate::read::{ReadContext, ReadJob};
use crate::write::WriteJob;
use crate::{Array, Error, ErrorKind, NewArray, Registry};
use std::sync::Arc;
use zarr_codec::{View, ViewMut};
use zarr_drive::testing::{WrongReplies, succeeds_with_right_replies};
use zarr_drive::{Job, run};
use zarr_grid::Region;
use zarr_meta::Dialect;
use zarr_store::{AccessProfile, Capabilities, Durability, MemoryStore, Store};

/// Runs new jobs of `new` with one more right answer each time, until all answers are right. `least` is the minimum number of answers that
/// the job needs.
fn answered_wrongly<J: Job<Error = Error>>(least: usize, new: impl Fn(&'static ArrayCore) -> J) {
    let mut registry = Registry::default();
    registry.codecs.add(zarr_codec_bytes::BYTES);
    let registry = Arc::new(registry);
    let attempt = |right| {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let array = NewArray::new(&[5], "int8").chunks(&[2]).attribute("a", 1).dialect(Dialect::V2);
        let array = Array::create(&store, "/a", array.codecs("bytes").unwrap(), &registry).unwrap();
        array.write(.., &[1_i8; 5]).unwrap();
        let core = Box::leak(Box::new(array.core.with_found(array.core.found.clone()).unwrap()));
        run(&*store, WrongReplies::new(new(core), right))
    };
    succeeds_with_right_replies(least, attempt, |error: &Error| error.kind() == ErrorKind::Internal);
}

const ALL: Capabilities = Capabilities::none().write(true).list(true).suffix_ranges(true).conditional(true);

#[test]
fn a_write_of_whole_chunks_and_of_parts_takes_no_other_reply() {
    let write = |core, range: std::ops::Range<u64>| {
        let data = View::new(&[7; 5][..usize::try_from(range.end - range.start).unwrap()], 1, &[4]);
        let region = Region::from_ranges(std::slice::from_ref(&range));
        WriteJob::new(core, &region, data.unwrap(), Durability::None, (ALL, &AccessProfile::MEMORY))
    };
    // A get and a set for each part.
    answered_wrongly(1, |core| write(core, 0..4));
    answered_wrongly(2, |core| write(core, 1..5));
}

#[test]
fn a_read_takes_no_other_reply() {
    answered_wrongly(1, |core| {
        let context = Box::leak(Box::new(ReadContext::new(core, &AccessProfile::MEMORY, false)));
        let out = ViewMut::new(vec![0; 5].leak(), 1, &[5]).unwrap();
        ReadJob::new(context, &Region::whole(&[5]), out).unwrap()
    });
}
