//! Building of codec pipelines from metadata.

use super::Pipeline;
use crate::config::Deviation;
use crate::warnings::Correction;
use crate::{BuildContext, BytesToBytes, Codec, CodecWarning, Codecs, Config, ElementSpec, Error, Limits, Warnings};
use std::sync::Arc;
use zarr_grid::Shape;
use zarr_json::pointer::escaped;
use zarr_json::{NamedConfig, Value};

impl BuildContext<'_> {
    /// Returns the codecs that member `name` of the configuration lists.
    ///
    /// # Errors
    /// [`Error::Metadata`] if the member is missing or is no list of codecs.
    pub fn list(&self, name: &'static str) -> Result<Vec<NamedConfig>, Error> {
        let list = self.config.required(name)?;
        let items = list.as_array().ok_or_else(|| self.config.unexpected(name, "an array of codecs", list))?;
        let codec = |(index, codec): (usize, &Value)| {
            NamedConfig::from_value(codec)
                .ok_or_else(|| self.config.unexpected(&format!("{name}/{index}"), "a codec with a name", codec))
        };
        check_count(items.len(), self.limits).map_err(|error| error.under(&format!("/configuration/{name}")))?;
        items.iter().enumerate().map(codec).collect()
    }

    /// Builds the pipeline of the codecs that member `name` of the configuration lists, for elements of type `element`.
    ///
    /// # Errors
    /// The errors of [`Pipeline::build`].
    pub fn chain(&self, name: &'static str, element: &ElementSpec) -> Result<Pipeline, Error> {
        let before = self.warnings.len();
        let built =
            Pipeline::build(&self.list(name)?, element, self.codecs, self.limits, self.nesting + 1, self.warnings);
        let below = format!("/configuration/{name}");
        self.warnings.put_under(before, &below);
        built.map_err(|error| error.under(&below))
    }

    /// Builds the bytes-to-bytes codecs that member `name` of the configuration lists.
    ///
    /// # Errors
    /// [`Error::Unknown`] for a codec that is not known, whether it may be ignored or not, and [`Error::Metadata`] for one that
    /// is no codec of bytes.
    pub fn bytes_chain(&self, name: &'static str) -> Result<Vec<Arc<dyn BytesToBytes>>, Error> {
        let (codecs, limits, warnings) = (self.codecs, self.limits, self.warnings);
        check_nesting(self.nesting + 1, limits)?;
        let builder = Builder { element: self.element, codecs, limits, nesting: self.nesting + 1, warnings };
        let build = |(number, codec): (usize, &NamedConfig)| match builder
            .build(codec, || format!("/configuration/{name}/{number}"))?
        {
            Codec::BytesToBytes(codec) => Ok(codec),
            _ => Err(self.config.error(name, format!("codec {:?} does not turn bytes into bytes", codec.name))),
        };
        self.list(name)?.iter().enumerate().map(build).collect()
    }
}

/// Parameters for building the codecs of a chain.
struct Builder<'a> {
    element: &'a ElementSpec,
    codecs: &'a Codecs,
    limits: &'a Limits,
    nesting: u32,
    warnings: &'a Warnings,
}

impl Builder<'_> {
    /// Builds `codec`, which is at JSON pointer `pointer` of the metadata; adds its warnings.
    fn build(&self, codec: &NamedConfig, pointer: impl Fn() -> String) -> Result<Codec, Error> {
        let Some(entry) = self.codecs.get(&codec.name) else {
            let hint = self.codecs.hint(&codec.name).map(str::to_owned);
            return Err(Error::Unknown { pointer: pointer(), name: codec.name.clone(), hint });
        };
        let config = Config::new(&codec.configuration);
        let context = BuildContext {
            name: &codec.name,
            config: &config,
            element: self.element,
            codecs: self.codecs,
            limits: self.limits,
            nesting: self.nesting,
            warnings: self.warnings,
        };
        let before = self.warnings.len();
        let built = entry.build(&context);
        self.warnings.put_under(before, &pointer());
        let built = built.map_err(|error| error.under(&pointer()))?;
        for Deviation { name, pointer: below, what, becomes, fault } in config.deviations() {
            let correction = Correction { pointer: format!("{}/configuration/{name}", pointer()), becomes };
            self.warnings.add_corrected(format!("{}{below}", pointer()), what, correction, fault);
        }
        for member in config.unread() {
            let pointer = format!("{}/configuration/{}", pointer(), escaped(member));
            let correction = Correction { pointer: pointer.clone(), becomes: None };
            self.warnings.add_corrected(pointer, "unknown member, ignored".to_owned(), correction, None);
        }
        Ok(built)
    }
}

fn check_nesting(nesting: u32, limits: &Limits) -> Result<(), Error> {
    match limits.max_nesting {
        limit if nesting > limit => Err(over("codecs that lie", u64::from(nesting), "levels deep", u64::from(limit))),
        _ => Ok(()),
    }
}

fn check_count(count: usize, limits: &Limits) -> Result<(), Error> {
    match limits.max_codecs {
        limit if count > limit => Err(over("a chain of", count as u64, "codecs", limit as u64)),
        _ => Ok(()),
    }
}

fn over(what: &str, found: u64, unit: &str, limit: u64) -> Error {
    Error::Metadata { pointer: String::new(), what: format!("{what} {found} {unit}, the limit is {limit}") }
}

impl Codecs {
    /// Returns `codecs` as a new document has them, for elements of type `element`: unknown members are removed, and values of wrong types
    /// or outside of their range replaced. Also returns a warning for each member that changes.
    ///
    /// # Errors
    /// The errors of [`Pipeline::build`].
    pub fn corrected(
        &self,
        codecs: &[NamedConfig],
        element: &ElementSpec,
        limits: &Limits,
    ) -> Result<(Vec<NamedConfig>, Vec<CodecWarning>), Error> {
        let warnings = Warnings::default();
        Pipeline::build(codecs, element, self, limits, 0, &warnings)?;
        Ok(warnings.correct(codecs))
    }
}

impl Pipeline {
    /// Builds the pipeline that `codecs` describe, for elements of type `element`. Codecs see elements of an extension data type as its
    /// storage data type ([`stored`](ElementSpec::stored)).
    ///
    /// Deviations that are no errors (unknown members of a configuration, an unknown codec that may be ignored) go to
    /// `warnings`, each with a JSON pointer from the list of codecs.
    ///
    /// # Errors
    /// [`Error::Unknown`] for a codec that is not in `table`, [`Error::Metadata`] for a configuration or an order of codecs
    /// that breaks the specification (Zarr v3 core, section "Codecs").
    pub fn build(
        codecs: &[NamedConfig],
        element: &ElementSpec,
        table: &Codecs,
        limits: &Limits,
        nesting: u32,
        warnings: &Warnings,
    ) -> Result<Self, Error> {
        check_nesting(nesting, limits)?;
        check_count(codecs.len(), limits)?;
        let mut array = Vec::new();
        let mut to_bytes = None;
        let mut bytes = Vec::new();
        let mut names = Vec::new();
        let mut indices = Vec::new();
        let mut current = element.stored();
        for (number, codec) in codecs.iter().enumerate() {
            let pointer = || format!("/{number}");
            let misplaced =
                |what: &str| Error::Metadata { pointer: pointer(), what: format!("codec {:?} {what}", codec.name) };
            if table.get(&codec.name).is_none() && !codec.must_understand {
                let what = format!("unknown codec {:?} is ignored, as it says it may be", codec.name);
                warnings.add(format!("/{number}"), what);
                continue;
            }
            let builder = Builder { element: &current, codecs: table, limits, nesting, warnings };
            let built = builder.build(codec, pointer)?;
            names.push(codec.name.clone());
            indices.push(number);
            match built {
                Codec::ArrayToArray(codec) if to_bytes.is_none() => {
                    current = codec.encoded().clone();
                    array.push(codec);
                }
                Codec::ArrayToArray(_) => return Err(misplaced("takes an array, but the codecs before it give bytes")),
                Codec::ArrayToBytes(codec) if to_bytes.is_none() => to_bytes = Some(codec),
                Codec::ArrayToBytes(_) => return Err(misplaced("is a second array-to-bytes codec")),
                Codec::BytesToBytes(codec) if to_bytes.is_some() => bytes.push(codec),
                Codec::BytesToBytes(_) => return Err(misplaced("takes bytes, but no codec before it gives bytes")),
            }
        }
        let to_bytes = to_bytes.ok_or_else(|| Error::Metadata {
            pointer: String::new(),
            what: "no codec turns the array into bytes".to_owned(),
        })?;
        Ok(Self { element: element.clone(), array, to_bytes, bytes, names, indices, limits: limits.clone() })
    }

    /// Checks that the codecs can encode and decode chunks of `shape`. Called when an array is opened.
    ///
    /// # Errors
    /// [`Error::Metadata`] if such chunks cannot be encoded, [`Error::Unsupported`] if they cannot be decoded.
    pub fn check(&self, shape: &[u64]) -> Result<(), Error> {
        let mut shape = Shape::from_slice(shape);
        for (codec, index) in self.array.iter().zip(&self.indices) {
            shape = codec.encoded_shape(&shape).map_err(|error| error.under(&format!("/{index}")))?;
        }
        let pointer = |codec: usize| self.indices.get(codec).map_or_else(String::new, |index| format!("/{index}"));
        let to_bytes = self.array.len();
        self.to_bytes.check(&shape).map_err(|error| error.under(&pointer(to_bytes)))?;
        let mut size = self.to_bytes.encoded_size(&shape);
        for (codec, at) in self.bytes.iter().zip(to_bytes.saturating_add(1)..) {
            codec.check(size).map_err(|error| error.under(&pointer(at)))?;
            size = codec.encoded_size(size);
        }
        Ok(())
    }
}
