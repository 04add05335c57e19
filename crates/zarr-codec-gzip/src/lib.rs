//! Zarr codecs `gzip` and `zlib`.
