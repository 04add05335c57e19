//! The arrays that are measured.

/// An array: its metadata, and where its elements are from.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// The name of the metadata document.
    pub(crate) document: &'static str,
    pub(crate) metadata: String,
    /// The raw data that it holds; only the beginning, if it is smaller; `None`: it is empty at first.
    pub(crate) raw: Option<&'static str>,
}

/// Shapes of the raw data.
pub(crate) struct Sizes {
    /// Shape of `u16_big`: 1 GiB.
    pub(crate) big: [u64; 3],
    /// Shape of `u16_mid`: 256 MiB.
    pub(crate) mid: [u64; 3],
    /// Shape of `f32_mid`: 256 MiB.
    pub(crate) float: [u64; 3],
    /// Shape of `u16_tiny`: 102,400 chunks of a kibibyte.
    pub(crate) tiny: [u64; 2],
    /// Shape of the arrays for partial writes, the beginning of `u16_big`.
    pub(crate) partial: [u64; 3],
    /// Shape of the arrays for writes of single elements, the beginning of `f32_mid`.
    pub(crate) plane: [u64; 2],
    /// Shape of all of `f32_mid` along two axes, and of `f32_sparse`.
    pub(crate) sheet: [u64; 2],
}

impl Sizes {
    pub(crate) fn new(small: bool) -> Self {
        if small {
            let (mid, partial) = ([128, 256, 512], [256, 256, 256]);
            let (float, tiny) = ([128, 256, 256], [1280, 2560]);
            return Self { big: [256, 512, 512], mid, float, tiny, partial, plane: [2048; 2], sheet: [2048, 4096] };
        }
        let (mid, partial) = ([256, 512, 1024], [256, 512, 512]);
        let (float, tiny) = ([256, 512, 512], [5120, 10240]);
        Self { big: [512, 1024, 1024], mid, float, tiny, partial, plane: [4096; 2], sheet: [8192; 2] }
    }
}

pub(crate) const LITTLE: &str = r#"{"name":"bytes","configuration":{"endian":"little"}}"#;
const BIG: &str = r#"{"name":"bytes","configuration":{"endian":"big"}}"#;
pub(crate) const ZSTD: &str = r#"{"name":"zstd","configuration":{"level":3,"checksum":false}}"#;
const GZIP: &str = r#"{"name":"gzip","configuration":{"level":5}}"#;
const CRC: &str = r#"{"name":"crc32c"}"#;
const TURN: &str = r#"{"name":"transpose","configuration":{"order":[2,1,0]}}"#;
const BLOSC: &str = r#"{"name":"blosc","configuration":{"cname":"blosclz","clevel":9,"shuffle":"bitshuffle","typesize":2,"blocksize":0}}"#;

/// All arrays.
pub(crate) fn cases(sizes: &Sizes) -> Vec<Case> {
    let cube = [128; 3];
    let wide: [u64; 3] = [256, 256, 256];
    let fit = |shape: [u64; 3]| [0, 1, 2].map(|axis| wide[axis].min(shape[axis]));
    let (big, mid, tiny, partial) = (sizes.big, sizes.mid, sizes.tiny, sizes.partial);
    let blosc = format!("{LITTLE},{BLOSC}");
    let zstd = format!("{LITTLE},{ZSTD}");
    let v3 = |name, shape: &[u64], chunk: &[u64], codecs: &str, raw| Case {
        name,
        document: "zarr.json",
        metadata: array(shape, chunk, codecs, ""),
        raw,
    };
    let (u16_big, u16_mid, u16_tiny) = (Some("u16_big"), Some("u16_mid"), Some("u16_tiny"));
    vec![
        v3("A", &big, &cube, LITTLE, u16_big),
        v3("A2", &big, &[1, big[1], big[2]], LITTLE, u16_big),
        v3("B", &big, &cube, &blosc, u16_big),
        v3("C", &big, &fit(big), &shard(&[32; 3], &blosc), u16_big),
        v3("D", &mid, &cube, &zstd, u16_mid),
        v3("E", &mid, &cube, &format!("{LITTLE},{GZIP}"), u16_mid),
        Case { name: "F", document: ".zarray", metadata: version_2(&sizes.float), raw: Some("f32_mid") },
        v3("G", &mid, &fit(mid), &shard(&[32; 3], &format!("{zstd},{CRC}")), u16_mid),
        v3("I", &tiny, &[16, 32], LITTLE, u16_tiny),
        v3("IS", &tiny, &tiny, &shard(&[16, 32], LITTLE), u16_tiny),
        v3("JT", &mid, &cube, &format!("{TURN},{LITTLE}"), u16_mid),
        v3("JB", &mid, &cube, BIG, u16_mid),
        v3("KB", &partial, &cube, &blosc, u16_big),
        v3("KS", &partial, &fit(partial), &shard(&[32; 3], &blosc), u16_big),
        plane("P", &sizes.plane, &[256; 2], LITTLE),
        plane("PS", &sizes.plane, &[2048; 2], &shard(&[256; 2], LITTLE)),
        Case { raw: None, ..plane("R", &[sizes.sheet.iter().product()], &[2048], LITTLE) },
        Case { raw: None, ..plane("Q", &sizes.sheet, &[599, 613], LITTLE) },
        Case { raw: None, ..plane("Z", &sizes.sheet, &[256; 2], LITTLE) },
        v3("S", &big, &big, &shard(&[64, 64, 128], &zstd), None),
        v3("O", &[0, 512, 512], &[16, 256, 256], LITTLE, None),
        v3("OR", &[0, 4096], &[100, 4096], &zstd, None),
    ]
}

/// An array of float32 in Zarr v3.
fn plane(name: &'static str, shape: &[u64], chunk: &[u64], codecs: &str) -> Case {
    let metadata = array_of("float32", shape, chunk, codecs, "");
    Case { name, document: "zarr.json", metadata, raw: Some("f32_mid") }
}

/// An array of uint16 in Zarr v3.
fn array(shape: &[u64], chunk: &[u64], codecs: &str, more: &str) -> String {
    array_of("uint16", shape, chunk, codecs, more)
}

fn array_of(data_type: &str, shape: &[u64], chunk: &[u64], codecs: &str, more: &str) -> String {
    format!(
        r#"{{"zarr_format":3,"node_type":"array","shape":{shape:?},"data_type":"{data_type}","fill_value":0,
"chunk_grid":{{"name":"regular","configuration":{{"chunk_shape":{chunk:?}}}}},
"chunk_key_encoding":{{"name":"default","configuration":{{"separator":"/"}}}},"codecs":[{codecs}]{more}}}"#
    )
}

/// The array that a hierarchy has many of.
pub(crate) fn listed_array() -> String {
    let attributes = r#""attributes":{"units":"K","long_name":"temperature","scale":0.1}"#;
    let more = format!(r#",{attributes},"dimension_names":["t","y","x"]"#);
    array(&[64; 3], &[32; 3], &format!("{LITTLE},{ZSTD}"), &more)
}

pub(crate) fn shard(chunk: &[u64], codecs: &str) -> String {
    format!(
        r#"{{"name":"sharding_indexed","configuration":{{"chunk_shape":{chunk:?},"codecs":[{codecs}],
"index_codecs":[{LITTLE},{CRC}],"index_location":"end"}}}}"#
    )
}

fn version_2(shape: &[u64]) -> String {
    format!(
        r#"{{"zarr_format":2,"shape":{shape:?},"chunks":[64,128,128],"dtype":"<f4","order":"C","fill_value":0.0,
"compressor":{{"id":"blosc","cname":"lz4","clevel":5,"shuffle":1,"blocksize":0}},"filters":null,"dimension_separator":"."}}"#
    )
}
