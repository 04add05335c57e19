//! Values that are uploaded in parts while they are computed.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use object_store::multipart::{MultipartStore, PartId};
use object_store::path::Path;
use object_store::{Attribute, MultipartId, PutMultipartOptions, PutPayload};
use tokio::runtime::Handle;
use tokio::task::JoinSet;
use zarr_store::{Error, ErrorKind, Key, Operation, Precondition, Result, SetOptions, SetStream, Version};

use crate::bucket::Bucket;
use crate::read::{There, look};
use crate::writes::{self, Fate};
use crate::{object, write};

/// Size of each part except the last in bytes. Some services require parts of equal size; the least size that services accept is 5 MiB.
const PART: usize = 8 << 20;
/// Greatest number of parts of a value that are uploaded concurrently.
const SENDING: usize = 3;
/// Greatest number of parts of an upload.
const MOST_PARTS: usize = 10_000;

/// State of a stream; `None` while a step is in progress, and after its end.
pub(crate) struct State(Mutex<Option<Box<Streamed>>>);

/// Value of which some bytes were received.
pub(crate) struct Streamed {
    bucket: Arc<Bucket>,
    key: Key,
    path: Path,
    when: Precondition,
    /// Bytes after the head that belong to the same parts as the head, which is given last.
    first: Pieces,
    /// Final length of `first`, if the value is long enough.
    first_size: usize,
    /// Number of parts of the head and `first`.
    first_parts: usize,
    /// Bytes after `first` that are not sent yet.
    rest: Pieces,
    upload: Option<Upload>,
}

/// Bytes in pieces.
#[derive(Default)]
struct Pieces {
    pieces: VecDeque<Bytes>,
    len: usize,
}

impl Pieces {
    fn push(&mut self, piece: Bytes) {
        self.len += piece.len();
        self.pieces.push_back(piece);
    }

    /// Takes `size` bytes from the front, or all if there are fewer.
    fn take(&mut self, size: usize) -> Self {
        let mut taken = Self::default();
        while let Some(mut piece) = self.pieces.pop_front() {
            let missing = size - taken.len;
            if missing == 0 {
                self.pieces.push_front(piece);
                break;
            }
            if piece.len() > missing {
                self.pieces.push_front(piece.split_off(missing));
            }
            taken.push(piece);
        }
        self.len -= taken.len;
        taken
    }

    fn into_payload(self) -> PutPayload {
        self.pieces.into_iter().collect()
    }
}

/// Upload that the service has begun. It is aborted when this value is dropped, unless it is complete.
struct Upload {
    store: Arc<dyn MultipartStore>,
    runtime: Handle,
    path: Path,
    id: MultipartId,
    /// Identifiers by which the combined value is recognized.
    ids: writes::Put,
    /// Identifiers of the uploaded parts; `None` for parts that are not uploaded yet.
    parts: Vec<Option<PartId>>,
    sending: JoinSet<Result<(usize, PartId)>>,
    is_complete: bool,
}

impl Drop for Upload {
    fn drop(&mut self) {
        if self.is_complete {
            return;
        }
        let (store, path, id) = (Arc::clone(&self.store), self.path.clone(), std::mem::take(&mut self.id));
        // Stop parts that are on their way, which would stay after the upload is aborted.
        let mut sending = std::mem::take(&mut self.sending);
        drop(self.runtime.spawn(async move {
            sending.shutdown().await;
            // If this fails, the parts stay until the service removes them by a rule of the bucket.
            let _ = store.abort_multipart(&path, &id).await;
        }));
    }
}

/// Begins a value with a head of `head` bytes. Makes no request.
pub(crate) fn begin(bucket: &Arc<Bucket>, key: &Key, head: u64, options: &SetOptions) -> Result<SetStream> {
    let too_large = || Error::Memory { size: head };
    let head_size = usize::try_from(head).map_err(|_| too_large())?;
    let first_parts = head_size.div_ceil(PART);
    let first_size = first_parts.checked_mul(PART).ok_or_else(too_large)? - head_size;
    let streamed = Streamed {
        bucket: Arc::clone(bucket),
        key: key.clone(),
        path: bucket.path(Operation::Set, key)?,
        when: options.when.clone(),
        first: Pieces::default(),
        first_size,
        first_parts,
        rest: Pieces::default(),
        upload: None,
    };
    Ok(SetStream::new(head, State(Mutex::new(Some(Box::new(streamed))))))
}

/// Takes the value out of its stream for a step.
pub(crate) fn take(bucket: &Bucket, key: &Key, stream: &SetStream) -> Result<Box<Streamed>> {
    let store = &bucket.subject.address;
    let taken = stream.state::<State>(store, key)?.0.lock().unwrap_or_else(PoisonError::into_inner).take();
    taken.ok_or_else(|| SetStream::ended(store, key))
}

/// Puts the value back into its stream after a successful step.
pub(crate) fn put_back(bucket: &Bucket, key: &Key, stream: &SetStream, streamed: Box<Streamed>) -> Result<()> {
    let state = stream.state::<State>(&bucket.subject.address, key)?;
    *state.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(streamed);
    Ok(())
}

impl Streamed {
    /// Adds pieces, and sends full parts.
    pub(crate) async fn append(mut self: Box<Self>, pieces: Vec<Bytes>) -> Result<Box<Self>> {
        pieces.into_iter().for_each(|piece| self.rest.push(piece));
        let missing = self.first_size - self.first.len;
        self.rest.take(missing).pieces.into_iter().for_each(|piece| self.first.push(piece));
        // A put on a condition is one request: the parts of several would not be told apart after an answer is lost.
        let store = match &self.bucket.multipart {
            Some(store) if self.when == Precondition::None => Arc::clone(store),
            _ => return Ok(self),
        };
        while self.rest.len >= PART {
            if self.upload.is_none() {
                self.upload = Some(self.begin(&store).await?);
            }
            let part = self.rest.take(PART);
            self.send(None, part).await?;
        }
        Ok(self)
    }

    /// Sets the value to the head followed by all pieces.
    pub(crate) async fn finish(mut self: Box<Self>, head: Bytes) -> Result<Option<Version>> {
        let mut front = Pieces::default();
        front.push(head);
        std::mem::take(&mut self.first).pieces.into_iter().for_each(|piece| front.push(piece));
        if self.upload.is_none() {
            std::mem::take(&mut self.rest).pieces.into_iter().for_each(|piece| front.push(piece));
            return write::set(self.bucket, self.key, front.into_payload(), self.when).await;
        }
        for number in 0..self.first_parts {
            self.send(Some(number), front.take(PART)).await?;
        }
        let rest = std::mem::take(&mut self.rest);
        if rest.len > 0 {
            self.send(None, rest).await?;
        }
        self.complete().await
    }

    async fn begin(&self, store: &Arc<dyn MultipartStore>) -> Result<Upload> {
        let exchange = self.bucket.exchange(0);
        let ids = writes::Put::new(&Precondition::None, None);
        let mut options =
            PutMultipartOptions { attributes: object::attributes(&self.key), ..PutMultipartOptions::default() };
        options.attributes.insert(Attribute::Metadata(writes::NAME.into()), ids.as_str().to_owned().into());
        let begun = exchange.during(store.create_multipart_opts(&self.path, options)).await;
        let id = begun.map_err(|error| self.bucket.error(&exchange, Operation::Set, self.key.as_str(), &error))?;
        Ok(Upload {
            store: Arc::clone(store),
            runtime: Handle::current(),
            path: self.path.clone(),
            id,
            ids,
            parts: (0..self.first_parts).map(|_| None).collect(),
            sending: JoinSet::new(),
            is_complete: false,
        })
    }

    /// Sends a part, with the given number or the next one. Waits first while [`SENDING`] parts are being uploaded.
    async fn send(&mut self, number: Option<usize>, part: Pieces) -> Result<()> {
        let (bucket, key) = (Arc::clone(&self.bucket), self.key.clone());
        let Some(upload) = &mut self.upload else { return Ok(()) };
        while upload.sending.len() >= SENDING {
            upload.arrived(&bucket, &key).await?;
        }
        let number = number.unwrap_or_else(|| {
            upload.parts.push(None);
            upload.parts.len() - 1
        });
        if number >= MOST_PARTS {
            let text =
                format!("the value has more than {MOST_PARTS} parts of {PART} bytes, the most that an upload has");
            return Err(bucket.subject.failed(Operation::Set, key.as_str(), ErrorKind::Limit, text));
        }
        let (store, path, id) = (Arc::clone(&upload.store), upload.path.clone(), upload.id.clone());
        let exchange = bucket.exchange(part.len as u64);
        upload.sending.spawn(async move {
            let sent = exchange.during(store.put_part(&path, &id, number, part.into_payload())).await;
            let sent = sent.map(|part| (number, part));
            sent.map_err(|error| bucket.error(&exchange, Operation::Set, key.as_str(), &error))
        });
        Ok(())
    }

    /// Combines the parts to a value after all are uploaded.
    async fn complete(mut self) -> Result<Option<Version>> {
        let (bucket, key) = (Arc::clone(&self.bucket), self.key.clone());
        let Some(upload) = &mut self.upload else { return Ok(None) };
        while !upload.sending.is_empty() {
            upload.arrived(&bucket, &key).await?;
        }
        let parts: Option<Vec<PartId>> = std::mem::take(&mut upload.parts).into_iter().collect();
        let Some(parts) = parts else {
            let text = "a part of the value was not sent".to_owned();
            return Err(bucket.subject.failed(Operation::Set, key.as_str(), ErrorKind::Internal, text));
        };
        let exchange = bucket.exchange(0);
        // Keep some time back for the check of the value after the last attempt.
        exchange.seen().attempts.keep_back();
        loop {
            let complete = upload.store.complete_multipart(&upload.path, &upload.id, parts.clone());
            let error = match exchange.during(complete).await {
                Ok(put) => {
                    upload.is_complete = true;
                    return Ok(bucket.version(put.e_tag.as_deref(), put.version.as_deref()));
                }
                Err(error) => error,
            };
            let (again, maybe_set, is_gone) = {
                let seen = exchange.seen();
                (seen.again, seen.maybe_set, seen.is_gone())
            };
            if maybe_set {
                let there = look(&bucket, &key, &exchange, bucket.common.missing_403).await.ok().flatten();
                let there = there.map(|There { version, writes }| (upload.ids.fate(&writes), version));
                upload.is_complete = match &there {
                    Some((Fate::Newest | Fate::BuiltOn, _)) => true,
                    // Nobody else knows the upload: an attempt without an answer has completed it, and others have replaced the value.
                    _ => is_gone,
                };
                if upload.is_complete {
                    return Ok(there.filter(|(fate, _)| *fate == Fate::Newest).and_then(|(_, version)| version));
                }
            }
            let goes_on = match again {
                Some(again) => exchange.pause(again).await,
                None => false,
            };
            if !goes_on {
                return Err(bucket.error(&exchange, Operation::Set, key.as_str(), &error));
            }
        }
    }
}

impl Upload {
    /// Waits until one of the parts is uploaded.
    async fn arrived(&mut self, bucket: &Bucket, key: &Key) -> Result<()> {
        let Some(sent) = self.sending.join_next().await else { return Ok(()) };
        let sent = sent.map_err(|error| {
            bucket.subject.failed(Operation::Set, key.as_str(), ErrorKind::Internal, error.to_string())
        });
        let (number, part) = sent??;
        if let Some(slot) = self.parts.get_mut(number) {
            *slot = Some(part);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(pieces: &Pieces) -> Vec<u8> {
        pieces.pieces.iter().flatten().copied().collect()
    }

    #[test]
    fn pieces_are_cut_without_a_copy() {
        let mut pieces = Pieces::default();
        let large = Bytes::from(vec![7; 10]);
        for piece in [Bytes::from_static(b"abc"), Bytes::new(), large.clone(), Bytes::from_static(b"z")] {
            pieces.push(piece);
        }
        let taken = pieces.take(5);
        assert_eq!((taken.len, pieces.len), (5, 9));
        assert_eq!(taken.pieces.back().map(|piece| piece.as_ptr()), Some(large.as_ptr()));
        assert_eq!(bytes(&taken), b"abc\x07\x07");
        assert_eq!(pieces.take(0).len, 0);
        assert_eq!(bytes(&pieces.take(100)), b"\x07\x07\x07\x07\x07\x07\x07\x07z");
        assert_eq!((pieces.len, pieces.take(1).len), (0, 0));
    }
}
