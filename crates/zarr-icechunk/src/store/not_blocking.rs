//! Form of the store of a snapshot that does not block.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use zarr_store::{AccessProfile, Answer, AsyncStore, Asynchronous, BoxFuture, Call, Capabilities, Result, sleep};

use super::Inner;
use zarr_store_virtual::lookup::Way;

#[derive(Debug)]
pub(super) struct NotBlocking(pub(super) Arc<Inner>);

impl fmt::Display for NotBlocking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.name)
    }
}

impl AsyncStore for NotBlocking {
    fn call<'a>(&'a self, call: Call<'a>) -> BoxFuture<'a, Result<Answer>> {
        Box::pin(self.0.answer(Way::NotBlocking, Asynchronous(self), call))
    }

    fn capabilities(&self) -> Capabilities {
        Inner::CAPABILITIES
    }

    fn access_profile(&self) -> AccessProfile {
        self.0
            .below
            .not_blocking()
            .map_or_else(|| self.0.below.store().access_profile(), |store| store.access_profile())
    }

    fn pause(&self, duration: Duration) -> BoxFuture<'_, ()> {
        match self.0.below.not_blocking() {
            Some(store) => store.pause(duration),
            None => Box::pin(sleep(duration)),
        }
    }

    fn take_warnings(&self) -> Vec<String> {
        self.0.below.store().take_warnings()
    }
}
