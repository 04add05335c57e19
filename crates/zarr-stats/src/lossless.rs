//! Codecs that change no number.

use zarr_json::NamedConfig;

/// Codecs from which floating-point numbers come back bit by bit, whatever their configuration is, without the names of the software that
/// they are of.
const LOSSLESS: [&str; 24] = [
    "adler32",
    "base64",
    "blosc",
    "bytes",
    "bz2",
    "crc32",
    "crc32c",
    "endian",
    "fletcher32",
    "gzip",
    "jenkins_lookup3",
    "lz4",
    "lzma",
    "pcodec",
    "pco",
    "reshape",
    "shuffle",
    "snappy",
    "squeeze",
    "transpose",
    "xz",
    "zlib",
    "zstandard",
    "zstd",
];

/// Returns whether floating-point numbers come back from a codec bit by bit, whatever its configuration is. False for codecs that may change
/// numbers, such as `bitround` and `zfp`, for those with codecs of their own, and for all that are not known here.
pub fn keeps_numbers(codec: &NamedConfig) -> bool {
    let name = codec.name.strip_prefix("numcodecs.").or_else(|| codec.name.strip_prefix("zarrs."));
    LOSSLESS.contains(&name.unwrap_or(&codec.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codecs_that_are_not_known_may_change_numbers() {
        for name in ["bytes", "numcodecs.zlib", "zstd", "zarrs.squeeze", "numcodecs.pcodec"] {
            assert!(keeps_numbers(&NamedConfig::new(name)), "{name}");
        }
        let zfp = "https://codec.zarrs.dev/array_to_bytes/zfp";
        for name in ["numcodecs.bitround", "zfp", zfp, "optional", "sharding_indexed", "packbits", "delta", "unknown"] {
            assert!(!keeps_numbers(&NamedConfig::new(name)), "{name}");
        }
    }
}
