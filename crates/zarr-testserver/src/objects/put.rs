//! Writes of objects.

use super::condition::Condition;
use super::{Api, Call};
use crate::encoding::decode;
use crate::read::names;
use crate::reply::{Refusal, Reply};
use crate::request::Request;
use crate::time::iso;
use crate::values::{Object, Payload};
use crate::xml::Xml;
use bytes::{Bytes, BytesMut};
use http::header::{CONTENT_ENCODING, ETAG};
use http::{HeaderName, HeaderValue, StatusCode};
use std::time::SystemTime;

/// Answers `PUT` of an object.
pub(super) fn put(call: &Call<'_>) -> Result<Reply, Refusal> {
    let condition = Condition::of(call)?;
    let body = decoded(call)?;
    let new = Payload::new(body, stored(call.api, call.request));
    let etag = new.etag.clone();
    let generation = store(call, &condition, new)?;
    let mut reply = Reply::new(StatusCode::OK).with(ETAG, &etag);
    call.api.describe(&mut reply, generation);
    Ok(reply)
}

/// Stores a value at the key of the request if the condition holds, and returns its generation.
pub(super) fn store(call: &Call<'_>, condition: &Condition, new: Payload) -> Result<u64, Refusal> {
    let mut values = call.shared.values();
    let generation = values.next_generation();
    let contents = call.contents(&mut values)?;
    condition.check(contents, &call.request.key)?;
    contents.objects.insert(call.request.key.clone(), new.object(generation));
    Ok(generation)
}

/// Returns the headers of a request that are stored with the value.
pub(super) fn stored(api: Api, request: &Request) -> Vec<(HeaderName, HeaderValue)> {
    const NAMES: [&str; 6] =
        ["cache-control", "content-disposition", "content-encoding", "content-language", "content-type", "expires"];
    let prefix = api.prefix();
    let is_stored = |name: &str| {
        let own = name.strip_prefix(prefix).unwrap_or_default();
        NAMES.contains(&name) || own.starts_with("meta-") || own == "storage-class"
    };
    let mut headers = Vec::new();
    for (name, value) in &request.headers {
        let mut value = value.clone();
        if *name == CONTENT_ENCODING {
            // `aws-chunked` describes the request, not the value.
            let codings = value.to_str().unwrap_or_default().split(',').map(str::trim);
            let codings: Vec<_> = codings.filter(|coding| !coding.is_empty() && *coding != "aws-chunked").collect();
            match HeaderValue::from_str(&codings.join(", ")) {
                Ok(rest) if !codings.is_empty() => value = rest,
                _ => continue,
            }
        }
        if is_stored(name.as_str()) {
            headers.push((name.clone(), value));
        }
    }
    headers
}

/// Returns the body of a request, without the chunks with signatures in which some clients of S3 send it.
pub(super) fn decoded(call: &Call<'_>) -> Result<Bytes, Refusal> {
    let kind = call.request.header("x-amz-content-sha256").unwrap_or_default();
    if !kind.starts_with("STREAMING-") {
        return Ok(call.body.clone());
    }
    let incomplete = || Refusal::new(400, "IncompleteBody", "The chunks of the body are malformed");
    unchunked(&call.body).ok_or_else(incomplete)
}

/// Returns the data of chunks of the form `SIZE;extension\r\nDATA\r\n`, which end with a chunk without data. Signatures of chunks and
/// trailers are not checked. `None` if a chunk is malformed.
fn unchunked(mut body: &[u8]) -> Option<Bytes> {
    let mut data = BytesMut::with_capacity(body.len());
    loop {
        let end = body.windows(2).position(|window| window == b"\r\n")?;
        let head = std::str::from_utf8(body.get(..end)?).ok()?;
        let size = usize::from_str_radix(head.split(';').next()?.trim(), 16).ok()?;
        if size == 0 {
            return Some(data.freeze());
        }
        body = body.get(end + 2..)?;
        data.extend_from_slice(body.get(..size)?);
        body = body.get(size..)?.strip_prefix(b"\r\n")?;
    }
}

/// Returns the object that the request copies.
pub(super) fn source(call: &Call<'_>) -> Result<Object, Refusal> {
    let invalid = || Refusal::new(400, "InvalidArgument", "Copy Source must mention the source bucket and key");
    let source = call.api.header(call.request, "copy-source").ok_or_else(invalid)?;
    let source = source.split_once("?versionId=").map_or(source.as_str(), |(path, _)| path);
    let source = decode(source, false).ok_or_else(invalid)?;
    let (bucket, key) = source.trim_start_matches('/').split_once('/').ok_or_else(invalid)?;
    let values = call.shared.values();
    let contents = values.buckets.get(bucket);
    let contents = contents.ok_or_else(|| Refusal::new(404, "NoSuchBucket", "The source bucket does not exist."))?;
    let object = contents.objects.get(key).ok_or_else(|| Refusal::no_such_key(key))?;
    let header = call.api.header(call.request, "copy-source-if-match");
    if header.is_some_and(|etags| !names(&etags, &object.etag)) {
        return Err(Refusal::precondition("copy-source-if-match"));
    }
    Ok(object.clone())
}

/// Answers `PUT` of a copy of another object.
pub(super) fn copy(call: &Call<'_>) -> Result<Reply, Refusal> {
    let condition = Condition::of(call)?;
    let object = source(call)?;
    let replaces = call.api.header(call.request, "metadata-directive").is_some_and(|text| text == "REPLACE");
    let headers = if replaces { stored(call.api, call.request) } else { object.headers };
    let etag = object.etag.clone();
    // A copy has an ETag of its bytes, though one of an upload in parts may differ from the source's in S3.
    let generation = store(call, &condition, Payload { value: object.value, etag: object.etag, headers })?;
    let mut reply = Reply::xml(Xml::document("CopyObjectResult", |xml| {
        xml.text("ETag", &etag);
        xml.text("LastModified", &iso(SystemTime::now()));
    }));
    call.api.describe(&mut reply, generation);
    Ok(reply)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks() {
        let body =
            b"3;chunk-signature=ab\r\nabc\r\n2\r\n\r\n\r\n0;chunk-signature=cd\r\nx-amz-checksum-crc32:AAAA\r\n\r\n";
        assert_eq!(unchunked(body).as_deref(), Some(&b"abc\r\n"[..]));
        assert_eq!(unchunked(b"0\r\n\r\n").as_deref(), Some(&b""[..]));
        for faulty in [&b""[..], b"3\r\nab", b"3\r\nabc", b"x\r\n", b"ffffffffffffffff\r\nabc\r\n"] {
            assert_eq!(unchunked(faulty), None, "{faulty:?}");
        }
    }
}
