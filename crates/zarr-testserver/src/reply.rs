//! Answers before they are sent.

use crate::xml::Xml;
use bytes::Bytes;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};

/// Answer to a request.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Reply {
    pub(crate) fn new(status: StatusCode) -> Self {
        Self { status, headers: HeaderMap::new(), body: Bytes::new() }
    }

    pub(crate) fn with_body(status: StatusCode, content_type: &'static str, body: impl Into<Bytes>) -> Self {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
        Self { status, headers, body: body.into() }
    }

    pub(crate) fn xml(document: Xml) -> Self {
        Self::with_body(StatusCode::OK, "application/xml", document.into_text())
    }

    /// Adds a header. A header whose value cannot be sent is omitted.
    pub(crate) fn set(&mut self, name: impl Into<Option<HeaderName>>, value: &str) {
        if let (Some(name), Ok(value)) = (name.into(), HeaderValue::from_str(value)) {
            self.headers.insert(name, value);
        }
    }

    pub(crate) fn with(mut self, name: HeaderName, value: &str) -> Self {
        self.set(name, value);
        self
    }

    /// Returns the answer to `HEAD` instead of `GET`: without the body, with the length of the body.
    pub(crate) fn without_body(mut self) -> Self {
        if !self.headers.contains_key(CONTENT_LENGTH) {
            self.set(CONTENT_LENGTH, &self.body.len().to_string());
        }
        self.body = Bytes::new();
        self
    }
}

/// Answer to a refused request: a status of at least 300, and the reason.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    /// Error code of S3.
    pub(crate) code: &'static str,
    pub(crate) message: String,
    headers: Vec<(HeaderName, HeaderValue)>,
}

impl Refusal {
    pub(crate) fn new(status: u16, code: &'static str, message: impl Into<String>) -> Self {
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        Self { status, code, message: message.into(), headers: Vec::new() }
    }

    pub(crate) fn with(mut self, name: HeaderName, value: &str) -> Self {
        if let Ok(value) = HeaderValue::from_str(value) {
            self.headers.push((name, value));
        }
        self
    }

    pub(crate) fn no_such_key(key: &str) -> Self {
        Self::new(404, "NoSuchKey", format!("The key {key:?} does not exist."))
    }

    pub(crate) fn denied(message: impl Into<String>) -> Self {
        Self::new(403, "AccessDenied", message)
    }

    pub(crate) fn precondition(condition: &str) -> Self {
        Self::new(412, "PreconditionFailed", format!("The condition {condition} does not hold."))
    }

    /// Returns the answer with the XML document of S3 and Google Cloud Storage, about this path.
    pub(crate) fn into_xml(self, path: &str) -> Reply {
        let mut reply = if self.status == StatusCode::NOT_MODIFIED {
            // May not have a body.
            Reply::new(self.status)
        } else {
            let mut xml = Xml::new();
            xml.inside("Error", "", |xml| {
                xml.text("Code", self.code);
                xml.text("Message", &self.message);
                xml.text("Resource", path);
            });
            Reply { status: self.status, ..Reply::xml(xml) }
        };
        reply.headers.extend(self.headers);
        reply
    }

    /// Returns the answer as a file server sends it.
    pub(crate) fn into_text(self) -> Reply {
        let mut reply = if self.status == StatusCode::NOT_MODIFIED {
            Reply::new(self.status)
        } else {
            Reply::with_body(self.status, "text/plain", format!("{}\n", self.message))
        };
        reply.headers.extend(self.headers);
        reply
    }
}
