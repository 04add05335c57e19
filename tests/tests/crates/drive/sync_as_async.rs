use std::sync::Arc;
use zarr_drive::{SyncAsAsync, block_on};
use zarr_store::*;

#[test]
fn keeps_the_contract() {
    block_on(testing::contract_async(&SyncAsAsync::new(Arc::new(MemoryStore::new()))));
}
