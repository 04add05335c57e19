//! Branches and tags, and the snapshots that they name.

use zarr_json::Value;
use zarr_store::{ByteRange, Bytes, StoreExt};
use zarr_store::{Error, GetOptions, Key, Prefix, Result};

use crate::fault::IcechunkFault;
use crate::file::{self, FileType};
use crate::flat::{self, FlatFault, Table, Vector};
use crate::id::Id;
use zarr_store_virtual::lookup::{EitherStore, Way, wait};

/// Branch that is opened by default.
const MAIN: &str = "main";
/// Key of the main file of a repository of version 2.
pub(crate) const REPOSITORY: &str = "repo";
/// Maximum size in bytes of the file of a branch or tag.
const MAX_REFERENCE: u64 = 4096;
/// Maximum number of names that an error lists.
const MAX_NAMES: usize = 20;

/// State of a repository: a branch, a tag or a snapshot.
///
/// ```
/// use zarr_icechunk::Revision;
/// assert_eq!(Revision::default(), Revision::parse("branch.main"));
/// assert_eq!(Revision::parse("tag.v1").to_string(), "tag.v1");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Revision {
    /// The newest snapshot of a branch.
    Branch(String),
    /// The snapshot of a tag.
    Tag(String),
    /// The newest snapshot of the branch of this name, or if no such branch exists the snapshot with this id.
    Named(String),
}

impl Revision {
    /// Parses a revision: `branch.NAME`, `tag.NAME`, the name of a branch, or the id of a snapshot.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        match text.split_once('.') {
            Some(("branch", name)) => Self::Branch(name.to_owned()),
            Some(("tag", name)) => Self::Tag(name.to_owned()),
            _ => Self::Named(text.to_owned()),
        }
    }

    fn name(&self) -> &str {
        let (Self::Branch(name) | Self::Tag(name) | Self::Named(name)) = self;
        name
    }
}

/// Default revision: the branch `main`.
impl Default for Revision {
    fn default() -> Self {
        Self::Branch(MAIN.to_owned())
    }
}

impl std::fmt::Display for Revision {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Branch(name) if name == MAIN => f.write_str(name),
            Self::Branch(name) => write!(f, "branch.{name}"),
            Self::Tag(name) => write!(f, "tag.{name}"),
            Self::Named(name) => f.write_str(name),
        }
    }
}

/// Returns the id of the snapshot of a revision, for a repository of version 1 or 2.
pub(crate) fn resolve(below: &EitherStore, revision: &Revision) -> Result<Id> {
    let key = Key::new(REPOSITORY)?;
    match wait(file::content(below, Way::Blocking, &key, FileType::Repository))? {
        Some(content) => of_repository(below, &content, revision),
        None => of_files(below, revision),
    }
}

/// Returns the id of the snapshot of a revision, by `content` of the main file of a repository of version 2.
pub(crate) fn of_repository(below: &EitherStore, content: &Bytes, revision: &Revision) -> Result<Id> {
    let read = || -> flat::Result<Result<Id, Vec<String>>> {
        let root = Table::root(content)?;
        let (tags, branches) = (root.required(1, 4, "tags")?, root.required(2, 4, "branches")?);
        let snapshots = root.required(4, 4, "snapshots")?;
        let among = match revision {
            Revision::Tag(_) => tags,
            Revision::Branch(_) | Revision::Named(_) => branches,
        };
        Ok(match find(&among, revision.name())? {
            Some(reference) => {
                let at = usize::try_from(reference.u32(1)?).unwrap_or(usize::MAX);
                Ok(Id(snapshots.table(at)?.required_array(0, "id of a snapshot")?))
            }
            None => Err(names(&among)?),
        })
    };
    let found = read().map_err(|fault| IcechunkFault::record(REPOSITORY, fault).in_store(below.store()))?;
    found.or_else(|known| of_id(below, revision, known))
}

fn find<'b>(refs: &Vector<'b>, name: &str) -> flat::Result<Option<Table<'b>>> {
    for table in refs.tables() {
        let table = table?;
        if table.str(0)? == Some(name) {
            return Ok(Some(table));
        }
    }
    Ok(None)
}

fn names(refs: &Vector<'_>) -> flat::Result<Vec<String>> {
    let name = |table: flat::Result<Table<'_>>| {
        let table = table?;
        table.str(0)?.map(str::to_owned).ok_or(FlatFault { what: "name", at: table.offset() })
    };
    refs.tables().take(MAX_NAMES + 1).map(name).collect()
}

/// Returns the id of the snapshot of a revision, by the files of branches and tags of a repository of version 1.
pub(crate) fn of_files(below: &EitherStore, revision: &Revision) -> Result<Id> {
    let kind = if matches!(revision, Revision::Tag(_)) { "tag" } else { "branch" };
    let folder = format!("refs/{kind}.{}/", revision.name());
    // No branch or tag has a name with a slash.
    let folder = Prefix::new(&folder).ok().filter(|_| !revision.name().contains('/'));
    let found = match &folder {
        Some(folder) => reference(below, folder)?,
        None => None,
    };
    match found {
        Some(id) => Ok(id),
        None => of_id(below, revision, names_of_files(below, kind)?),
    }
}

/// Returns the id in the file of a branch or tag; `None` if the file does not exist, or if the tag was deleted.
fn reference(below: &EitherStore, folder: &Prefix) -> Result<Option<Id>> {
    let get = |name: &str, ranges: &[ByteRange]| -> Result<_> {
        wait(below.get(Way::Blocking, &folder.join(name)?, ranges, &GetOptions::default()))
    };
    let Some(fetched) = get("ref.json", &[ByteRange::First(MAX_REFERENCE)])? else { return Ok(None) };
    if get("ref.json.deleted", &[])?.is_some() {
        return Ok(None);
    }
    let parse = |bytes: &[u8]| {
        let value = Value::from_json(std::str::from_utf8(bytes).ok()?).ok()?;
        Id::of_name(value.get("snapshot")?.as_str()?)
    };
    let fault = || IcechunkFault::Reference { file: format!("{folder}ref.json") }.in_store(below.store());
    parse(fetched.part(0)).map(Some).ok_or_else(fault)
}

/// Returns the names of the branches or tags of a repository of version 1; none if the store cannot list. Fails if the store has no branch,
/// and thus is not a repository.
fn names_of_files(below: &EitherStore, kind: &str) -> Result<Vec<String>> {
    let names = match below.store().list_dir(&Prefix::new("refs/")?) {
        Ok(listing) => {
            let has_branch = listing.prefixes.iter().filter_map(Prefix::name).any(|name| name.starts_with("branch."));
            if !has_branch {
                return Err(no_repository(below));
            }
            let mut names = Vec::new();
            for prefix in &listing.prefixes {
                let name = prefix.name().and_then(|name| name.strip_prefix(kind)?.strip_prefix('.'));
                // The files of a deleted tag remain.
                let is_there = kind == "branch" || name.is_some() && reference(below, prefix)?.is_some();
                names.extend(name.filter(|_| is_there).map(str::to_owned));
                if names.len() > MAX_NAMES {
                    break;
                }
            }
            names
        }
        Err(Error::Unsupported { .. }) => Vec::new(),
        Err(error) => return Err(error),
    };
    if names.is_empty() && kind == "branch" {
        let main = Prefix::new("refs/branch.main/")?;
        if reference(below, &main)?.is_none() {
            return Err(no_repository(below));
        }
    }
    Ok(names)
}

fn no_repository(below: &EitherStore) -> Error {
    Error::NotAStore {
        store: below.store().to_string(),
        found: "neither a file repo nor branches in refs",
        expected: "an Icechunk repository",
    }
}

/// Returns the snapshot whose id is the name in `revision`, or an error that lists `known`, the names of the existing branches or tags.
fn of_id(below: &EitherStore, revision: &Revision, mut known: Vec<String>) -> Result<Id> {
    let (kind, kinds) = match revision {
        Revision::Named(name) => match Id::of_name(name) {
            Some(id) => return Ok(id),
            None => ("branch or snapshot", "branches"),
        },
        Revision::Branch(_) => ("branch", "branches"),
        Revision::Tag(_) => ("tag", "tags"),
    };
    if known.len() > MAX_NAMES {
        known.truncate(MAX_NAMES);
        known.push("and others".to_owned());
    }
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    let message = format!("no {kind} {:?}; {kinds}: {known}", revision.name());
    Err(Error::Argument { store: below.store().to_string(), message })
}
