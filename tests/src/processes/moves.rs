//! Groups that are moved again and again: they are at one of two places, whole, and who reads them there meanwhile gets all or an
//! error.

use super::child::{Child, acknowledged};
use super::verbs::{Layout, Trial, Verb};
use super::worker::report;
use super::{Result, Scale, Tally, text};
use std::sync::Arc;
use zarr::{Array, ErrorKind, Store};

/// The arrays that are moved.
pub(super) const MOVED: Trial = Trial { verb: Verb::Move, layout: Layout::V3, chunks: 10 };

/// Where the group of a mover is after so many moves.
pub(super) fn place(mover: u64, moves: u64) -> String {
    format!("/moved.{mover}.{moves}")
}

/// Moves a group to its next place, again and again, and looks whether it is whole there.
pub(super) fn rename(store: &Arc<dyn Store>, mover: u64, from: u64) -> Result<()> {
    let registry = zarr::registry();
    for number in from.. {
        let (old, new) = (place(mover, number), place(mover, number + 1));
        let rename = |overwrite| zarr::move_node(store, &old, store, &new, &registry, overwrite);
        let done = match rename(false) {
            // As the hint says, where another process was killed at this.
            Err(error) if error.kind() == ErrorKind::Exists && number == from => rename(true),
            Err(error) if error.is_not_found() && number == from => Ok(()),
            done => done,
        };
        report(number, done.map_err(Into::into).and_then(|()| MOVED.check_group(store, &new)));
    }
    Ok(())
}

/// Reads of an array that another process moves away: all of it, or an error, by those as well who opened it before.
pub(super) fn reader_beside_moves(scale: Scale) -> Result<Tally> {
    let folder = tempfile::tempdir()?;
    let address = text(folder.path())?;
    let store = zarr::create_store(address)?;
    MOVED.make_group(&store, &place(0, 0), 1)?;
    let mut mover = Child::start(&["rename", address, "0", "0"])?;
    let mut handle: Option<Array> = Some(zarr::open_array(&store, &format!("{}/a", place(0, 0)))?);
    let whole = handle.as_ref().map_or(Ok(Vec::new()), |array| array.read::<i32>(..))?;
    mover.go()?;
    let mut lines: Vec<String> = mover.line()?.into_iter().collect();
    let mut tally = Tally::default();
    for number in 0..scale.of(600, 20_000) {
        lines.extend(mover.lines_so_far());
        // Half of the reads are by a handle that was opened long before.
        if number % 2 == 0 || handle.is_none() {
            let moves = acknowledged(&lines).last().map_or(0, |last| last + 1);
            handle = zarr::open_array(&store, &format!("{}/a", place(0, moves))).ok();
        }
        let Some(array) = &handle else { continue };
        tally.done("reads", 1);
        match array.read::<i32>(..) {
            Ok(elements) if elements == whole => tally.done("reads of all", 1),
            Ok(elements) => tally.fault("reads of a part", || {
                let fill = elements.iter().filter(|&&element| element == 0).count();
                format!("{}: {fill} of {} elements are the fill value", array.path(), elements.len())
            }),
            Err(_) => handle = None,
        }
    }
    Ok(tally)
}
