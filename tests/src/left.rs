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
    left("v2", "objects", "/categorize", "numcodecs.categorize"),
    left("v2", "objects", "/json2", "numcodecs.json2"),
    left("v2", "objects", "/msgpack2", "numcodecs.msgpack2"),
    left("v2", "objects", "/ragged_f8", "vlen-array"),
    left("v2", "objects", "/ragged_i4", "vlen-array"),
    left("v2", "old_240_objects", "/json", "numcodecs.json"),
];
