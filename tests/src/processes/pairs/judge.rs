//! Judgement of a round: whether the state after two verbs is one that the model allows.

use super::model::{Node, State};
use super::place::{Place, Stores, nodes_in};
use super::promise::{Promise, exception};
use super::verb::{Task, Verb, World};
use crate::processes::Result;
use std::collections::BTreeMap;
use std::sync::Arc;
use zarr::check::{CheckOptions, Event, Repair};
use zarr::convert::{ConvertOptions, Migration, MigrationState};
use zarr::{Dialect, NewGroup, Store};

/// Exit code that stands for a process that hung and was killed.
pub(super) const HANGS: i32 = 1000;

/// End of a verb: its exit code and output.
pub(super) struct Ended {
    pub(super) task: Task,
    pub(super) code: Option<i32>,
    pub(super) is_killed: bool,
    pub(super) errors: String,
    pub(super) lines: Vec<String>,
    /// Standard output of the verb.
    pub(super) out: Vec<u8>,
    /// Nodes that clients of the verb `serve` read.
    pub(super) served: Vec<Node>,
}

impl Ended {
    fn is_done(&self) -> bool {
        self.code == Some(0)
    }

    pub(super) fn told(&self) -> String {
        let end = match self.code {
            _ if self.is_killed => "killed".to_owned(),
            Some(0) => "done".to_owned(),
            code => format!("{code:?} {}", self.errors.trim()),
        };
        format!("{} {end}", self.task.verb.name())
    }

    /// Returns the states that are possible after the verb in `state`; `None` if the verb should have failed.
    fn after(&self, state: &State) -> Option<State> {
        if self.is_done() { self.task.apply(state) } else { Some(self.task.interrupted(state)) }
    }
}

type Faults = Vec<(&'static str, String)>;

/// Returns the faults in the stores after a round.
pub(super) fn faults(
    place: Place,
    stores: &Stores,
    before: &BTreeMap<String, Node>,
    ended: &[Ended],
    other: Dialect,
) -> Result<Faults> {
    let [a, b] = ended else { return Ok(Vec::new()) };
    let kind = (a.task.world, other != Dialect::V2);
    let mut faults = Vec::new();
    for it in ended {
        if it.errors.contains("panicked")
            || it.code.is_some_and(|code| !(0..=20).contains(&code))
            || it.code.is_none() && !it.is_killed
        {
            faults.push(("ends that are no errors", it.told()));
        }
    }
    let initial = State::found(before);
    for (it, other) in [(a, b), (b, a)] {
        faults.extend(wrong_reads(it, other, &initial));
    }
    let Some(store) = stores.open("x")? else { return Ok(vec![("stores that are gone", String::new())]) };
    if let Err(error) = settle(&store, other) {
        faults.push(("migrations that nobody ends", error.to_string()));
    }
    match zarr::hierarchy::staleness(&*store, "/", None) {
        Ok(Some(stale)) if stale.is_stale() && exception(place, kind, a.task.verb, b.task.verb).is_none() => {
            faults.push(("stale consolidated metadata", format!("{stale:?}")))
        }
        _ => {}
    }
    let found = nodes_in(&store, "").and_then(|mut found| {
        if let Some(other) = stores.open("y")? {
            found.extend(nodes_in(&other, "y:")?);
        }
        Ok(found)
    });
    match found {
        Err(_) if exception(place, kind, a.task.verb, b.task.verb).is_some() => {}
        Err(error) => faults.push(("stores that cannot be read", error.to_string())),
        Ok(found) => faults.extend(wrong_states((place, kind), [a, b], &initial, before, &found)),
    }
    drop(store);
    for name in ["x", "y"] {
        if let Err(error) = leaks(stores, name, &mut faults) {
            faults.push(("stores that cannot be repaired or erased", format!("{name}: {error}")));
        }
    }
    Ok(faults)
}

/// Returns faults about elements that a verb read although no process wrote them.
fn wrong_reads(it: &Ended, other: &Ended, initial: &State) -> Faults {
    let path = it.task.world.array();
    let mut states = vec![initial.clone(), other.task.interrupted(initial)];
    states.extend(other.task.apply(initial));
    let nodes: Vec<&Node> = states.iter().flat_map(|state| state.at(path)).flatten().collect();
    let mut faults = Vec::new();
    if it.task.verb == Verb::Read && it.is_done() {
        let is_right = |node: &&&Node| decoded(&it.out, &node.data_type).is_some_and(|elements| node.allows(&elements));
        if nodes.iter().find(is_right).is_none() {
            let values: Vec<f64> = decoded(&it.out, "int32").unwrap_or_default();
            faults.push(("wrong reads", format!("{} bytes: {values:?}", it.out.len())));
        }
    }
    for read in &it.served {
        let elements: Vec<f64> = read.cells.iter().flatten().copied().collect();
        if !nodes.iter().any(|node| node.data_type == read.data_type && node.allows(&elements)) {
            faults.push(("wrong values served", read.told()));
        }
    }
    if it.task.verb == Verb::Stats && it.is_done() && !other.task.verb.changes() {
        let text = it.lines.concat().replace(' ', "");
        let sum = |node: &&&Node| {
            let sum: f64 = node.cells.iter().filter_map(|cell| cell.first()).sum();
            text.contains(&format!("\"sum\":{sum}")) || text.contains(&format!("\"sum\":{sum}.0"))
        };
        if nodes.iter().find(sum).is_none() {
            faults.push(("wrong statistics", text));
        }
    }
    faults
}

fn decoded(bytes: &[u8], data_type: &str) -> Option<Vec<f64>> {
    Some(match data_type {
        "int32" => bytes.as_chunks().0.iter().map(|it| f64::from(i32::from_le_bytes(*it))).collect(),
        "float32" => bytes.as_chunks().0.iter().map(|it| f64::from(f32::from_le_bytes(*it))).collect(),
        "int16" => bytes.as_chunks().0.iter().map(|it| f64::from(i16::from_le_bytes(*it))).collect(),
        _ => return None,
    })
}

/// Returns the states that two verbs may leave: those of one after the other, and others that their promise allows.
fn expected([a, b]: [&Ended; 2], initial: &State) -> Vec<State> {
    let in_turn = |first: &Ended, second: &Ended| second.after(&first.after(initial)?);
    let mut states: Vec<State> = [in_turn(a, b), in_turn(b, a)].into_iter().flatten().collect();
    let promise = Promise::of(a.task.verb, b.task.verb);
    for (it, other) in [(a, b), (b, a)] {
        match promise {
            Promise::Each | Promise::Whole if it.task.verb.copies() => {
                let (early, late) = (in_turn(it, other), in_turn(other, it));
                if let (Some(early), Some(late)) = (early, late) {
                    let (roots, is_open) = (it.task.touched(), !it.is_done());
                    states.push(early.with_any_of(&late, roots, is_open, promise == Promise::Each));
                }
            }
            Promise::Each if it.task.verb == other.task.verb => {
                if let (Some(early), Some(late)) = (in_turn(it, other), in_turn(other, it)) {
                    states.push(early.with_any_of(&late, it.task.touched(), false, true));
                }
            }
            // The other verb may have removed the node.
            Promise::Gone if it.task.verb == Verb::Remove => states.extend(other.after(initial)),
            _ => {}
        }
    }
    states
}

fn wrong_states(
    (place, kind): (Place, (World, bool)),
    ended: [&Ended; 2],
    initial: &State,
    before: &BTreeMap<String, Node>,
    found: &BTreeMap<String, Node>,
) -> Faults {
    let mut faults = Vec::new();
    let [a, b] = ended;
    let differences: Vec<Option<String>> =
        expected(ended, initial).iter().map(|state| state.difference(found)).collect();
    let exception = exception(place, kind, a.task.verb, b.task.verb);
    if exception.is_none() && differences.iter().all(Option::is_some) {
        let told: Vec<String> = differences.into_iter().flatten().collect();
        let told = if told.is_empty() { "both cannot have ended well".to_owned() } else { told.join("; or ") };
        faults.push(("wrong states", told));
    }
    if exception.is_none() && !a.task.verb.takes_away() && !b.task.verb.takes_away() {
        for leaf in a.task.world.leaves() {
            let places = ["/n", "/moved", "/other"];
            let is_it = |place: &&str| {
                found.get(&format!("{place}{leaf}")).is_some_and(|node| {
                    let first = node.cells.first().and_then(|cell| cell.first());
                    node.data_type == "int32"
                        && first != before.get(&format!("/other{leaf}")).and_then(|it| it.cells.first()?.first())
                })
            };
            if !places.iter().any(is_it) {
                faults.push(("nodes lost", format!("/n{leaf} is nowhere")));
            }
        }
    }
    faults
}

/// Completes a migration, like its user would.
fn settle(store: &Arc<dyn Store>, other: Dialect) -> Result<()> {
    let Some(state) = Migration::state(store)? else { return Ok(()) };
    if !matches!(state, MigrationState::Done)
        && let Ok(again) = Migration::plan_with(store, &zarr::registry::default(), other, ConvertOptions::default())
    {
        // If the migration cannot be repeated, it is undone.
        let _ = again.run(|_| {});
    }
    if Migration::finish(store, None).is_ok() {
        return Ok(());
    }
    Ok(Migration::undo(store, None).or_else(|_| Migration::undo_with_changes(store, None))?)
}

/// Repairs a store, erases all nodes, and adds a fault for each remaining value.
fn leaks(stores: &Stores, name: &str, faults: &mut Faults) -> Result<()> {
    let Some(store) = stores.open(name)? else { return Ok(()) };
    let (options, registry) = (CheckOptions::default(), zarr::registry::default());
    let mut repair = Repair::new();
    let mut found = Vec::new();
    let checked = zarr::check::check(&store, "/", &registry, &options, |event| {
        if let Event::Finding(finding) = &event {
            repair.add(finding);
            found.push(format!("{} {}", finding.code, finding.message));
        }
    });
    match checked {
        Err(error) if error.is_not_found() => {}
        checked => {
            checked?;
            let report = repair.run(&store, &registry, &options, false);
            if let Some(failed) = report.failed.first() {
                faults.push(("repairs that fail", format!("{failed:?}")));
            }
        }
    }
    // What is unfinished goes with what takes its path.
    for path in ["/n", "/moved", "/other", "/copy"] {
        zarr::create((&store, path)).group(NewGroup::default().overwrite(true))?;
    }
    let children = match zarr::hierarchy::children(&*store, "/", None) {
        Err(error) if error.is_not_found() => Vec::new(),
        walk => walk?.nodes,
    };
    for node in children {
        zarr::hierarchy::erase_node(&*store, &node)?;
    }
    drop(store);
    let is_of_root = |key: &String| matches!(key.as_str(), "zarr.json" | ".zgroup" | ".zattrs" | ".zmetadata");
    let left: Vec<String> = stores.values(name)?.into_iter().filter(|key| !is_of_root(key)).collect();
    if !left.is_empty() {
        let shown = left.iter().take(4).cloned().collect::<Vec<_>>().join(", ");
        faults.push((
            "bytes left",
            format!("{name}: {}: {shown}; check: {:?}", left.len(), found.iter().take(5).collect::<Vec<_>>()),
        ));
    }
    Ok(())
}
