//! Zarr codecs `vlen-utf8` and `vlen-bytes`: elements of variable length.
