//! Promises about pairs of concurrent verbs: the model judges the pairs by them, and the documentation lists them.

use super::place::Place;
use super::verb::{Verb, World};

/// Promise about a pair of concurrent verbs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Promise {
    /// Neither verb changes what the other needs.
    Apart,
    /// The result is that of one verb after the other.
    InTurn,
    /// Each element is that of the state before or after the other verb.
    Each,
    /// One verb reads a whole array as it is before or after the other verb.
    Whole,
    /// The change is in the node that remains, or was lost together with the node that was removed.
    InNode,
    /// One verb succeeds, and the other fails.
    One,
    /// The node is no longer at its path.
    Gone,
}

impl Promise {
    const ALL: [(Self, &'static str, &'static str); 7] = [
        (Self::Apart, "–", "neither changes what the other one reads or writes: each is as if it were alone"),
        (
            Self::InTurn,
            "t",
            "the end is that of the one after the other, in either order; the second is an error where the first leaves nothing that it \
             can be done to (an array of another shape, a migration that is under way)",
        ),
        (
            Self::Each,
            "e",
            "each element that is written, read or copied is as before the other verb or as after it, in the shape of one of the two; a read \
             or a copy may be an error instead",
        ),
        (
            Self::Whole,
            "w",
            "of each array that is read or copied all is as before the other verb, or all as after it; or an error. A copy of a group may \
             have arrays of both",
        ),
        (
            Self::InNode,
            "n",
            "the change is in the node that is left, wherever it lies; or in the one that was taken away after it; or it is an error",
        ),
        (Self::One, "1", "one is done, and the other is an error"),
        (
            Self::Gone,
            "g",
            "the node is gone from its path, and erased or whole at the new one; `rm` may say that it has done it also if the other has",
        ),
    ];

    /// Returns the promise about two verbs on one node.
    pub(crate) fn of(a: Verb, b: Verb) -> Self {
        use Verb::{
            Append, Attrs, Consolidate, Convert, Copy, Migrate, Move, MoveOver, Read, Remove, Repair, Resize, Serve,
            Stats, Write,
        };
        let replaces = |verb| matches!(verb, Verb::Create | Verb::CopyOver);
        let moves = |verb| matches!(verb, Move | MoveOver);
        let reads = |verb| matches!(verb, Read | Stats | Serve | Copy | Convert);
        let of_ordered = |a: Verb, b: Verb| match (a, b) {
            (Repair, _) => Some(Self::Apart),
            (Write, Write) => Some(Self::Each),
            (Copy, Copy) | (Convert, Convert) | (Migrate, Migrate) => Some(Self::One),
            _ if moves(a) && moves(b) => Some(Self::One),
            (Remove, _) if b == Remove || moves(b) => Some(Self::Gone),
            (Write | Append | Resize | Attrs, _) if reads(b) => Some(Self::Each),
            _ if a.changes() && (b == Remove || moves(b) || replaces(b)) => Some(Self::InNode),
            _ if reads(a) && (b == Remove || moves(b) || replaces(b)) => Some(Self::Whole),
            _ if reads(a) && (reads(b) || b == Consolidate || b == Migrate) => Some(Self::Apart),
            (Consolidate, Consolidate) => Some(Self::InTurn),
            _ => None,
        };
        of_ordered(a, b).or_else(|| of_ordered(b, a)).unwrap_or(Self::InTurn)
    }

    fn letter(self) -> &'static str {
        Self::ALL.iter().find(|(promise, ..)| *promise == self).map_or("", |(_, letter, _)| letter)
    }
}

/// Returns the reason why a pair may break its promise in a kind of store; `None` if it must not.
pub(crate) fn exception(place: Place, (world, is_v2): (World, bool), a: Verb, b: Verb) -> Option<&'static str> {
    let is_of = |only: &Only| match only {
        Only::All => true,
        Only::Groups => world == World::Group,
        Only::V2 => is_v2,
    };
    let holds =
        |(of, only, is, _): &&Exception| of.is_none_or(|of| of == place) && is_of(only) && (is(a, b) || is(b, a));
    EXCEPTIONS.iter().find(holds).map(|(.., text)| *text)
}

/// Worlds and dialects to which an exception applies.
#[derive(Clone, Copy, Debug)]
enum Only {
    All,
    Groups,
    /// Nodes of version 2.
    V2,
}

type Exception = (Option<Place>, Only, fn(Verb, Verb) -> bool, &'static str);

fn is_of_nodes(verb: Verb) -> bool {
    matches!(verb, Verb::Create | Verb::Remove | Verb::Move | Verb::MoveOver | Verb::CopyOver)
}

const EXCEPTIONS: [Exception; 6] = [
    (
        None,
        Only::All,
        |a, b| a == Verb::Write && b == Verb::Migrate,
        "`write` waits for no migration: where that writes chunks under other keys (from version 3 to 2, for one), what is written meanwhile \
         may be in the old array alone, and goes with it when the migration is finished",
    ),
    (
        Some(Place::Database),
        Only::All,
        |a, b| a == Verb::Write && (b.takes_away() || matches!(b, Verb::Move | Verb::MoveOver)),
        "in a database (and in memory, and in a directory on systems other than Linux) a `write` that was begun before the other verb, and \
         ends with an error, may leave chunks: under the old path, and in an array that took it",
    ),
    (
        Some(Place::Bucket),
        Only::All,
        |a, b| is_of_nodes(a) && (is_of_nodes(b) || b.changes()),
        "in a bucket nodes are neither renamed nor exchanged: of two verbs of which one creates, erases, moves or replaces the node, and the \
         other does so or changes it, what one does while the other copies or erases may be lost, and chunks of no array may be left",
    ),
    (
        Some(Place::Bucket),
        Only::All,
        |a, b| a == Verb::Consolidate && is_of_nodes(b),
        "in a bucket verbs that make, erase, move or replace a node look for consolidated metadata before that alone: metadata that \
         `consolidate` writes meanwhile, where there was none, may be without what they do",
    ),
    (
        Some(Place::Bucket),
        Only::Groups,
        |a, b| a.copies() && is_of_nodes(b),
        "in a bucket a copy of a group that others erase, move or replace, while its nodes are looked up, may lack nodes of it",
    ),
    (
        None,
        Only::V2,
        |a, b| a == Verb::Attrs && is_of_nodes(b),
        "the first attributes of a node of version 2 are a document that is made: if others take the node away at that moment, they may be \
         left under the old path alone",
    ),
];

/// Returns the table in the documentation.
#[must_use]
pub fn verbs_beside_each_other() -> String {
    let mut text = "| |".to_owned();
    for (name, _) in Verb::ALL {
        text += &format!(" {name} |");
    }
    text += &format!("\n|---|{}\n", "---|".repeat(Verb::ALL.len()));
    for (row, (name, a)) in Verb::ALL.into_iter().enumerate() {
        text += &format!("| {name} |");
        for (column, (_, b)) in Verb::ALL.into_iter().enumerate() {
            let letter = if column <= row { Promise::of(a, b).letter() } else { "" };
            text += &format!(" {letter} |");
        }
        text.push('\n');
    }
    text.push('\n');
    for (_, letter, meaning) in Promise::ALL {
        text += &format!("- **{letter}**: {meaning}.\n");
    }
    for (.., exception) in EXCEPTIONS {
        text += &format!("- But {exception}.\n");
    }
    text
}
