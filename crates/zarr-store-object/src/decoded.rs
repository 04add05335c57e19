//! Decoding of values that are stored compressed, like static files of web sites, if the whole value is received.

use bytes::Bytes;
use reqwest::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE, HeaderMap, HeaderValue};
use reqwest::{Response, StatusCode};
use zarr_store::ErrorKind;
use zarr_store_runtime::RangeRequest;
use zarr_store_runtime::http::{ContentRange, Failure, encoding, gunzip, is_gzip};

/// Greatest size of a decoded value in bytes. Such values are documents.
const MOST: u64 = 256 << 20;

/// Returns the encoding with which a value is stored, if its bytes are not those of the value; in Google Cloud Storage also if the service
/// has decoded it. `None` for values without encoding.
pub(crate) fn stored_encoding(headers: &HeaderMap) -> Option<String> {
    let stored = headers.get("x-goog-stored-content-encoding").and_then(|value| value.to_str().ok());
    let stored = stored.filter(|stored| !matches!(*stored, "identity" | ""));
    encoding(headers).or_else(|| stored.map(str::to_owned))
}

/// Returns whether a response has all bytes of a value with this encoding, so that it can be decoded.
pub(crate) fn is_decodable(response: &Response, encoding: &str) -> bool {
    let whole = match response.status() {
        StatusCode::OK => true,
        StatusCode::PARTIAL_CONTENT => {
            let found =
                response.headers().get(CONTENT_RANGE).and_then(|range| ContentRange::parse(range.to_str().ok()?));
            found.is_some_and(|found| found.at.is_some() && found.at == found.size.map(|size| 0..size))
        }
        _ => false,
    };
    whole && is_gzip(encoding)
}

/// Decodes a whole value, and returns the response to the request for the range `asked`: the status, headers and bytes.
pub(crate) fn decoded(
    mut headers: HeaderMap,
    body: Vec<u8>,
    asked: Option<&HeaderValue>,
) -> Result<(StatusCode, HeaderMap, Bytes), Failure> {
    let value = if encoding(&headers).is_some() { gunzip(&body, MOST)? } else { Bytes::from(body) };
    let size = value.len() as u64;
    headers.remove(CONTENT_ENCODING);
    let asked = asked.and_then(|range| parse(range.to_str().ok()?));
    let (status, range, body) = match asked.map(|asked| asked.resolve(size)) {
        None => (StatusCode::OK, None, value),
        Some(None) => (StatusCode::RANGE_NOT_SATISFIABLE, Some(format!("bytes */{size}")), Bytes::new()),
        Some(Some(at)) => {
            let text = format!("bytes {}-{}/{size}", at.start, at.end.saturating_sub(1));
            let cut = usize::try_from(at.start).ok().zip(usize::try_from(at.end).ok());
            let cut = cut.map(|(start, end)| value.slice(start..end));
            let unfit = || Failure::new(ErrorKind::Internal, "a range of a value that was decoded is not in it");
            (StatusCode::PARTIAL_CONTENT, Some(text), cut.ok_or_else(unfit)?)
        }
    };
    headers.insert(CONTENT_LENGTH, HeaderValue::from(body.len()));
    if let Some(range) = range {
        let unfit = |_| Failure::new(ErrorKind::Internal, "a range is no header");
        headers.insert(CONTENT_RANGE, HeaderValue::try_from(range).map_err(unfit)?);
    }
    Ok((status, headers, body))
}

/// Parses the header `Range`; `None` if it has another form.
fn parse(header: &str) -> Option<RangeRequest> {
    let (start, end) = header.strip_prefix("bytes=")?.split_once('-')?;
    Some(match (start, end) {
        ("", len) => RangeRequest::Last(len.parse().ok()?),
        (start, "") => RangeRequest::From(start.parse().ok()?),
        (start, last) => RangeRequest::Bounds(start.parse().ok()?..last.parse::<u64>().ok()?.checked_add(1)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_those_of_requests() {
        for range in
            [RangeRequest::Bounds(0..1), RangeRequest::Bounds(5..90), RangeRequest::From(7), RangeRequest::Last(3)]
        {
            assert_eq!(range.header().as_deref().and_then(parse), Some(range));
        }
        assert_eq!(parse("bytes=a-b"), None);
    }
}
