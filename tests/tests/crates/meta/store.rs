//! A store that is a list of keys, and the loop that answers a probe.

use std::collections::BTreeMap;
use zarr_json::Value;
use zarr_meta::{Dialect, Error, NodePath, Probe, ProbeStep, StoredNode};

/// A document with some members changed, or left out where the change is `"absent"`.
pub(crate) fn changed(document: &str, changes: &str) -> String {
    let Ok(Value::Object(changes)) = Value::from_json(changes) else { unreachable!("{changes} is an object") };
    let Ok(Value::Object(mut document)) = Value::from_json(document) else { unreachable!("{document} is an object") };
    for (name, value) in changes {
        match value.as_str() {
            Some("absent") => drop(document.remove(&name)),
            _ => drop(document.insert(name, value)),
        }
    }
    document.to_string()
}

#[derive(Default)]
pub(crate) struct Store(pub(crate) BTreeMap<String, Vec<u8>>);

impl Store {
    pub(crate) fn with(values: &[(&str, &str)]) -> Self {
        Self(values.iter().map(|(key, text)| ((*key).to_owned(), text.as_bytes().to_vec())).collect())
    }

    pub(crate) fn apply(&mut self, changes: Vec<(String, Option<Vec<u8>>)>) {
        for (key, bytes) in changes {
            match bytes {
                Some(bytes) => drop(self.0.insert(key, bytes)),
                None => drop(self.0.remove(&key)),
            }
        }
    }

    /// The keys and prefixes directly below `prefix`.
    pub(crate) fn list(&self, prefix: &str) -> Vec<String> {
        let below = self.0.keys().filter_map(|key| key.strip_prefix(prefix));
        let mut names: Vec<_> = below
            .map(|rest| match rest.find('/') {
                Some(end) => format!("{prefix}{}", &rest[..=end]),
                None => format!("{prefix}{rest}"),
            })
            .collect();
        names.dedup();
        names
    }

    pub(crate) fn run(&self, mut probe: Probe) -> Result<ProbeStep, Error> {
        let mut got = Vec::new();
        loop {
            got = match probe.step(&got)? {
                ProbeStep::Need(keys) => keys.into_iter().map(|key| (key.clone(), self.0.get(&key).cloned())).collect(),
                ProbeStep::List { prefix } => self.list(&prefix).into_iter().map(|key| (key, None)).collect(),
                end => return Ok(end),
            }
        }
    }

    pub(crate) fn probe(&self, path: &str, dialect: Option<Dialect>) -> Result<Option<StoredNode>, Error> {
        match self.run(Probe::new(NodePath::parse(path)?, dialect))? {
            ProbeStep::Found(found) => Ok(Some(*found)),
            _ => Ok(None),
        }
    }

    pub(crate) fn found(&self, path: &str) -> StoredNode {
        self.probe(path, None).unwrap().unwrap()
    }
}
