//! Listings of objects, in version 2 of the API.

use super::{Api, Call};
use crate::encoding::{encode, hex, unhex};
use crate::faults::FaultKind;
use crate::reply::{Refusal, Reply};
use crate::time::iso;
use crate::values::{Object, Objects};
use crate::xml::Xml;
use std::borrow::Cow;
use std::ops::Bound;

/// Entry of a listing.
enum Entry<'a> {
    Object(&'a str, &'a Object),
    Prefix(&'a str),
}

/// Position at which a page begins.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Position {
    Start,
    /// After this key.
    After(String),
    /// After all keys with this prefix.
    AfterPrefix(String),
}

impl Position {
    /// Returns the token of this position. Tokens with other `letters` lead to the same position.
    fn token(&self, letters: &str) -> String {
        let (kind, text) = match self {
            Self::Start => ("s", ""),
            Self::After(key) => ("k", key.as_str()),
            Self::AfterPrefix(prefix) => ("p", prefix.as_str()),
        };
        format!("{letters}-{kind}{}", hex(text.as_bytes()))
    }

    fn from_token(token: &str) -> Option<Self> {
        let (_, place) = token.rsplit_once('-')?;
        let text = |digits| String::from_utf8(unhex(digits)?).ok();
        match (place.get(..1)?, place.get(1..)?) {
            ("s", "") => Some(Self::Start),
            ("k", digits) => Some(Self::After(text(digits)?)),
            ("p", digits) => Some(Self::AfterPrefix(text(digits)?)),
            _ => None,
        }
    }
}

/// Page of a listing.
struct Page<'a> {
    entries: Vec<Entry<'a>>,
    /// Position of the next page; `None` after the last.
    next: Option<Position>,
}

/// Answers `GET` of a bucket.
pub(super) fn list(call: &Call<'_>) -> Result<Reply, Refusal> {
    let request = call.request;
    let invalid = |what: &str| Refusal::new(400, "InvalidArgument", what);
    if request.parameter("list-type") != Some("2") {
        return Err(call.unknown("version 1 of listing; list-type=2 is version 2"));
    }
    let most = match request.parameter("max-keys") {
        None => 1000,
        Some(text) => text.parse::<u32>().map_err(|_| invalid("max-keys is no number"))?.min(1000) as usize,
    };
    let token = request.parameter("continuation-token");
    let start = match (token, request.parameter("start-after")) {
        (Some(token), _) => {
            Position::from_token(token).ok_or_else(|| invalid("The continuation token provided is incorrect"))?
        }
        (None, Some(key)) => Position::After(key.to_owned()),
        (None, None) => Position::Start,
    };
    let prefix = request.parameter("prefix").unwrap_or_default();
    let delimiter = request.parameter("delimiter").unwrap_or_default();
    call.with(|contents| {
        if contents.options.missing_is_403 {
            return Err(Refusal::denied("Access Denied"));
        }
        let objects = match call.fault {
            Some(FaultKind::Stale(snapshot)) => &snapshot.0,
            _ => &contents.objects,
        };
        let mut page = page(objects, prefix, delimiter, &start, most);
        let mut next = page.next.as_ref().map(|position| position.token("next"));
        match call.fault {
            Some(FaultKind::DuplicatePage) => {
                // The token differs from the one before.
                let letters = token.and_then(|token| token.rsplit_once('-')).map_or("again", |(letters, _)| letters);
                next = Some(start.token(&format!("{letters}x")));
            }
            Some(FaultKind::RepeatToken) => {
                next = Some(token.map_or_else(|| start.token("next"), str::to_owned));
            }
            Some(FaultKind::Unsorted) => page.entries.reverse(),
            _ => (),
        }
        Ok(Reply::xml(document(call, &page, next.as_deref(), most)))
    })
}

/// Returns a page of at most `most` keys and common prefixes, beginning at `start`.
fn page<'a>(objects: &'a Objects, prefix: &str, delimiter: &str, start: &Position, most: usize) -> Page<'a> {
    let mut page = Page { entries: Vec::new(), next: None };
    if most == 0 {
        return page;
    }
    let from = match start {
        Position::After(key) if key.as_str() >= prefix => Bound::Excluded(key.as_str()),
        Position::AfterPrefix(before) if before.as_str() >= prefix => Bound::Included(before.as_str()),
        _ => Bound::Included(prefix),
    };
    // The common prefix whose keys are being passed over.
    let mut passed = match start {
        Position::AfterPrefix(prefix) => Some(prefix.as_str()),
        _ => None,
    };
    let mut last = Position::Start;
    for (key, object) in objects.range::<str, _>((from, Bound::Unbounded)) {
        if !key.starts_with(prefix) {
            break;
        }
        if passed.is_some_and(|passed| key.starts_with(passed)) {
            continue;
        }
        let rest = key.get(prefix.len()..).unwrap_or_default();
        let end = Some(delimiter).filter(|delimiter| !delimiter.is_empty()).and_then(|delimiter| rest.find(delimiter));
        let common = end.and_then(|end| key.get(..prefix.len() + end + delimiter.len()));
        if page.entries.len() == most {
            page.next = Some(last);
            break;
        }
        match common {
            Some(common) => {
                passed = Some(common);
                page.entries.push(Entry::Prefix(common));
                last = Position::AfterPrefix(common.to_owned());
            }
            None => {
                page.entries.push(Entry::Object(key, object));
                last = Position::After(key.clone());
            }
        }
    }
    page
}

fn document(call: &Call<'_>, page: &Page<'_>, next: Option<&str>, most: usize) -> Xml {
    let request = call.request;
    let encodes = request.parameter("encoding-type") == Some("url");
    let name = |text: &str| match encodes {
        true => Cow::Owned(encode(text, "/")),
        false => Cow::Owned(text.to_owned()),
    };
    Xml::document("ListBucketResult", |xml| {
        xml.text("Name", &request.bucket);
        xml.text("Prefix", &name(request.parameter("prefix").unwrap_or_default()));
        for (parameter, element) in [("delimiter", "Delimiter"), ("start-after", "StartAfter")] {
            if let Some(text) = request.parameter(parameter) {
                xml.text(element, &name(text));
            }
        }
        if encodes {
            xml.text("EncodingType", "url");
        }
        xml.text("MaxKeys", &most.to_string());
        xml.text("KeyCount", &page.entries.len().to_string());
        xml.text("IsTruncated", if next.is_some() { "true" } else { "false" });
        if let Some(token) = request.parameter("continuation-token") {
            xml.text("ContinuationToken", token);
        }
        if let Some(token) = next {
            xml.text("NextContinuationToken", token);
        }
        // As S3 has them: keys, then common prefixes.
        for entry in &page.entries {
            if let Entry::Object(key, object) = entry {
                xml.inside("Contents", "", |xml| {
                    xml.text("Key", &name(key));
                    xml.text("LastModified", &iso(object.modified));
                    xml.text("ETag", &object.etag);
                    xml.text("Size", &object.value.len().to_string());
                    xml.text("StorageClass", "STANDARD");
                    if call.api == Api::Gcs {
                        xml.text("Generation", &object.generation.to_string());
                    }
                });
            }
        }
        for entry in &page.entries {
            if let Entry::Prefix(prefix) = entry {
                xml.inside("CommonPrefixes", "", |xml| xml.text("Prefix", &name(prefix)));
            }
        }
    })
}
