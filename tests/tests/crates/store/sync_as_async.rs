use std::sync::Arc;
use zarr_store::*;
use zarr_store::{MemoryStore, block_on, testing};

#[test]
fn keeps_the_contract() {
    block_on(testing::contract_async(&SyncAsAsync::new(Arc::new(MemoryStore::new()))));
}
