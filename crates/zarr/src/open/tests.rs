use super::*;
use crate::ErrorKind;
use crate::store::{MemoryStore, SyncAsAsync, block_on};
use zarr_store::StoreExt;

#[test]
fn stores_that_do_not_block_have_the_same_builder() {
    let blocking: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let waiting: Arc<dyn AsyncStore> = Arc::new(SyncAsAsync::new(Arc::clone(&blocking)));
    let new = NewArray::new(&[4], "int32").chunks(&[2]).dialect(Dialect::V2);
    let created = block_on(create((&waiting, "/g/a")).array(new)).unwrap();
    block_on(created.write(.., &[1, 2, 3, 4])).unwrap();
    assert_eq!(open((&blocking, "/g/a")).array().unwrap().read::<i32>(..).unwrap(), [1, 2, 3, 4]);

    let cache = ChunkCache::new(1 << 20);
    let builder = open((&waiting, "/g/a")).cache(&cache).strict(true).dialect(Dialect::V2);
    let array = block_on(builder.clone().array()).unwrap();
    assert_eq!(block_on(array.read::<i32>(1..3)).unwrap(), [2, 3]);
    assert!(cache.bytes() > 0);
    assert_eq!(block_on(builder.found()).unwrap().path.to_string(), "/g/a");
    assert!(block_on(open(&waiting).found()).unwrap().node.as_array().is_none());
    let group = block_on(open((&waiting, "/g")).group()).unwrap();
    assert_eq!(block_on(block_on(group.array("a")).unwrap().read::<i32>(0)).unwrap(), [1]);
    let made = block_on(create((&waiting, "/h")).group(NewGroup::default().attribute("k", 1))).unwrap();
    assert_eq!((made.dialect(), made.attribute("k").unwrap()), (Dialect::V2, Some(1)));
    let error = block_on(open((&waiting, "/g/a")).group()).unwrap_err();
    assert!(error.to_string().contains("/g/a: ") && error.to_string().contains("found an array"), "{error}");

    let error = block_on(open((&waiting, "/g/a")).dialect(Dialect::V3).array()).unwrap_err();
    assert!(error.is_not_found() && error.to_string().contains("/g/a"), "{error}");
    let empty = Arc::new(Registry::default());
    let error = block_on(open((&waiting, "/g/a")).registry(&empty).array()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UnknownExtension, "{error}");
    let error = block_on(open((&waiting, "/g")).array()).unwrap_err();
    assert!(error.to_string().contains("/g: ") && error.to_string().contains("found a group"), "{error}");
}

/// Spawns a future as a server does: the future must be `Send`.
#[test]
fn futures_of_opening_and_creating_are_send() {
    async fn first(store: Arc<dyn AsyncStore>) -> Result<Vec<i8>> {
        create((&store, "/a")).array(NewArray::new(&[2], "int8")).await?;
        open((&store, "/a")).found().await?;
        let address = "memory:";
        create(address).array_async(NewArray::new(&[2], "int8")).await?;
        create(address).group_async(NewGroup::default()).await?;
        assert!(
            open((address, "/a")).array_async().await.is_err() && open((address, "/a")).group_async().await.is_err()
        );
        open((&store, "/a")).array().await?.read(0..1).await
    }
    fn boxed<T>(future: impl Future<Output = T> + Send + 'static) -> std::pin::Pin<Box<dyn Future<Output = T> + Send>> {
        Box::pin(future)
    }
    let store: Arc<dyn AsyncStore> = Arc::new(SyncAsAsync::new(Arc::new(MemoryStore::new())));
    assert_eq!(block_on(boxed(first(store))).unwrap(), [0]);
}

#[test]
fn addresses_are_opened_without_blocking() {
    let directory = tempfile::tempdir().unwrap();
    let address = directory.path().join("x.zarr").display().to_string();
    block_on(create(&address).group_async(NewGroup::default())).unwrap();
    let new = NewArray::new(&[4], "int32").chunks(&[2]);
    let array = block_on(create(format!("{address}/a")).array_async(new)).unwrap();
    block_on(array.write(.., &[1, 2, 3, 4])).unwrap();

    let cache = ChunkCache::new(1 << 20);
    let array = block_on(open((address.as_str(), "/a")).cache(&cache).strict(true).array_async()).unwrap();
    assert_eq!(block_on(array.read::<i32>(1..3)).unwrap(), [2, 3]);
    assert!(cache.bytes() > 0);
    let group = block_on(open(&address).group_async()).unwrap();
    assert_eq!(block_on(block_on(group.array("a")).unwrap().read::<i32>(3)).unwrap(), [4]);
    // A store that is open is taken as well.
    let store = crate::store::open(&address).unwrap();
    assert_eq!(block_on(open((&store, "/a")).array_async()).unwrap().shape(), [4]);

    let missing = block_on(open(format!("{address}/b")).array_async()).unwrap_err();
    assert!(missing.is_not_found() && missing.to_string().contains("/b"), "{missing}");
    let refused = block_on(open(&address).store_option("colour", "red").group_async()).unwrap_err();
    assert_eq!(refused.to_string(), open(&address).store_option("colour", "red").group().unwrap_err().to_string());
}

#[test]
fn options_are_checked_before_a_node_is_opened() {
    use crate::store::{Key, SetOptions};
    let blocking: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let document = br#"{"zarr_format": 3, "node_type": "group", "attributes": {"a": NaN}}"#;
    blocking.set(&Key::new("g/zarr.json").unwrap(), document, &SetOptions::default()).unwrap();
    let waiting: Arc<dyn AsyncStore> = Arc::new(SyncAsAsync::new(Arc::clone(&blocking)));
    let refused = open((&blocking, "/g")).strict(true).group().unwrap_err().to_string();
    assert!(refused.starts_with("memory:: /g: ") && refused.contains("refused by strict reading"), "{refused}");
    let error = block_on(open((&waiting, "/g")).strict(true).found()).unwrap_err();
    assert_eq!(error.to_string(), refused);
    block_on(open((&waiting, "/g")).found()).unwrap();
}
