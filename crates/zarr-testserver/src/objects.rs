//! XML API that S3 and Google Cloud Storage have in common.

mod access;
mod condition;
mod delete;
mod get;
mod list;
mod multipart;
mod put;
mod signature;

use crate::faults::FaultKind;
use crate::reply::{Refusal, Reply};
use crate::request::Request;
use crate::shared::{Settings, Shared};
use crate::time::iso;
use crate::values::{Contents, Object, Values};
use crate::xml::{NAMESPACE, Xml};
use bytes::Bytes;
use http::{HeaderName, StatusCode};

/// Service whose dialect of the API a bucket speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Api {
    S3,
    Gcs,
}

impl Api {
    /// Returns the prefix of the names of the API's own headers.
    fn prefix(self) -> &'static str {
        match self {
            Self::S3 => "x-amz-",
            Self::Gcs => "x-goog-",
        }
    }

    /// Returns the value of one of the API's own headers; `name` is without the prefix.
    fn header(self, request: &Request, name: &str) -> Option<String> {
        request.header(&format!("{}{name}", self.prefix())).map(str::to_owned)
    }

    /// Adds the generation of an object to the answer, if the API has generations.
    fn describe(self, reply: &mut Reply, generation: u64) {
        if self == Self::Gcs {
            reply.set(HeaderName::from_static("x-goog-generation"), &generation.to_string());
            reply.set(HeaderName::from_static("x-goog-metageneration"), "1");
        }
    }
}

/// Arguments of all operations on a bucket.
struct Call<'a> {
    shared: &'a Shared,
    api: Api,
    request: &'a Request,
    body: Bytes,
    fault: Option<&'a FaultKind>,
}

/// Answers a request to a bucket of S3 or Google Cloud Storage, or to a bucket that does not exist.
pub(crate) fn answer(
    shared: &Shared,
    settings: &Settings,
    api: Api,
    request: &Request,
    body: Bytes,
    fault: Option<&FaultKind>,
) -> Reply {
    let call = Call { shared, api, request, body, fault };
    access::check(&call, settings)
        .and_then(|()| call.route())
        .unwrap_or_else(|refusal| refusal.into_xml(&request.raw_path))
}

/// Query parameters of operations that S3 has and this server does not support.
const UNKNOWN: [&str; 9] =
    ["acl", "attributes", "cors", "lifecycle", "policy", "tagging", "torrent", "versioning", "versions"];

impl Call<'_> {
    fn route(&self) -> Result<Reply, Refusal> {
        let Self { request, .. } = self;
        let has = |name| request.parameter(name).is_some();
        if let Some(name) = UNKNOWN.into_iter().find(|name| has(name)) {
            return Err(self.unknown(&format!("the parameter {name}")));
        }
        match (request.method.as_str(), request.bucket.is_empty(), request.key.is_empty()) {
            ("GET", true, _) => Ok(self.buckets()),
            (_, true, _) => Err(self.unknown("this method without a bucket")),
            ("GET", _, true) if has("location") => self.location(),
            ("GET", _, true) if has("uploads") => Err(self.unknown("a list of uploads")),
            ("GET", _, true) => list::list(self),
            ("HEAD", _, true) => self.with(|_| Ok(Reply::new(StatusCode::OK))),
            ("PUT", _, true) => {
                self.shared.values().bucket(&request.bucket);
                Ok(Reply::new(StatusCode::OK))
            }
            ("DELETE", _, true) => delete::bucket(self),
            ("POST", _, true) if has("delete") => delete::several(self),
            ("GET", _, _) if has("uploadId") => Err(self.unknown("a list of parts")),
            ("GET" | "HEAD", ..) => get::get(self),
            ("PUT", ..) if has("partNumber") => multipart::part(self),
            ("PUT", ..) if self.api.header(request, "copy-source").is_some() => put::copy(self),
            ("PUT", ..) => put::put(self),
            ("DELETE", ..) if has("uploadId") => multipart::abort(self),
            ("DELETE", ..) => delete::one(self),
            ("POST", ..) if has("uploads") => multipart::create(self),
            ("POST", ..) if has("uploadId") => multipart::complete(self),
            (method, ..) => Err(self.unknown(&format!("the method {method} here"))),
        }
    }

    fn unknown(&self, what: &str) -> Refusal {
        Refusal::new(501, "NotImplemented", format!("This server does not know {what}."))
    }

    /// Runs `action` on the bucket of the request, while no other request accesses values.
    fn with(&self, action: impl FnOnce(&mut Contents) -> Result<Reply, Refusal>) -> Result<Reply, Refusal> {
        let mut values = self.shared.values();
        action(self.contents(&mut values)?)
    }

    /// Returns the bucket of the request.
    fn contents<'v>(&self, values: &'v mut Values) -> Result<&'v mut Contents, Refusal> {
        let name = &self.request.bucket;
        let message = || format!("The bucket {name:?} does not exist.");
        values.buckets.get_mut(name).ok_or_else(|| Refusal::new(404, "NoSuchBucket", message()))
    }

    /// Returns the object at a key of the bucket.
    fn object<'c>(&self, contents: &'c Contents, key: &str) -> Result<&'c Object, Refusal> {
        contents.objects.get(key).ok_or_else(|| {
            if contents.options.missing_is_403 { Refusal::denied("Access Denied") } else { Refusal::no_such_key(key) }
        })
    }

    fn buckets(&self) -> Reply {
        let values = self.shared.values();
        Reply::xml(Xml::document("ListAllMyBucketsResult", |xml| {
            xml.inside("Buckets", "", |xml| {
                for name in values.buckets.keys() {
                    xml.inside("Bucket", "", |xml| {
                        xml.text("Name", name);
                        xml.text("CreationDate", &iso(std::time::UNIX_EPOCH));
                    });
                }
            });
        }))
    }

    /// Answers with the region of the bucket. An empty answer stands for the first region of S3.
    fn location(&self) -> Result<Reply, Refusal> {
        self.with(|_| {
            let mut xml = Xml::new();
            xml.inside("LocationConstraint", &format!(" xmlns=\"{NAMESPACE}\""), |_| ());
            Ok(Reply::xml(xml))
        })
    }
}
