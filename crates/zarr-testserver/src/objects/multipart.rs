//! Multipart uploads.

use super::condition::Condition;
use super::put::{decoded, source, store, stored};
use super::{Api, Call};
use crate::range::{Asked, asked};
use crate::reply::{Refusal, Reply};
use crate::time::iso;
use crate::values::{Contents, Payload, Upload, digest};
use crate::xml::{Xml, contents, text};
use bytes::{Bytes, BytesMut};
use http::StatusCode;
use http::header::ETAG;
use std::collections::BTreeMap;
use std::time::SystemTime;

/// Answers `POST ?uploads`: begins an upload.
pub(super) fn create(call: &Call<'_>) -> Result<Reply, Refusal> {
    let request = call.request;
    let mut values = call.shared.values();
    let id = values.next_upload();
    let upload = Upload { key: request.key.clone(), headers: stored(call.api, request), parts: BTreeMap::new() };
    call.contents(&mut values)?.uploads.insert(id.clone(), upload);
    Ok(Reply::xml(Xml::document("InitiateMultipartUploadResult", |xml| {
        xml.text("Bucket", &request.bucket);
        xml.text("Key", &request.key);
        xml.text("UploadId", &id);
    })))
}

/// Returns the upload that a request names.
fn upload<'c>(call: &Call<'_>, contents: &'c mut Contents) -> Result<&'c mut Upload, Refusal> {
    let id = call.request.parameter("uploadId").unwrap_or_default();
    let found = contents.uploads.get_mut(id).filter(|upload| upload.key == call.request.key);
    found.ok_or_else(|| Refusal::new(404, "NoSuchUpload", format!("The upload {id:?} does not exist.")))
}

/// Answers `PUT ?partNumber=N&uploadId=I`: stores a part, from the body or copied from an object.
pub(super) fn part(call: &Call<'_>) -> Result<Reply, Refusal> {
    let number = call.request.parameter("partNumber").and_then(|text| text.parse().ok());
    let number = number.filter(|number| (1..=10_000).contains(number)).ok_or_else(|| {
        Refusal::new(400, "InvalidArgument", "Part number must be an integer between 1 and 10000, inclusive")
    })?;
    let is_copy = call.api.header(call.request, "copy-source").is_some();
    let value = if is_copy { copied(call)? } else { decoded(call)? };
    let etag = format!("\"{}\"", digest(&value));
    call.with(|contents| {
        upload(call, contents)?.parts.insert(number, (value, etag.clone()));
        if is_copy {
            return Ok(Reply::xml(Xml::document("CopyPartResult", |xml| {
                xml.text("ETag", &etag);
                xml.text("LastModified", &iso(SystemTime::now()));
            })));
        }
        Ok(Reply::new(StatusCode::OK).with(ETAG, &etag))
    })
}

/// Returns the bytes of the object, or of a range of it, that the request copies to a part.
fn copied(call: &Call<'_>) -> Result<Bytes, Refusal> {
    let value = source(call)?.value;
    let range = call.api.header(call.request, "copy-source-range");
    match asked(range.as_deref(), value.len()) {
        Asked::Part(range) => Ok(value.slice(range)),
        Asked::Whole if range.is_none() => Ok(value),
        _ => Err(Refusal::new(400, "InvalidArgument", "The range of the copy source is not valid")),
    }
}

/// Answers `DELETE ?uploadId=I`: aborts an upload.
pub(super) fn abort(call: &Call<'_>) -> Result<Reply, Refusal> {
    call.with(|contents| {
        upload(call, contents)?;
        contents.uploads.remove(call.request.parameter("uploadId").unwrap_or_default());
        Ok(Reply::new(StatusCode::NO_CONTENT))
    })
}

/// Answers `POST ?uploadId=I`: joins the parts that the body names to an object.
pub(super) fn complete(call: &Call<'_>) -> Result<Reply, Refusal> {
    let condition = Condition::of(call)?;
    let parts = named(&call.body)?;
    // The upload stays until the object is there, so that a failed condition can be tried again.
    let (values, headers) = {
        let mut values = call.shared.values();
        let contents = call.contents(&mut values)?;
        let least = contents.options.part_at_least;
        let upload = upload(call, contents)?;
        (found(upload, &parts, least)?, upload.headers.clone())
    };
    let mut whole = BytesMut::with_capacity(values.iter().map(|(value, _)| value.len()).sum());
    let mut etags = String::new();
    for (value, etag) in &values {
        whole.extend_from_slice(value);
        etags.push_str(etag);
    }
    let etag = format!("\"{}-{}\"", digest(etags.as_bytes()), values.len());
    let generation = store(call, &condition, Payload { value: whole.freeze(), etag: etag.clone(), headers })?;
    // Another request may have removed the bucket or the upload.
    if let Some(contents) = call.shared.values().buckets.get_mut(&call.request.bucket) {
        contents.uploads.remove(call.request.parameter("uploadId").unwrap_or_default());
    }
    let mut reply = Reply::xml(Xml::document("CompleteMultipartUploadResult", |xml| {
        xml.text("Bucket", &call.request.bucket);
        xml.text("Key", &call.request.key);
        xml.text("ETag", &etag);
    }));
    if call.api == Api::Gcs {
        call.api.describe(&mut reply, generation);
    }
    Ok(reply)
}

/// Returns the numbers and ETags of the parts that the body of a request names.
fn named(body: &[u8]) -> Result<Vec<(u32, String)>, Refusal> {
    let malformed = || Refusal::new(400, "MalformedXML", "The XML you provided was not well-formed");
    let document = std::str::from_utf8(body).map_err(|_| malformed())?;
    let parts = contents(document, "Part").filter(|parts| !parts.is_empty()).ok_or_else(malformed)?;
    let parts: Option<Vec<_>> = parts
        .iter()
        .map(|part| Some((text(part, "PartNumber")?.trim().parse().ok()?, text(part, "ETag")?.trim().to_owned())))
        .collect();
    let parts: Vec<(u32, String)> = parts.ok_or_else(malformed)?;
    if parts.windows(2).any(|pair| matches!(pair, [(first, _), (second, _)] if first >= second)) {
        return Err(Refusal::new(400, "InvalidPartOrder", "The list of parts was not in ascending order."));
    }
    Ok(parts)
}

/// Returns the named parts of an upload, each with its ETag. `least` is the least size of parts except the last.
fn found(upload: &Upload, named: &[(u32, String)], least: u64) -> Result<Vec<(Bytes, String)>, Refusal> {
    let mut found = Vec::with_capacity(named.len());
    for (index, (number, etag)) in named.iter().enumerate() {
        let part = upload.parts.get(number).filter(|(_, has)| has.trim_matches('"') == etag.trim_matches('"'));
        let invalid = || Refusal::new(400, "InvalidPart", format!("Part {number} with ETag {etag} was not found."));
        let part = part.ok_or_else(invalid)?;
        if index + 1 < named.len() && (part.0.len() as u64) < least {
            let message = format!("Part {number} has {} bytes, less than {least}.", part.0.len());
            return Err(Refusal::new(400, "EntityTooSmall", message));
        }
        found.push(part.clone());
    }
    Ok(found)
}
