//! The table of codecs, a value that is passed on, and its entries, each of which describes a codec.
//!
//! # A new codec
//! Copy a small crate: `zarr-codec-base64` has no parameters, `zarr-codec-bz2` has an integer. A codec of a program's own needs none of
//! these steps: `crates/zarr/examples/own_codec.rs`.
//!
//! 1. The crate, with a README and links to the licences (a test names missing ones): a public struct that is the configuration, with
//!    constructors that refuse what the codec does not have; `CodecValue`, by which it is read from a document and written to one; a
//!    `CodecEntry` with its names, kind, arguments, completion and an example of its configuration; and `CODECS`. A codec of bytes
//!    implements `BytesToBytes` itself, and has `slice_methods!`; one of arrays has a private struct that is bound to the elements.
//!    Members that only encoding needs are read by `Config::or_default` or `or_none`, so that a wrong one stops no read: a row of
//!    `tests/tests/all/deviations.rs`.
//! 2. Manifests and tables: the manifest of the workspace, also in its profiles (`cargo xtask tidy` asks for the lines); in
//!    `crates/zarr/Cargo.toml` the dependency, the feature, and the name of the feature in `tools` (and in `default`, if it is one); a
//!    line each in `registry.rs` and `codecs.rs` of `crates/zarr/src`, and in the table of features in its `lib.rs`. The matrix, the
//!    fuzz targets and `cargo xtask interop --peer names` take codecs from the registry.
//! 3. Tests: a row in `tests/tests/all/typed_codecs.rs`; ranges of its configuration in `tests/src/fuzz/laws/codecs.rs`, and the bytes
//!    of a chunk that count in `laws/refused.rs`. Data of numcodecs come from `tests/vectors.py` of the crate, over
//!    `crates/zarr-codec/tests/frame.py`, and are read by `zarr_codec::testing::vectors`.
//! 4. Names in numcodecs: a row in `crates/zarr-meta/src/codec_facts.rs`, whose documentation says which codecs need one; a test prints
//!    it. A configuration that is translated is a variant of `Form` there, and its arms in `dialect/numcodecs/form.rs` of that crate.
//! 5. Pages: a test names the rows of `docs/dialects.md` and `docs/formats.md`. `cargo xtask conformance --matrix` writes
//!    `docs/support.md`, `cargo xtask api --bless` the list in `docs/api`. `docs/publishing.md` has the packages in the order of their
//!    dependencies.

use crate::given::Given;
use crate::pipeline::Last;
use crate::{ArrayToArray, ArrayToBytes, BytesToBytes, Codec, Config, ElementSpec, Error, Limits, Warnings};
use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;
use zarr_dtype::DataType;
use zarr_json::{NamedConfig, Value};

/// The kind of a codec: its input and its output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Chunks into chunks.
    ArrayToArray,
    /// Chunks into bytes.
    ArrayToBytes,
    /// Bytes into bytes.
    BytesToBytes,
}

/// A function that builds a codec of one kind.
type Build<T> = fn(&BuildContext<'_>) -> Result<Arc<T>, Error>;

/// The function that builds a codec, which says its kind.
#[derive(Clone, Copy, Debug)]
enum Builder {
    ArrayToArray(Build<dyn ArrayToArray>),
    ArrayToBytes(Build<dyn ArrayToBytes>),
    BytesToBytes(Build<dyn BytesToBytes>),
}

/// One codec. Each codec crate has one for each of its codecs, and all of them in `CODECS`.
///
/// ```
/// use std::sync::Arc;
/// use zarr_codec::{BuildContext, BytesToBytes, CodecEntry, Error, Kind};
///
/// fn build(_: &BuildContext<'_>) -> Result<Arc<dyn BytesToBytes>, Error> {
///     unimplemented!()
/// }
///
/// const SWAB: CodecEntry = CodecEntry::bytes_to_bytes("numcodecs.swab", build).id("swab").only_read(&["swab"]);
/// assert_eq!(SWAB.kind(), Kind::BytesToBytes);
/// assert_eq!(SWAB.short_name(), "swab");
/// assert!(SWAB.is_called("numcodecs.swab") && SWAB.is_called("swab"));
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct CodecEntry {
    /// The name that is written in documents of Zarr v3: the registered one, or `numcodecs.<id>` where zarr-python has the codec by
    /// that alone.
    pub name: &'static str,
    /// Other names in Zarr v3 that other software reads. They stay as they are.
    pub aliases: &'static [&'static str],
    /// Names in Zarr v3 that are read; [`name`](Self::name) is written instead.
    pub only_read: &'static [&'static str],
    /// The `id` in documents up to Zarr v2: that of numcodecs. The drafts of Zarr v3 have it in a URI, `https://purl.org/zarr/spec/codecs/ID/1.0`.
    pub id: Option<&'static str>,
    /// The URI in the drafts of Zarr v3, where it is the codec's own.
    pub uri: Option<&'static str>,
    /// The members of the configuration that users give behind the name, in this order, with the JSON that is written without them.
    pub arguments: &'static [(&'static str, Option<&'static str>)],
    /// A member that takes all values that users give behind the name, as a list: the axes of `transpose(1,0)`.
    pub list_argument: Option<&'static str>,
    /// A configuration as JSON, with all members that have to be given.
    pub example: &'static str,
    short_name: Option<&'static str>,
    complete: fn(&mut NamedConfig, &DataType),
    builder: Builder,
}

impl CodecEntry {
    /// A codec of arrays that is called `name` in Zarr v3.
    pub const fn array_to_array(name: &'static str, build: Build<dyn ArrayToArray>) -> Self {
        Self::new(name, Builder::ArrayToArray(build))
    }

    /// A codec that turns arrays into bytes and is called `name` in Zarr v3.
    pub const fn array_to_bytes(name: &'static str, build: Build<dyn ArrayToBytes>) -> Self {
        Self::new(name, Builder::ArrayToBytes(build))
    }

    /// A codec of bytes that is called `name` in Zarr v3.
    pub const fn bytes_to_bytes(name: &'static str, build: Build<dyn BytesToBytes>) -> Self {
        Self::new(name, Builder::BytesToBytes(build))
    }

    const fn new(name: &'static str, builder: Builder) -> Self {
        Self {
            name,
            aliases: &[],
            only_read: &[],
            id: None,
            uri: None,
            arguments: &[],
            list_argument: None,
            example: "{}",
            short_name: None,
            complete: |_, _| {},
            builder,
        }
    }

    /// With other names in Zarr v3 that other software reads.
    #[must_use]
    pub const fn aliases(self, aliases: &'static [&'static str]) -> Self {
        Self { aliases, ..self }
    }

    /// With names in Zarr v3 that are read and not written.
    #[must_use]
    pub const fn only_read(self, only_read: &'static [&'static str]) -> Self {
        Self { only_read, ..self }
    }

    /// With the `id` of numcodecs.
    #[must_use]
    pub const fn id(self, id: &'static str) -> Self {
        Self { id: Some(id), ..self }
    }

    /// Adds a URI of its own, by which the drafts of Zarr v3 name it.
    #[must_use]
    pub const fn uri(self, uri: &'static str) -> Self {
        Self { uri: Some(uri), ..self }
    }

    /// With the name that users give, where it is not the one in Zarr v3 without `numcodecs.`.
    #[must_use]
    pub const fn short(self, short_name: &'static str) -> Self {
        Self { short_name: Some(short_name), ..self }
    }

    /// With the members that users give behind the name, and the JSON that is written without them.
    #[must_use]
    pub const fn arguments(self, arguments: &'static [(&'static str, Option<&'static str>)]) -> Self {
        Self { arguments, ..self }
    }

    /// With a member that takes all values that users give behind the name, as a list.
    #[must_use]
    pub const fn list_argument(self, member: &'static str) -> Self {
        Self { list_argument: Some(member), ..self }
    }

    /// With a function that adds to a configuration the members that its specification demands, for elements of a data type.
    #[must_use]
    pub const fn complete_with(self, complete: fn(&mut NamedConfig, &DataType)) -> Self {
        Self { complete, ..self }
    }

    /// With a configuration as JSON, where members have to be given.
    #[must_use]
    pub const fn example(self, example: &'static str) -> Self {
        Self { example, ..self }
    }

    /// The same codec under another name alone.
    #[must_use]
    pub const fn renamed(self, name: &'static str) -> Self {
        Self { name, aliases: &[], only_read: &[], id: None, uri: None, ..self }
    }

    /// The kind of the codec: its input and its output.
    pub const fn kind(&self) -> Kind {
        match self.builder {
            Builder::ArrayToArray(_) => Kind::ArrayToArray,
            Builder::ArrayToBytes(_) => Kind::ArrayToBytes,
            Builder::BytesToBytes(_) => Kind::BytesToBytes,
        }
    }

    /// The name that users give. Of several codecs of one purpose, such as `json2` and `json`, the codec that is
    /// written today has the short name.
    pub fn short_name(&self) -> &'static str {
        let short = self.name.strip_prefix("numcodecs.").unwrap_or(self.name);
        self.short_name.unwrap_or(short)
    }

    /// All names in Zarr v3, the written name first.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        [self.name].into_iter().chain(self.aliases.iter().copied()).chain(self.only_read.iter().copied())
    }

    /// Whether a document of Zarr v3, or of a draft of it, may call it so.
    pub fn is_called(&self, name: &str) -> bool {
        self.names().chain(self.uri).any(|known| known == name)
    }

    /// The name that is written for `name`, one of this codec: in the drafts of Zarr v3 the URI if it has one, elsewhere not the URI.
    pub fn written<'n>(&self, name: &'n str, is_draft: bool) -> &'n str {
        match self.uri {
            Some(uri) if is_draft => uri,
            Some(uri) if uri == name => self.name,
            _ => name,
        }
    }

    /// Adds to a configuration the members that the specification demands and that are missing, for elements of `data_type`: not all
    /// readers have defaults.
    pub fn complete(&self, codec: &mut NamedConfig, data_type: &DataType) {
        (self.complete)(codec, data_type);
    }

    /// Builds the codec, from the context alone: arrays that have the same codecs, elements and chunks may share it.
    ///
    /// # Errors
    /// [`Error::Metadata`] for a configuration that breaks the specification, [`Error::Unsupported`] for elements that the codec does
    /// not take.
    pub fn build(&self, context: &BuildContext<'_>) -> Result<Codec, Error> {
        match self.builder {
            Builder::ArrayToArray(build) => build(context).map(Codec::ArrayToArray),
            Builder::ArrayToBytes(build) => build(context).map(Codec::ArrayToBytes),
            Builder::BytesToBytes(build) => build(context).map(Codec::BytesToBytes),
        }
    }
}

/// The context that a codec is built from.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct BuildContext<'a> {
    /// The name used in the metadata, one of [`CodecEntry::names`](crate::CodecEntry::names).
    pub name: &'a str,
    /// The configuration.
    pub config: &'a Config<'a>,
    /// The elements that reach this codec: of the array, or as the codec before it encodes them. For bytes-to-bytes
    /// codecs the elements that were turned into bytes.
    pub element: &'a ElementSpec,
    /// All codecs, for codecs that contain others.
    pub codecs: &'a Codecs,
    /// Limits on decoding.
    pub limits: &'a Limits,
    /// How many codecs this one is inside of.
    pub nesting: u32,
    /// Takes deviations that are no errors.
    pub warnings: &'a Warnings,
}

impl<'a> BuildContext<'a> {
    /// For a codec that lies in no other one, and contains none.
    #[must_use]
    pub fn new(
        name: &'a str,
        config: &'a Config<'a>,
        element: &'a ElementSpec,
        codecs: &'a Codecs,
        limits: &'a Limits,
        warnings: &'a Warnings,
    ) -> Self {
        Self { name, config, element, codecs, limits, nesting: 0, warnings }
    }
}

/// The codecs that are known, by name.
///
/// ```
/// use zarr_codec::Codecs;
/// let codecs = Codecs::default();
/// assert!(codecs.get("gzip").is_none());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Codecs {
    entries: Vec<CodecEntry>,
    hints: Vec<(&'static str, &'static str)>,
    given: Vec<(&'static str, Given)>,
    pub(crate) last: Last,
}

impl Codecs {
    /// Adds a codec. It takes its names from any codec that had them before.
    pub fn add(&mut self, entry: CodecEntry) {
        self.entries.push(entry);
        self.last = Last::default();
    }

    /// Says where a codec that is not in the table could come from: `"enable feature `zfp`"`.
    pub fn add_hint(&mut self, name: &'static str, hint: &'static str) {
        self.hints.push((name, hint));
    }

    /// The codec of this name.
    pub fn get(&self, name: &str) -> Option<&CodecEntry> {
        self.entries.iter().rev().find(|entry| entry.is_called(name))
    }

    /// The codec that users call `name`, or that a document of Zarr v3 does.
    pub fn typed(&self, name: &str) -> Option<&CodecEntry> {
        let typed = self.entries.iter().rev().find(|entry| entry.short_name() == name);
        typed.or_else(|| self.get(name))
    }

    /// Adds to the configuration of a codec that is in the table the members that its specification demands. A codec
    /// that goes by an alias is left as it is: there, other software has defaults.
    #[must_use]
    pub fn complete(&self, mut codec: NamedConfig, data_type: &DataType) -> NamedConfig {
        if let Some(entry) = self.get(&codec.name).filter(|entry| entry.name == codec.name) {
            entry.complete(&mut codec, data_type);
        }
        codec
    }

    /// Where the codec of this name, or of this `id` of numcodecs, could come from.
    pub fn hint(&self, name: &str) -> Option<&'static str> {
        let is_it = |known: &str| known == name || known.strip_prefix("numcodecs.") == Some(name);
        self.hints.iter().rev().find(|(known, _)| is_it(known)).map(|(_, hint)| *hint)
    }

    /// All codecs, in the order they were added.
    pub fn iter(&self) -> impl Iterator<Item = &CodecEntry> {
        self.entries.iter()
    }
}

impl Codecs {
    /// Gives the codec called `name` a value, which it is built from: [`BuildContext::given`]. It exists in memory only, so that no
    /// document has to spell it.
    ///
    /// ```
    /// let mut codecs = zarr_codec::Codecs::default();
    /// codecs.give("own.scaled", 0.1_f64);
    /// let (mut same, mut other) = (zarr_codec::Codecs::default(), codecs.clone());
    /// same.give("own.scaled", 0.1_f64);
    /// other.give("own.scaled", 0.2_f64);
    /// assert!(codecs.gives_as(&same) && !codecs.gives_as(&other));
    /// ```
    pub fn give<T: Any + PartialEq + Debug + Send + Sync>(&mut self, name: &'static str, value: T) {
        self.given.retain(|(known, _)| *known != name);
        self.given.push((name, Given::new(value)));
        self.last = Last::default();
    }

    /// Whether codecs are given equal values by both tables.
    #[must_use]
    pub fn gives_as(&self, other: &Self) -> bool {
        self.given == other.given
    }
}

impl<'a> BuildContext<'a> {
    /// The value that the codec was [given](Codecs::give), if it is of this type.
    pub fn given<T: Any>(&self) -> Option<&'a T> {
        let (_, given) = self.codecs.given.iter().find(|(name, _)| *name == self.name)?;
        given.get()
    }
}

/// Adds members to a configuration that lacks them.
pub fn add_missing<const N: usize>(codec: &mut NamedConfig, members: [(&str, Value); N]) {
    for (name, value) in members {
        if !codec.configuration.contains_key(name) {
            codec.configuration.insert(name, value);
        }
    }
}
