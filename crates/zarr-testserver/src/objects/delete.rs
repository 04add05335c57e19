//! Removal of objects and buckets.

use super::Call;
use super::condition::Condition;
use crate::faults::FaultKind;
use crate::reply::{Refusal, Reply};
use crate::xml::{Xml, contents, text};
use http::StatusCode;

/// Answers `DELETE` of an object. A missing object is an error in Google Cloud Storage, but not in S3.
pub(super) fn one(call: &Call<'_>) -> Result<Reply, Refusal> {
    let condition = Condition::of(call)?;
    let key = &call.request.key;
    call.with(|contents| {
        condition.check(contents, key)?;
        match contents.objects.remove(key) {
            None if call.api == super::Api::Gcs => Err(Refusal::no_such_key(key)),
            _ => Ok(Reply::new(StatusCode::NO_CONTENT)),
        }
    })
}

/// Answers `DELETE` of a bucket.
pub(super) fn bucket(call: &Call<'_>) -> Result<Reply, Refusal> {
    let mut values = call.shared.values();
    if !call.contents(&mut values)?.objects.is_empty() {
        return Err(Refusal::new(409, "BucketNotEmpty", "The bucket you tried to delete is not empty"));
    }
    values.buckets.remove(&call.request.bucket);
    Ok(Reply::new(StatusCode::NO_CONTENT))
}

/// Answers `POST /bucket?delete`: removes several objects.
pub(super) fn several(call: &Call<'_>) -> Result<Reply, Refusal> {
    /// Greatest number of objects in a request, as in S3.
    const MOST: usize = 1000;
    let malformed = || Refusal::new(400, "MalformedXML", "The XML you provided was not well-formed");
    let document = std::str::from_utf8(&call.body).map_err(|_| malformed())?;
    let objects = contents(document, "Object").ok_or_else(malformed)?;
    let keys: Vec<_> = objects.iter().map(|object| text(object, "Key")).collect::<Option<_>>().ok_or_else(malformed)?;
    if keys.is_empty() || keys.len() > MOST {
        return Err(malformed());
    }
    let is_quiet = text(document, "Quiet").is_some_and(|text| text.trim() == "true");
    let (left, code) = match call.fault {
        Some(FaultKind::Leave { count, code }) => (keys.len().min(*count), code.as_str()),
        _ => (0, ""),
    };
    let (left, keys) = keys.split_at(left);
    call.with(|contents| {
        for key in keys {
            contents.objects.remove(key);
        }
        Ok(Reply::xml(Xml::document("DeleteResult", |xml| {
            for key in keys.iter().filter(|_| !is_quiet) {
                xml.inside("Deleted", "", |xml| xml.text("Key", key));
            }
            for key in left {
                xml.inside("Error", "", |xml| {
                    xml.text("Key", key);
                    xml.text("Code", code);
                    xml.text("Message", "It was left.");
                });
            }
        })))
    })
}
