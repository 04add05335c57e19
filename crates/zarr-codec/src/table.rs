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
//!    line each in `registry.rs` and `codecs.rs` of `crates/zarr/src`, and in the table of features in its `lib.rs`. The matrix and
//!    `cargo xtask interop --peer names` take codecs from the registry.
//! 3. Tests: a row in `tests/tests/all/typed_codecs.rs`; ranges of its configuration in `tests/src/fuzz/laws/codecs.rs`, and the bytes
//!    of a chunk that count in `laws/refused.rs`; a chain and chunks from which fuzz targets begin in `tests/src/fuzz/chunks`
//!    (`chains.rs`, `seeds.rs`, and `bombs.rs` if few bytes can become many). Defaults that documents may leave out are in
//!    `crates/zarr-meta/src/equivalence.rs`. Data of numcodecs come from `tests/vectors.py` of the crate, over
//!    `crates/zarr-codec/tests/frame.py`, and are read by `zarr_codec::testing::vectors`.
//! 4. Names in numcodecs: a row in `crates/zarr-meta/src/codec_facts.rs`, whose documentation says which codecs need one; a test prints
//!    it. A configuration that is translated is a variant of `Form` there, and its arms in `dialect/numcodecs/form.rs` of that crate.
//! 5. Pages: a test names the rows of `docs/dialects.md` and `docs/formats.md`. `cargo xtask conformance --matrix` writes
//!    `docs/support.md`, `cargo xtask api --bless` the list in `docs/api`. `docs/publishing.md` has the packages in the order of their
//!    dependencies, `docs/dependencies.md` what a new one is for; a licence that is not there yet goes into `.cargo/deny.toml`.

use crate::given::Given;
use crate::pipeline::Last;
use crate::{ArrayToArray, ArrayToBytes, BytesToBytes, Codec, Config, ElementSpec, Error, Limits, Warnings};
use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;
use zarr_dtype::DataType;
use zarr_json::{NamedConfig, Value};

/// Kind of a codec by its input and output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Codec that turns chunks into chunks.
    ArrayToArray,
    /// Codec that turns chunks into bytes.
    ArrayToBytes,
    /// Codec that turns bytes into bytes.
    BytesToBytes,
}

/// Function that builds a codec of one kind.
type Build<T> = fn(&BuildContext<'_>) -> Result<Arc<T>, Error>;

/// Function that builds a codec; the variant is the kind of the codec.
#[derive(Clone, Copy, Debug)]
enum Builder {
    ArrayToArray(Build<dyn ArrayToArray>),
    ArrayToBytes(Build<dyn ArrayToBytes>),
    BytesToBytes(Build<dyn BytesToBytes>),
}

/// Entry of a codec in a table of codecs: its names, arguments and the function that builds it. Each codec crate lists the entries of its
/// codecs in `CODECS`.
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
    /// Name that is written in documents of Zarr v3: the registered name, or `numcodecs.<id>` if zarr-python knows the codec only under
    /// that name.
    pub name: &'static str,
    /// Other names in documents of Zarr v3 that other software reads, too. A rewritten document keeps such a name.
    pub aliases: &'static [&'static str],
    /// Names in documents of Zarr v3 that are only read; a rewritten document has [`name`](Self::name) instead.
    pub only_read: &'static [&'static str],
    /// Name in numcodecs, the `id` in documents up to Zarr v2; `None` if numcodecs lacks the codec. Drafts of Zarr v3 have the id in a URI,
    /// `https://purl.org/zarr/spec/codecs/ID/1.0`.
    pub id: Option<&'static str>,
    /// URI of the codec in drafts of Zarr v3; `None` if the URI is made from the [`id`](Self::id).
    pub uri: Option<&'static str>,
    /// Members of the configuration that users may give as positional arguments, in this order, each with the JSON value that is written if
    /// the argument is absent.
    pub arguments: &'static [(&'static str, Option<&'static str>)],
    /// Member of the configuration that takes all positional arguments as a list, like the axes of `transpose(1,0)`; `None` if there is
    /// none.
    pub list_argument: Option<&'static str>,
    /// Example of a configuration as JSON, with all required members.
    pub example: &'static str,
    short_name: Option<&'static str>,
    complete: fn(&mut NamedConfig, &DataType),
    builder: Builder,
}

impl CodecEntry {
    /// Returns the entry of an array-to-array codec that is called `name` in Zarr v3.
    pub const fn array_to_array(name: &'static str, build: Build<dyn ArrayToArray>) -> Self {
        Self::new(name, Builder::ArrayToArray(build))
    }

    /// Returns the entry of an array-to-bytes codec that is called `name` in Zarr v3.
    pub const fn array_to_bytes(name: &'static str, build: Build<dyn ArrayToBytes>) -> Self {
        Self::new(name, Builder::ArrayToBytes(build))
    }

    /// Returns the entry of a bytes-to-bytes codec that is called `name` in Zarr v3.
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

    /// Sets [`aliases`](Self::aliases): other names in Zarr v3 that other software reads, too.
    #[must_use]
    pub const fn aliases(self, aliases: &'static [&'static str]) -> Self {
        Self { aliases, ..self }
    }

    /// Sets [`only_read`](Self::only_read): names in Zarr v3 that are read but not written.
    #[must_use]
    pub const fn only_read(self, only_read: &'static [&'static str]) -> Self {
        Self { only_read, ..self }
    }

    /// Sets [`id`](Self::id): the name in numcodecs.
    #[must_use]
    pub const fn id(self, id: &'static str) -> Self {
        Self { id: Some(id), ..self }
    }

    /// Sets [`uri`](Self::uri): the URI of the codec in drafts of Zarr v3.
    #[must_use]
    pub const fn uri(self, uri: &'static str) -> Self {
        Self { uri: Some(uri), ..self }
    }

    /// Sets the [short name](Self::short_name) that users give. By default it is the name in Zarr v3 without `numcodecs.`.
    #[must_use]
    pub const fn short(self, short_name: &'static str) -> Self {
        Self { short_name: Some(short_name), ..self }
    }

    /// Sets [`arguments`](Self::arguments): members that users give as positional arguments, each with the JSON value that is written if
    /// the argument is absent.
    #[must_use]
    pub const fn arguments(self, arguments: &'static [(&'static str, Option<&'static str>)]) -> Self {
        Self { arguments, ..self }
    }

    /// Sets [`list_argument`](Self::list_argument): the member that takes all positional arguments as a list.
    #[must_use]
    pub const fn list_argument(self, member: &'static str) -> Self {
        Self { list_argument: Some(member), ..self }
    }

    /// Sets the function that adds required members to a configuration, for elements of a data type.
    #[must_use]
    pub const fn complete_with(self, complete: fn(&mut NamedConfig, &DataType)) -> Self {
        Self { complete, ..self }
    }

    /// Sets [`example`](Self::example): a configuration as JSON with all required members.
    #[must_use]
    pub const fn example(self, example: &'static str) -> Self {
        Self { example, ..self }
    }

    /// Returns the entry of the same codec under the name `name`, without aliases, `id` and URI.
    #[must_use]
    pub const fn renamed(self, name: &'static str) -> Self {
        Self { name, aliases: &[], only_read: &[], id: None, uri: None, ..self }
    }

    /// Returns the kind of the codec.
    pub const fn kind(&self) -> Kind {
        match self.builder {
            Builder::ArrayToArray(_) => Kind::ArrayToArray,
            Builder::ArrayToBytes(_) => Kind::ArrayToBytes,
            Builder::BytesToBytes(_) => Kind::BytesToBytes,
        }
    }

    /// Returns the short name of the codec that users give. Of several versions of a codec, such as `json2` and `json`, the version that is
    /// written today has the short name.
    pub fn short_name(&self) -> &'static str {
        let short = self.name.strip_prefix("numcodecs.").unwrap_or(self.name);
        self.short_name.unwrap_or(short)
    }

    /// Iterates over all names in Zarr v3; the name that is written comes first.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        [self.name].into_iter().chain(self.aliases.iter().copied()).chain(self.only_read.iter().copied())
    }

    /// Whether `name` is a name of the codec in documents of Zarr v3 or of its drafts.
    pub fn is_called(&self, name: &str) -> bool {
        self.names().chain(self.uri).any(|known| known == name)
    }

    /// Returns the name to write for `name`, a name of this codec: in drafts of Zarr v3 the URI if the codec has one, elsewhere `name` or,
    /// for the URI, [`name`](Self::name).
    pub fn written<'n>(&self, name: &'n str, is_draft: bool) -> &'n str {
        match self.uri {
            Some(uri) if is_draft => uri,
            Some(uri) if uri == name => self.name,
            _ => name,
        }
    }

    /// Adds to the configuration `codec` the members that the specification requires and that are missing, for elements of `data_type`: not
    /// all readers have defaults.
    pub fn complete(&self, codec: &mut NamedConfig, data_type: &DataType) {
        (self.complete)(codec, data_type);
    }

    /// Builds the codec. The result depends on the context alone: arrays with equal codecs, elements and chunks may share it.
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

/// Parameters for building a codec.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct BuildContext<'a> {
    /// Name of the codec in the metadata, one of [`CodecEntry::names`](crate::CodecEntry::names).
    pub name: &'a str,
    /// Configuration of the codec.
    pub config: &'a Config<'a>,
    /// Elements that the codec encodes: elements of the array, or the output of the preceding array-to-array codec. For a bytes-to-bytes
    /// codec, the elements that the array-to-bytes codec turned into bytes.
    pub element: &'a ElementSpec,
    /// Table of all codecs, for a codec that contains other codecs.
    pub codecs: &'a Codecs,
    /// Limits on sizes while decoding.
    pub limits: &'a Limits,
    /// Number of codecs that this codec is nested in: 0 for a codec of the array.
    pub nesting: u32,
    /// List that receives warnings: deviations that are no errors.
    pub warnings: &'a Warnings,
}

impl<'a> BuildContext<'a> {
    /// Returns the context of a codec that is not nested in another codec.
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

/// Table of the known codecs, by name.
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
    /// Adds a codec, which replaces codecs of the same names.
    pub fn add(&mut self, entry: CodecEntry) {
        self.entries.push(entry);
        self.last = Last::default();
    }

    /// Adds a hint where the codec `name`, which is not in the table, can be found: `"enable feature `zfp`"`.
    pub fn add_hint(&mut self, name: &'static str, hint: &'static str) {
        self.hints.push((name, hint));
    }

    /// Returns the codec that documents of Zarr v3 or its drafts call `name`.
    pub fn get(&self, name: &str) -> Option<&CodecEntry> {
        self.entries.iter().rev().find(|entry| entry.is_called(name))
    }

    /// Returns the codec with the short name `name`, or else the codec that documents of Zarr v3 call `name`.
    pub fn typed(&self, name: &str) -> Option<&CodecEntry> {
        let typed = self.entries.iter().rev().find(|entry| entry.short_name() == name);
        typed.or_else(|| self.get(name))
    }

    /// Adds missing required members to the configuration of `codec`, for elements of `data_type`. A codec under an alias or an unknown
    /// name is returned unchanged: other software has defaults for aliases.
    #[must_use]
    pub fn complete(&self, mut codec: NamedConfig, data_type: &DataType) -> NamedConfig {
        if let Some(entry) = self.get(&codec.name).filter(|entry| entry.name == codec.name) {
            entry.complete(&mut codec, data_type);
        }
        codec
    }

    /// Returns the hint where the codec of this name, or of this `id` of numcodecs, can be found; `None` if there is no hint.
    pub fn hint(&self, name: &str) -> Option<&'static str> {
        let is_it = |known: &str| known == name || known.strip_prefix("numcodecs.") == Some(name);
        self.hints.iter().rev().find(|(known, _)| is_it(known)).map(|(_, hint)| *hint)
    }

    /// Iterates over all codecs in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = &CodecEntry> {
        self.entries.iter()
    }
}

impl Codecs {
    /// Sets a value in memory for the codec called `name`, which reads it by [`BuildContext::given`] when it is built. No document stores
    /// the value.
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

    /// Whether both tables have equal [given](Self::give) values for equal codecs.
    #[must_use]
    pub fn gives_as(&self, other: &Self) -> bool {
        self.given == other.given
    }
}

impl<'a> BuildContext<'a> {
    /// Returns the value that the codec was [given](Codecs::give); `None` if there is none or if it has another type.
    pub fn given<T: Any>(&self) -> Option<&'a T> {
        let (_, given) = self.codecs.given.iter().find(|(name, _)| *name == self.name)?;
        given.get()
    }
}

/// Adds those of `members` that the configuration of `codec` lacks.
pub fn add_missing<const N: usize>(codec: &mut NamedConfig, members: [(&str, Value); N]) {
    for (name, value) in members {
        if !codec.configuration.contains_key(name) {
            codec.configuration.insert(name, value);
        }
    }
}
