//! Processes that write, read, append, move and change attributes in one store for a given time. Some are killed and started again. At the
//! end every acknowledged operation must be found in the store.

use super::child::{Child, acknowledged, refused};
use super::kills::count_temporary;
use super::moves::{MOVED, path_after};
use super::reads::{CASES, Case, PATH};
use super::{Result, Tally, rows, text, updates};
use crate::Random;
use std::sync::Arc;
use std::time::{Duration, Instant};
use zarr::{NewArray, Store};

/// Interval at which a process is killed.
const LIFE: Duration = Duration::from_millis(700);

/// Number of elements that belong to each writer of parts.
const SHARE: u64 = 500;

/// Array that is read while it is written.
const READ: Case = CASES[3];

/// Task of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Part,
    Append,
    Attributes,
    Rename,
    Alternate,
    Read,
}

/// Tasks of the processes, in turn.
const ROLES: [Role; 8] =
    [Role::Alternate, Role::Read, Role::Part, Role::Append, Role::Attributes, Role::Rename, Role::Part, Role::Append];

impl Role {
    /// Returns the name of its operations in the counts.
    fn operations(self) -> &'static str {
        match self {
            Self::Part => "partial writes",
            Self::Append => "rows",
            Self::Attributes => "changes of attributes",
            Self::Rename => "moves",
            Self::Alternate => "rounds of writes",
            Self::Read => "reads",
        }
    }
}

/// Process that is started again whenever it was killed, and all operations that it has acknowledged.
struct Slot {
    role: Role,
    /// Number of the process among those with the same task.
    number: u64,
    child: Child,
    acknowledged: Vec<u64>,
    /// Number of operations that killed processes had begun; each may be done or not.
    open: u64,
}

impl Slot {
    fn start(soak: &Soak<'_>, role: Role, number: u64) -> Result<Self> {
        let child = soak.start(role, number, 0)?;
        Ok(Self { role, number, child, acknowledged: Vec::new(), open: 0 })
    }

    /// Starts the process again after it was killed.
    fn start_again(&mut self, soak: &Soak<'_>) -> Result<()> {
        let mut next = self.acknowledged.last().map_or(0, |last| last + 1);
        if self.role == Role::Append {
            // A killed process may have appended the row that it did not acknowledge.
            self.open += 1;
            next += self.open;
        }
        self.child = soak.start(self.role, self.number, next)?;
        Ok(())
    }

    fn log(&mut self, lines: &[String], tally: &mut Tally) {
        let new = acknowledged(lines);
        tally.done(self.role.operations(), new.len() as u64);
        let kind = if self.role == Role::Read { "reads that failed or were wrong" } else { "operations that failed" };
        for error in refused(lines) {
            tally.fault(kind, || format!("{:?}: {error}", self.role));
        }
        for line in lines.iter().filter(|line| line.starts_with("failed")) {
            tally.fault("processes that ended", || format!("{:?}: {line}", self.role));
        }
        if !matches!(self.role, Role::Alternate | Role::Read) {
            self.acknowledged.extend(new);
        }
    }

    fn kill(&mut self, tally: &mut Tally) -> Result<()> {
        let lines = self.child.kill()?;
        self.log(&lines, tally);
        Ok(())
    }
}

/// Store that the processes share.
struct Soak<'a> {
    folder: &'a str,
    store: Arc<dyn Store>,
    /// Number of processes that write parts.
    writers: u64,
}

impl Soak<'_> {
    fn start(&self, role: Role, number: u64, next: u64) -> Result<Child> {
        let (number, next, end) = (number.to_string(), next.to_string(), u64::MAX.to_string());
        let mut child = match role {
            Role::Part => Child::start(&["part", self.folder, &number, &self.writers.to_string(), &next, &end]),
            Role::Append => Child::start(&["append", self.folder, &number, &next, &end]),
            Role::Attributes => Child::start(&["attributes", self.folder, "/rows", &number, &next, &end]),
            Role::Rename => Child::start(&["rename", self.folder, &number, &next]),
            Role::Alternate => Child::start(&["alternate", self.folder]),
            Role::Read => Child::start(&["read", self.folder]),
        }?;
        child.go()?;
        Ok(child)
    }

    fn prepare(&self, renamers: u64) -> Result<()> {
        let new = NewArray::new(&[self.writers.max(1) * SHARE], "int32").codecs("bytes")?;
        zarr::create((&self.store, "/a")).array(new.chunks(&[100]).shards(&[self.writers.max(1) * SHARE]))?;
        zarr::create((&self.store, "/rows")).array(rows::new_rows()?)?;
        READ.create(&self.store)?;
        (0..renamers).try_for_each(|number| MOVED.make_group(&self.store, &path_after(number, 0), 1))
    }

    /// Checks that the results of all acknowledged operations are in the store, and writes once more.
    fn check(&self, slots: &[Slot], tally: &mut Tally) -> Result<()> {
        let mut rows = Vec::new();
        let array = zarr::open((&self.store, "/a")).array()?;
        let elements = array.read::<i32>(..)?;
        for slot in slots {
            let Slot { number, acknowledged, .. } = slot;
            match slot.role {
                Role::Part => {
                    let written = acknowledged.last().map_or(0, |last| last + 1);
                    for _ in 0..updates::lost_parts(&elements, *number, self.writers, written) {
                        tally.fault("elements lost", || format!("of writer {number}"));
                    }
                }
                Role::Append => rows.push((*number, acknowledged.clone())),
                Role::Attributes => {
                    let array = zarr::open((&self.store, "/rows")).array()?;
                    updates::lost_attributes(tally, array.attributes()?, *number, acknowledged);
                }
                Role::Rename => {
                    let next = acknowledged.last().map_or(0, |last| last + 1);
                    let at = [next, next + 1].map(|at| MOVED.check_group(&self.store, &path_after(*number, at)));
                    if let [Err(first), Err(second)] = at {
                        tally.fault("groups lost", || format!("{first}; {second}"));
                    }
                }
                Role::Alternate | Role::Read => {}
            }
        }
        rows.sort();
        let open = slots.iter().filter(|slot| slot.role == Role::Append).map(|slot| slot.open + 1).sum();
        let rows: Vec<Vec<u64>> = rows.into_iter().map(|(_, rows)| rows).collect();
        rows::check_rows(tally, &self.store, &rows, open)?;

        array.write(0_u64, &[1])?;
        rows::append_rows(&self.store, rows.len() as u64, 0..1, &|_, _| {})?;
        READ.write(&zarr::open((&self.store, PATH)).array()?)
    }
}

/// Runs `processes` processes on one store for a given time, and checks the store at the end.
///
/// # Errors
/// If a process cannot be started, or the store cannot be read at the end.
pub fn soak(time: Duration, processes: u64) -> Result<Tally> {
    let folder = tempfile::tempdir()?;
    let address = text(folder.path())?;
    let roles: Vec<Role> = ROLES.iter().copied().cycle().take(processes as usize).collect();
    let count = |roles: &[Role], role: Role| roles.iter().filter(|other| **other == role).count() as u64;
    let soak = Soak { folder: address, store: zarr::store::create(address)?, writers: count(&roles, Role::Part) };
    soak.prepare(count(&roles, Role::Rename))?;

    let (mut tally, mut random) = (Tally::default(), Random::new(std::process::id().into()));
    let start = |(index, &role): (usize, &Role)| Slot::start(&soak, role, count(&roles[..index], role));
    let mut slots = roles.iter().enumerate().map(start).collect::<Result<Vec<_>>>()?;
    let (begun, mut killed) = (Instant::now(), Instant::now());
    while begun.elapsed() < time {
        std::thread::sleep(Duration::from_millis(50));
        for slot in &mut slots {
            let lines = slot.child.lines_so_far();
            slot.log(&lines, &mut tally);
        }
        if killed.elapsed() > LIFE {
            killed = Instant::now();
            let index = random.below(slots.len());
            if let Some(slot) = slots.get_mut(index) {
                slot.kill(&mut tally)?;
                tally.done("kills", 1);
                slot.start_again(&soak)?;
            }
        }
    }
    slots.iter_mut().try_for_each(|slot| slot.kill(&mut tally))?;
    soak.check(&slots, &mut tally)?;
    count_temporary(folder.path(), &mut tally)?;
    Ok(tally)
}
