//! Measurements, and the goal of each: how much faster than the best peer this library should be.

/// Measurement: an operation on an array.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measurement {
    /// Name of the array.
    pub(super) case: &'static str,
    /// Name of the operation; after a colon, the name of its list of boxes.
    pub(super) operation: &'static str,
    /// Least time of the best peer divided by the time of this library; `None` without a goal.
    pub(super) goal: Option<f64>,
}

impl Measurement {
    pub(super) fn name(&self) -> String {
        format!("{}:{}", self.case, self.operation)
    }

    /// Returns the name of the operation without its boxes, and the name of the list of boxes.
    pub(super) fn parts(&self) -> (&'static str, Option<&'static str>) {
        self.operation.split_once(':').map_or((self.operation, None), |(operation, boxes)| (operation, Some(boxes)))
    }

    /// Returns the name of the raw data that a write takes.
    pub(super) fn raw(&self) -> &'static str {
        match self.case {
            "D" | "E" | "G" | "JT" | "JB" => "u16_mid",
            "F" | "R" | "Q" => "f32_mid",
            "Z" => "f32_sparse",
            "I" | "IS" => "u16_tiny",
            kind if is_of_type(kind) => kind,
            _ => "u16_big",
        }
    }
}

/// Returns whether a case tests a data type: such cases have data of their own, and are the only ones with names in lower case.
pub(super) fn is_of_type(case: &str) -> bool {
    case.starts_with(|first: char| first.is_ascii_lowercase())
}

/// Returns whether a case is a data set.
pub(super) fn is_of_datasets(case: &str) -> bool {
    case.starts_with('D') && case.len() > 1
}

const fn goal(case: &'static str, operation: &'static str, goal: f64) -> Measurement {
    Measurement { case, operation, goal: Some(goal) }
}

const fn free(case: &'static str, operation: &'static str) -> Measurement {
    Measurement { case, operation, goal: None }
}

/// All measurements.
pub(super) const MEASUREMENTS: &[Measurement] = &[
    goal("A", "read_into", 3.5),
    goal("A2", "read_into", 1.3),
    goal("B", "read_into", 2.0),
    goal("C", "read_into", 4.0),
    goal("D", "read_into", 1.3),
    // With libdeflate, which is a default.
    goal("E", "read_into", 1.5),
    goal("F", "read_into", 1.6),
    goal("G", "read_into", 1.8),
    goal("I", "read_into", 1.8),
    goal("IS", "read_into", 8.0),
    goal("JT", "read_into", 8.0),
    goal("JB", "read_into", 3.5),
    goal("A", "read", 2.5),
    goal("B", "read", 1.5),
    goal("C", "read", 2.5),
    free("A", "mem_read"),
    free("B", "mem_read"),
    free("C", "mem_read"),
    goal("C", "rand:row", 1.3),
    goal("C", "rand:cube", 1.4),
    goal("C", "rand_cached:row", 2.0),
    goal("C", "rand_cached:cube", 2.0),
    goal("A", "write", 1.2),
    goal("B", "write", 1.2),
    goal("C", "write", 1.4),
    goal("D", "write", 1.0),
    goal("E", "write", 2.0),
    goal("F", "write", 1.1),
    goal("G", "write", 1.1),
    goal("I", "write", 1.3),
    free("A", "roundtrip"),
    free("B", "roundtrip"),
    free("C", "roundtrip"),
    goal("KB", "partial_write:kb", 1.3),
    goal("KS", "partial_write:ks", 1.0),
    goal("P", "write_points", 1.2),
    goal("P", "write_mask", 1.2),
    goal("PS", "write_points", 3.0),
    goal("PS", "write_mask", 3.0),
    free("R", "write"),
    free("Q", "write"),
    free("Z", "write"),
    free("S", "write"),
    goal("L", "list", 2.0),
    goal("LC", "list", 4.0),
    goal("O", "append", 1.3),
    free("OR", "append_rows"),
    goal("bool", "read_into", 1.0),
    goal("int8", "read_into", 1.0),
    goal("float16", "read_into", 1.0),
    goal("complex64", "read_into", 1.0),
    goal("datetime", "read_into", 1.0),
    goal("fixed_text", "read_into", 1.0),
    goal("struct", "read_into", 1.0),
    goal("bool_packed", "read_into", 1.0),
    goal("uint4", "read_into", 1.0),
    goal("text", "read", 1.0),
    goal("bytes", "read", 1.0),
    goal("vcf", "read_all", 1.0),
    goal("anndata", "read_all", 1.0),
    goal("bool", "write", 1.0),
    free("int8", "write"),
    free("float16", "write"),
    free("complex64", "write"),
    free("datetime", "write"),
    free("fixed_text", "write"),
    free("struct", "write"),
    free("bool_packed", "write"),
    free("uint4", "write"),
    goal("DC", "ds_open", 10.0),
    goal("DW", "ds_open", 10.0),
    goal("DZ", "ds_read", 2.0),
    goal("DR", "ds_read", 2.0),
    free("DZ", "ds_stored"),
    free("DR", "ds_stored"),
    free("text", "write"),
    free("bytes", "write"),
];
