//! Values of a server: buckets, objects and unfinished uploads.

use crate::bucket::Bucket;
use crate::encoding::hex;
use bytes::Bytes;
use http::{HeaderName, HeaderValue};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::time::SystemTime;

/// Value with its metadata.
#[derive(Clone, Debug)]
pub(crate) struct Object {
    pub(crate) value: Bytes,
    /// Strong ETag, with its quotes. Equal values have equal ETags, as in S3.
    pub(crate) etag: String,
    /// Number of the write, larger than the generation of any object that was written before.
    pub(crate) generation: u64,
    pub(crate) modified: SystemTime,
    /// Headers that were sent with the value and are returned with it: content type, metadata of users and the like.
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
}

/// Objects of a bucket by their keys, in the order of a listing.
pub(crate) type Objects = BTreeMap<String, Object>;

/// Multipart upload that is not complete.
#[derive(Debug)]
pub(crate) struct Upload {
    pub(crate) key: String,
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    /// Parts by their numbers, each with its ETag.
    pub(crate) parts: BTreeMap<u32, (Bytes, String)>,
}

/// Bucket with its contents.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    pub(crate) options: Bucket,
    pub(crate) objects: Objects,
    pub(crate) uploads: BTreeMap<String, Upload>,
}

/// All values of a server, behind one lock, which is held while a condition is checked and the write that depends on it is done.
#[derive(Debug, Default)]
pub(crate) struct Values {
    pub(crate) buckets: BTreeMap<String, Contents>,
    generation: u64,
    uploads: u64,
}

impl Values {
    /// Returns a number that no object and no upload had before.
    pub(crate) fn next_generation(&mut self) -> u64 {
        // About as long as in Google Cloud Storage, where it is a time in microseconds.
        const FIRST: u64 = 1_700_000_000_000_000;
        self.generation += 1;
        FIRST + self.generation
    }

    /// Returns the id of a new upload.
    pub(crate) fn next_upload(&mut self) -> String {
        self.uploads += 1;
        format!("upload-{}", self.uploads)
    }

    /// Returns the bucket called `name`, which is created if it does not exist.
    pub(crate) fn bucket(&mut self, name: &str) -> &mut Contents {
        self.buckets.entry(name.to_owned()).or_default()
    }

    /// Sets a value, whether the key had one or not, and returns its generation.
    pub(crate) fn put(&mut self, bucket: &str, key: &str, new: Payload) -> u64 {
        let generation = self.next_generation();
        self.bucket(bucket).objects.insert(key.to_owned(), new.object(generation));
        generation
    }
}

/// Value that is about to be stored.
#[derive(Debug)]
pub(crate) struct Payload {
    pub(crate) value: Bytes,
    pub(crate) etag: String,
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
}

impl Payload {
    /// Computes the ETag of a value. This takes time, and should not be done while values are locked.
    pub(crate) fn new(value: Bytes, headers: Vec<(HeaderName, HeaderValue)>) -> Self {
        let etag = format!("\"{}\"", digest(&value));
        Self { value, etag, headers }
    }

    pub(crate) fn object(self, generation: u64) -> Object {
        let Self { value, etag, headers } = self;
        Object { value, etag, generation, modified: SystemTime::now(), headers }
    }
}

/// Returns the first 32 hexadecimal digits of a hash, the length of an ETag of S3.
pub(crate) fn digest(bytes: &[u8]) -> String {
    let mut digits = hex(&Sha256::digest(bytes));
    digits.truncate(32);
    digits
}
