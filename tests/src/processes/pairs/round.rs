//! Round of a check: it runs two processes, and stops or kills some.

use super::judge::{self, Ended};
use super::model::{LENGTH, Node};
use super::place::{Place, Stores, initial, node_of};
use super::verb::{Task, Verb, World};
use crate::Random;
use crate::processes::child::Child;
use crate::processes::worker::COMMAND;
use crate::processes::{Result, Tally, text};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use zarr::Dialect;

/// Greatest time of two verbs; only a verb that hangs exceeds it.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Interval at which the processes are checked.
const TICK: Duration = Duration::from_micros(300);

/// Time for which a server runs if no other verb runs.
const SERVED: Duration = Duration::from_millis(30);

/// Rounds in one kind of store.
pub(super) struct Rounds {
    place: Place,
    stores: Stores,
    /// Folder of the files for verbs.
    files: tempfile::TempDir,
    /// Time in seconds that each verb takes.
    times: BTreeMap<(Verb, bool), f64>,
}

/// Times at which one of the processes is started, stopped and killed.
#[derive(Clone, Copy, Debug, Default)]
struct Plan {
    start: f64,
    kill: Option<f64>,
    stop: Option<(f64, f64)>,
}

/// Process that runs a verb.
struct Run {
    task: Task,
    child: Child,
    plan: Plan,
    begun: Option<Instant>,
    ended: Option<(Instant, Option<i32>)>,
    is_killed: bool,
    is_stopped: bool,
    was_stopped: bool,
}

impl Rounds {
    pub(super) fn new(place: Place, folder: &Path) -> Result<Self> {
        let files = tempfile::tempdir_in(folder)?;
        let stores = folder.join("stores");
        std::fs::create_dir(&stores)?;
        Ok(Self { place, stores: Stores::new(place, &stores)?, files, times: BTreeMap::new() })
    }

    fn file(&self, name: &str, side: usize) -> Result<String> {
        Ok(text(&self.files.path().join(format!("{name}.{side}")))?.to_owned())
    }

    /// Returns the arguments of a verb.
    fn arguments(&self, task: &Task, other: Dialect) -> Result<Vec<String>> {
        let (x, y) = (self.stores.address("x")?, self.stores.address("y")?);
        let node = |path: &str| format!("{x}::{path}");
        let (array, side) = (task.world.array(), task.side);
        let words: Vec<&str> = match task.verb {
            Verb::Write => vec!["write", &x, array, "--from"],
            Verb::Append => vec!["append", &x, array, "--from"],
            Verb::Resize => vec!["resize", &x, array, "--shrink", "--shape"],
            Verb::Attrs => vec!["attrs", &x, "/n", "--set", "k=1"],
            Verb::Create if task.world == World::Group => vec!["create", &x, "/n", "--overwrite", "--group"],
            Verb::Create => {
                let new = ["--dtype", "int16", "--chunks", "4", "--codecs", "bytes", "--fill", "9", "--shape"];
                [&["create", x.as_str(), "/n", "--overwrite"][..], &new].concat()
            }
            Verb::Remove => vec!["rm", &x, "/n", "-r"],
            Verb::Move | Verb::MoveOver => vec!["mv"],
            Verb::Copy | Verb::CopyOver => vec!["cp"],
            Verb::Convert => vec!["convert", &x, &y, "--node", "/n", "--chunks", "7"],
            Verb::Migrate => vec!["migrate", &x, "--dialect"],
            Verb::Consolidate => vec!["consolidate", &x],
            Verb::Repair => vec!["check", &x, "--repair"],
            Verb::Read => vec!["read", &x, array, "--raw", "--as", "raw", "-o"],
            Verb::Stats => vec!["stats", &x, array, "--json"],
            Verb::Serve => vec!["serve", &x, "--port", "0"],
        };
        let more: Vec<String> = match task.verb {
            Verb::Write | Verb::Append => {
                let file = self.file("elements.npy", side)?;
                std::fs::write(&file, npy(&task.elements()))?;
                vec![file]
            }
            Verb::Resize => vec![task.length.to_string()],
            Verb::Create if task.world == World::Array => vec![LENGTH.to_string()],
            Verb::Move => vec![node("/n"), node("/moved")],
            Verb::MoveOver => vec![node("/n"), node("/other"), "--overwrite".to_owned()],
            Verb::Copy => vec![node("/n"), node("/copy")],
            Verb::CopyOver => vec![node("/new"), node("/n"), "--overwrite".to_owned()],
            Verb::Migrate => vec![other.to_string()],
            Verb::Read => vec![self.file("out", side)?],
            _ => Vec::new(),
        };
        let quiet = if task.verb == Verb::Serve { None } else { Some("-q".to_owned()) };
        let words = words.into_iter().map(str::to_owned).chain(more).chain(quiet);
        Ok(words.chain(self.stores.arguments()).collect())
    }

    /// Runs two verbs, and judges the state after them. Returns whether they ran at the same time.
    pub(super) fn run(
        &mut self,
        seed: u64,
        pair: [Verb; 2],
        world: World,
        random: &mut Random,
        tally: &mut Tally,
    ) -> Result<bool> {
        let (dialect, other) =
            if random.below(2) == 0 { (Dialect::V2, Dialect::V3) } else { (Dialect::V3, Dialect::V2) };
        self.stores.make(world, dialect)?;
        let lengths = [0, 1].map(|side| if random.below(2) == 0 { LENGTH - 10 - side } else { LENGTH + 10 + side });
        let tasks = [0, 1].map(|side| Task { verb: pair[side], world, side, length: lengths[side] });
        let times = pair.map(|verb| self.times.get(&(verb, world == World::Array)).copied().unwrap_or(0.01));
        let mut runs = Vec::new();
        for (task, plan) in tasks.iter().zip(plans(times, random)) {
            let arguments = self.arguments(task, other)?;
            let words: Vec<&str> = std::iter::once(COMMAND).chain(arguments.iter().map(String::as_str)).collect();
            let child = Child::start_with(&words, File::create(self.file("err", task.side)?)?)?;
            let (begun, ended, is_killed, is_stopped, was_stopped) = (None, None, false, false, false);
            runs.push(Run { task: *task, child, plan, begun, ended, is_killed, is_stopped, was_stopped });
        }
        let served = self.carry_out(&mut runs)?;
        let spans: Vec<_> = runs.iter().filter_map(|run| Some((run.begun?, run.ended?.0))).collect();
        let overlap = matches!(spans.as_slice(), [a, b] if a.0 < b.1 && b.0 < a.1);
        for (run, (begun, ended)) in runs.iter().zip(&spans) {
            tally.done("kills", u64::from(run.is_killed));
            tally.done("stops", u64::from(run.was_stopped));
            if !run.is_killed && !run.was_stopped {
                let time = self.times.entry((run.task.verb, world == World::Array)).or_insert(0.01);
                *time += 0.2 * (ended.duration_since(*begun).as_secs_f64() - *time);
            }
        }
        let names = format!("{} | {}", pair[0].name(), pair[1].name());
        let mut ended = Vec::new();
        for (mut run, served) in runs.into_iter().zip(served) {
            let side = run.task.side;
            let code = run.ended.and_then(|(_, code)| code);
            let errors = std::fs::read_to_string(self.file("err", side)?)?;
            let lines = run.child.kill().unwrap_or_default();
            let out = if run.task.verb == Verb::Read {
                std::fs::read(self.file("out", side)?).unwrap_or_default()
            } else {
                Vec::new()
            };
            let _ = std::fs::remove_file(self.file("out", side)?);
            ended.push(Ended { task: run.task, code, is_killed: run.is_killed, errors, lines, out, served });
        }
        let story = || {
            let told: Vec<String> = ended.iter().map(Ended::told).collect();
            format!("seed {seed}, {world:?}, {dialect}: {}", told.join(" | "))
        };
        for (kind, fault) in judge::faults(self.place, &self.stores, &initial(world), &ended, other)? {
            tally.fault(format!("{kind}: {names}"), || format!("{}\n        {fault}", story()));
            if let Ok(log) = std::env::var("ZARR_PAIRS_LOG") {
                use std::io::Write;
                let mut log = std::fs::OpenOptions::new().create(true).append(true).open(log)?;
                writeln!(log, "{:?} {kind}: {names}: {}\n        {fault}", self.place, story())?;
            }
        }
        Ok(overlap)
    }

    /// Runs the processes by their plans until both have ended. Returns the nodes that clients of servers read.
    fn carry_out(&self, runs: &mut [Run]) -> Result<Vec<Vec<Node>>> {
        let begun = Instant::now();
        let is_over = AtomicBool::new(false);
        let is_over = &is_over;
        std::thread::scope(|scope| {
            let mut clients: Vec<Option<std::thread::ScopedJoinHandle<'_, Vec<Node>>>> = Vec::new();
            clients.resize_with(runs.len(), || None);
            loop {
                let now = begun.elapsed().as_secs_f64();
                let is_alone = runs.iter().all(|run| run.ended.is_some() || run.task.verb == Verb::Serve);
                for (run, client) in runs.iter_mut().zip(&mut clients) {
                    if run.ended.is_some() {
                        continue;
                    }
                    if run.begun.is_none() && now >= run.plan.start {
                        run.child.go()?;
                        run.begun = Some(Instant::now());
                    }
                    let Some(since) = run.begun else { continue };
                    if run.task.verb == Verb::Serve {
                        if client.is_none()
                            && let Some(url) = run
                                .child
                                .lines_so_far()
                                .iter()
                                .find_map(|line| line.strip_prefix("zarr  ").map(str::to_owned))
                        {
                            let path = run.task.world.array();
                            *client = Some(scope.spawn(move || read_served(&url, path, is_over)));
                        }
                        if is_alone && client.is_some() && since.elapsed() > SERVED {
                            is_over.store(true, Ordering::Relaxed);
                            run.child.halt(false)?;
                            // The server ends like after Ctrl-C.
                            run.ended = Some((Instant::now(), Some(0)));
                            continue;
                        }
                    }
                    if let Some(status) = run.child.ended()? {
                        run.ended = Some((Instant::now(), status.code()));
                        continue;
                    }
                    if run.plan.kill.is_some_and(|at| now >= at) {
                        run.child.kill()?;
                        run.is_killed = true;
                        run.ended = Some((Instant::now(), None));
                        continue;
                    }
                    if let Some((at, until)) = run.plan.stop {
                        if now >= at && !run.was_stopped {
                            run.child.halt(true)?;
                            (run.is_stopped, run.was_stopped) = (true, true);
                        }
                        if now >= until && run.is_stopped {
                            run.child.halt(false)?;
                            run.is_stopped = false;
                        }
                    }
                    if begun.elapsed() > TIMEOUT {
                        is_over.store(true, Ordering::Relaxed);
                        run.child.kill()?;
                        run.ended = Some((Instant::now(), Some(judge::HANGS)));
                    }
                }
                if runs.iter().all(|run| run.ended.is_some()) {
                    break;
                }
                std::thread::sleep(TICK);
            }
            is_over.store(true, Ordering::Relaxed);
            Ok(clients.into_iter().map(|client| client.and_then(|it| it.join().ok()).unwrap_or_default()).collect())
        })
    }
}

/// Returns the times at which processes start, are killed and are stopped, in proportion to the times that their verbs take.
fn plans(times: [f64; 2], random: &mut Random) -> [Plan; 2] {
    let mut share = || random.below(1000) as f64 / 1000.0;
    let mut plans = [Plan::default(); 2];
    // The second verb begins while the first one runs.
    let late = share();
    plans[usize::from(share() < 0.5)].start = 0.0;
    let second = usize::from(share() < 0.5);
    plans[second].start = late * 0.8 * times[1 - second];
    for (plan, time) in plans.iter_mut().zip(times) {
        let at = plan.start + share() * time;
        let for_time = 0.002 + share() * 0.04;
        match share() {
            chance if chance < 0.2 => plan.kill = Some(at),
            chance if chance < 0.4 => plan.stop = Some((at, at + for_time)),
            _ => {}
        }
    }
    plans
}

/// Reads an array from a server, again and again. Errors are ignored.
fn read_served(url: &str, path: &str, is_over: &AtomicBool) -> Vec<Node> {
    let Ok(store) = zarr::store::open(url) else { return Vec::new() };
    let mut read = Vec::new();
    while !is_over.load(Ordering::Relaxed) {
        let open = || -> Result<Node, zarr::Error> {
            let found = zarr::hierarchy::open_node(&*store, path, None)?;
            let options = zarr::Options::default().look_interval(Duration::ZERO);
            node_of(&zarr::Array::from_found(&store, found, &zarr::registry::default(), options)?)
        };
        if let Ok(node) = open()
            && read.last() != Some(&node)
        {
            read.push(node);
        }
    }
    read
}

/// Returns a file of numpy.
fn npy(elements: &[i32]) -> Vec<u8> {
    let header = format!("{{'descr': '<i4', 'fortran_order': False, 'shape': ({},), }}\n", elements.len());
    let len = (header.len() as u16).to_le_bytes();
    let items = elements.iter().flat_map(|element| element.to_le_bytes());
    b"\x93NUMPY\x01\x00".iter().copied().chain(len).chain(header.into_bytes()).chain(items).collect()
}
