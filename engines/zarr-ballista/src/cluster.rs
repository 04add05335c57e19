//! Configurations of the processes of a cluster, which share one codec.

use ballista::prelude::SessionContextExt;
use ballista_core::config::TaskSchedulingPolicy;
use ballista_core::extension::SessionConfigExt;
use ballista_core::serde::{BallistaLogicalExtensionCodec, BallistaPhysicalExtensionCodec};
use ballista_executor::executor_process::ExecutorProcessConfig;
use ballista_scheduler::config::SchedulerConfig;
use datafusion::error::Result;
use datafusion::execution::SessionStateBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};
use std::sync::Arc;
use zarr_datafusion::ZarrCodec;

/// Makes the codec of all processes: tables of Zarr beside what Ballista has.
fn codec() -> Arc<ZarrCodec> {
    let logical = BallistaLogicalExtensionCodec::default();
    let physical = BallistaPhysicalExtensionCodec::default();
    Arc::new(ZarrCodec::new(Arc::new(logical), Arc::new(physical)))
}

/// Returns the configuration of a scheduler that knows tables of Zarr. Executors ask it for tasks, so that nothing connects to them but
/// what reads their results.
pub fn scheduler_config() -> SchedulerConfig {
    SchedulerConfig {
        scheduling_policy: TaskSchedulingPolicy::PullStaged,
        override_logical_codec: Some(codec()),
        override_physical_codec: Some(codec()),
        ..SchedulerConfig::default()
    }
}

/// Returns the configuration of an executor that knows tables of Zarr.
pub fn executor_config() -> ExecutorProcessConfig {
    ExecutorProcessConfig {
        task_scheduling_policy: TaskSchedulingPolicy::PullStaged,
        override_logical_codec: Some(codec()),
        override_physical_codec: Some(codec()),
        ..ExecutorProcessConfig::default()
    }
}

/// Connects to the scheduler at `HOST:PORT`, whose queries divide a table into at most `partitions` parts.
///
/// # Errors
/// An address without a host. A scheduler that does not answer is an error of the first query.
pub async fn connect(scheduler: &str, partitions: usize) -> Result<SessionContext> {
    let config = SessionConfig::new_with_ballista()
        .with_target_partitions(partitions)
        .with_ballista_logical_extension_codec(codec())
        .with_ballista_physical_extension_codec(codec());
    let state = SessionStateBuilder::new().with_config(config).with_default_features().build();
    SessionContext::remote_with_state(&format!("df://{scheduler}"), state).await
}
