//! Writers, readers, appenders, renamers and changers of attributes as processes on one store for a while. Now and then one is killed
//! and started again. In the end all that was acknowledged must be there.

use super::beside::{CASES, Case, PATH};
use super::child::{Child, acknowledged, refused};
use super::kills::count_temporary;
use super::moves::{MOVED, place};
use super::{Result, Tally, rows, text, updates};
use crate::Random;
use std::sync::Arc;
use std::time::{Duration, Instant};
use zarr::{NewArray, Store};

/// How often a process is killed.
const LIFE: Duration = Duration::from_millis(700);

/// Elements that each writer of parts has for its own.
const SHARE: u64 = 500;

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
            Role::Attributes => Child::start(&["attributes", self.folder, "/rows", &number, &next, &end]),
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
        zarr::create_array(&self.store, "/rows", rows::new_rows()?)?;
        READ.create(&self.store)?;
        (0..renamers).try_for_each(|number| MOVED.make_group(&self.store, &place(number, 0), 1))
    }

    /// Checks that all that was acknowledged is there, and writes once more.
    fn check(&self, players: &[Player], tally: &mut Tally) -> Result<()> {
        let mut rows = Vec::new();
        let array = zarr::open_array(&self.store, "/a")?;
        let elements = array.read::<i32>(..)?;
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
                Role::Attributes => {
                    let array = zarr::open_array(&self.store, "/rows")?;
                    updates::lost_attributes(tally, array.attributes()?, *number, acknowledged);
                }
                Role::Rename => {
                    let next = acknowledged.last().map_or(0, |last| last + 1);
                    let at = [next, next + 1].map(|at| MOVED.check_group(&self.store, &place(*number, at)));
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
        rows::check_rows(tally, &self.store, &rows, open)?;

        array.write(0_u64, &[1])?;
        rows::append_rows(&self.store, rows.len() as u64, 0..1, &|_, _| {})?;
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
