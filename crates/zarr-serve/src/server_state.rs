//! State that all connections of a server share: store, access rules, concurrent work and memory.

use crate::access_policy::AccessPolicy;
use crate::answer_memory::AnswerMemory;
use crate::nodes::Nodes;
use crate::options::ServeLimits;
use crate::request_error::RequestError;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use zarr_store::Store;

/// State that all connections of a server share.
pub(crate) struct ServerState {
    pub(crate) access: AccessPolicy,
    pub(crate) held: AnswerMemory,
    nodes: Arc<Nodes>,
    gets: Arc<Semaphore>,
    computations: Arc<Semaphore>,
    /// Permits for questions, both those being answered and those waiting.
    questions: Arc<Semaphore>,
}

impl ServerState {
    pub(crate) fn new(access: AccessPolicy, nodes: Nodes, limits: &ServeLimits) -> Self {
        let computations = limits.computations.max(1);
        let questions = computations.saturating_add(limits.waiting).min(Semaphore::MAX_PERMITS);
        Self {
            access,
            held: AnswerMemory::new(limits.held_bytes, limits.connections, limits.stall_time),
            nodes: Arc::new(nodes),
            gets: Arc::new(Semaphore::new(limits.gets.max(1))),
            computations: Arc::new(Semaphore::new(computations)),
            questions: Arc::new(Semaphore::new(questions)),
        }
    }

    /// Runs blocking work of one get of the store on another thread.
    pub(crate) async fn get<T: Send + 'static>(
        &self,
        work: impl FnOnce(&dyn Store) -> T + Send + 'static,
    ) -> Result<T, RequestError> {
        let nodes = Arc::clone(&self.nodes);
        let permit = acquired(&self.gets).await?;
        on_thread(permit, move || work(&*nodes.store)).await.map(|(result, _)| result)
    }

    /// Runs work that reads and computes on another thread, unless too many requests wait already. The returned permit keeps other work
    /// waiting until it is dropped, which limits the memory for results.
    pub(crate) async fn compute<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Nodes) -> T + Send + 'static,
    ) -> Result<(T, WorkPermit), RequestError> {
        let question = Arc::clone(&self.questions)
            .try_acquire_owned()
            .map_err(|_| RequestError::busy("too many requests at the same time"))?;
        let computation = acquired(&self.computations).await?;
        let nodes = Arc::clone(&self.nodes);
        on_thread(WorkPermit { _question: question, _computation: computation }, move || work(&nodes)).await
    }
}

/// Permission to work on a question.
pub(crate) struct WorkPermit {
    _question: OwnedSemaphorePermit,
    _computation: OwnedSemaphorePermit,
}

async fn acquired(permits: &Arc<Semaphore>) -> Result<OwnedSemaphorePermit, RequestError> {
    Arc::clone(permits).acquire_owned().await.map_err(|_| RequestError::internal("the server stops"))
}

/// Runs blocking work on another thread. The work keeps its permits even if the client disconnects, since the thread goes on.
async fn on_thread<T: Send + 'static, P: Send + 'static>(
    permits: P,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<(T, P), RequestError> {
    let done = tokio::task::spawn_blocking(move || (work(), permits));
    done.await.map_err(|error| RequestError::internal(error.to_string()))
}
