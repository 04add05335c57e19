//! What this build cannot read, by name.

/// An array, or a case that must be refused, that needs what this build lacks.
#[derive(Clone, Copy, Debug)]
pub struct Left {
    /// The archive.
    pub archive: &'static str,
    /// The case.
    pub case: &'static str,
    /// The array.
    pub path: &'static str,
    /// The codec or data type that is lacking.
    pub lacks: &'static str,
}

/// The codec or data type that an array lacks.
pub(crate) fn lacks(archive: &str, case: &str, path: &str) -> Option<&'static str> {
    let found = LEFT.iter().find(|left| (left.archive, left.case, left.path) == (archive, case, path));
    found.map(|left| left.lacks)
}

const fn left(archive: &'static str, case: &'static str, path: &'static str, lacks: &'static str) -> Left {
    Left { archive, case, path, lacks }
}

/// Everything that is left. What stands here must be refused as an unknown extension; what does not must pass.
pub const LEFT: &[Left] = &[
    left("bad-v2", "v2_json2_garbage", "/a", "numcodecs.json2"),
    left("v2", "compressors", "/bz2", "numcodecs.bz2"),
    left("v2", "compressors", "/lzma_alone", "numcodecs.lzma"),
    left("v2", "compressors", "/lzma_raw", "numcodecs.lzma"),
    left("v2", "compressors", "/lzma_xz", "numcodecs.lzma"),
    left("v2", "compressors", "/lzma_xz_crc32", "numcodecs.lzma"),
    left("v2", "compressors", "/shuffle_as_compressor", "numcodecs.shuffle"),
    left("v2", "filters", "/astype", "numcodecs.astype"),
    left("v2", "filters", "/base64", "numcodecs.base64"),
    left("v2", "filters", "/bitround", "numcodecs.bitround"),
    left("v2", "filters", "/delta", "numcodecs.delta"),
    left("v2", "filters", "/delta_astype", "numcodecs.delta"),
    left("v2", "filters", "/delta_be_2d_F", "numcodecs.delta"),
    left("v2", "filters", "/delta_float", "numcodecs.delta"),
    left("v2", "filters", "/fixedscaleoffset", "numcodecs.fixedscaleoffset"),
    left("v2", "filters", "/fixedscaleoffset_f4", "numcodecs.fixedscaleoffset"),
    left("v2", "filters", "/packbits", "numcodecs.packbits"),
    left("v2", "filters", "/quantize", "numcodecs.quantize"),
    left("v2", "filters", "/shuffle_zlib", "numcodecs.shuffle"),
    left("v2", "filters", "/three", "numcodecs.delta"),
    left("v2", "gdal_v2", "/delta", "numcodecs.delta"),
    left("v2", "gdal_v2", "/g/lzma", "numcodecs.lzma"),
    left("v2", "handmade_codec_defaults", "/d", "numcodecs.delta"),
    left("v2", "handmade_codec_defaults", "/sh", "numcodecs.shuffle"),
    left("v2", "objects", "/categorize", "numcodecs.categorize"),
    left("v2", "objects", "/json2", "numcodecs.json2"),
    left("v2", "objects", "/msgpack2", "numcodecs.msgpack2"),
    left("v2", "objects", "/ragged_f8", "vlen-array"),
    left("v2", "objects", "/ragged_i4", "vlen-array"),
    left("v2", "old_201", "/g/bz2_F", "numcodecs.bz2"),
    left("v2", "old_201", "/g/delta", "numcodecs.delta"),
    left("v2", "old_240_objects", "/json", "numcodecs.json"),
    left("v2", "order_f", "/f_struct", "struct"),
    left("v2", "structs", "/filled", "struct"),
    left("v2", "structs", "/nested", "struct"),
    left("v2", "structs", "/padded", "struct"),
    left("v2", "structs", "/simple", "struct"),
    left("v2", "structs", "/subarray_fields", "struct"),
    left("v2", "structs", "/timed", "struct"),
    left("v2", "tensorstore_v2", "/null", "numcodecs.bz2"),
    left("v2", "zarr3_writes_v2", "/g/delta", "numcodecs.delta"),
    left("v2", "zfp_pcodec", "/pco_f8", "numcodecs.pcodec"),
    left("v2", "zfp_pcodec", "/pco_i4", "numcodecs.pcodec"),
    left("v2", "zfp_pcodec", "/pco_u8", "numcodecs.pcodec"),
    left("v2", "zfp_pcodec", "/zfp_accuracy", "numcodecs.zfpy"),
    left("v2", "zfp_pcodec", "/zfp_int", "numcodecs.zfpy"),
    left("v2", "zfp_pcodec", "/zfp_precision_3d", "numcodecs.zfpy"),
    left("v2", "zfp_pcodec", "/zfp_rate", "numcodecs.zfpy"),
    left("v2", "zfp_pcodec", "/zfp_reversible", "numcodecs.zfpy"),
    left("v3", "cast_scale", "/cast", "cast_value"),
    left("v3", "cast_scale", "/cast_clamp", "cast_value"),
    left("v3", "cast_scale", "/scale", "scale_offset"),
    left("v3", "cast_scale", "/scale_cast", "scale_offset"),
    left("v3", "numcodecs", "/astype", "numcodecs.astype"),
    left("v3", "numcodecs", "/bitround", "numcodecs.bitround"),
    left("v3", "numcodecs", "/bz2", "numcodecs.bz2"),
    left("v3", "numcodecs", "/delta", "numcodecs.delta"),
    left("v3", "numcodecs", "/fixedscaleoffset", "numcodecs.fixedscaleoffset"),
    left("v3", "numcodecs", "/lzma", "numcodecs.lzma"),
    left("v3", "numcodecs", "/packbits", "numcodecs.packbits"),
    left("v3", "numcodecs", "/pcodec", "numcodecs.pcodec"),
    left("v3", "numcodecs", "/quantize", "numcodecs.quantize"),
    left("v3", "numcodecs", "/shuffle", "numcodecs.shuffle"),
    left("v3", "numcodecs", "/zfpy", "numcodecs.zfpy"),
    left("v3", "struct", "/big", "struct"),
    left("v3", "struct", "/nested", "struct"),
    left("v3", "struct", "/simple", "struct"),
    left("v3", "struct", "/time", "struct"),
    left("v3", "types_fixed", "/structured", "struct"),
];
