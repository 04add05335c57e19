//! What all connections of a server share: the store, who may read it, and how much is under way.

use crate::access::Access;
use crate::fault::Fault;
use crate::nodes::Nodes;
use crate::options::ServeLimits;
use hyper::StatusCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::Semaphore;
use zarr_store::Store;

/// What all connections of a server share.
pub(crate) struct Shared {
    pub(crate) access: Access,
    nodes: Arc<Nodes>,
    gets: Arc<Semaphore>,
    computations: Arc<Semaphore>,
    /// How many questions wait, and how many may.
    waiting: AtomicUsize,
    may_wait: usize,
}

impl Shared {
    pub(crate) fn new(access: Access, nodes: Nodes, limits: &ServeLimits) -> Self {
        Self {
            access,
            nodes: Arc::new(nodes),
            gets: Arc::new(Semaphore::new(limits.gets.max(1))),
            computations: Arc::new(Semaphore::new(limits.computations.max(1))),
            waiting: AtomicUsize::new(0),
            may_wait: limits.waiting,
        }
    }

    /// Does work on the store that blocks for a short time: one get.
    pub(crate) async fn get<T: Send + 'static>(
        &self,
        work: impl FnOnce(&dyn Store) -> T + Send + 'static,
    ) -> Result<T, Fault> {
        let nodes = Arc::clone(&self.nodes);
        on_thread(Arc::clone(&self.gets), move || work(&*nodes.store)).await
    }

    /// Does work that reads and computes, unless too much of it waits already.
    pub(crate) async fn compute<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Nodes) -> T + Send + 'static,
    ) -> Result<T, Fault> {
        let _place = Place::take(&self.waiting, self.may_wait)?;
        let nodes = Arc::clone(&self.nodes);
        on_thread(Arc::clone(&self.computations), move || work(&nodes)).await
    }
}

/// Runs blocking work once there is a permit for it, which it keeps even if the client goes away: the thread is at work all the same.
async fn on_thread<T: Send + 'static>(
    permits: Arc<Semaphore>,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Fault> {
    let permit = permits.acquire_owned().await.map_err(|_| Fault::internal("the server stops"))?;
    let done = tokio::task::spawn_blocking(move || {
        let _permit = permit;
        work()
    });
    done.await.map_err(|error| Fault::internal(error.to_string()))
}

/// One of the places of those who wait.
struct Place<'s>(&'s AtomicUsize);

impl<'s> Place<'s> {
    fn take(waiting: &'s AtomicUsize, most: usize) -> Result<Self, Fault> {
        let place = Self(waiting);
        if waiting.fetch_add(1, Ordering::AcqRel) >= most {
            return Err(Fault::new(StatusCode::SERVICE_UNAVAILABLE, "limit", "too many requests at the same time"));
        }
        Ok(place)
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}
