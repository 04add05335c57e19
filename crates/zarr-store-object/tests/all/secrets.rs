//! No text of a store shows a secret.

use std::error::Error as _;
use std::time::Duration;

use zarr_drive::block_on;
use zarr_store::{AsyncStore, AsyncStoreExt, Error, GetOptions, Prefix};
use zarr_store_object::BucketStore;
use zarr_testserver::{Bucket, Fault, FaultKind, TestServer};

use crate::contract::key;

const SENTINEL: &str = "SENTINEL0123456789";

/// A key of an account, in base64.
const KEY: (&str, &str) = ("account_key", "U0VOVElORUw=");

fn texts(error: &Error) -> String {
    let mut text = format!("{error} {error:?}");
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(&format!(" {cause} {cause:?}"));
        source = cause.source();
    }
    text
}

fn check(store: &BucketStore, secret: &str) {
    let shown = format!("{store} {store:?} {:?}", store.capabilities());
    assert!(!shown.contains(secret), "{shown}");
    let key = key("a");
    let options = GetOptions::default();
    let errors = [
        block_on(store.get(&key, &[], &options)).map(drop).err(),
        block_on(store.set_all(&key, "1".into())).map(drop).err(),
        block_on(store.erase(&key)).err(),
        block_on(store.list_prefix(&Prefix::root())).map(drop).err(),
        block_on(store.list_dir(&Prefix::root())).map(drop).err(),
        block_on(store.erase_prefix(&Prefix::root())).err(),
    ];
    for error in errors.iter().flatten() {
        assert!(!texts(error).contains(secret), "{}", texts(error));
    }
}

#[test]
fn no_text_shows_a_secret() {
    let server =
        TestServer::builder().credentials("id", "another").bucket("gcs", Bucket::gcs()).start().expect("a server");
    let refused = |status, secret: &str| {
        let body = format!("<Error><Code>Odd</Code><Message>you sent {secret}</Message></Error>");
        FaultKind::Status { status, headers: Vec::new(), body: body.into() }
    };
    let endpoint = server.url();
    let fast = [("deadline", "1"), ("retries", "1"), ("timeout", "1")];
    let closed = ("endpoint", "http://127.0.0.1:1");
    let (s3_secret, sas) = (("secret_access_key", SENTINEL), format!("sv=2020&sig={SENTINEL}%3D"));
    let service = format!(
        "{{\"private_key\":\"{SENTINEL}\",\"private_key_id\":\"{SENTINEL}\",\"client_email\":\"a\",\"disable_oauth\":true}}"
    );
    for address in [("endpoint", endpoint.as_str()), closed] {
        let stores = [
            ("s3://data", vec![("access_key_id", "id"), s3_secret, ("session_token", SENTINEL), address]),
            ("gs://gcs", vec![("bearer_token", SENTINEL), address]),
            ("gs://gcs", vec![("service_account_key", service.as_str()), address]),
            ("az://data", vec![("account_name", "me"), KEY, address]),
            ("az://data", vec![("account_name", "me"), ("sas_token", sas.as_str()), address]),
        ];
        for (url, options) in stores {
            let secret = if options.contains(&KEY) { KEY.1 } else { SENTINEL };
            let options: Vec<(String, String)> =
                options.iter().chain(&fast).map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
            let store = match BucketStore::open(url, &options) {
                Ok(store) => store,
                Err(error) => {
                    assert!(!texts(&error).contains("SENTINEL"), "{}", texts(&error));
                    continue;
                }
            };
            for kind in [
                refused(403, secret),
                refused(500, secret),
                refused(400, secret),
                FaultKind::Html,
                FaultKind::DropBefore,
                FaultKind::Truncate(1),
            ] {
                server.clear_faults();
                server.fault(Fault::new(kind).always());
                check(&store, secret);
                if address == closed {
                    break;
                }
            }
        }
    }
    // The server never saw it either, but in headers.
    server.clear_faults();
    server.set_latency(Duration::ZERO);
    assert!(!server.log().iter().any(|request| request.path.contains("SENTINEL")));
}
