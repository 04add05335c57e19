//! Codec `blosc` for use in arrays.

use crate::encode::compress_from;
use crate::error::CODEC;
use crate::frame::{HEADER_SIZE, Shuffle};
use crate::{Compressor, Error, Frame, Options, compress};
use std::ops::RangeInclusive;
use std::sync::Arc;
use zarr_codec::{
    Blocks, BuildContext, BytesToBytes, CodecEntry, CodecValue, Protection, Sink, Size, Source, add_missing,
    slice_methods,
};
use zarr_json::{Map, Value};

/// Entry of the codec `blosc`, with its names in other dialects.
pub const BLOSC: CodecEntry = CodecEntry::bytes_to_bytes("blosc", |context| Ok(Arc::new(Blosc::from_config(context)?)))
    .id("blosc")
    .aliases(&["numcodecs.blosc"])
    .arguments(&[
        ("cname", Some("\"lz4\"")),
        ("clevel", Some("5")),
        ("shuffle", Some("\"shuffle\"")),
        ("blocksize", Some("0")),
    ])
    .complete_with(|codec, data_type| {
        let type_size = if data_type.is_variable() { 1 } else { data_type.item_size() };
        let shuffle = if data_type.item_size() == 1 { "bitshuffle" } else { "shuffle" };
        add_missing(codec, [("cname", "zstd".into()), ("clevel", 5.into()), ("shuffle", shuffle.into())]);
        add_missing(codec, [("typesize", type_size.into()), ("blocksize", 0.into())]);
    });

/// Entry of the codec of this crate for the table of codecs.
pub const CODECS: &[CodecEntry] = &[BLOSC];

/// Codec `blosc`: a compressor, its level, and a shuffle of the bytes. Decoding needs no configuration, since frames contain all
/// parameters.
///
/// ```
/// use zarr_codec_blosc::Blosc;
///
/// let numbers: Vec<u8> = (0..5000_u32).flat_map(u32::to_le_bytes).collect();
/// let codec = Blosc::zstd().level(5)?.bitshuffle().type_size(4)?;
/// let encoded = codec.encode(&numbers)?;
/// assert_eq!(codec.decode(&encoded, 20_000)?, numbers);
/// # Ok::<(), zarr_codec::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blosc {
    /// Options of compression. Their element size is 1 if the codec has none.
    options: Options,
    /// Configured element size in bytes; `None` for that of the array.
    type_size: Option<usize>,
}

impl Blosc {
    /// Creates the codec with this compressor, at level 5, with byte shuffle.
    pub fn new(compressor: Compressor) -> Self {
        Self { options: Options { compressor, type_size: 1, ..Options::default() }, type_size: None }
    }

    /// Creates the codec with LZ4.
    pub fn lz4() -> Self {
        Self::new(Compressor::Lz4)
    }

    /// Creates the codec with LZ4 HC, which is slower than LZ4 and makes smaller chunks.
    pub fn lz4hc() -> Self {
        Self::new(Compressor::Lz4hc)
    }

    /// Creates the codec with BloscLZ.
    pub fn blosclz() -> Self {
        Self::new(Compressor::Blosclz)
    }

    /// Creates the codec with Snappy.
    pub fn snappy() -> Self {
        Self::new(Compressor::Snappy)
    }

    /// Creates the codec with zlib.
    pub fn zlib() -> Self {
        Self::new(Compressor::Zlib)
    }

    /// Creates the codec with Zstandard.
    pub fn zstd() -> Self {
        Self::new(Compressor::Zstd)
    }

    /// Sets the compression level, 0 (no compression) to 9.
    ///
    /// # Errors
    /// [`Error::Argument`](zarr_codec::Error::Argument) for another level.
    pub fn level(self, level: u8) -> Result<Self, zarr_codec::Error> {
        let level = BLOSC.in_range("clevel", level, LEVELS)?;
        Ok(Self { options: Options { level, ..self.options }, ..self })
    }

    /// Sets byte shuffle (the default): bytes are regrouped by their position in the element.
    #[must_use]
    pub fn shuffle(self) -> Self {
        self.shuffled(Shuffle::Bytes)
    }

    /// Sets bit shuffle: bits are regrouped by their position in the element.
    #[must_use]
    pub fn bitshuffle(self) -> Self {
        self.shuffled(Shuffle::Bits)
    }

    /// Disables the shuffle: bytes are compressed in their order.
    #[must_use]
    pub fn no_shuffle(self) -> Self {
        self.shuffled(Shuffle::None)
    }

    fn shuffled(self, shuffle: Shuffle) -> Self {
        Self { options: Options { shuffle, ..self.options }, ..self }
    }

    /// Sets the element size in bytes. The default is that of the array's elements, or 1 without an array.
    ///
    /// # Errors
    /// [`Error::Argument`](zarr_codec::Error::Argument) for 0, and for 2 GiB or more.
    pub fn type_size(self, size: usize) -> Result<Self, zarr_codec::Error> {
        let type_size = BLOSC.in_range("typesize", size, 1..=MAX_SIZE)?;
        Ok(Self { options: Options { type_size, ..self.options }, type_size: Some(type_size) })
    }

    /// Sets the block size in bytes. 0, the default, leaves it to the heuristics of c-blosc.
    ///
    /// # Errors
    /// [`Error::Argument`](zarr_codec::Error::Argument) for 2 GiB or more.
    pub fn block_size(self, size: usize) -> Result<Self, zarr_codec::Error> {
        let block_size = BLOSC.in_range("blocksize", size, 0..=MAX_SIZE)?;
        Ok(Self { options: Options { block_size, ..self.options }, ..self })
    }
}

impl CodecValue for Blosc {
    const ENTRY: CodecEntry = BLOSC;

    /// Reads the configuration. Missing and invalid members get the defaults of numcodecs, since only encoding needs them.
    fn from_config(context: &BuildContext<'_>) -> Result<Self, zarr_codec::Error> {
        let config = context.config;
        // The bytes that reach the codec are no row of elements where these vary in length.
        let item_size = if context.element.is_variable() { 1 } else { context.element.item_size() };
        let found = config.integer("typesize", 1..=MAX_SIZE);
        let is_given = matches!(found, Ok(Some(_)));
        let type_size = config.or_default("typesize", found, item_size.max(1));
        let name = config.text("cname").and_then(|name| match name {
            Some(name) if Compressor::from_name(name).is_none() => {
                let names = Compressor::ALL.map(Compressor::name).join(", ");
                Err(config.error("cname", format!("expected one of {names}, found {name:?}")))
            }
            name => Ok(name),
        });
        let compressor = Compressor::from_name(config.or_default("cname", name, "lz4")).unwrap_or(Compressor::Lz4);
        let level = config.or_default("clevel", config.integer("clevel", LEVELS), 5);
        let block_size = config.or_default("blocksize", config.integer("blocksize", 0..=MAX_SIZE), 0);
        let shuffle = shuffle(context, type_size);
        let options = Options { compressor, level, shuffle, type_size, block_size };
        Ok(Self { options, type_size: is_given.then_some(type_size) })
    }

    fn to_config(&self) -> Map {
        let Options { compressor, level, shuffle, block_size, .. } = self.options;
        let shuffle = match shuffle {
            Shuffle::None => "noshuffle",
            Shuffle::Bytes => "shuffle",
            Shuffle::Bits => "bitshuffle",
        };
        Map::from_some([
            ("cname", Some(compressor.name().into())),
            ("clevel", Some(level.into())),
            ("shuffle", Some(shuffle.into())),
            ("blocksize", Some(block_size.into())),
            ("typesize", self.type_size.map(Into::into)),
        ])
    }
}

slice_methods!(Blosc);

/// Valid compression levels.
const LEVELS: RangeInclusive<u8> = 0..=9;

/// Maximum size that a frame can record.
const MAX_SIZE: usize = i32::MAX as usize;

/// Returns the configured shuffle. `true` and `false` come from `Blosc(shuffle=True)` in numcodecs.
fn shuffle(context: &BuildContext<'_>, type_size: usize) -> Shuffle {
    let config = context.config;
    let has_numbers = context.name.starts_with("numcodecs.");
    let named = |number: u8, name: &str| if has_numbers { Value::from(number) } else { Value::from(name) };
    let found = config.value("shuffle");
    if let Some(truth) = found.and_then(Value::as_bool) {
        let becomes = if truth { named(1, "shuffle") } else { named(0, "noshuffle") };
        config.read_as("shuffle", format!("{truth}, read as {becomes}"), becomes);
        return if truth { Shuffle::Bytes } else { Shuffle::None };
    }
    let expected = r#""noshuffle", "shuffle", "bitshuffle" or -1..2"#;
    let setting = match found.filter(|value| known(value, type_size).is_none()) {
        Some(value) => Err(config.unexpected("shuffle", expected, value)),
        None => Ok(found.cloned()),
    };
    let value = config.or_default("shuffle", setting, named(1, "shuffle"));
    known(&value, type_size).unwrap_or(Shuffle::Bytes)
}

/// Returns the shuffle for a name of version 3 or a number of numcodecs. -1 is bit shuffle for elements of one byte, else byte shuffle.
fn known(value: &Value, type_size: usize) -> Option<Shuffle> {
    match (value.as_str(), value.as_i64()) {
        (Some("noshuffle"), _) | (_, Some(0)) => Some(Shuffle::None),
        (Some("shuffle"), _) | (_, Some(1)) => Some(Shuffle::Bytes),
        (Some("bitshuffle"), _) | (_, Some(2)) => Some(Shuffle::Bits),
        (_, Some(-1)) => Some(if type_size == 1 { Shuffle::Bits } else { Shuffle::Bytes }),
        _ => None,
    }
}

/// Parses the frame at the start of a chunk. Bytes after it are ignored, as in c-blosc: z5 and z5py wrote 16 bytes more than the frame
/// until April 2021.
fn frame(chunk: &[u8]) -> Result<Frame<'_>, Error> {
    let size = chunk.get(12..HEADER_SIZE).and_then(|size| size.try_into().ok()).map(u32::from_le_bytes);
    let size = size.map_or(chunk.len(), |size| size as usize);
    Frame::parse(chunk.get(..size.max(HEADER_SIZE)).unwrap_or(chunk))
}

impl BytesToBytes for Blosc {
    fn name(&self) -> &'static str {
        CODEC
    }

    fn protection(&self, encoded: Option<&[u8]>) -> Protection {
        // Of bytes that are stored as they are, only the header has a form.
        let is_plain = encoded.and_then(|bytes| frame(bytes).ok()).is_some_and(|frame| frame.as_plain().is_some());
        if is_plain { Protection::None } else { Protection::Form }
    }

    fn encoded_size(&self, decoded: Size) -> Size {
        decoded.at_most(|size| size.checked_add(HEADER_SIZE as u64))
    }

    fn encode(&self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), zarr_codec::Error> {
        Ok(compress(bytes, &self.options, out)?)
    }

    fn encode_from(&self, source: &dyn Source, out: &mut Vec<u8>) -> Result<(), zarr_codec::Error> {
        Ok(compress_from(source, &self.options, out)?)
    }

    fn decode(&self, bytes: &[u8], out: &mut Sink<'_>) -> Result<(), zarr_codec::Error> {
        let frame = frame(bytes)?;
        let found = frame.header().decoded_size();
        match out.expected() {
            Some(expected) if expected != found => Err(Error::DecodedSize { found, expected }.into()),
            None if found > out.bound() => {
                let (found, expected) = (found as u64, out.bound() as u64);
                Err(zarr_codec::Error::TooLong { codec: CODEC, found, expected })
            }
            // The header's check has seen that this many bytes can come of these.
            _ => Ok(frame.decode(out.buffer(found)?)?),
        }
    }

    fn decode_in_place<'b>(&self, bytes: &'b [u8]) -> Option<Result<&'b [u8], zarr_codec::Error>> {
        frame(bytes).ok().and_then(|frame| frame.as_plain()).map(Ok)
    }

    fn blocks<'b>(&self, bytes: &'b [u8]) -> Option<Box<dyn Blocks + 'b>> {
        let frame = frame(bytes).ok()?;
        (frame.header().block_count() > 1).then(|| Box::new(frame) as Box<dyn Blocks>)
    }
}

impl Blocks for Frame<'_> {
    fn decoded_size(&self) -> usize {
        self.header().decoded_size()
    }

    fn block_size(&self) -> usize {
        self.header().block_size()
    }

    fn decode(&self, number: usize, out: &mut [u8]) -> Result<(), zarr_codec::Error> {
        Ok(self.decode_block(number, out)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zarr_codec::testing::{build, bytes_to_bytes, corrupt, decode_bytes, element, round_trip, samples};

    fn built(configuration: &str, data_type: &str) -> String {
        match build(&BLOSC, configuration, &element(data_type)) {
            Ok(codec) => format!("{codec:?}"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn keeps_the_contract_of_codecs() {
        for compressor in Compressor::ALL {
            for (shuffle, data_type) in [("noshuffle", "uint8"), ("shuffle", "float32"), ("bitshuffle", "int16")] {
                let name = compressor.name();
                let configuration =
                    format!(r#"{{"cname": "{name}", "clevel": 5, "shuffle": "{shuffle}", "blocksize": 0}}"#);
                let element = element(data_type);
                let codec = bytes_to_bytes(&BLOSC, &configuration, &element);
                round_trip(&*codec, &samples(element.item_size()));
                corrupt(&*codec, &samples(element.item_size()), false);
            }
        }
    }

    /// Writers such as z5 store bytes after a frame.
    #[test]
    fn bytes_behind_a_frame_are_ignored() {
        for shuffle in ["noshuffle", "shuffle"] {
            let codec = bytes_to_bytes(&BLOSC, &format!(r#"{{"shuffle": "{shuffle}"}}"#), &element("int32"));
            for bytes in [&b"0123456789abcdef"[..], &[7; 4096]] {
                let mut chunk = Vec::new();
                codec.encode(bytes, &mut chunk).unwrap();
                for size in [Size::Exact(bytes.len() as u64), Size::Unknown] {
                    for more in [1, 16] {
                        let padded = [&chunk[..], &vec![0xee; more]].concat();
                        assert_eq!(decode_bytes(&*codec, &padded, size).unwrap(), bytes);
                    }
                    assert!(decode_bytes(&*codec, &chunk[..chunk.len() - 1], size).is_err());
                }
            }
        }
    }

    #[test]
    fn reads_both_spellings_of_the_configuration() {
        // What it encodes by, without whether the size of an element was given.
        let encoding = |configuration: &str, data_type: &str| {
            let built = built(configuration, data_type);
            built.rsplit_once("}, type_size: ").expect("a codec").0.to_owned()
        };
        let v3 = r#"{"typesize": 4, "cname": "zstd", "clevel": 3, "shuffle": "bitshuffle", "blocksize": 1000}"#;
        let v2 = r#"{"cname": "zstd", "clevel": 3, "shuffle": 2, "blocksize": 1000}"#;
        assert_eq!(encoding(v3, "uint8"), encoding(v2, "float32"));
        for (number, name) in [(-1, "shuffle"), (0, "noshuffle"), (1, "shuffle"), (2, "bitshuffle")] {
            let by = |value: &str| encoding(&format!(r#"{{"shuffle": {value}}}"#), "float64");
            assert_eq!(by(&number.to_string()), by(&format!("{name:?}")));
        }
        assert_eq!(encoding(r#"{"shuffle": -1}"#, "uint8"), encoding(r#"{"shuffle": 2, "typesize": 1}"#, "float64"));
        assert_eq!(
            encoding("{}", "float32"),
            encoding(r#"{"cname": "lz4", "clevel": 5, "shuffle": 1, "typesize": 4}"#, "bool")
        );
        assert_eq!(encoding(r#"{"typesize": null}"#, "string"), encoding(r#"{"typesize": 1}"#, "float32"));
    }

    #[test]
    fn wrong_members_are_named() {
        for (configuration, due) in [
            (
                r#"{"cname": "lzma"}"#,
                "/configuration/cname: expected one of blosclz, lz4, lz4hc, snappy, zlib, zstd, found \"lzma\"",
            ),
            (r#"{"clevel": 10}"#, "/configuration/clevel: expected an integer 0..9, found 10"),
            (r#"{"shuffle": "bits"}"#, "/configuration/shuffle: expected"),
            (r#"{"shuffle": 3}"#, "/configuration/shuffle: expected"),
            (r#"{"typesize": 0}"#, "/configuration/typesize: expected"),
            (r#"{"blocksize": -1}"#, "/configuration/blocksize: expected"),
        ] {
            let found = built(configuration, "float32");
            assert!(found.starts_with(due), "{found}");
        }
    }

    #[test]
    fn memory_is_not_claimed_by_a_header() {
        // A frame of 40 bytes that says that it holds 2 GB in one block.
        let mut frame = vec![2, 1, 0x90, 1];
        frame.extend(2_000_000_000u32.to_le_bytes());
        frame.extend(700_000_000u32.to_le_bytes());
        frame.extend(40u32.to_le_bytes());
        frame.resize(40, 0);
        let codec = bytes_to_bytes(&BLOSC, "{}", &element("uint8"));
        let error = decode_bytes(&*codec, &frame, Size::Unknown).unwrap_err();
        assert!(error.to_string().contains("more than zstd can"), "{error}");
    }
}
