//! The values that a server has: buckets, objects and unfinished uploads.

use crate::bucket::Bucket;
use crate::encoding::hex;
use bytes::Bytes;
use http::{HeaderName, HeaderValue};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::time::SystemTime;

/// A value with what is known of it.
#[derive(Clone, Debug)]
pub(crate) struct Object {
    pub(crate) value: Bytes,
    /// Strong, with its quotes. Equal values have equal ones, as in S3.
    pub(crate) etag: String,
    /// Larger than that of any object that was written before.
    pub(crate) generation: u64,
    pub(crate) modified: SystemTime,
    /// The headers that were sent with the value and come with it: content type, metadata of users and the like.
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
}

/// The objects of a bucket by their keys, in the order of a listing.
pub(crate) type Objects = BTreeMap<String, Object>;

/// A multipart upload that is not complete.
#[derive(Debug)]
pub(crate) struct Upload {
    pub(crate) key: String,
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    /// Each part with its ETag.
    pub(crate) parts: BTreeMap<u32, (Bytes, String)>,
}

/// A bucket with its contents.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    pub(crate) options: Bucket,
    pub(crate) objects: Objects,
    pub(crate) uploads: BTreeMap<String, Upload>,
}

/// Everything that a server has. It stands behind one lock, which is held during a condition and the write that depends
/// on it.
#[derive(Debug, Default)]
pub(crate) struct Values {
    pub(crate) buckets: BTreeMap<String, Contents>,
    generation: u64,
    uploads: u64,
}

impl Values {
    /// A number that no object and no upload had before.
    pub(crate) fn next_generation(&mut self) -> u64 {
        // About as long as in Google Cloud Storage, where it is a time in microseconds.
        const FIRST: u64 = 1_700_000_000_000_000;
        self.generation += 1;
        FIRST + self.generation
    }

    /// The name of a new upload.
    pub(crate) fn next_upload(&mut self) -> String {
        self.uploads += 1;
        format!("upload-{}", self.uploads)
    }

    /// The bucket of this name, which is made where there is none.
    pub(crate) fn bucket(&mut self, name: &str) -> &mut Contents {
        self.buckets.entry(name.to_owned()).or_default()
    }

    /// Sets a value whatever was there, and returns its generation.
    pub(crate) fn put(&mut self, bucket: &str, key: &str, new: Payload) -> u64 {
        let generation = self.next_generation();
        self.bucket(bucket).objects.insert(key.to_owned(), new.object(generation));
        generation
    }
}

/// A value that is about to be stored.
#[derive(Debug)]
pub(crate) struct Payload {
    pub(crate) value: Bytes,
    pub(crate) etag: String,
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
}

impl Payload {
    /// With the ETag of the bytes, which takes time: not to be made while values are locked.
    pub(crate) fn new(value: Bytes, headers: Vec<(HeaderName, HeaderValue)>) -> Self {
        let etag = format!("\"{}\"", digest(&value));
        Self { value, etag, headers }
    }

    pub(crate) fn object(self, generation: u64) -> Object {
        let Self { value, etag, headers } = self;
        Object { value, etag, generation, modified: SystemTime::now(), headers }
    }
}

/// 32 hexadecimal digits of a hash, as many as an ETag of S3 has.
pub(crate) fn digest(bytes: &[u8]) -> String {
    let mut digits = hex(&Sha256::digest(bytes));
    digits.truncate(32);
    digits
}
