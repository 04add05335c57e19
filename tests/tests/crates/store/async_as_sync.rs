use std::sync::Arc;
use zarr_store::*;
use zarr_store::{MemoryStore, SyncAsAsync, testing};

#[test]
fn keeps_the_contract() {
    testing::contract(&AsyncAsSync::new(Arc::new(SyncAsAsync::new(Arc::new(MemoryStore::new())))));
}
