//! Clients.

use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::gcp::{GoogleCloudStorage, GoogleCloudStorageBuilder};
use object_store::{BackoffConfig, RetryConfig};
use reqwest::{Client, Response};
use std::time::Duration;
use zarr_testserver::TestServer;

/// The bucket of the tests.
pub(crate) const BUCKET: &str = "data";

/// reqwest has no cryptography of its own.
pub(crate) fn prepare() {
    // An error says that another test has done it.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// Few and quick retries.
fn retries() -> RetryConfig {
    RetryConfig {
        backoff: BackoffConfig {
            init_backoff: Duration::from_millis(1),
            max_backoff: Duration::from_millis(5),
            base: 2.0,
        },
        max_retries: 3,
        retry_timeout: Duration::from_secs(10),
    }
}

pub(crate) fn s3_builder(server: &TestServer) -> AmazonS3Builder {
    prepare();
    AmazonS3Builder::new()
        .with_endpoint(server.url())
        .with_allow_http(true)
        .with_region("us-east-1")
        .with_bucket_name(BUCKET)
        .with_access_key_id("access")
        .with_secret_access_key("secret")
        .with_retry(retries())
}

pub(crate) fn s3(server: &TestServer) -> AmazonS3 {
    s3_builder(server).build().unwrap()
}

pub(crate) fn gcs(server: &TestServer) -> GoogleCloudStorage {
    prepare();
    let account = format!(
        r#"{{"gcs_base_url":"{}","disable_oauth":true,"client_email":"","private_key":"","private_key_id":""}}"#,
        server.url()
    );
    GoogleCloudStorageBuilder::new()
        .with_bucket_name(BUCKET)
        .with_service_account_key(account)
        .with_client_options(object_store::ClientOptions::new().with_allow_http(true))
        .with_retry(retries())
        .build()
        .unwrap()
}

/// A client that follows no redirects.
pub(crate) fn http() -> Client {
    prepare();
    Client::builder().redirect(reqwest::redirect::Policy::none()).no_proxy().build().unwrap()
}

/// `GET` with headers.
pub(crate) async fn get(client: &Client, url: &str, headers: &[(&str, &str)]) -> Response {
    let mut request = client.get(url);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.send().await.unwrap()
}

/// A header of an answer, empty where it is missing.
pub(crate) fn header(response: &Response, name: &str) -> String {
    response.headers().get(name).map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default()
}
