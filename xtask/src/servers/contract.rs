//! Contract of stores, `zarr::store::testing`, on servers.

use super::exchange::Outcome;
use super::process::status;
use super::services::{Kind, Service};
use std::fs;
use zarr::store::{
    AsyncStore, AsyncStoreExt, BucketStore, ByteRange, Bytes, Copied, GetOptions, Key, Precondition, SetOptions,
    block_on, testing,
};
use zarr_tests::processes::partial_writes_in;

/// Keys, some of which are encoded in URLs, with their values.
const VALUES: [(&str, &[u8]); 8] = [
    ("zarr.json", b"{}"),
    ("a/.zarray", b"{\"zarr_format\": 2}"),
    ("a/0.0", &counted::<100_000>()),
    ("a/c/0/0", b""),
    ("a/c/0/1", b"0123456789"),
    ("x", b"y"),
    ("a b/\u{e4}/%20+#?&=", b"special"),
    ("c:d/e;f", b"more"),
];

/// Number of bytes of a value that is uploaded in several parts, if the service supports parts.
const STREAMED: usize = (20 << 20) + 12_345;
/// Number of bytes before these, which are written last, like the index at the start of a shard.
const HEAD: usize = 70_001;
/// Number of bytes of a piece.
const PIECE: usize = 3 << 20;

/// Returns bytes that do not repeat at distances below their number.
const fn counted<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    let mut index = 0;
    while index < N {
        bytes[index] = (index * index / 7 % 251) as u8;
        index += 1;
    }
    bytes
}

/// Checks the contract of a store on a server. Returns a description of the checks. Panics if a store breaks the contract.
pub(super) fn check(service: &Service) -> Result<String, String> {
    if service.kind == Kind::Http {
        return files(service);
    }
    let in_store = |error: zarr::store::Error| error.to_string();
    let (address, options) = (service.address("contract/deep/er \u{e4}"), service.options());
    let blocking = zarr::store::create_with(&address, &options).map_err(in_store)?;
    testing::contract(&*blocking);
    let store = BucketStore::open(&address, options.pairs()).map_err(in_store)?;
    block_on(testing::contract_async(&store));
    copies(&store, &address, service)?;
    streamed(&store)?;
    Ok("blocking and not, copies by the service, values set piece by piece".to_owned())
}

/// Sets values piece by piece, the bytes at their beginning last.
fn streamed(store: &BucketStore) -> Result<(), String> {
    let failed = |error: zarr::store::Error| format!("{store}: a value in pieces: {error}");
    let differs = |what: &str| Err(format!("{store}: a value in pieces: {what}"));
    let key = Key::new("streamed/c/0").map_err(failed)?;
    let value = |seed: u32| -> Vec<u8> {
        let words = (seed..).take(STREAMED.div_ceil(4));
        words.flat_map(|word| word.wrapping_mul(0x9e37_79b9).to_le_bytes()).take(STREAMED).collect()
    };
    let begin = async |value: &[u8], when: Precondition| {
        let stream = store.begin_set(&key, HEAD as u64, &SetOptions::when(when)).await?;
        for piece in value.get(HEAD..).unwrap_or_default().chunks(PIECE) {
            store.append_to_set(&key, &stream, vec![Bytes::copy_from_slice(piece)]).await?;
        }
        Ok::<_, zarr::store::Error>(stream)
    };
    let head = |value: &[u8]| Bytes::copy_from_slice(value.get(..HEAD).unwrap_or_default());
    block_on(async {
        let first = value(1);
        let stream = begin(&first, Precondition::None).await.map_err(failed)?;
        if store.get_all(&key).await.map_err(failed)?.is_some() {
            return differs("it is there before its end");
        }
        let version = store.finish_set(&key, &stream, head(&first)).await.map_err(failed)?;
        let found = store.get(&key, &[ByteRange::Full], &GetOptions::default()).await.map_err(failed)?;
        let Some(found) = found.filter(|found| *found.part(0) == *first) else {
            return differs("the bytes are others");
        };
        if version.is_none() || version != found.version {
            return differs(&format!("it has version {:?}, and was set as {version:?}", found.version));
        }
        // Write on a condition, and on one that no longer holds.
        let second = value(2);
        let before = version.map_or(Precondition::None, Precondition::Version);
        let stream = begin(&second, before.clone()).await.map_err(failed)?;
        store.finish_set(&key, &stream, head(&second)).await.map_err(failed)?;
        let stream = begin(&first, before).await.map_err(failed)?;
        match store.finish_set(&key, &stream, head(&first)).await {
            Err(error) if error.is_precondition() => {}
            other => return differs(&format!("a set of an older version: {other:?}")),
        }
        // Begin an upload that is not finished.
        drop(begin(&first, Precondition::None).await.map_err(failed)?);
        if store.get_all(&key).await.map_err(failed)?.as_deref() != Some(&*second) {
            return differs("the second value is not there");
        }
        store.erase(&key).await.map_err(failed)
    })
}

/// Copies values within the bucket, by requests to the service.
fn copies(store: &BucketStore, address: &str, service: &Service) -> Result<(), String> {
    let failed = |error: zarr::store::Error| format!("{address}: {error}");
    let target = BucketStore::open(&service.address("copied/\u{e4} b"), service.options().pairs()).map_err(failed)?;
    for (name, value) in VALUES {
        let key = Key::new(name).map_err(failed)?;
        block_on(store.set_all(&key, value.into())).map_err(failed)?;
        let source = store.copy_source(&key).ok_or("a store without copies")?;
        let (copied, found) = block_on(async {
            let copied = target.copy(&source, &key).await?;
            Ok::<_, zarr::store::Error>((copied, target.get_all(&key).await?))
        })
        .map_err(failed)?;
        if copied != Copied::Done || found.as_deref() != Some(value) {
            return Err(format!("{target}: {name} is not copied: {copied:?}"));
        }
    }
    Ok(())
}

/// Writes parts of one chunk from several processes, `each` parts each, and checks that none is lost.
pub(super) fn writes(service: &Service, each: u64) -> Result<Outcome, String> {
    let options = service.options();
    let tally = partial_writes_in(&service.address("written.zarr"), options.pairs(), each);
    let tally = tally.map_err(|error| format!("{}: {error}", service.name))?;
    let differences = if tally.faults() == 0 { Vec::new() } else { vec![tally.to_string()] };
    Ok(Outcome { arrays: 1, differences, ..Outcome::default() })
}

/// Reads files on a server that supports ranges, or on one that does not, by the name of the service.
fn files(service: &Service) -> Result<String, String> {
    let folder = service.root.join("contract");
    for (name, value) in VALUES {
        let path = folder.join(name);
        let in_file = |error: std::io::Error| format!("{}: {error}", path.display());
        fs::create_dir_all(path.parent().unwrap_or(&folder)).map_err(in_file)?;
        fs::write(&path, value).map_err(in_file)?;
    }
    let answer = status(service.port, "/contract/a/0.0", "Range: bytes=10-19\r\n");
    let answer = answer.map_err(|error| format!("{}: {error}", service.endpoint))?;
    let expected = if service.name == "nginx" { 206 } else { 200 };
    if answer != expected {
        return Err(format!("{}: status {answer} of a range, expected {expected}", service.name));
    }
    let store =
        zarr::store::open_with(&service.address("contract"), &service.options()).map_err(|error| error.to_string())?;
    testing::contract_read(&*store, &VALUES);
    testing::contract_read_only(&*store);
    Ok(format!("{} files read; ranges are answered with {answer}", VALUES.len()))
}
