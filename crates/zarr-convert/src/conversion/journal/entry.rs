//! Entries of a journal: the recorded progress of a conversion.

use super::super::skipped::SkippedChunk;
use super::super::stored_units::StoredUnits;
use super::identity::Identity;
use super::owner::Owner;
use std::collections::BTreeMap;
use zarr_hierarchy::{Error, ErrorKind, Result};
use zarr_json::pointer::At;
use zarr_json::{Map, Value};

/// Version of the format of entries.
const VERSION: u64 = 1;
/// Greatest number of unreadable chunks that an entry lists. Further ones are only counted.
pub(super) const LISTED: usize = 1_000;
const LISTED_BYTES: usize = 24 << 10;

/// State of a conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JournalState {
    /// Existing nodes at the target path are being erased.
    Clearing,
    /// Chunks and documents are being written.
    Writing,
    /// All chunks are written: of a part, or in a shared journal those of all parts.
    Written,
    /// All documents are written.
    Ending,
    /// A conversion in parts was given up: its journals are being erased.
    Abandoned,
}

impl JournalState {
    const ALL: [Self; 5] = [Self::Clearing, Self::Writing, Self::Written, Self::Ending, Self::Abandoned];

    const fn name(self) -> &'static str {
        match self {
            Self::Clearing => "clearing",
            Self::Writing => "writing",
            Self::Written => "written",
            Self::Ending => "ending",
            Self::Abandoned => "abandoned",
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct JournalEntry {
    pub(super) identity: Identity,
    /// Identifier of the conversion, drawn at random when it was begun, and shared by all its runs and parts.
    pub(super) id: String,
    /// Identifier of the run that wrote the entry. With `number`, the count of its earlier entries, it makes all entries distinct, even for
    /// stores whose versions are hashes.
    pub(super) run: String,
    pub(super) number: u64,
    /// The run that owns the journal; `None` if it has ended.
    pub(super) owner: Option<Owner>,
    /// Time at which the entry was written, in seconds since 1970.
    pub(super) at: u64,
    pub(super) state: JournalState,
    /// Number of nodes of which all chunks are stored.
    pub(super) done: usize,
    /// Stored units of the node with index `done`, if it is begun. None of its chunk keys has a value from before the conversion.
    pub(super) array: Option<StoredUnits>,
    /// Unreadable chunks that the entry lists.
    pub(super) skipped: Vec<SkippedChunk>,
    /// Number of further unreadable chunks.
    pub(super) more_skipped: u64,
    /// Size of an element in bytes by node index, for nodes with elements of variable length, on which all parts must agree.
    pub(super) items: BTreeMap<usize, u64>,
    /// Number of parts of an earlier conversion whose journals are to be erased.
    pub(super) former_parts: Option<u64>,
}

impl JournalEntry {
    pub(super) fn to_text(&self) -> String {
        let mut left = LISTED_BYTES;
        let mut fits = |chunk: &Value| {
            left = left.saturating_sub(chunk.to_string().len() + 1);
            left > 0
        };
        let skipped: Vec<Value> =
            self.skipped.iter().take(LISTED).map(SkippedChunk::to_value).take_while(&mut fits).collect();
        let more = self.more_skipped.saturating_add((self.skipped.len() - skipped.len()) as u64);
        let mut items = Map::new();
        for (node, item) in &self.items {
            items.insert(node.to_string(), *item);
        }
        let mut document = Map::new();
        document.insert("zarr_conversion", VERSION);
        document.insert("identity", self.identity.to_value());
        document.insert("id", self.id.as_str());
        document.insert("run", self.run.as_str());
        document.insert("number", self.number);
        document.insert("owner", self.owner.as_ref().map_or(Value::Null, Owner::to_value));
        document.insert("at", self.at);
        document.insert("state", self.state.name());
        document.insert("done", self.done as u64);
        document.insert("array", self.array.as_ref().map_or(Value::Null, StoredUnits::to_value));
        document.insert("skipped", Value::Array(skipped));
        document.insert("more_skipped", more);
        document.insert("items", Value::Object(items));
        document.insert("former_parts", self.former_parts.map_or(Value::Null, Value::from));
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
        let known = JournalState::ALL.into_iter().find(|state| state.name() == named);
        let done = at.member("done")?;
        let array = at.get_non_null("array").map(|array| StoredUnits::parse(&array)).transpose()?;
        let owner = at.get_non_null("owner").map(|owner| Owner::parse(&owner)).transpose()?;
        let former_parts = at.get_non_null("former_parts").map(|parts| parts.size()).transpose()?;
        let item = |(node, item): (&str, At<'_>)| -> Result<(usize, u64), zarr_meta::Error> {
            Ok((node.parse().map_err(|_| item.invalid("a number of a node as its name"))?, item.size()?))
        };
        Ok(Self {
            identity: Identity::from_map(at.member("identity")?.object()?),
            id: at.member("id")?.text()?.to_owned(),
            run: at.member("run")?.text()?.to_owned(),
            number: at.member("number")?.size()?,
            owner,
            at: at.member("at")?.size()?,
            state: known.ok_or_else(|| state.invalid("clearing, writing, written, ending or abandoned"))?,
            done: usize::try_from(done.size()?).map_err(|_| done.invalid("a number of nodes"))?,
            array,
            skipped: at.member("skipped")?.items()?.iter().map(SkippedChunk::parse).collect::<Result<_, _>>()?,
            more_skipped: at.member("more_skipped")?.size()?,
            items: at.member("items")?.members()?.map(item).collect::<Result<_, _>>()?,
            former_parts,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zarr_meta::NodePath;

    fn entry(state: JournalState, skipped: Vec<SkippedChunk>) -> JournalEntry {
        JournalEntry {
            identity: Identity::default(),
            id: "8".to_owned(),
            run: "7".to_owned(),
            number: 3,
            owner: Some(Owner::this()),
            at: 1_700_000_000,
            state,
            done: 3,
            array: None,
            skipped,
            more_skipped: 0,
            items: [(2, 40), (7, 1 << 40)].into(),
            former_parts: None,
        }
    }

    fn skipped(number: u64) -> SkippedChunk {
        SkippedChunk {
            path: NodePath::parse("/a").unwrap(),
            chunk: vec![1, number],
            key: Some(format!("a/c/1/{number}")),
            cause: "broken".to_owned(),
        }
    }

    #[test]
    fn entries_come_back_as_they_were() {
        for state in JournalState::ALL {
            let entry = entry(state, vec![skipped(2), SkippedChunk { key: None, ..skipped(3) }]);
            for entry in [entry.clone(), JournalEntry { owner: None, former_parts: Some(4), more_skipped: 7, ..entry }]
            {
                let text = entry.to_text();
                let again = JournalEntry::from_text(&text).unwrap();
                assert_eq!((again.to_text(), again.state, again.skipped), (text, state, entry.skipped));
                assert_eq!((again.items, again.owner), (entry.items, entry.owner));
            }
        }
    }

    #[test]
    fn an_entry_is_small_however_many_chunks_cannot_be_read() {
        let few: Vec<_> = (0..20).map(skipped).collect();
        assert_eq!(JournalEntry::from_text(&entry(JournalState::Writing, few.clone()).to_text()).unwrap().skipped, few);
        for (causes, least) in [("", 200), ("\"quoted\"", 100), (&*"x".repeat(3_000), 5)] {
            let many = (0..5_000).map(|number| SkippedChunk { cause: causes.to_owned(), ..skipped(number) }).collect();
            let entry = JournalEntry { more_skipped: 10, ..entry(JournalState::Writing, many) };
            let text = entry.to_text();
            assert!(text.len() < 32 << 10, "{}", text.len());
            let again = JournalEntry::from_text(&text).unwrap();
            assert_eq!(again.skipped[..], entry.skipped[..again.skipped.len()]);
            assert!(again.skipped.len() > least, "{}", again.skipped.len());
            assert_eq!(again.skipped.len() as u64 + again.more_skipped, 5_010);
        }
    }

    #[test]
    fn broken_journals_are_errors_that_say_where() {
        let text = JournalEntry { owner: None, ..entry(JournalState::Writing, vec![]) }.to_text();
        for (part, with, said) in [
            ("\"zarr_conversion\":1", "\"zarr_conversion\":2", "/zarr_conversion"),
            ("\"writing\"", "\"sleeping\"", "/state"),
            ("\"done\":3", "\"done\":-1", "/done"),
            ("\"run\":\"7\"", "\"run\":7", "/run"),
            ("\"owner\":null", "\"owner\":{\"host\":\"a\"}", "/owner"),
            ("\"items\":{", "\"items\":{\"x\":1,", "/items/x"),
            ("\"array\":null", "\"array\":{\"unit\":[1],\"runs\":[[[0],[1,2]]]}", "/array/runs/0/1"),
            ("\"skipped\":[]", "\"skipped\":[{\"path\":\"/a\"}]", "/skipped/0"),
            ("{", "", ""),
        ] {
            assert!(text.contains(part), "{text}");
            let error = JournalEntry::from_text(&text.replacen(part, with, 1)).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
    }
}
