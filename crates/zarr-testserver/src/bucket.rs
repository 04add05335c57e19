//! How a bucket answers.

/// The protocol that a bucket speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Face {
    /// S3 with the bucket in the path.
    #[default]
    S3,
    /// The XML API of Google Cloud Storage.
    Gcs,
    /// Files over HTTP: only `GET` and `HEAD`, and what `listing` says.
    Plain {
        /// Whether the server knows the header `Range`. One that does not sends the whole value with status 200.
        ranges: bool,
        /// The answer for a directory.
        listing: Listing,
    },
}

/// The answer of a plain server for a directory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Listing {
    /// Status 404.
    #[default]
    None,
    /// The JSON of nginx (`autoindex_format json`).
    Json,
    /// The HTML of nginx (`autoindex on`), which cuts long names in the text of a link, not in its address.
    Html,
    /// Status 404 to `GET`; `PROPFIND` of WebDAV answers 207 with a document.
    WebDav,
}

/// The kind of ETags that values have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Etags {
    /// Strong ones, equal for equal values.
    #[default]
    Strong,
    /// The same, marked as weak: as proxies do that compress.
    Weak,
    /// None.
    None,
}

/// How a bucket answers. By default it is an S3 bucket without any peculiarity.
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
    /// A bucket with this face.
    pub fn new(face: Face) -> Self {
        Self { face, ..Self::default() }
    }

    /// A bucket of S3.
    pub fn s3() -> Self {
        Self::new(Face::S3)
    }

    /// A bucket of Google Cloud Storage.
    pub fn gcs() -> Self {
        Self::new(Face::Gcs)
    }

    /// Files over HTTP, with ranges, without listing.
    pub fn plain() -> Self {
        Self::new(Face::Plain { ranges: true, listing: Listing::None })
    }

    /// Anyone may read and list, where the server asks for credentials.
    pub fn public(self) -> Self {
        Self { is_public: true, ..self }
    }

    /// A request without the header `x-amz-request-payer: requester` is answered with 403.
    pub fn requester_pays(self) -> Self {
        Self { requester_pays: true, ..self }
    }

    /// Keys without a value, and listing, are answered with 403, as by a bucket that only lets objects be read.
    pub fn missing_is_403(self) -> Self {
        Self { missing_is_403: true, ..self }
    }

    /// A conditional write whose condition fails is answered with 409 `ConditionalRequestConflict` instead of 412.
    pub fn conflict_is_409(self) -> Self {
        Self { conflict_is_409: true, ..self }
    }

    /// Sets the least number of bytes of a part of a multipart upload but the last. Completing an upload with less is answered with 400
    /// `EntityTooSmall`. S3 has 5 MiB; the default is 0.
    pub fn part_at_least(self, bytes: u64) -> Self {
        Self { part_at_least: bytes, ..self }
    }

    /// Ignores conditions of writes, as by services that do not know them.
    pub fn ignoring_conditions(self) -> Self {
        Self { ignores_conditions: true, ..self }
    }

    /// Ignores `If-Match` of writes and keeps `If-None-Match`.
    pub fn ignoring_if_match(self) -> Self {
        Self { ignores_if_match: true, ..self }
    }

    /// Gives answers ETags of this kind.
    pub fn etags(self, etags: Etags) -> Self {
        Self { etags, ..self }
    }

    /// The header `Range` is ignored. For a plain bucket only; [`crate::FaultKind::IgnoreRange`] does it for others.
    pub fn ignoring_ranges(self) -> Self {
        match self.face {
            Face::Plain { listing, .. } => Self { face: Face::Plain { ranges: false, listing }, ..self },
            Face::S3 | Face::Gcs => self,
        }
    }

    /// Sets the answer for directories. For a plain bucket only.
    pub fn listing(self, listing: Listing) -> Self {
        match self.face {
            Face::Plain { ranges, .. } => Self { face: Face::Plain { ranges, listing }, ..self },
            Face::S3 | Face::Gcs => self,
        }
    }
}
