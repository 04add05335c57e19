//! Reads of objects.

use super::{Api, Call};
use crate::read::read;
use crate::reply::{Refusal, Reply};
use http::HeaderName;

/// Answers `GET` and `HEAD` of an object.
pub(super) fn get(call: &Call<'_>) -> Result<Reply, Refusal> {
    let request = call.request;
    call.with(|contents| {
        let object = call.object(contents, &request.key)?;
        let is_other = match call.api {
            // Objects are not versioned.
            Api::S3 => request.parameter("versionId").is_some_and(|version| version != "null"),
            Api::Gcs => request.parameter("generation").is_some_and(|text| text.parse() != Ok(object.generation)),
        };
        if is_other {
            return Err(match call.api {
                Api::S3 => Refusal::new(404, "NoSuchVersion", "The version does not exist."),
                Api::Gcs => Refusal::no_such_key(&request.key),
            });
        }
        let mut reply = read(object, request, true)?;
        call.api.describe(&mut reply, object.generation);
        if call.api == Api::Gcs {
            let size = object.value.len().to_string();
            reply.set(HeaderName::from_static("x-goog-stored-content-length"), &size);
        }
        Ok(reply)
    })
}
