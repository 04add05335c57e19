//! The run that owns a journal: its process and machine, and whether it is active.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use std::{fmt, io};
use zarr_hierarchy::node::new_id;
use zarr_json::pointer::At;
use zarr_json::{Map, Value};
use zarr_scan::lock;

/// Greatest time between two entries of an active run.
pub(super) const REFRESH: Duration = Duration::from_millis(if cfg!(test) { 50 } else { 5_000 });
/// Time without a new entry after which a run counts as ended, if nothing else shows whether it is active.
pub(super) const ENDED_AFTER: Duration = Duration::from_millis(if cfg!(test) { 1_000 } else { 30_000 });
/// Greatest age of the last entry at which a run writes chunks. A run whose last entry is older sets a new entry first, since other runs
/// may soon take it for ended.
pub(super) const OWNED_FOR: Duration = Duration::from_millis(if cfg!(test) { 500 } else { 20_000 });

/// Identifiers of the active runs of this process. A process may have several runs, which its process number does not distinguish.
static RUNNING: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// Returns a random identifier of 16 hexadecimal digits.
pub(super) fn random_id() -> String {
    format!("{:016x}", new_id())
}

/// Run of this process, which is active until the value is dropped.
#[derive(Debug)]
pub(super) struct ActiveRun(String);

impl ActiveRun {
    pub(super) fn new() -> Self {
        let id = random_id();
        lock(&RUNNING).insert(id.clone());
        Self(id)
    }

    pub(super) fn id(&self) -> &str {
        &self.0
    }
}

impl Drop for ActiveRun {
    fn drop(&mut self) {
        lock(&RUNNING).remove(&self.0);
    }
}

/// Process that runs a conversion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Owner {
    host: String,
    /// Identifier of the boot and the process namespace of the machine, within which process numbers are comparable; empty if unknown.
    machine: String,
    process: u32,
    /// Start time of the process by the clock of the machine, since process numbers are reused. Empty if unknown.
    started: String,
}

/// Whether a run is active.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Activity {
    Running,
    Ended,
    /// The process of the run exists. Whether the run has ended shows by the age of its last entry, by the clock of the same machine.
    Process,
    Unknown,
}

impl Owner {
    /// Returns the owner for this process.
    pub(super) fn this() -> Self {
        let file = |path: &str| std::fs::read_to_string(path).unwrap_or_default().trim().to_owned();
        let variable = |name: &str| std::env::var(name).ok();
        let host = match file("/proc/sys/kernel/hostname") {
            host if host.is_empty() => variable("HOSTNAME").or_else(|| variable("COMPUTERNAME")).unwrap_or_default(),
            host => host,
        };
        let processes = std::fs::read_link("/proc/self/ns/pid").ok();
        let machine = match (file("/proc/sys/kernel/random/boot_id"), processes) {
            (boot, Some(processes)) if !boot.is_empty() => format!("{boot} {} {host}", processes.display()),
            _ => String::new(),
        };
        let process = std::process::id();
        Self { host, machine, process, started: started(process).known().unwrap_or_default() }
    }

    /// Returns whether the run with the identifier `run` of this process is active.
    pub(super) fn activity(&self, run: &str) -> Activity {
        let this = Self::this();
        if self.machine.is_empty() || self.machine != this.machine || self.started.is_empty() {
            return match lock(&RUNNING).contains(run) {
                true => Activity::Running,
                false => Activity::Unknown,
            };
        }
        match (started(self.process), self.process == this.process) {
            (ProcessStart::At(started), true) if started == self.started => match lock(&RUNNING).contains(run) {
                true => Activity::Running,
                false => Activity::Ended,
            },
            (ProcessStart::At(started), false) if started == self.started => Activity::Process,
            (ProcessStart::At(_) | ProcessStart::Gone, _) => Activity::Ended,
            (ProcessStart::Unknown, _) => Activity::Unknown,
        }
    }

    pub(super) fn to_value(&self) -> Value {
        let mut map = Map::new();
        map.insert("host", self.host.as_str());
        map.insert("machine", self.machine.as_str());
        map.insert("process", u64::from(self.process));
        map.insert("started", self.started.as_str());
        Value::Object(map)
    }

    pub(super) fn parse(at: &At<'_>) -> Result<Self, zarr_meta::Error> {
        let text = |name: &str| -> Result<String, zarr_meta::Error> { Ok(at.member(name)?.text()?.to_owned()) };
        let process = at.member("process")?;
        Ok(Self {
            host: text("host")?,
            machine: text("machine")?,
            process: u32::try_from(process.size()?).map_err(|_| process.invalid("the number of a process"))?,
            started: text("started")?,
        })
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let host = if self.host.is_empty() { "a host without a name" } else { &self.host };
        write!(f, "process {} on {host}", self.process)
    }
}

/// Start time of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
enum ProcessStart {
    /// Start time in ticks since the machine was booted.
    At(String),
    /// The process does not exist.
    Gone,
    /// The system does not tell the start time.
    Unknown,
}

impl ProcessStart {
    fn known(self) -> Option<String> {
        match self {
            Self::At(started) => Some(started),
            Self::Gone | Self::Unknown => None,
        }
    }
}

fn started(process: u32) -> ProcessStart {
    started_by(std::fs::read_to_string(format!("/proc/{process}/stat")), sees_all)
}

/// Parses the start time from `stat`, the contents of /proc/PID/stat. `sees_all` returns whether every existing process would have such a
/// file.
fn started_by(stat: io::Result<String>, sees_all: impl FnOnce() -> bool) -> ProcessStart {
    /// Error number if the process ended while the file was read.
    const ESRCH: i32 = 3;
    let stat = match stat {
        Ok(stat) => stat,
        Err(error) if error.raw_os_error() == Some(ESRCH) => return ProcessStart::Gone,
        Err(error) if error.kind() == io::ErrorKind::NotFound && sees_all() => return ProcessStart::Gone,
        // It may not be read, or there are too many open files.
        Err(_) => return ProcessStart::Unknown,
    };
    // The name of the program is in parentheses, and may hold any character.
    let mut fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields).split_ascii_whitespace();
    match fields.next() {
        // It has ended, and nobody has asked how.
        Some("Z" | "X") => ProcessStart::Gone,
        Some(_) => fields.nth(18).map_or(ProcessStart::Unknown, |started| ProcessStart::At(started.to_owned())),
        None => ProcessStart::Unknown,
    }
}

/// Returns whether /proc shows the processes of other users: it is not mounted with `hidepid`.
fn sees_all() -> bool {
    let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let mut of_processes = mounts.lines().filter(|line| line.split(' ').nth(1) == Some("/proc")).peekable();
    let is_known = of_processes.peek().is_some();
    is_known && of_processes.all(|line| !line.contains("hidepid=")) && std::fs::metadata("/proc/1/stat").is_ok()
}

/// Returns the current time in seconds since 1970.
pub(super) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}

/// Formats a time in seconds since 1970 as date and time in UTC.
pub(super) fn utc(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Days from 1 March of a year that begins 400 years, so that the day that is put in is the last one.
    let shifted = days.saturating_add(719_468);
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let (hour, minute, second) = (rest / 3_600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_people_do() {
        for (seconds, text) in [
            (0, "1970-01-01 00:00:00 UTC"),
            (951_782_399, "2000-02-28 23:59:59 UTC"),
            (951_782_400, "2000-02-29 00:00:00 UTC"),
            (951_868_800, "2000-03-01 00:00:00 UTC"),
            (4_107_542_399, "2100-02-28 23:59:59 UTC"),
            (4_107_542_400, "2100-03-01 00:00:00 UTC"),
            (1_798_761_599, "2026-12-31 23:59:59 UTC"),
        ] {
            assert_eq!(utc(seconds), text);
        }
        let _ = utc(u64::MAX);
    }

    #[test]
    fn owners_come_back_as_they_were() {
        let owner = Owner::this();
        assert_eq!(Owner::parse(&At::root(&owner.to_value())).unwrap(), owner);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_run_is_at_work_as_long_as_its_process_and_its_work() {
        let owner = Owner::this();
        let running = ActiveRun::new();
        assert_eq!(owner.activity(running.id()), Activity::Running);
        let id = running.id().to_owned();
        drop(running);
        assert_eq!(owner.activity(&id), Activity::Ended);
        let reused = Owner { started: "1".to_owned(), ..owner.clone() };
        assert_eq!(reused.activity(&id), Activity::Ended);
        let elsewhere = Owner { machine: "another".to_owned(), ..owner.clone() };
        assert_eq!(elsewhere.activity(&id), Activity::Unknown);
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let other = Owner { process: child.id(), started: started(child.id()).known().unwrap(), ..owner };
        assert_eq!(other.activity(&id), Activity::Process);
        child.kill().unwrap();
        // Before and after somebody asks how it ended.
        while other.activity(&id) == Activity::Process {
            std::thread::sleep(Duration::from_millis(1));
        }
        child.wait().unwrap();
        assert_eq!(other.activity(&id), Activity::Ended);
    }

    #[test]
    fn a_process_of_which_the_system_does_not_tell_may_be_at_work() {
        let failed = |kind: io::ErrorKind| Err(io::Error::from(kind));
        assert_eq!(started_by(failed(io::ErrorKind::NotFound), || true), ProcessStart::Gone);
        assert_eq!(started_by(failed(io::ErrorKind::NotFound), || false), ProcessStart::Unknown);
        assert_eq!(started_by(failed(io::ErrorKind::PermissionDenied), || true), ProcessStart::Unknown);
        let too_many = io::Error::from_raw_os_error(24);
        assert_eq!(started_by(Err(too_many), || true), ProcessStart::Unknown);
        assert_eq!(started_by(Ok("7 (a) b) Z 1".to_owned()), || true), ProcessStart::Gone);
        assert_eq!(started_by(Ok("7 (a".to_owned()), || true), ProcessStart::Unknown);
    }
}
