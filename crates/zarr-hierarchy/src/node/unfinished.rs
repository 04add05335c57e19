//! Keys beside a node that belong to unfinished changes: journals of conversions to the node, and nodes that are to replace it.

use crate::Result;
use crate::jobs::{Operation, in_steps};
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::time::SystemTime;
use zarr_drive::Io;
use zarr_meta::{Dialect, Documents, NodePath};
use zarr_store::{Capabilities, Key, Prefix, Reply, Request};

/// Beginning of the names of keys beside a node that record the progress of a conversion to the node. No dialect uses such keys for
/// documents or chunks.
pub const CONVERSION_JOURNAL: &str = ".zconversion";

/// Name of the prefix, beside a node, under which nodes are written that are to replace the node. Walks skip this prefix; other software
/// finds no document directly below it, and so no node.
pub const REPLACEMENTS: &str = ".zreplacement";

/// Key at the root with the state of a migration. No dialect uses this key for a document or a chunk.
pub const MIGRATION_RECORD: &str = ".zmigration";

/// Mark in the keys of elements that a conversion stores temporarily.
const SCRATCH: &str = "scratch";

/// Whether a key belongs to an unfinished change by this library: a journal of a conversion, elements that a conversion stores temporarily, a
/// node that is to replace another, or the record of a migration. `name` is the key below the prefix of a node, and `is_root` whether that is
/// the root.
///
/// ```
/// use zarr_hierarchy::node::is_unfinished;
/// assert!(is_unfinished("g/.zconversion-a", true) && is_unfinished(".zreplacement/a/00f1/zarr.json", false));
/// assert!(is_unfinished(".zmigration", true) && !is_unfinished(".zmigration", false));
/// assert!(!is_unfinished(".zconversions", true) && !is_unfinished(".zconversion-a/x", true));
/// ```
#[must_use]
pub fn is_unfinished(name: &str, is_root: bool) -> bool {
    let (above, last) = name.rsplit_once('/').unwrap_or(("", name));
    let rest = last.strip_prefix(CONVERSION_JOURNAL);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '-']))
        || above.split('/').any(|part| part == REPLACEMENTS)
        || (is_root && name == MIGRATION_RECORD)
}

/// Returns the key of the journal of a conversion to `path`, beside the node. `part` is the number of a part of the conversion and the
/// number of parts; `None` for the journal of the whole conversion.
///
/// # Errors
/// [`ErrorKind::Store`](crate::ErrorKind::Store) if the name is too long for a key.
pub fn journal_key(path: &NodePath, part: Option<(u64, u64)>) -> Result<Key> {
    let part = part.map_or_else(String::new, |(number, of)| format!(".{number}-of-{of}"));
    let name = name_in_key(path);
    Ok(Key::new(&format!("{}{CONVERSION_JOURNAL}{part}{name}", beside(path)))?)
}

/// Whether `key`, a key beside the node at `path`, is the journal of a part of a conversion to the node.
#[must_use]
pub fn is_part_journal(path: &NodePath, key: &Key) -> bool {
    let name = name_in_key(path);
    let rest = key.name().strip_prefix(CONVERSION_JOURNAL).and_then(|rest| rest.strip_prefix('.'));
    rest.and_then(|rest| rest.strip_suffix(name.as_str())).is_some_and(is_part)
}

/// Returns the key of elements that a conversion to `path`, or a part of it, stores temporarily. `part` is the number of the part and the
/// number of parts; `number` tells the keys of one part apart.
///
/// # Errors
/// The errors of [`journal_key`].
pub fn scratch_key(path: &NodePath, part: Option<(u64, u64)>, number: u64) -> Result<Key> {
    let part = part.map_or_else(String::new, |(number, of)| format!(".{number}-of-{of}"));
    let name = name_in_key(path);
    Ok(Key::new(&format!("{}{CONVERSION_JOURNAL}.{SCRATCH}{part}.{number}{name}", beside(path)))?)
}

/// Whether `key`, a key beside the node at `path`, is one of the elements that a conversion stores temporarily ([`scratch_key`]).
#[must_use]
pub fn is_scratch(path: &NodePath, key: &Key) -> bool {
    scratch_part(path, key).is_some()
}

/// Whether `key`, a key beside the node at `path`, is one of the elements that part `part` of a conversion stores temporarily
/// ([`scratch_key`]); `None` is a conversion without parts.
#[must_use]
pub fn is_scratch_of(path: &NodePath, part: Option<(u64, u64)>, key: &Key) -> bool {
    let part = part.map_or_else(String::new, |(number, of)| format!("{number}-of-{of}"));
    scratch_part(path, key).is_some_and(|found| found == part)
}

/// Returns the part in a key of temporary elements, as `number-of-count`; empty for a conversion without parts. `None` for other keys.
fn scratch_part<'k>(path: &NodePath, key: &'k Key) -> Option<&'k str> {
    let rest = key.name().strip_prefix(CONVERSION_JOURNAL)?.strip_prefix('.')?;
    let rest = rest.strip_suffix(name_in_key(path).as_str())?.strip_prefix(SCRATCH)?.strip_prefix('.')?;
    let (part, number) = rest.split_once('.').unwrap_or(("", rest));
    ((part.is_empty() || is_part(part)) && number.parse::<u64>().is_ok()).then_some(part)
}

/// Whether `text` names a part of a conversion, as in `3-of-8`.
fn is_part(text: &str) -> bool {
    let is_number = |text: &str| text.parse::<u64>().is_ok();
    text.split_once("-of-").is_some_and(|(number, of)| is_number(number) && is_number(of))
}

/// Returns the prefix under which nodes are written that are to replace the node at `path`; `None` for the root, which is not replaced in
/// this way.
///
/// # Errors
/// The errors of [`journal_key`].
pub fn replacements(path: &NodePath) -> Result<Option<Prefix>> {
    let prefix = |name| Ok(Prefix::new(&format!("{}{REPLACEMENTS}/{name}/", beside(path)))?);
    path.name().map(prefix).transpose()
}

/// Returns the prefix of the replacement `id` of the node at `path`; `None` for the root.
///
/// # Errors
/// The errors of [`journal_key`].
pub fn replacement(path: &NodePath, id: u64) -> Result<Option<Prefix>> {
    let own = Prefix::new(&format!("{id:016x}/"))?;
    Ok(replacements(path)?.map(|all| all.join_prefix(&own)))
}

/// Returns a random number that other processes do not choose.
#[must_use]
pub fn new_id() -> u64 {
    // The only source of random numbers in the standard library. Forked processes share its state, so the process id is added.
    RandomState::new().hash_one((std::process::id(), SystemTime::now()))
}

/// Whether all keys of a node at `path` are under its path, and the node is not the root: such a node can be renamed and exchanged.
#[must_use]
pub fn is_one_prefix(dialect: Dialect, path: &NodePath) -> bool {
    let owned = zarr_meta::owned(dialect, path, &Documents::new());
    !path.is_root() && owned.keys.is_empty() && owned.prefixes == [path.key_prefix()]
}

/// Returns the end of the name of keys beside the node at `path`: the name of the node, shortened if file systems would not accept the key
/// otherwise.
fn name_in_key(path: &NodePath) -> String {
    const LONGEST: usize = 150;
    const KEPT: usize = 100;
    let Some(name) = path.name() else { return String::new() };
    if name.len() <= LONGEST {
        return format!("-{name}");
    }
    // FNV-1a of 64 bits.
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325, step);
    let kept = name.char_indices().take_while(|(at, char)| at + char.len_utf8() <= KEPT).map(|(_, char)| char);
    format!("-{}-{hash:016x}", kept.collect::<String>())
}

/// Returns the prefix of the group that has the node.
fn beside(path: &NodePath) -> String {
    path.parent().map_or_else(String::new, |parent| parent.key_prefix())
}

/// Erases the keys of unfinished changes of a node that is erased, renamed or replaced: journals of conversions to the node and to the
/// groups above it, which are no longer true, and nodes that were to replace the node.
#[derive(Debug)]
pub struct DropUnfinished {
    path: NodePath,
    capabilities: Capabilities,
}

impl DropUnfinished {
    /// Erases the keys of unfinished changes of the node at `path`, in a store with these capabilities.
    #[must_use]
    pub fn new(path: &NodePath, capabilities: Capabilities) -> Self {
        Self { path: path.clone(), capabilities }
    }

    /// Searches for journals of the node and of the groups above it, and for replacements of the node. Returns the paths that have
    /// journals, and whether the prefix `replacements` has keys.
    async fn look(&self, io: &Io, replacements: Option<&Prefix>) -> Result<(Vec<NodePath>, bool)> {
        let paths: Vec<NodePath> = std::iter::once(self.path.clone()).chain(self.path.ancestors()).collect();
        let size = |path| Ok(Request::Size { key: journal_key(path, None)? });
        let mut requests = paths.iter().map(size).collect::<Result<Vec<_>>>()?;
        requests.extend(replacements.map(|prefix| Request::List { prefix: prefix.clone() }));
        let mut replies = io.ask(requests).await.into_iter();
        let mut with_journals = Vec::new();
        for (path, reply) in paths.into_iter().zip(replies.by_ref()) {
            with_journals.extend(reply.into_size()?.map(|_| path));
        }
        let is_replacing = replies.next().map(Reply::into_listing).transpose()?.is_some_and(|it| !it.is_empty());
        Ok((with_journals, is_replacing))
    }

    /// Returns the keys, beside `paths`, of temporary elements and of journals of parts.
    async fn parts(&self, io: &Io, paths: &[NodePath]) -> Result<Vec<Key>> {
        if !self.capabilities.list {
            return Ok(Vec::new());
        }
        let prefixes = paths.iter().map(|path| Ok(Prefix::new(&beside(path))?)).collect::<Result<_>>()?;
        let mut parts = Vec::new();
        for (path, listing) in paths.iter().zip(io.list(prefixes).await?) {
            let keys = listing.keys.into_iter();
            parts.extend(keys.filter(|key| is_part_journal(path, key) || is_scratch(path, key)));
        }
        Ok(parts)
    }
}

impl Operation for DropUnfinished {
    type Output = ();

    async fn run(self, io: &Io) -> Result<()> {
        let Capabilities { appears_at_flush, exchanges, list, durable, .. } = self.capabilities;
        if appears_at_flush {
            // Such a store has no unfinished changes.
            return Ok(());
        }
        let replacements = if exchanges && list { replacements(&self.path)? } else { None };
        let (paths, is_replacing) = self.look(io, replacements.as_ref()).await?;
        let parts = self.parts(io, &paths).await?;
        let journals = paths.iter().map(|path| journal_key(path, None)).collect::<Result<Vec<_>>>()?;
        let erase = |keys: Vec<Key>| keys.into_iter().map(|key| Request::Erase { key }).collect::<Vec<_>>();
        let replacements = replacements.into_iter().map(|prefix| Request::ErasePrefix { prefix }).collect();
        // An erase that was killed may have left keys that are not listed.
        let (listed, hidden) = if is_replacing { (replacements, Vec::new()) } else { (Vec::new(), replacements) };
        // Journals of parts are erased before the journal that all parts share, without which they would not be found.
        let mut steps = vec![erase(parts), erase(journals), listed];
        if durable && steps.iter().any(|step| !step.is_empty()) {
            steps.push(vec![Request::Barrier]);
        }
        steps.push(hidden);
        in_steps(io, steps).await.map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zarr_drive::run;
    use zarr_store::{MemoryStore, StoreExt};

    fn path(text: &str) -> NodePath {
        NodePath::parse(text).expect("a path")
    }

    #[test]
    fn keys_lie_beside_the_node_and_are_known_again() {
        let keys = [("/", ".zconversion"), ("/a", ".zconversion-a"), ("/g/a", "g/.zconversion-a")];
        for (node, key) in keys {
            assert_eq!(journal_key(&path(node), None).expect("a key").as_str(), key);
            let part = journal_key(&path(node), Some((3, 8))).expect("a key");
            assert!(is_part_journal(&path(node), &part) && !is_scratch(&path(node), &part), "{part}");
            for part in [None, Some((3, 8))] {
                let scratch = scratch_key(&path(node), part, 12).expect("a key");
                assert!(is_scratch(&path(node), &scratch) && !is_part_journal(&path(node), &scratch), "{scratch}");
                assert!(!is_scratch(&path("/g/b"), &scratch), "{scratch}");
                for other in [None, Some((3, 8)), Some((3, 80)), Some((1, 8))] {
                    assert_eq!(is_scratch_of(&path(node), other, &scratch), other == part, "{scratch} {other:?}");
                }
            }
            assert!(
                !is_part_journal(&path("/g/b"), &part) && !is_part_journal(&path(node), &Key::new(key).expect("a key"))
            );
        }
        assert_eq!(
            replacement(&path("/g/a"), 10).expect("a prefix").expect("no root").as_str(),
            "g/.zreplacement/a/000000000000000a/"
        );
        assert_eq!(replacements(&path("/")).expect("none"), None);
    }

    #[test]
    fn keys_beside_long_names_are_short_and_different() {
        let names = ["é".repeat(127), "é".repeat(126) + "e", "x".repeat(255)];
        let keys = names.map(|name| {
            let node = path("/g").join(&name).expect("a path");
            let part = journal_key(&node, Some((100_000, 100_000))).expect("a key");
            let scratch = scratch_key(&node, Some((100_000, 100_000)), u64::MAX).expect("a key");
            assert!(is_part_journal(&node, &part) && is_scratch(&node, &scratch));
            assert!(part.name().len() < 200 && scratch.name().len() < 220, "{scratch}");
            journal_key(&node, None).expect("a key")
        });
        assert!(keys[0] != keys[1] && keys[1] != keys[2]);
    }

    #[test]
    fn journals_of_the_node_and_above_go_and_others_stay() {
        let names = [
            ".zconversion",
            ".zconversion-g",
            ".zconversion.1-of-2-g",
            ".zconversion.1-of-2-h",
            "g/.zconversion-a",
            "g/.zconversion.2-of-2-a",
            "g/.zconversion.scratch.2-of-2.0-a",
            "g/.zconversion.scratch.7-a",
            "g/.zreplacement/a/0000000000000001/zarr.json",
            "g/.zconversion-b",
            "g/.zreplacement/b/0000000000000001/zarr.json",
            "g/a/.zconversion-c",
        ];
        let store = MemoryStore::new();
        for name in names {
            store.set_all(&Key::new(name).expect("a key"), b"{}").expect("set");
        }
        run(&store, DropUnfinished::new(&path("/g/a"), zarr_store::Store::capabilities(&store)).job())
            .expect("dropped");
        let left: Vec<String> = store.list().expect("list").iter().map(ToString::to_string).collect();
        assert_eq!(
            left,
            [
                ".zconversion.1-of-2-h",
                "g/.zconversion-b",
                "g/.zreplacement/b/0000000000000001/zarr.json",
                "g/a/.zconversion-c"
            ]
        );
    }
}
