//! Commits from the first snapshot of a repository to a revision.

use std::collections::HashSet;
use std::sync::Arc;

use zarr_store::{Bytes, Key, Result, Store};

use crate::fault::IcechunkFault;
use crate::file::{self, FileType};
use crate::flat::{self, FlatFault, Table};
use crate::id::Id;
use crate::refs::{self, REPOSITORY, Revision};
use zarr_store_virtual::lookup::{EitherStore, Way, wait};

/// Commit of a repository: a snapshot with its parent, time and message.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct IcechunkCommit {
    /// Id of the snapshot.
    pub id: String,
    /// Id of the parent snapshot, on which the commit is based; `None` for the first snapshot of the repository.
    pub parent: Option<String>,
    /// Time of the commit, in microseconds since 1970-01-01 UTC.
    pub time: u64,
    /// Commit message.
    pub message: String,
}

/// Returns the commits that led to a revision, the newest first and at most `limit`. `store` contains the files of one repository.
///
/// A repository of version 2 of the format lists its commits in one file. In a repository of version 1 the file of each snapshot is read.
///
/// ```
/// use std::sync::Arc;
/// use zarr_icechunk::{Revision, history};
/// use zarr_store::MemoryStore;
///
/// let error = history(Arc::new(MemoryStore::new()), &Revision::default(), 10).unwrap_err();
/// assert!(error.to_string().ends_with("expected an Icechunk repository"));
/// ```
///
/// # Errors
/// [`IcechunkFault::Ancestry`] if a snapshot is one of its own ancestors, and the errors of
/// [`IcechunkStore::open`](crate::IcechunkStore::open).
pub fn history(store: Arc<dyn Store>, revision: &Revision, limit: usize) -> Result<Vec<IcechunkCommit>> {
    let below = EitherStore::new(store);
    let key = Key::new(REPOSITORY)?;
    match wait(file::content(&below, Way::Blocking, &key, FileType::Repository))? {
        Some(content) => {
            let id = refs::of_repository(&below, &content, revision)?;
            let commits = of_repository(&content, id, limit).map_err(|fault| fault.in_store(below.store()))?;
            commits.ok_or_else(|| missing(id, &format!("revision {revision}")).in_store(below.store()))
        }
        None => of_snapshots(&below, refs::of_files(&below, revision)?, revision, limit),
    }
}

fn missing(id: Id, by: &str) -> IcechunkFault {
    IcechunkFault::Missing { file: format!("snapshots/{id}"), by: by.to_owned() }
}

/// Returns the commits that led to the snapshot `id`, as the file of a repository of version 2 lists them; `None` if `id` is not listed.
fn of_repository(content: &Bytes, id: Id, limit: usize) -> Result<Option<Vec<IcechunkCommit>>, IcechunkFault> {
    let record = |fault| IcechunkFault::record(REPOSITORY, fault);
    let snapshots = Table::root(content).and_then(|root| root.required(4, 4, "snapshots")).map_err(record)?;
    let id_of = |table: &Table<'_>| table.required_array(0, "id of a snapshot").map(Id);
    let mut found = None;
    for table in snapshots.tables() {
        let table = table.map_err(record)?;
        if id_of(&table).map_err(record)? == id {
            found = Some(table);
            break;
        }
    }
    let Some(mut table) = found else { return Ok(None) };
    let (mut commits, mut bytes, mut seen) = (Vec::new(), 0_usize, HashSet::new());
    while commits.len() < limit {
        if !seen.insert(table.offset()) {
            return Err(IcechunkFault::Ancestry { id: id_of(&table).map_err(record)?.to_string() });
        }
        let read = || -> flat::Result<_> {
            // The parent of a snapshot without a parent is -1.
            let parent = usize::try_from(i32::from_le_bytes(table.u32(1)?.to_le_bytes())).ok();
            let parent = parent.map(|at| snapshots.table(at)).transpose()?;
            let parent_id = parent.as_ref().map(&id_of).transpose()?;
            let commit = commit(&table, id_of(&table)?, parent_id, [2, 3])?;
            Ok((commit, parent))
        };
        let (commit, parent) = read().map_err(record)?;
        // Offsets of several snapshots could point to one message: the sum of the lengths is bounded.
        bytes += commit.message.len();
        if bytes > content.len() {
            return Err(record(FlatFault { what: "messages", at: table.offset() }));
        }
        commits.push(commit);
        match parent {
            Some(parent) => table = parent,
            None => break,
        }
    }
    Ok(Some(commits))
}

/// Returns the commits that led to the snapshot `id` of a repository of version 1, in which the file of each snapshot names its parent.
fn of_snapshots(below: &EitherStore, id: Id, revision: &Revision, limit: usize) -> Result<Vec<IcechunkCommit>> {
    let (mut commits, mut seen, mut next, mut by) =
        (Vec::new(), HashSet::new(), Some(id), format!("revision {revision}"));
    while let Some(id) = next.filter(|_| commits.len() < limit) {
        if !seen.insert(id) {
            return Err(IcechunkFault::Ancestry { id: id.to_string() }.in_store(below.store()));
        }
        let file = Key::new(&format!("snapshots/{id}"))?;
        let content = wait(file::content(below, Way::Blocking, &file, FileType::Snapshot))?;
        let content = content.ok_or_else(|| missing(id, &by).in_store(below.store()))?;
        let read = || -> flat::Result<_> {
            let root = Table::root(&content)?;
            let found = Id(root.required_array(0, "id of the snapshot")?);
            let parent = root.array(1)?.map(Id);
            Ok((commit(&root, found, parent, [3, 4])?, found, parent))
        };
        let (commit, found, parent) =
            read().map_err(|fault| IcechunkFault::record(file.as_str(), fault).in_store(below.store()))?;
        if found != id {
            let fault = IcechunkFault::Id { file: file.to_string(), found: found.to_string() };
            return Err(fault.in_store(below.store()));
        }
        commits.push(commit);
        by = file.to_string();
        next = parent;
    }
    Ok(commits)
}

/// Makes a commit from a table of a snapshot, in which the fields `time` and `message` have these numbers.
fn commit(table: &Table<'_>, id: Id, parent: Option<Id>, [time, message]: [usize; 2]) -> flat::Result<IcechunkCommit> {
    let text = table.str(message)?.ok_or(FlatFault { what: "message", at: table.offset() })?;
    Ok(IcechunkCommit {
        id: id.to_string(),
        parent: parent.map(|id| id.to_string()),
        time: table.u64(time)?,
        message: text.to_owned(),
    })
}
