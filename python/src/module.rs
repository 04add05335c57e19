//! Module that Python imports.

use pyo3::prelude::*;

/// Handles of arrays and groups. `_core.pyi` describes their methods.
// The module needs the interpreter's lock: it creates views of memory, opens stores again and searches for pools while no other thread of
// Python runs.
#[pymodule(gil_used = true)]
mod _core {
    #[pymodule_export]
    use crate::advise::advise;
    #[pymodule_export]
    use crate::array::ArrayHandle;
    #[pymodule_export]
    use crate::cache::Cache;
    #[pymodule_export]
    use crate::codec_kinds::codec_kinds;
    #[pymodule_export]
    use crate::command::command;
    #[pymodule_export]
    use crate::convert::convert;
    #[pymodule_export]
    use crate::dataset::{DatasetHandle, create_dataset, open_dataset};
    #[pymodule_export]
    use crate::group::GroupHandle;
    #[pymodule_export]
    use crate::group::open;
    #[pymodule_export]
    use crate::interrupt::Interrupt;
    #[pymodule_export]
    use crate::manifest::{check_manifest, manifest};
    #[pymodule_export]
    use crate::new_node::{create_array, create_group};
    #[pymodule_export]
    use crate::ome::{image_attributes, ome_to_version};
    #[pymodule_export]
    use crate::pyramid::pyramid;
    #[pymodule_export]
    use crate::python_store::Answer;
    #[pymodule_export]
    use crate::reads::{Reads, ReadsEnd};
    #[pymodule_export]
    use crate::table::{BatchesHandle, TableBatch, TableHandle, table};
    #[pymodule_export]
    use crate::virtualize::virtualize;
    #[pymodule_export]
    #[allow(non_upper_case_globals, reason = "the name that Python has for it")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
    #[pymodule_export]
    use crate::pipeline::{Batch, Codecs, Leftovers, MemoryValues, OpenedStore, Requests};
}
