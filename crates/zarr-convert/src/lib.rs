//! Conversion of Zarr hierarchies and arrays: into another dialect, other chunks, other codecs; copies, moves and migrations.
//!
//! A [`Conversion`] is planned from metadata alone, and can be looked at before it writes anything. A [`Migration`] is one where the
//! hierarchy lies.
//!
//! Names no concrete codec and no rule of a dialect: codecs come in a [`Registry`](zarr_array::Registry), documents are `zarr-meta`'s.

mod conversion;

pub use conversion::{
    Action, Conversion, ConvertOptions, DryRun, IntoFlow, Migration, MigrationState, PlannedNode, Progress, Shards,
    StoredSize, Transfer, finish_move,
};
