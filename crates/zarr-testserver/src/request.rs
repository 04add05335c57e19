//! Request without its body.

use crate::bucket::{Bucket, Face, Listing};
use crate::counts::{Logged, Operation};
use crate::encoding::decode;
use http::request::Parts;
use http::{HeaderMap, Method, Uri};
use std::time::Instant;

/// Parsed request without its body.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) method: Method,
    /// Path as it was sent, with its escapes.
    pub(crate) raw_path: String,
    /// First segment of the path; empty for the path `/`.
    pub(crate) bucket: String,
    /// Part of the path after the bucket and a `/`; may be empty.
    pub(crate) key: String,
    /// Whether a `/` follows the bucket.
    pub(crate) has_key: bool,
    pub(crate) raw_query: String,
    pub(crate) query: Vec<(String, String)>,
    pub(crate) headers: HeaderMap,
}

impl Request {
    /// Parses the head of a request; `None` if the escapes of its path or query are faulty.
    pub(crate) fn new(parts: Parts) -> Option<Self> {
        let raw_path = parts.uri.path().to_owned();
        let path = decode(&raw_path, false)?;
        let path = path.strip_prefix('/').unwrap_or(&path);
        let (bucket, key) = path.split_once('/').map_or((path, None), |(bucket, key)| (bucket, Some(key)));
        let raw_query = parts.uri.query().unwrap_or_default().to_owned();
        let query = raw_query.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            Some((decode(name, true)?, decode(value, true)?))
        });
        Some(Self {
            method: parts.method,
            bucket: bucket.to_owned(),
            key: key.unwrap_or_default().to_owned(),
            has_key: key.is_some(),
            query: query.collect::<Option<_>>()?,
            raw_path,
            raw_query,
            headers: parts.headers,
        })
    }

    /// Returns a request with faulty escapes, which is only logged.
    pub(crate) fn faulty(method: &Method, uri: &Uri) -> Self {
        Self {
            method: method.clone(),
            raw_path: uri.path().to_owned(),
            bucket: uri.path().strip_prefix('/').unwrap_or_default().to_owned(),
            key: String::new(),
            has_key: false,
            raw_query: uri.query().unwrap_or_default().to_owned(),
            query: Vec::new(),
            headers: HeaderMap::new(),
        }
    }

    /// Returns the value of a header; `None` if there is no such header, or its value is not text.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// Returns the value of a parameter of the query; empty for a parameter without `=`, and `None` if there is no such parameter.
    pub(crate) fn parameter(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    /// Returns the operation of the request on a bucket with these options.
    pub(crate) fn operation(&self, options: &Bucket) -> Operation {
        let lists = match options.face {
            Face::S3 | Face::Gcs => {
                self.key.is_empty() && ["location", "versioning"].iter().all(|name| self.parameter(name).is_none())
            }
            Face::Plain { listing, .. } => {
                matches!(listing, Listing::Json | Listing::Html) && (self.key.is_empty() || self.key.ends_with('/'))
            }
        };
        match self.method.as_str() {
            "GET" if lists => Operation::List,
            "GET" => Operation::Get,
            "HEAD" => Operation::Head,
            "PUT" if self.key.is_empty() => Operation::Other,
            "PUT" => Operation::Put,
            "DELETE" => Operation::Delete,
            "POST" if self.parameter("delete").is_some() => Operation::Delete,
            "PROPFIND" => Operation::List,
            _ => Operation::Other,
        }
    }

    /// Returns the entry of the request in the log.
    pub(crate) fn logged(&self, operation: Operation) -> Logged {
        let header = |name| self.header(name).map(str::to_owned);
        Logged {
            method: self.method.as_str().to_owned(),
            path: if self.has_key { format!("/{}/{}", self.bucket, self.key) } else { format!("/{}", self.bucket) },
            query: self.raw_query.clone(),
            operation,
            range: header("range"),
            if_match: header("if-match"),
            if_none_match: header("if-none-match"),
            copy_source: header("x-amz-copy-source").or_else(|| header("x-goog-copy-source")),
            signed: header("x-amz-date"),
            status: None,
            came: Instant::now(),
            ended: None,
        }
    }
}
