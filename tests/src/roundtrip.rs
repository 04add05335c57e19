//! Conversions of every array of the fixtures into every dialect, and back into its own.

use crate::expected::Outcome;
use crate::fixtures::{Case, cases};
use crate::{Fault, check};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use zarr_array::{Array, ArrayData, Error, ErrorKind, Options};
use zarr_convert::{Conversion, ConvertOptions};
use zarr_dtype::DataType;
use zarr_grid::Selection;
use zarr_json::{Map, Value};
use zarr_meta::conventions::ARRAY_DIMENSIONS;
use zarr_meta::{CARRIED, Dialect, NodePath};
use zarr_store::{MemoryStore, Store};

/// Counts of conversions of arrays from one dialect into another one and back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Number of arrays that are equal after the conversion and after the way back.
    pub same: usize,
    /// Number of arrays whose elements are equal, and whose changes of metadata the conversion noted.
    pub noted: usize,
    /// Number of conversions that were refused, with the name of the member that the dialect cannot express.
    pub refused: usize,
    /// Number of arrays that lost or changed something without a note.
    pub wrong: usize,
}

/// Results of all conversions, printed as tables.
#[derive(Clone, Debug, Default)]
pub struct Roundtrips {
    /// Whether members that a dialect cannot express are stored in an attribute. Then everything must be equal after the way back.
    pub carry: bool,
    /// Counts by the dialect of the arrays, and the dialect into which they were converted.
    pub tallies: BTreeMap<(Dialect, Dialect), Tally>,
    /// Number of refusals by dialect, by kind of error and member, and by message.
    pub refusals: BTreeMap<(Dialect, String, String), usize>,
    /// Number of arrays whose metadata differs with a note, by dialect and member.
    pub notes: BTreeMap<(Dialect, String), usize>,
    /// Descriptions of faults, one for each.
    pub faults: Vec<Fault>,
}

/// Converts all arrays of an archive that can be opened into all dialects and back.
///
/// # Errors
/// If the archive itself is broken. `roundtrips` takes the results of conversions.
pub fn roundtrip_archive(archive: &'static str, roundtrips: &mut Roundtrips) -> Result<(), Fault> {
    for case in cases(archive)? {
        let Outcome::Good(contents) = &case.expected.outcome else { continue };
        for path in contents.arrays.keys() {
            roundtrip_array(&case, path, roundtrips)?;
        }
    }
    Ok(())
}

fn roundtrip_array(case: &Case, path: &str, roundtrips: &mut Roundtrips) -> Result<(), Fault> {
    let named = |fault: &str| format!("{}/{} {path}: {fault}", case.archive, case.name);
    let options = Options::default().v1_f_order_is_c(case.expected.v1_f_order_is_c);
    let store = zarr::store::open(&case.url()).map_err(|error| named(&error.to_string()))?;
    let path = NodePath::parse(path).map_err(|error| named(&error.to_string()))?;
    let Some(before) = Subject::read(&store, &path, &options).map_err(|fault| named(&fault))? else { return Ok(()) };
    for dialect in Dialect::ALL {
        let way = Way { store: &store, path: &path, options: &options, before: &before, carry: roundtrips.carry };
        let came = catch_unwind(AssertUnwindSafe(|| way.there_and_back(dialect)));
        let tally = roundtrips.tallies.entry((before.dialect, dialect)).or_default();
        match came.unwrap_or_else(|_| Err(Stopped::Wrong("panicked".to_owned()))) {
            Ok(members) if members.is_empty() => tally.same += 1,
            Ok(members) => {
                tally.noted += 1;
                for member in members {
                    *roundtrips.notes.entry((dialect, member)).or_default() += 1;
                }
            }
            Err(Stopped::Refused { member, why }) => {
                tally.refused += 1;
                *roundtrips.refusals.entry((dialect, member, why)).or_default() += 1;
            }
            Err(Stopped::Wrong(fault)) => {
                tally.wrong += 1;
                roundtrips.faults.push(named(&format!("{} to {dialect}: {fault}", before.dialect)));
            }
        }
    }
    Ok(())
}

/// Reason why an array was not converted there and back.
enum Stopped {
    /// The dialect cannot express a member of the array.
    Refused {
        member: String,
        why: String,
    },
    Wrong(Fault),
}

impl From<Fault> for Stopped {
    fn from(fault: Fault) -> Self {
        Self::Wrong(fault)
    }
}

/// Array that is converted there and back.
struct Way<'a> {
    store: &'a Arc<dyn Store>,
    path: &'a NodePath,
    options: &'a Options,
    before: &'a Subject,
    carry: bool,
}

impl Way<'_> {
    /// Returns the members that differ after the conversion or after the way back, all of which must be noted.
    fn there_and_back(&self, dialect: Dialect) -> Result<BTreeSet<String>, Stopped> {
        let Self { before, .. } = self;
        let (there, mut noted) = match self.convert(self.store, self.path, self.options, dialect)? {
            Ok(converted) => converted,
            Err(error) => return Err(refused(&error)),
        };
        let root = NodePath::root();
        let options = Options::default();
        let far = Subject::read(&there, &root, &options)?.ok_or_else(|| "not known there".to_owned())?;
        let mut differing = before.differences(&far, false, &noted).map_err(|fault| format!("there: {fault}"))?;
        let (back, more) = match self.convert(&there, &root, &options, before.dialect)? {
            Ok(converted) => converted,
            Err(error) => return Err(format!("on the way back: {error}").into()),
        };
        noted.extend(more);
        let near = Subject::read(&back, &root, &options)?.ok_or_else(|| "not known when back".to_owned())?;
        let mut lost = before.differences(&near, true, &noted).map_err(|fault| format!("back: {fault}"))?;
        // The specification of the dialect forbids the form of the document, so that it is never written again.
        if matches!(before.dialect, Dialect::V3Draft2022 | Dialect::V3Provisional2023) && before.fill_value.is_none() {
            differing.extend(lost.take("fill_value"));
        }
        if self.carry && !lost.is_empty() {
            return Err(format!("back: {lost:?} not carried").into());
        }
        differing.extend(lost);
        Ok(differing)
    }

    /// Converts the array into a new store, and returns it with the pointers of the notes.
    #[expect(clippy::type_complexity, reason = "a refusal is an answer, any other error a fault")]
    fn convert(
        &self,
        store: &Arc<dyn Store>,
        path: &NodePath,
        options: &Options,
        dialect: Dialect,
    ) -> Result<Result<(Arc<dyn Store>, Vec<String>), Error>, Fault> {
        let options = ConvertOptions::default()
            .dialect(dialect)
            .node(path.clone())
            .to(NodePath::root())
            .carry(self.carry)
            // Documents are compared, not their meaning.
            .literal(true)
            .options(options.clone());
        let conversion = match Conversion::plan(store, &zarr::registry::default(), options) {
            Err(error) if error.kind() == ErrorKind::NotExpressible => return Ok(Err(error)),
            conversion => conversion.map_err(|error| format!("{}: {error}", error.kind().name()))?,
        };
        let notes = conversion.nodes().iter().flat_map(|node| &node.notes);
        let notes = notes.map(|note| note.pointer.clone()).collect();
        let target: Arc<dyn Store> = Arc::new(MemoryStore::new());
        conversion.run(&target, |_| {}).map_err(|error| format!("converting: {error}"))?;
        Ok(Ok((target, notes)))
    }
}

fn refused(error: &Error) -> Stopped {
    match error.location().pointer.as_deref() {
        None => Stopped::Wrong(format!("refused without a member: {error}")),
        Some(pointer) => Stopped::Refused { member: member(pointer), why: error.message().to_owned() },
    }
}

/// Returns the first part of a JSON pointer.
fn member(pointer: &str) -> String {
    pointer.split('/').nth(1).unwrap_or_default().to_owned()
}

/// Properties that must be unchanged.
struct Subject {
    dialect: Dialect,
    shape: Vec<u64>,
    data_type: Type,
    /// Fill value; `None` if it is undefined.
    fill_value: Option<Vec<u8>>,
    attributes: Map,
    dimension_names: Option<Vec<Option<String>>>,
    extra: Map,
    elements: Option<ArrayData>,
    /// Whether a codec changes elements when they are encoded.
    is_lossy: bool,
}

/// Data type; if it is unknown, its spelling.
#[derive(Debug, PartialEq)]
enum Type {
    Known(DataType),
    Unknown(String),
}

impl Subject {
    /// Reads the properties of the array at a path; `None` if the array can be opened but its elements cannot be decoded.
    fn read(store: &Arc<dyn Store>, path: &NodePath, options: &Options) -> Result<Option<Self>, Fault> {
        let found = check::find(store, &path.to_string()).map_err(|error| error.to_string())?;
        let metadata = found.node.as_array().cloned().ok_or("a group, expected an array")?;
        let mut subject = Self {
            dialect: found.dialect,
            shape: metadata.shape.clone(),
            data_type: Type::Unknown(metadata.data_type.to_value().to_string()),
            fill_value: metadata.fill_value.as_ref().map(|value| value.to_string().into_bytes()),
            attributes: metadata.attributes.clone(),
            dimension_names: metadata.dimension_names.clone(),
            extra: metadata.extra.clone(),
            elements: None,
            is_lossy: metadata.codecs.iter().any(|codec| matches!(codec.name.as_str(), "zfp" | "numcodecs.zfpy")),
        };
        let array = match Array::from_found(store, found, &zarr::registry::default(), options.clone()) {
            Err(error) if error.kind() == ErrorKind::UnknownExtension => return Ok(Some(subject)),
            array => array.map_err(|error| error.to_string())?,
        };
        subject.data_type = Type::Known(array.data_type().clone());
        subject.fill_value = metadata.fill_value.map(|_| array.fill_value().bytes().to_vec());
        match array.read_data(Selection::all()) {
            Err(error) if error.kind() == ErrorKind::UnknownExtension => return Ok(None),
            elements => subject.elements = Some(elements.map_err(|error| error.to_string())?),
        }
        Ok(Some(subject))
    }

    /// Returns the members that differ in `after`, which has the dialect of this array if `is_back`. A difference without a note is an
    /// error.
    fn differences(&self, after: &Self, is_back: bool, noted: &[String]) -> Result<BTreeSet<String>, Fault> {
        if !self.is_lossy && !same_elements(self.elements.as_ref(), after.elements.as_ref()) {
            return Err("elements differ".to_owned());
        }
        if self.shape != after.shape {
            return Err(format!("shape {:?} becomes {:?}", self.shape, after.shape));
        }
        let mut differing = BTreeSet::new();
        let mut compare = |member: &str, same: bool, what: &dyn Fn() -> String| {
            let is_noted = noted.iter().any(|pointer| {
                let noted = self::member(pointer);
                // The attribute with dimension names changes together with them.
                noted == member || (member == "dimension_names" && noted == "attributes")
            });
            match same {
                true => Ok(()),
                false if is_noted => {
                    differing.insert(member.to_owned());
                    Ok(())
                }
                false => Err(format!("{member}: {}", what())),
            }
        };
        let words = |a: &dyn fmt::Debug, b: &dyn fmt::Debug| format!("{a:?} becomes {b:?}");
        compare("data_type", self.data_type == after.data_type, &|| words(&self.data_type, &after.data_type))?;
        compare("fill_value", self.fill_value == after.fill_value, &|| words(&self.fill_value, &after.fill_value))?;
        // Arrays without dimensions have no names.
        let names = [self, after].map(|it| it.dimension_names.as_ref().filter(|names| !names.is_empty()));
        let names = (names[0], names[1]);
        compare("dimension_names", names.0 == names.1, &|| words(&names.0, &names.1))?;
        let attributes = match is_back {
            true => (self.attributes.clone(), after.attributes.clone()),
            false => (self.plain_attributes(), after.plain_attributes()),
        };
        let is_same = |a: &Map, b: &Map| Value::Object(a.clone()).semantically_eq(&Value::Object(b.clone()));
        let same = is_same(&attributes.0, &attributes.1);
        let by_names = !same && is_same(&self.plain_attributes(), &after.plain_attributes());
        let member = if by_names { "dimension_names" } else { "attributes" };
        compare(member, same, &|| words(&attributes.0.to_string(), &attributes.1.to_string()))?;
        if is_back {
            for (name, value) in self.extra.iter() {
                let same = after.extra.get(name).is_some_and(|after| after.semantically_eq(value));
                compare(name, same, &|| "lost".to_owned())?;
            }
        }
        Ok(differing)
    }

    /// Returns the attributes without those of dimension names, which are compared separately.
    fn plain_attributes(&self) -> Map {
        let names: Option<Vec<_>> = self
            .dimension_names
            .as_ref()
            .map(|names| names.iter().map(|name| name.as_deref().map_or(Value::Null, Value::from)).collect());
        let mut attributes = self.attributes.clone();
        if attributes.get(ARRAY_DIMENSIONS).and_then(Value::as_array) == names.as_deref() {
            attributes.remove(ARRAY_DIMENSIONS);
        }
        attributes.remove(CARRIED);
        attributes
    }
}

fn same_elements(a: Option<&ArrayData>, b: Option<&ArrayData>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => match (a.variable(), b.variable()) {
            (Some(a), Some(b)) => a.eq(b),
            _ => a.items() == b.items(),
        },
        (a, b) => a.is_none() && b.is_none(),
    }
}

impl fmt::Display for Roundtrips {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.carry {
            writeln!(f, "with members that a dialect cannot express in an attribute:")?;
        }
        writeln!(
            f,
            "same / noted / refused / wrong; a row is the dialect of arrays, a column the dialect that they were converted into\n"
        )?;
        write!(f, "{:8}", "")?;
        Dialect::ALL.iter().try_for_each(|to| write!(f, " {:>17}", to.name()))?;
        writeln!(f)?;
        for from in Dialect::ALL {
            write!(f, "{:8}", from.name())?;
            for to in Dialect::ALL {
                let Tally { same, noted, refused, wrong } = self.tallies.get(&(from, to)).copied().unwrap_or_default();
                write!(f, " {:>17}", format!("{same} / {noted} / {refused} / {wrong}"))?;
            }
            writeln!(f)?;
        }
        writeln!(f, "\nrefused: nodes that a dialect cannot express\n")?;
        let mut reasons: BTreeMap<(Dialect, &str, &str), BTreeMap<&str, usize>> = BTreeMap::new();
        for ((dialect, member, why), count) in &self.refusals {
            let (found, expected) = why.split_once(", expected ").unwrap_or((why, ""));
            let found = found.strip_prefix("found ").unwrap_or(found);
            reasons.entry((*dialect, member, expected)).or_default().insert(found, *count);
        }
        for ((dialect, member, expected), found) in reasons {
            let count: usize = found.values().sum();
            let found: Vec<&str> = found.into_keys().collect();
            writeln!(f, "{:8} {count:>4}  /{member}: expected {expected}; found {}", dialect.name(), found.join(", "))?;
        }
        writeln!(f, "\nnoted: differences in a dialect or when back, as the conversion says\n")?;
        for ((dialect, member), count) in &self.notes {
            writeln!(f, "{:8} {count:>4}  /{member}", dialect.name())?;
        }
        Ok(())
    }
}
