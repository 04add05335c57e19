//! Zarr checksum codecs: `crc32c`, `crc32`, `adler32`, `fletcher32`, `jenkins_lookup3`.
