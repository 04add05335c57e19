//! Errors of data sets as errors of DataFusion.

use datafusion::error::DataFusionError;

/// Converts an error of a data set, whose text says where it happened.
pub(crate) fn fault(error: zarr::Error) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}

/// Converts the error of a task on a thread that waits.
pub(crate) fn join(error: tokio::task::JoinError) -> DataFusionError {
    DataFusionError::ExecutionJoin(Box::new(error))
}
