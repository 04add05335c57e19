//! Groups that are moved again and again. Each must be complete at its old or its new path, and a concurrent read must return all elements
//! or an error.

use super::child::{Child, acknowledged};
use super::report::report;
use super::verbs::{Layout, Scenario, Verb};
use super::{Result, Scale, Tally, text};
use std::sync::Arc;
use std::time::{Duration, Instant};
use zarr::{ErrorKind, Store};

/// Arrays that are moved.
pub(super) const MOVED: Scenario = Scenario { verb: Verb::Move, layout: Layout::V3, chunks: 10 };

/// Greatest time to wait for enough moves.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Returns the path of the group of a mover after a number of moves.
pub(super) fn path_after(mover: u64, moves: u64) -> String {
    format!("/moved.{mover}.{moves}")
}

/// Moves a group to its next path, again and again, and checks that it is complete there.
pub(super) fn rename(store: &Arc<dyn Store>, mover: u64, from: u64) -> Result<()> {
    let registry = zarr::registry::default();
    for number in from.. {
        let (old, new) = (path_after(mover, number), path_after(mover, number + 1));
        let rename =
            |overwrite| zarr::convert::Transfer::of(store, &old).to(&new).overwrite(overwrite).move_all(&registry);
        let done = match rename(false) {
            // A process was killed during this move: do as the hint says.
            Err(error) if error.kind() == ErrorKind::Exists && number == from => rename(true),
            Err(error) if error.is_not_found() && number == from => Ok(()),
            done => done,
        };
        report(number, done.map_err(Into::into).and_then(|()| MOVED.check_group(store, &new)));
    }
    Ok(())
}

/// Reads an array that another process moves, by new handles and by handles that were opened before the move. Each read must return all
/// elements or an error.
pub(super) fn reader_beside_moves(scale: Scale) -> Result<Tally> {
    let folder = tempfile::tempdir()?;
    let address = text(folder.path())?;
    let store = zarr::store::create(address)?;
    MOVED.make_group(&store, &path_after(0, 0), 1)?;
    let open = |moves: u64| zarr::open((&store, &format!("{}/a", path_after(0, moves)))).array();
    let mut held = open(0)?;
    let whole = held.read::<i32>(..)?;
    let mut tally = Tally::default();
    let mut count = |read: zarr::Result<Vec<i32>>, path: &str| {
        tally.done("reads", 1);
        match &read {
            Ok(elements) if *elements == whole => tally.done("reads of all", 1),
            Ok(elements) => tally.fault("reads of a part", || {
                let fill = elements.iter().filter(|&&element| element == 0).count();
                format!("{path}: {fill} of {} elements are the fill value", elements.len())
            }),
            Err(_) => tally.done("errors", 1),
        }
    };

    let mut mover = Child::start(&["rename", address, "0", "0"])?;
    mover.go()?;
    let mut moves = 0;
    let begun = Instant::now();
    for read in 0.. {
        if read >= scale.of(300, 10_000) && (moves >= scale.of(8, 200) || begun.elapsed() > TIMEOUT) {
            break;
        }
        moves = acknowledged(&mover.lines_so_far()).last().map_or(moves, |last| last + 1);
        if let Ok(array) = open(moves) {
            count(array.read(..), "opened just now");
        }
        count(held.read(..), "opened before");
        // A handle of an array that was removed finds nothing.
        if read % 8 == 0 {
            held = open(moves).unwrap_or(held);
        }
    }
    tally.done("moves", moves);
    Ok(tally)
}
