//! Building a chain of codecs from metadata.

use super::Pipeline;
use crate::{BuildContext, Codec, Codecs, Config, ElementSpec, Error, Limits, Warnings};
use zarr_meta::NamedConfig;

impl Pipeline {
    /// Builds the chain that `codecs` describe, in front of elements of type `element`, which codecs see as they are
    /// [`stored`](ElementSpec::stored).
    ///
    /// What is odd but no error (unknown members of a configuration, an unknown codec that may be ignored) is told to
    /// `warnings`, with a JSON pointer from the list of codecs in front.
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
        if nesting > limits.max_nesting {
            let what = format!("codecs nest deeper than {} levels", limits.max_nesting);
            return Err(Error::Metadata { pointer: String::new(), what });
        }
        let mut array = Vec::new();
        let mut to_bytes = None;
        let mut bytes = Vec::new();
        let mut names = Vec::new();
        let mut places = Vec::new();
        let mut current = element.stored();
        for (place, codec) in codecs.iter().enumerate() {
            let pointer = || format!("/{place}");
            let misplaced =
                |what: &str| Error::Metadata { pointer: pointer(), what: format!("codec {:?} {what}", codec.name) };
            let Some(entry) = table.get(&codec.name) else {
                if !codec.must_understand {
                    warnings.add(format!("/{place}: unknown codec {:?} is ignored, as it says it may be", codec.name));
                    continue;
                }
                let hint = table.hint(&codec.name).map(str::to_owned);
                return Err(Error::Unknown { pointer: pointer(), name: codec.name.clone(), hint });
            };
            let config = Config::new(&codec.configuration);
            let context = BuildContext {
                name: &codec.name,
                config: &config,
                element: &current,
                codecs: table,
                limits,
                nesting,
                warnings,
            };
            let built = (entry.build)(&context).map_err(|error| error.under(&pointer()))?;
            for member in config.unread() {
                warnings.add(format!("/{place}/configuration/{member}: unknown member, ignored"));
            }
            names.push(codec.name.clone());
            if !matches!(built, Codec::BytesToBytes(_)) {
                places.push(place);
            }
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
        Ok(Self { element: element.clone(), array, to_bytes, bytes, names, places, limits: limits.clone() })
    }
}
