use std::sync::Arc;
use zarr_drive::{AsyncAsSync, SyncAsAsync};
use zarr_store::*;

#[test]
fn keeps_the_contract() {
    testing::contract(&AsyncAsSync::new(Arc::new(SyncAsAsync::new(Arc::new(MemoryStore::new())))));
}
