//! Access rights of requests.

use super::{Api, Call, signature};
use crate::reply::Refusal;
use crate::shared::Settings;
use http::Method;

/// Returns an error if the sender of the request has no right to its operation.
pub(super) fn check(call: &Call<'_>, settings: &Settings) -> Result<(), Refusal> {
    let request = call.request;
    let options = call.shared.values().buckets.get(&request.bucket).map(|contents| contents.options);
    let options = options.unwrap_or_default();
    if let Some(credentials) = settings.credentials.as_ref().filter(|_| call.api == Api::S3) {
        let reads = request.method == Method::GET || request.method == Method::HEAD;
        match request.header("authorization") {
            Some(header) => signature::check(request, header, credentials)?,
            None if options.is_public && reads => (),
            None => return Err(Refusal::denied("Access Denied")),
        }
    }
    let pays = match call.api {
        Api::S3 => request.header("x-amz-request-payer") == Some("requester"),
        Api::Gcs => request.header("x-goog-user-project").or(request.parameter("userProject")).is_some(),
    };
    if options.requester_pays && !pays {
        return Err(Refusal::denied("Access Denied: the requester pays"));
    }
    Ok(())
}
