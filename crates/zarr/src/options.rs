//! How arrays are read and written: [`Options`] and the types that its methods take; the [`Plan`] of a read; a [`Writer`] and an
//! [`Appender`].

pub use zarr_array::{
    Appender, AsyncAppender, AsyncWriter, Checksums, ChunkCache, MissingChunks, MissingReport, Options, Plan,
    PlannedRequest, Writer,
};
pub use zarr_codec::Limits;
