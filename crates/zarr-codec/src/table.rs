//! The table of codecs, a value that is passed on.

use crate::pipeline::Last;
use crate::{Codec, Config, ElementSpec, Error, Limits};
use std::cell::RefCell;

/// One kind of codec: its names and how it is built. Each codec crate exports one for each of its codecs.
#[derive(Clone, Copy, Debug)]
pub struct CodecEntry {
    /// The name in Zarr v3 first, then its aliases.
    pub names: &'static [&'static str],
    /// Builds the codec, from the context alone: arrays that have the same codecs, elements and chunks may share it.
    pub build: fn(&BuildContext<'_>) -> Result<Codec, Error>,
}

/// What a codec is built from.
#[derive(Clone, Copy, Debug)]
pub struct BuildContext<'a> {
    /// The name used in the metadata, one of [`CodecEntry::names`].
    pub name: &'a str,
    /// The configuration.
    pub config: &'a Config<'a>,
    /// The elements that reach this codec: of the array, or as the codec before it encodes them. For bytes-to-bytes
    /// codecs the elements that were turned into bytes.
    pub element: &'a ElementSpec,
    /// All codecs, for those that contain others.
    pub codecs: &'a Codecs,
    /// Limits on what is decoded.
    pub limits: &'a Limits,
    /// How many codecs this one is inside of.
    pub nesting: u32,
    /// Takes what is odd but no error.
    pub warnings: &'a Warnings,
}

/// Something odd in the metadata of codecs that is no error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Where, as a JSON pointer from the list of codecs.
    pub pointer: String,
    /// What is odd, and what was done about it.
    pub what: String,
}

/// What was odd in the metadata of codecs but no error.
#[derive(Debug, Default)]
pub struct Warnings(RefCell<Vec<Warning>>);

impl Warnings {
    /// Adds a warning.
    pub fn add(&self, pointer: impl Into<String>, what: impl Into<String>) {
        self.0.borrow_mut().push(Warning { pointer: pointer.into(), what: what.into() });
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.0.borrow().len()
    }

    /// All warnings in the order they were added.
    pub fn into_vec(self) -> Vec<Warning> {
        self.0.into_inner()
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
        self.entries.iter().rev().find(|entry| entry.names.contains(&name))
    }

    /// Where the codec of this name could come from.
    pub fn hint(&self, name: &str) -> Option<&'static str> {
        self.hints.iter().rev().find(|(known, _)| *known == name).map(|(_, hint)| *hint)
    }

    /// All codecs, in the order they were added.
    pub fn iter(&self) -> impl Iterator<Item = &CodecEntry> {
        self.entries.iter()
    }
}
