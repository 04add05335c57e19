//! Conditions of writes.

use super::{Api, Call};
use crate::read::names;
use crate::reply::Refusal;
use crate::values::{Contents, Object};

/// Condition under which a write is done.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Condition {
    None,
    /// The key has no value.
    Absent,
    /// The value has one of these ETags; any ETag for `*`.
    Etag(String),
    /// The value has this generation.
    Generation(u64),
}

impl Condition {
    /// Reads the condition from the headers of a request.
    pub(super) fn of(call: &Call<'_>) -> Result<Self, Refusal> {
        let request = call.request;
        if call.api == Api::Gcs {
            return Ok(match request.header("x-goog-if-generation-match") {
                None => Self::None,
                Some("0") => Self::Absent,
                Some(text) => Self::Generation(text.parse().map_err(|_| {
                    let message = format!("x-goog-if-generation-match is no number: {text:?}");
                    Refusal::new(400, "InvalidArgument", message)
                })?),
            });
        }
        match (request.header("if-match"), request.header("if-none-match")) {
            (None, None) => Ok(Self::None),
            (Some(etags), None) => Ok(Self::Etag(etags.to_owned())),
            (None, Some("*")) => Ok(Self::Absent),
            _ => Err(Refusal::new(
                501,
                "NotImplemented",
                "A header you provided implies functionality that is not implemented",
            )),
        }
    }

    /// Checks the condition for a key of a bucket. The bucket must stay locked until the write is done.
    pub(super) fn check(&self, contents: &Contents, key: &str) -> Result<(), Refusal> {
        let options = contents.options;
        if options.ignores_conditions || (options.ignores_if_match && matches!(self, Self::Etag(_))) {
            return Ok(());
        }
        let object: Option<&Object> = contents.objects.get(key);
        let (holds, header) = match self {
            Self::None => (true, ""),
            Self::Absent => (object.is_none(), "If-None-Match"),
            Self::Etag(etags) => match object {
                // As S3 answers.
                None => return Err(Refusal::no_such_key(key)),
                Some(object) => (names(etags, &object.etag), "If-Match"),
            },
            Self::Generation(generation) => {
                (object.is_some_and(|object| object.generation == *generation), "x-goog-if-generation-match")
            }
        };
        if holds {
            Ok(())
        } else if contents.options.conflict_is_409 {
            let message = "A conflicting operation occurred during processing of this request.";
            Err(Refusal::new(409, "ConditionalRequestConflict", message))
        } else {
            Err(Refusal::precondition(header))
        }
    }
}
