//! The value of a journal: what is done.

use super::super::reached::Reached;
use super::super::skipped::SkippedChunk;
use super::identity::Identity;
use zarr_hierarchy::{Error, ErrorKind, Result};
use zarr_json::pointer::At;
use zarr_json::{Map, Value};

/// The version of its format.
const VERSION: u64 = 1;

/// How far a conversion has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Nodes in the way are being erased.
    Clearing,
    /// Chunks and documents are being written.
    Writing,
    /// All chunks of a part are written.
    Written,
    /// All documents are written.
    Ending,
}

impl State {
    const ALL: [Self; 4] = [Self::Clearing, Self::Writing, Self::Written, Self::Ending];

    const fn name(self) -> &'static str {
        match self {
            Self::Clearing => "clearing",
            Self::Writing => "writing",
            Self::Written => "written",
            Self::Ending => "ending",
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) identity: Identity,
    /// The run that wrote it.
    pub(super) run: u64,
    pub(super) state: State,
    /// All chunks of so many nodes are stored.
    pub(super) done: usize,
    /// Of the node after them, if it is begun: nothing from before lies under the keys of its chunks.
    pub(super) array: Option<Reached>,
    pub(super) skipped: Vec<SkippedChunk>,
}

impl Entry {
    pub(super) fn to_text(&self) -> String {
        let mut document = Map::new();
        document.insert("zarr_conversion", VERSION);
        document.insert("identity", self.identity.to_value());
        document.insert("run", format!("{:016x}", self.run));
        document.insert("state", self.state.name());
        document.insert("done", self.done as u64);
        document.insert("array", self.array.as_ref().map_or(Value::Null, Reached::to_value));
        document.insert("skipped", Value::Array(self.skipped.iter().map(SkippedChunk::to_value).collect()));
        Value::Object(document).to_string()
    }

    pub(super) fn from_text(text: &str) -> Result<Self> {
        let value = Value::from_json(text).map_err(|error| Error::new(ErrorKind::InvalidJson, error.to_string()))?;
        Ok(Self::parse(&At::root(&value))?)
    }

    fn parse(at: &At<'_>) -> Result<Self, zarr_meta::Error> {
        let version = at.member("zarr_conversion")?;
        if version.value().as_u64() != Some(VERSION) {
            let kind = zarr_meta::ErrorKind::UnsupportedVersion;
            return Err(zarr_meta::Error::about(&version, kind, VERSION.to_string()));
        }
        let state = at.member("state")?;
        let named = state.text()?;
        let known = State::ALL.into_iter().find(|state| state.name() == named);
        let done = at.member("done")?;
        let run = at.member("run")?;
        let array = match at.get_non_null("array") {
            Some(array) => Some(Reached::parse(&array)?),
            None => None,
        };
        Ok(Self {
            identity: Identity::from_map(at.member("identity")?.object()?),
            run: u64::from_str_radix(run.text()?, 16).map_err(|_| run.invalid("a hexadecimal number"))?,
            state: known.ok_or_else(|| state.invalid("clearing, writing, written or ending"))?,
            done: usize::try_from(done.size()?).map_err(|_| done.invalid("a number of nodes"))?,
            array,
            skipped: at.member("skipped")?.items()?.iter().map(SkippedChunk::parse).collect::<Result<_, _>>()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zarr_meta::NodePath;

    #[test]
    fn entries_come_back_as_they_were() {
        let skipped = SkippedChunk {
            path: NodePath::parse("/a").unwrap(),
            chunk: vec![1, 2],
            key: Some("a/c/1/2".to_owned()),
            cause: "broken".to_owned(),
        };
        for state in State::ALL {
            let skipped = vec![skipped.clone(), SkippedChunk { key: None, ..skipped.clone() }];
            let entry = Entry { identity: Identity::default(), run: 7, state, done: 3, array: None, skipped };
            let text = entry.to_text();
            let again = Entry::from_text(&text).unwrap();
            assert_eq!((again.to_text(), again.state, again.skipped), (text, state, entry.skipped));
        }
    }

    #[test]
    fn broken_journals_are_errors_that_say_where() {
        let entry = Entry {
            identity: Identity::default(),
            run: 7,
            state: State::Writing,
            done: 0,
            array: None,
            skipped: vec![],
        };
        let text = entry.to_text();
        for (part, with, said) in [
            ("\"zarr_conversion\":1", "\"zarr_conversion\":2", "/zarr_conversion"),
            ("\"writing\"", "\"sleeping\"", "/state"),
            ("\"done\":0", "\"done\":-1", "/done"),
            ("\"0000000000000007\"", "\"x\"", "/run"),
            ("\"array\":null", "\"array\":{\"unit\":[1],\"before\":[1,2],\"also\":[]}", "/array/before"),
            ("\"skipped\":[]", "\"skipped\":[{\"path\":\"/a\"}]", "/skipped/0"),
            ("{", "", ""),
        ] {
            assert!(text.contains(part), "{text}");
            let error = Entry::from_text(&text.replacen(part, with, 1)).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
    }
}
