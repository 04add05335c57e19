//! Findings of unfinished changes: journals of conversions, nodes that were to replace others, records of migrations.

use crate::hierarchy::Hierarchy;
use crate::sink::Sink;
use crate::{Code, Finding};
use zarr_hierarchy::node::{
    CONVERSION_JOURNAL, MIGRATION_RECORD, REPLACEMENTS, is_part_journal, is_scratch, journal_key, replacements,
};
use zarr_hierarchy::{Error, Result};
use zarr_meta::NodePath;
use zarr_store::{Key, Prefix, Store, StoreExt};

/// Maximum length of the name of a node in the key of a journal; longer names are cut.
const LONGEST: usize = 100;

/// Returns the finding for a key of a journal or of the record of a migration; `None` for all other keys.
pub(crate) fn of_key(key: &Key) -> Option<Finding> {
    if key.as_str() == MIGRATION_RECORD {
        return Some(Finding::new(Code::UnfinishedMigration, "the record of a migration").at_key(key));
    }
    let (what, name) = journal(key.name())?;
    let finding = Finding::new(Code::UnfinishedConversion, what).at_key(key);
    let beside = NodePath::parse(key.parent().as_str()).ok();
    let node = match name {
        "" => beside,
        name if name.len() < LONGEST => beside.and_then(|beside| beside.join(name).ok()),
        _ => None,
    };
    Some(match node {
        Some(path) => finding.at_path(path),
        None => finding,
    })
}

/// Returns the description of a journal by the name of its key, and the name of the node beside the journal to which it belongs; an empty
/// name if the journal lies in the node. `None` if `name` is not that of a journal.
fn journal(name: &str) -> Option<(&'static str, &str)> {
    let rest = name.strip_prefix(CONVERSION_JOURNAL)?;
    let (what, rest) = match rest.strip_prefix('.') {
        None => ("the journal of a conversion", rest),
        Some(rest) => match (rest.strip_prefix("scratch."), after_part(rest)) {
            (Some(scratch), _) => {
                let number = after_part(scratch).and_then(|rest| rest.strip_prefix('.')).unwrap_or(scratch);
                ("elements that a conversion has read, and not written", after_number(number)?)
            }
            (None, Some(rest)) => ("the journal of a part of a conversion", rest),
            (None, None) if rest.len() == 16 && rest.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
                ("the mark of a conversion that writes here", "")
            }
            _ => return None,
        },
    };
    match rest.strip_prefix('-') {
        Some(name) if !name.is_empty() => Some((what, name)),
        None if rest.is_empty() => Some((what, "")),
        _ => None,
    }
}

/// Returns the rest of `text` after a leading number; `None` without one.
fn after_number(text: &str) -> Option<&str> {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    (rest.len() < text.len()).then_some(rest)
}

/// Returns the rest of `text` after a leading part such as `1-of-2`; `None` without one.
fn after_part(text: &str) -> Option<&str> {
    after_number(after_number(text)?.strip_prefix("-of-")?)
}

/// Reports the nodes under `prefix`, a directory [`REPLACEMENTS`], which were to replace nodes beside the directory.
pub(crate) fn replacing(store: &dyn Store, prefix: &Prefix, sink: &Sink<'_>) {
    let listing = match store.list_dir(prefix) {
        Ok(listing) => listing,
        Err(error) => return sink.find(Finding::of(Code::Unreadable, &Error::from(error)).at_key(prefix)),
    };
    if listing.keys.is_empty() && listing.prefixes.is_empty() {
        sink.find(Finding::new(Code::EmptyFolder, "an empty directory").at_key(prefix));
    }
    for key in &listing.keys {
        sink.find(Finding::new(Code::StrayKey, "among nodes that were to replace others").at_key(key));
    }
    leftovers(store, prefix, sink);
    listing.prefixes.iter().for_each(|prefix| one_replacing(store, prefix, sink));
}

/// Reports temporary files directly under a prefix that killed writers have left.
pub(crate) fn leftovers(store: &dyn Store, prefix: &Prefix, sink: &Sink<'_>) {
    match store.leftovers(prefix) {
        Ok(left) => left.into_iter().for_each(|left| {
            let message = format!("{} bytes that a writer left which was killed", left.bytes);
            sink.find(Finding::new(Code::TemporaryFile, message).at_key(left.path));
        }),
        Err(error) => sink.find(Finding::of(Code::Unreadable, &Error::from(error)).at_key(prefix)),
    }
}

/// Reports the nodes under `prefix` that were to replace one node. Each lies under a number of its own.
fn one_replacing(store: &dyn Store, prefix: &Prefix, sink: &Sink<'_>) {
    leftovers(store, prefix, sink);
    let finding = match store.list_dir(prefix) {
        Ok(listing) if listing.keys.is_empty() && listing.prefixes.is_empty() => {
            Finding::new(Code::EmptyFolder, "an empty directory")
        }
        Ok(_) => Finding::new(Code::UnfinishedReplacement, "a node that was to replace another one"),
        Err(error) => Finding::of(Code::Unreadable, &Error::from(error)),
    };
    let group = prefix.as_str().trim_end_matches('/').rsplit_once(REPLACEMENTS).map_or("", |(group, _)| group);
    let node = NodePath::parse(group).ok().and_then(|group| group.join(prefix.name()?).ok());
    sink.find(match node {
        Some(path) => finding.at_path(path).at_key(prefix),
        None => finding.at_key(prefix),
    });
}

/// Reports what belongs to the first node but lies in the group above it, if the check does not begin at the root.
pub(crate) fn beside(store: &dyn Store, hierarchy: &Hierarchy, sink: &Sink<'_>) -> Result<()> {
    let Some((path, group)) = hierarchy.nodes.first().and_then(|node| Some((&node.path, node.path.parent()?))) else {
        return Ok(());
    };
    let group = Prefix::new(&group.key_prefix())?;
    let found = store.list_dir(&group).and_then(|listing| Ok((listing, store.exists(&Key::new(MIGRATION_RECORD)?)?)));
    let (listing, is_migrating) = match found {
        Ok(found) => found,
        Err(error) => {
            sink.find(Finding::of(Code::Unreadable, &Error::from(error)).at_key(group));
            return Ok(());
        }
    };
    let journal = journal_key(path, None)?;
    let is_of = |key: &&Key| **key == journal || is_part_journal(path, key) || is_scratch(path, key);
    listing.keys.iter().filter(is_of).filter_map(of_key).for_each(|finding| sink.find(finding.at_path(path)));
    if is_migrating {
        of_key(&Key::new(MIGRATION_RECORD)?).into_iter().for_each(|finding| sink.find(finding));
    }
    let has_replacing = listing.prefixes.iter().any(|prefix| prefix.name() == Some(REPLACEMENTS));
    if let Some(prefix) = replacements(path)?.filter(|_| has_replacing) {
        let listing = store.list_dir(&prefix)?;
        if !listing.keys.is_empty() || !listing.prefixes.is_empty() {
            one_replacing(store, &prefix, sink);
        } else {
            leftovers(store, &prefix, sink);
        }
    }
    Ok(())
}

/// Finds the keys that an unfinished conversion has left in and beside `path`, at which there is no node yet. In a store that cannot list,
/// looks for the journal alone. Keys that cannot be read are left out: the caller then reports that there is no node.
pub(crate) fn without_node(store: &dyn Store, path: &str) -> Vec<Finding> {
    let Ok(path) = NodePath::parse(path) else { return Vec::new() };
    let Ok(journal) = journal_key(&path, None) else { return Vec::new() };
    let of_path = |key: &Key| {
        let is_of = *key == journal || is_part_journal(&path, key) || is_scratch(&path, key);
        let finding = of_key(key).filter(|finding| finding.code == Code::UnfinishedConversion)?;
        (is_of || finding.path.as_deref() == Some(path.to_string().as_str())).then(|| finding.at_path(&path))
    };
    if !store.capabilities().list {
        let is_there = store.exists(&journal).unwrap_or(false);
        return of_path(&journal).filter(|_| is_there).into_iter().collect();
    }
    let folders = path.parent().into_iter().chain([path.clone()]).filter_map(|at| Prefix::new(&at.key_prefix()).ok());
    let keys = folders.filter_map(|folder| store.list_dir(&folder).ok()).flat_map(|listing| listing.keys);
    keys.filter_map(|key| of_path(&key)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn journals_and_what_belongs_to_conversions_are_told_apart() {
        let of = |key: &str| {
            let finding = of_key(&Key::new(key).unwrap())?;
            Some((finding.message, finding.path.unwrap_or_default()))
        };
        for (key, what, path) in [
            (".zconversion", "the journal of a conversion", "/"),
            ("g/.zconversion", "the journal of a conversion", "/g"),
            ("g/.zconversion-a-b", "the journal of a conversion", "/g/a-b"),
            (".zconversion.1-of-2", "the journal of a part of a conversion", "/"),
            ("g/.zconversion.1-of-20-a", "the journal of a part of a conversion", "/g/a"),
            ("g/.zconversion.scratch.3-a", "elements that a conversion has read, and not written", "/g/a"),
            ("g/.zconversion.scratch.2-of-2.0-a", "elements that a conversion has read, and not written", "/g/a"),
            ("g/a/.zconversion.00112233445566ff", "the mark of a conversion that writes here", "/g/a"),
            (".zmigration", "the record of a migration", ""),
        ] {
            assert_eq!(of(key), Some((what.to_owned(), path.to_owned())), "{key}");
        }
        for key in [".zconversions", ".zconversion-", ".zconversion.x", ".zconversion.1-of-a", "g/.zmigration", "a"] {
            assert_eq!(of(key), None, "{key}");
        }
    }
}
