//! Codec `conditional`.

use std::sync::Arc;
use zarr_codec::{
    BuildContext, BytesToBytes, CodecEntry, CodecValue, Error, InnerCodecs, IntoTypedCodecs, Protection, Scratch, Sink,
    Size, slice_methods,
};
use zarr_json::Map;

const NAME: &str = "conditional";

/// Entry of the codec `conditional` for the table of codecs.
pub const CONDITIONAL: CodecEntry =
    CodecEntry::bytes_to_bytes("conditional", |context| Ok(Arc::new(Conditional::from_config(context)?)))
        .example(r#"{"codecs": [{"name": "gzip", "configuration": {"level": 1}}, {"name": "crc32c"}]}"#);

/// Entry of the codec of this crate for the table of codecs.
pub const CODECS: &[CodecEntry] = &[CONDITIONAL];

/// Codec `conditional`: bytes-to-bytes codecs, each of which can be skipped for a chunk.
#[derive(Clone, Debug)]
pub struct Conditional {
    inner: InnerCodecs,
    codecs: Vec<Arc<dyn BytesToBytes>>,
    /// Size of the header in bytes.
    header: usize,
    max_chunk: u64,
}

impl PartialEq for Conditional {
    fn eq(&self, other: &Self) -> bool {
        self.to_config() == other.to_config()
    }
}

impl Conditional {
    /// Creates the codec that applies `codecs` to a chunk if they make it shorter.
    ///
    /// # Errors
    /// [`Error::Argument`] unless all are bytes-to-bytes codecs.
    pub fn of(codecs: impl IntoTypedCodecs) -> Result<Self, Error> {
        let inner = InnerCodecs::new(codecs);
        let codec = Self::from_members(&Map::from([("codecs", inner.to_value())]), inner.entries())?;
        Ok(Self { inner, ..codec })
    }

    /// Sets the number of bits of the header.
    ///
    /// # Errors
    /// [`Error::Argument`] unless `bits` is a multiple of 8 up to 2^20, with at least one bit for each codec.
    pub fn header_bits(self, bits: usize) -> Result<Self, Error> {
        CONDITIONAL.in_range("header_bits", bits, 0..=MAX_HEADER)?;
        let header = header(bits, self.codecs.len()).map_err(|what| CONDITIONAL.argument("header_bits", &what))?;
        Ok(Self { header, ..self })
    }
}

/// Maximum number of bits of a header.
const MAX_HEADER: usize = 1 << 20;

/// Returns the size in bytes of a header of `bits` bits, for `codecs` codecs.
fn header(bits: usize, codecs: usize) -> Result<usize, String> {
    if bits.is_multiple_of(8) && bits >= codecs {
        return Ok(bits / 8);
    }
    Err(format!("expected a multiple of 8 from {codecs} on, found {bits}"))
}

impl CodecValue for Conditional {
    const ENTRY: CodecEntry = CONDITIONAL;

    fn from_config(context: &BuildContext<'_>) -> Result<Self, Error> {
        let config = context.config;
        let codecs = context.bytes_chain("codecs")?;
        let header = match config.integer("header_bits", 0..=MAX_HEADER)? {
            None => codecs.len().div_ceil(8),
            Some(bits) => header(bits, codecs.len()).map_err(|what| config.error("header_bits", what))?,
        };
        let inner = InnerCodecs::from_config(context, "codecs")?;
        Ok(Self { inner, codecs, header, max_chunk: context.limits.max_chunk })
    }

    fn to_config(&self) -> Map {
        let mut members = Map::from([("codecs", self.inner.to_value())]);
        if self.header != self.codecs.len().div_ceil(8) {
            members.insert("header_bits", self.header * 8);
        }
        members
    }

    fn inner_entries(&self) -> Vec<CodecEntry> {
        self.inner.entries().to_vec()
    }
}

slice_methods!(Conditional);

impl Conditional {
    /// Returns the codecs whose bits are set in a header.
    fn applied(&self, header: &[u8]) -> Result<Vec<&dyn BytesToBytes>, Error> {
        let bits = header.iter().flat_map(|byte| (0..8).map(move |bit| byte >> bit & 1 == 1));
        let mut codecs = self.codecs.iter();
        let mut applied = Vec::new();
        for is_applied in bits {
            match (is_applied, codecs.next()) {
                (true, Some(codec)) => applied.push(&**codec),
                (true, None) => {
                    let what = format!("a bit beyond the bits of {} codecs is set", self.codecs.len());
                    return Err(Error::Corrupt { codec: NAME, what });
                }
                (false, _) => {}
            }
        }
        Ok(applied)
    }
}

impl BytesToBytes for Conditional {
    fn name(&self) -> &'static str {
        NAME
    }

    fn check(&self, decoded: Size) -> Result<(), Error> {
        // The input of the other codecs depends on the codecs in front that are left out.
        let sizes = std::iter::once(decoded).chain(std::iter::repeat(Size::Unknown));
        for (index, (codec, size)) in self.codecs.iter().zip(sizes).enumerate() {
            codec.check(size).map_err(|error| error.under(&format!("/configuration/codecs/{index}")))?;
        }
        Ok(())
    }

    fn protection(&self, encoded: Option<&[u8]>) -> Protection {
        let header = encoded.and_then(|bytes| bytes.get(..self.header));
        let applied = header.and_then(|header| self.applied(header).ok()).unwrap_or_default();
        applied.into_iter().map(|codec| codec.protection(None)).max().unwrap_or(Protection::None)
    }

    fn encoded_size(&self, _decoded: Size) -> Size {
        Size::Unknown
    }

    fn encode(&self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        let mut encoded = Scratch::empty();
        encoded.extend_from_slice(bytes);
        for codec in &self.codecs {
            let mut next = Scratch::empty();
            codec.encode(&encoded, &mut next)?;
            encoded = next;
        }
        let is_shorter = encoded.len() < bytes.len();
        // The bits of all codecs.
        let header = (0..self.header).map(|byte| match self.codecs.len().saturating_sub(8 * byte) {
            _ if !is_shorter => 0,
            left @ 0..8 => (1 << left) - 1,
            _ => 0xff_u8,
        });
        out.extend(header);
        out.extend_from_slice(if is_shorter { &encoded } else { bytes });
        Ok(())
    }

    fn decode(&self, bytes: &[u8], out: &mut Sink<'_>) -> Result<(), Error> {
        let Some((header, body)) = bytes.split_at_checked(self.header) else {
            let (found, expected) = (bytes.len() as u64, self.header as u64);
            return Err(Error::Truncated { codec: NAME, found, expected });
        };
        let applied = self.applied(header)?;
        let Some((first, others)) = applied.split_first() else { return out.extend(body) };
        // sizes[i]: the decoded size of codec i of the others.
        let whole = out.expected().map_or(Size::AtMost(out.bound() as u64), |size| Size::Exact(size as u64));
        let mut size = first.encoded_size(whole);
        let mut sizes = Vec::new();
        for codec in others {
            sizes.push(size);
            size = codec.encoded_size(size);
        }
        let mut decoded: Option<Scratch> = None;
        for (codec, size) in others.iter().zip(sizes).rev() {
            let mut next = Scratch::take();
            let size = match size {
                Size::AtMost(size) => Size::AtMost(size.min(self.max_chunk)),
                size => size,
            };
            let mut sink = Sink::growing(&mut next, size, self.max_chunk)?.of(codec.name());
            codec.decode(decoded.as_deref().map_or(body, |bytes| bytes), &mut sink)?;
            let len = sink.finish()?;
            next.truncate(len);
            decoded = Some(next);
        }
        first.decode(decoded.as_deref().map_or(body, |bytes| bytes), out)
    }
}
