//! Writers, readers, appenders, renamers and changers of attributes as processes on one store for a while. Now and then one is killed
//! and started again. In the end all that was acknowledged must be there.

use super::beside::{CASES, Case, PATH};
use super::child::{Child, acknowledged, refused};
use super::kills::count_temporary;
use super::verbs::{Layout, Trial, Verb};
use super::worker::report;
use super::{Result, Tally, text, updates};
use crate::Random;
use std::sync::Arc;
use std::time::{Duration, Instant};
use zarr::{ErrorKind, NewArray, Store};

/// How often a process is killed.
const LIFE: Duration = Duration::from_millis(700);

/// Elements that each writer of parts has for its own.
const SHARE: u64 = 500;

/// The arrays that are renamed.
const RENAMED: Trial = Trial { verb: Verb::Move, layout: Layout::V3, chunks: 10 };

/// The array that is read while it is written.
const READ: Case = CASES[3];

/// What a process does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Part,
    Append,
    Attributes,
    Rename,
    Alternate,
    Read,
}

/// The roles of processes, in turn.
const ROLES: [Role; 8] =
    [Role::Alternate, Role::Read, Role::Part, Role::Append, Role::Attributes, Role::Rename, Role::Part, Role::Append];

impl Role {
    /// What an operation of it is called.
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

/// A process, and what it and those before it in its place acknowledged.
struct Player {
    role: Role,
    /// Its number among those of its role.
    number: u64,
    child: Child,
    acknowledged: Vec<u64>,
    /// Operations that were begun by processes which are dead, and that may be done or not.
    open: u64,
}

impl Player {
    fn start(soak: &Soak<'_>, role: Role, number: u64) -> Result<Self> {
        let child = soak.start(role, number, 0)?;
        Ok(Self { role, number, child, acknowledged: Vec::new(), open: 0 })
    }

    /// Starts another process in the place of one that is dead.
    fn start_again(&mut self, soak: &Soak<'_>) -> Result<()> {
        let mut next = self.acknowledged.last().map_or(0, |last| last + 1);
        if self.role == Role::Append {
            // The rows that the dead ones were at may be there.
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

/// What processes work on.
struct Soak<'a> {
    folder: &'a str,
    store: Arc<dyn Store>,
    /// How many processes write parts.
    writers: u64,
}

impl Soak<'_> {
    fn start(&self, role: Role, number: u64, next: u64) -> Result<Child> {
        let (number, next, end) = (number.to_string(), next.to_string(), u64::MAX.to_string());
        let mut child = match role {
            Role::Part => Child::start(&["part", self.folder, &number, &self.writers.to_string(), &next, &end]),
            Role::Append => Child::start(&["append", self.folder, &number, &next, &end]),
            Role::Attributes => Child::start(&["attributes", self.folder, &number, &next, &end]),
            Role::Rename => Child::start(&["rename", self.folder, &number, &next]),
            Role::Alternate => Child::start(&["alternate", self.folder]),
            Role::Read => Child::start(&["read", self.folder]),
        }?;
        child.go()?;
        Ok(child)
    }

    fn prepare(&self, renamers: u64) -> Result<()> {
        let new = NewArray::new(&[self.writers.max(1) * SHARE], "int32").codecs_text("bytes")?;
        zarr::create_array(&self.store, "/a", new.chunks(&[100]).shards(&[self.writers.max(1) * SHARE]))?;
        zarr::create_array(&self.store, "/rows", updates::new_rows()?)?;
        READ.create(&self.store)?;
        (0..renamers).try_for_each(|number| RENAMED.make_group(&self.store, &renamed(number, 0), 1))
    }

    /// Checks that all that was acknowledged is there, and writes once more.
    fn check(&self, players: &[Player], tally: &mut Tally) -> Result<()> {
        let mut rows = Vec::new();
        let elements = zarr::open_array(&self.store, "/a")?.read::<i32>(..)?;
        let mut array = zarr::open_array(&self.store, "/a")?;
        for player in players {
            let Player { number, acknowledged, .. } = player;
            match player.role {
                Role::Part => {
                    let written = acknowledged.last().map_or(0, |last| last + 1);
                    for _ in 0..updates::lost_parts(&elements, *number, self.writers, written) {
                        tally.fault("elements lost", || format!("of writer {number}"));
                    }
                }
                Role::Append => rows.push((*number, acknowledged.clone())),
                Role::Attributes => updates::lost_attributes(tally, array.attributes()?, *number, acknowledged),
                Role::Rename => {
                    let at = [0, 1].map(|place| RENAMED.check_group(&self.store, &renamed(*number, place)));
                    if let [Err(first), Err(second)] = at {
                        tally.fault("groups lost", || format!("{first}; {second}"));
                    }
                }
                Role::Alternate | Role::Read => {}
            }
        }
        rows.sort();
        let open = players.iter().filter(|player| player.role == Role::Append).map(|player| player.open + 1).sum();
        let rows: Vec<Vec<u64>> = rows.into_iter().map(|(_, rows)| rows).collect();
        updates::check_rows(tally, &self.store, &rows, open)?;

        array.write(0_u64, &[1])?;
        array.set_attributes(array.attributes()?.clone())?;
        updates::append_rows(&self.store, rows.len() as u64, 0..1, &|_, _| {})?;
        READ.write(&zarr::open_array(&self.store, PATH)?)
    }
}

/// Lets `processes` work on one store for a while, and checks what is there in the end.
///
/// # Errors
/// If processes cannot be started, or what is there in the end cannot be looked at.
pub fn soak(time: Duration, processes: u64) -> Result<Tally> {
    let folder = tempfile::tempdir()?;
    let address = text(folder.path())?;
    let roles: Vec<Role> = ROLES.iter().copied().cycle().take(processes as usize).collect();
    let count = |roles: &[Role], role: Role| roles.iter().filter(|other| **other == role).count() as u64;
    let soak = Soak { folder: address, store: zarr::create_store(address)?, writers: count(&roles, Role::Part) };
    soak.prepare(count(&roles, Role::Rename))?;

    let (mut tally, mut random) = (Tally::default(), Random::new(std::process::id().into()));
    let start = |(place, &role): (usize, &Role)| Player::start(&soak, role, count(&roles[..place], role));
    let mut players = roles.iter().enumerate().map(start).collect::<Result<Vec<_>>>()?;
    let (begun, mut killed) = (Instant::now(), Instant::now());
    while begun.elapsed() < time {
        std::thread::sleep(Duration::from_millis(50));
        for player in &mut players {
            let lines = player.child.lines_so_far();
            player.log(&lines, &mut tally);
        }
        if killed.elapsed() > LIFE {
            killed = Instant::now();
            let place = random.below(players.len());
            if let Some(player) = players.get_mut(place) {
                player.kill(&mut tally)?;
                tally.done("kills", 1);
                player.start_again(&soak)?;
            }
        }
    }
    players.iter_mut().try_for_each(|player| player.kill(&mut tally))?;
    soak.check(&players, &mut tally)?;
    count_temporary(folder.path(), &mut tally)?;
    Ok(tally)
}

/// Where a group is before it is moved (0) and after (1).
fn renamed(number: u64, place: u64) -> String {
    format!("/renamed.{number}.{}", place % 2)
}

/// Moves a group from one of its places to the other, again and again, and looks whether it is whole there.
pub(super) fn rename(store: &Arc<dyn Store>, writer: u64, from: u64) -> Result<()> {
    let registry = zarr::registry();
    for number in from.. {
        let (old, new) = (renamed(writer, number), renamed(writer, number + 1));
        let rename = |overwrite| zarr::move_node(store, &old, store, &new, &registry, overwrite);
        let done = match rename(false) {
            // As the hint says, where another process was killed at this.
            Err(error) if error.kind() == ErrorKind::Exists && number == from => rename(true),
            Err(error) if error.is_not_found() && number == from => Ok(()),
            done => done,
        };
        report(number, done.map_err(Into::into).and_then(|()| RENAMED.check_group(store, &new)));
    }
    Ok(())
}
