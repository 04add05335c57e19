//! Purposes of the requests of object_store.

use object_store::client::HttpRequest;
use reqwest::Method;
use reqwest::header::{IF_MATCH, IF_NONE_MATCH};

/// Headers that make a put a copy.
const COPY_SOURCES: [&str; 3] = ["x-amz-copy-source", "x-goog-copy-source", "x-ms-copy-source"];

/// Marker for requests for values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OfValue;

/// Purpose of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Get,
    Put {
        conditional: bool,
    },
    Copy,
    /// Upload of a part of a value.
    Part,
    /// Beginning of an upload in parts.
    Upload,
    /// End of an upload in parts, which combines the parts to a value.
    Complete,
    List,
    /// Removal of an object, or of several objects in one request of S3 (`several`), whose response says which objects are left.
    Erase {
        several: bool,
    },
    Credentials,
}

impl Purpose {
    pub(crate) fn of(request: &HttpRequest) -> Self {
        let headers = request.headers();
        let query = request.uri().query().unwrap_or_default();
        let has = |text: &str| query.split('&').any(|part| part == text);
        let begins = |text: &str| query.split('&').any(|part| part.starts_with(text));
        match *request.method() {
            Method::GET if request.extensions().get::<OfValue>().is_some() => Self::Get,
            Method::PUT if request.extensions().get::<OfValue>().is_some() => Self::Put {
                conditional: headers.contains_key(IF_MATCH)
                    || headers.contains_key(IF_NONE_MATCH)
                    || headers.contains_key("x-goog-if-generation-match"),
            },
            Method::PUT if COPY_SOURCES.iter().any(|name| headers.contains_key(*name)) => Self::Copy,
            Method::PUT if begins("partNumber=") => Self::Part,
            Method::POST if begins("uploadId=") => Self::Complete,
            Method::POST if has("uploads") || has("uploads=") => Self::Upload,
            Method::GET if has("list-type=2") || has("comp=list") => Self::List,
            Method::DELETE => Self::Erase { several: false },
            Method::POST if has("delete") || has("delete=") => Self::Erase { several: true },
            Method::POST if has("comp=batch") => Self::Erase { several: false },
            _ => Self::Credentials,
        }
    }

    /// Returns whether repeating the request is refused if it has taken effect.
    pub(crate) fn is_done_once(self) -> bool {
        matches!(self, Self::Put { conditional: true } | Self::Complete)
    }
}
