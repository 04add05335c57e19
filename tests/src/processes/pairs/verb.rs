//! Verbs, and their effect on the model of the store.

use super::model::{LENGTH, Node, State};

/// Verb of the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Verb {
    Write,
    Append,
    Resize,
    Attrs,
    Create,
    Remove,
    Move,
    MoveOver,
    Copy,
    CopyOver,
    Convert,
    Migrate,
    Consolidate,
    Repair,
    Read,
    Stats,
    Serve,
}

impl Verb {
    /// All verbs, with their names.
    pub(crate) const ALL: [(&'static str, Self); 17] = [
        ("write", Self::Write),
        ("append", Self::Append),
        ("resize", Self::Resize),
        ("attrs", Self::Attrs),
        ("create --overwrite", Self::Create),
        ("rm", Self::Remove),
        ("mv", Self::Move),
        ("mv --overwrite", Self::MoveOver),
        ("cp", Self::Copy),
        ("cp --overwrite", Self::CopyOver),
        ("convert", Self::Convert),
        ("migrate", Self::Migrate),
        ("consolidate", Self::Consolidate),
        ("check --repair", Self::Repair),
        ("read", Self::Read),
        ("stats", Self::Stats),
        ("serve", Self::Serve),
    ];

    pub(crate) fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, verb)| *verb == self).map_or("", |(name, _)| name)
    }

    /// Returns whether the verb changes elements, the shape or attributes of a node that stays at its path.
    pub(crate) fn changes(self) -> bool {
        matches!(self, Self::Write | Self::Append | Self::Resize | Self::Attrs)
    }

    /// Returns whether the verb removes the node, or replaces it by another one.
    pub(crate) fn takes_away(self) -> bool {
        matches!(self, Self::Create | Self::Remove | Self::CopyOver)
    }

    /// Returns whether the verb copies the node, and so reads it.
    pub(crate) fn copies(self) -> bool {
        matches!(self, Self::Copy | Self::Convert)
    }
}

/// Kind of the node on which verbs act.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum World {
    /// The array `/n`.
    Array,
    /// The group `/n` with the arrays `a` and `b`; verbs about elements act on `/n/a`.
    Group,
}

impl World {
    /// Returns the path of the array whose elements are read and written.
    pub(crate) fn array(self) -> &'static str {
        if self == Self::Array { "/n" } else { "/n/a" }
    }

    /// Returns the relative paths of the arrays in the node.
    pub(crate) fn leaves(self) -> &'static [&'static str] {
        if self == Self::Array { &[""] } else { &["/a", "/b"] }
    }
}

/// Verb with its arguments, in one of the two processes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Task {
    pub(crate) verb: Verb,
    pub(crate) world: World,
    /// Number of the process, 0 or 1, which determines the elements that it writes.
    pub(crate) side: usize,
    /// Length to which `resize` changes the array.
    pub(crate) length: usize,
}

/// Target of a conversion: the node `/n` of another store.
pub(crate) const CONVERTED: &str = "y:/n";

impl Task {
    /// Returns the elements that the verb writes or appends.
    pub(crate) fn elements(&self) -> Vec<i32> {
        let generation = 2 + self.side as i32 + if self.verb == Verb::Append { 4 } else { 0 };
        let count = if self.verb == Verb::Append { super::MORE } else { LENGTH };
        (0..count as i32).map(|index| generation * 1000 + index).collect()
    }

    /// Returns the prefixes of the paths that the verb changes.
    pub(crate) fn touched(&self) -> &'static [&'static str] {
        match self.verb {
            Verb::Write | Verb::Append | Verb::Resize => {
                if self.world == World::Array {
                    &["/n"]
                } else {
                    &["/n/a"]
                }
            }
            Verb::Attrs | Verb::Create | Verb::Remove | Verb::CopyOver => &["/n"],
            Verb::Move => &["/n", "/moved"],
            Verb::MoveOver => &["/n", "/other"],
            Verb::Copy => &["/copy"],
            Verb::Convert => &[CONVERTED],
            Verb::Migrate | Verb::Consolidate | Verb::Repair | Verb::Read | Verb::Stats | Verb::Serve => &[],
        }
    }

    /// Returns the state after the verb; `None` if the verb has to fail.
    pub(crate) fn apply(&self, state: &State) -> Option<State> {
        let array = self.world.array();
        match self.verb {
            Verb::Write => {
                let written = self.elements();
                let is_fit = |node: &Node| node.data_type == "int32" && node.cells.len() == LENGTH;
                state.changed(array, is_fit, |node| {
                    node.cells = written.iter().map(|&element| vec![f64::from(element)]).collect();
                })
            }
            Verb::Append => state.changed(
                array,
                |node| node.data_type == "int32",
                |node| {
                    node.cells.extend(self.elements().into_iter().map(|element| vec![f64::from(element)]));
                },
            ),
            Verb::Resize => state.changed(
                array,
                |node| node.data_type != "group",
                |node| {
                    node.cells.resize(self.length, vec![node.fill]);
                },
            ),
            Verb::Attrs => state.changed("/n", |_| true, |node| node.marks = vec![true]),
            Verb::Create => {
                let mut state = state.clone();
                state.erase("/n");
                let new = match self.world {
                    World::Array => Node::array("int16", 9.0, vec![9.0; LENGTH]),
                    World::Group => Node::group(),
                };
                state.put("/n", new);
                Some(state)
            }
            Verb::Remove => {
                let mut state = state.there("/n", |_| true)?;
                state.erase("/n");
                Some(state)
            }
            Verb::Move => state.there("/n", |_| true)?.free("/moved")?.moved("/n", "/moved"),
            Verb::MoveOver => {
                let mut state = state.there("/n", |_| true)?;
                state.erase("/other");
                state.moved("/n", "/other")
            }
            Verb::Copy => Some(state.there("/n", |_| true)?.free("/copy")?.copied("/n", "/copy")),
            Verb::CopyOver => {
                let mut state = state.there("/new", |_| true)?;
                state.erase("/n");
                Some(state.copied("/new", "/n"))
            }
            Verb::Convert => Some(state.there("/n", |_| true)?.free(CONVERTED)?.copied("/n", CONVERTED)),
            Verb::Migrate | Verb::Consolidate | Verb::Repair | Verb::Read | Verb::Stats | Verb::Serve => {
                Some(state.clone())
            }
        }
    }

    /// Returns the states that the verb may leave if it fails or is interrupted.
    pub(crate) fn interrupted(&self, state: &State) -> State {
        let after = self.apply(state).unwrap_or_else(|| state.clone());
        let loses = !self.verb.changes();
        state.with_any_of(&after, self.touched(), loses, self.verb == Verb::Write)
    }
}
