//! Behaviour of a bucket.

/// Protocol that a bucket speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Face {
    /// S3, with the name of the bucket in the path.
    #[default]
    S3,
    /// XML API of Google Cloud Storage.
    Gcs,
    /// Files over HTTP: only `GET` and `HEAD`, and the requests for directories of `listing`.
    Plain {
        /// Whether the server supports the header `Range`. Otherwise it sends the whole value with status 200.
        ranges: bool,
        /// Kind of the answer for a directory.
        listing: Listing,
    },
}

/// Kind of the answer of a plain server for a directory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Listing {
    /// Status 404.
    #[default]
    None,
    /// JSON of nginx (`autoindex_format json`).
    Json,
    /// HTML of nginx (`autoindex on`), which cuts long names in the text of a link, not in its address.
    Html,
    /// Status 404 to `GET`; `PROPFIND` of WebDAV answers 207 with a document.
    WebDav,
}

/// Kind of ETags that values have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Etags {
    /// Strong ETags, equal for equal values.
    #[default]
    Strong,
    /// Strong ETags marked as weak, like those of proxies that compress values.
    Weak,
    /// No ETags.
    None,
}

/// Protocol and options of a bucket. The default is an S3 bucket without further options.
///
/// ```
/// use zarr_testserver::{Bucket, Listing, TestServer};
///
/// let server = TestServer::start()?;
/// server.bucket("open", Bucket::s3().public().missing_is_403());
/// server.bucket("site", Bucket::plain().ignoring_ranges().listing(Listing::Html));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bucket {
    pub(crate) face: Face,
    pub(crate) is_public: bool,
    pub(crate) requester_pays: bool,
    pub(crate) missing_is_403: bool,
    pub(crate) conflict_is_409: bool,
    pub(crate) part_at_least: u64,
    pub(crate) ignores_conditions: bool,
    pub(crate) ignores_if_match: bool,
    pub(crate) etags: Etags,
}

impl Bucket {
    /// Returns a bucket with this protocol.
    pub fn new(face: Face) -> Self {
        Self { face, ..Self::default() }
    }

    /// Returns a bucket of S3.
    pub fn s3() -> Self {
        Self::new(Face::S3)
    }

    /// Returns a bucket of Google Cloud Storage.
    pub fn gcs() -> Self {
        Self::new(Face::Gcs)
    }

    /// Returns a bucket of files over HTTP, with ranges and without listings.
    pub fn plain() -> Self {
        Self::new(Face::Plain { ranges: true, listing: Listing::None })
    }

    /// Lets anyone read and list, even if the server has credentials.
    pub fn public(self) -> Self {
        Self { is_public: true, ..self }
    }

    /// Answers requests without the header `x-amz-request-payer: requester` with 403.
    pub fn requester_pays(self) -> Self {
        Self { requester_pays: true, ..self }
    }

    /// Answers reads of missing keys, and listings, with 403, like a bucket that only permits reads of objects.
    pub fn missing_is_403(self) -> Self {
        Self { missing_is_403: true, ..self }
    }

    /// Answers a conditional write whose condition fails with 409 `ConditionalRequestConflict` instead of 412.
    pub fn conflict_is_409(self) -> Self {
        Self { conflict_is_409: true, ..self }
    }

    /// Sets the least number of bytes of each part of a multipart upload except the last. Completing an upload with a smaller part is
    /// answered with 400 `EntityTooSmall`. S3 has 5 MiB; the default is 0.
    pub fn part_at_least(self, bytes: u64) -> Self {
        Self { part_at_least: bytes, ..self }
    }

    /// Ignores conditions of writes, like services that do not support them.
    pub fn ignoring_conditions(self) -> Self {
        Self { ignores_conditions: true, ..self }
    }

    /// Ignores `If-Match` of writes, but not `If-None-Match`.
    pub fn ignoring_if_match(self) -> Self {
        Self { ignores_if_match: true, ..self }
    }

    /// Sets the kind of ETags in answers.
    pub fn etags(self, etags: Etags) -> Self {
        Self { etags, ..self }
    }

    /// Ignores the header `Range`. Only for plain buckets; [`crate::FaultKind::IgnoreRange`] does the same for others.
    pub fn ignoring_ranges(self) -> Self {
        match self.face {
            Face::Plain { listing, .. } => Self { face: Face::Plain { ranges: false, listing }, ..self },
            Face::S3 | Face::Gcs => self,
        }
    }

    /// Sets the kind of the answer for directories. Only for plain buckets.
    pub fn listing(self, listing: Listing) -> Self {
        match self.face {
            Face::Plain { ranges, .. } => Self { face: Face::Plain { ranges, listing }, ..self },
            Face::S3 | Face::Gcs => self,
        }
    }
}
