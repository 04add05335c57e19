//! Whether the array is still there, after chunks of it were found not to be.

use crate::core::ArrayCore;
use crate::{Error, ErrorKind, Result, jobs};
use zarr_hierarchy::node::reread;
use zarr_meta::ArrayMetadata;
use zarr_store::{Key, Next, Reply};

/// Gets the document of an array and compares it with the opened one.
#[derive(Debug)]
pub(crate) struct StillThere<'a> {
    core: &'a ArrayCore,
    /// The key of the document, once it was asked for.
    asked: Option<String>,
}

impl<'a> StillThere<'a> {
    /// `None` if there is nothing to look at: the array was opened from a copy of its document.
    pub(super) fn new(core: &'a ArrayCore) -> Option<Self> {
        let looks = !core.options.trust_missing && !core.found.documents.are_copies();
        looks.then_some(Self { core, asked: None })
    }

    /// The key of the document that it gets.
    pub(super) fn key(&self) -> Result<Option<Key>> {
        Ok(self.core.found.own_documents().next().map(Key::new).transpose()?)
    }

    pub(super) fn step<J: zarr_store::Job<Output = ()>>(self, replies: &[Reply]) -> Result<(Next<J>, Option<Self>)> {
        let core = self.core;
        let Some(text) = self.asked.as_ref() else {
            let Some(key) = self.key()? else { return Ok((Next::Done(()), None)) };
            let asked = Some(key.as_str().to_owned());
            return Ok((Next::Ask(vec![jobs::get_document(key)]), Some(Self { core, asked })));
        };
        let at = |error: Error| error.at(|location| location.key = Some(text.clone()));
        match replies.first() {
            Some(Reply::Got(Some(fetched))) => {
                let bytes = fetched.part(0);
                if core.found.documents.get(text) != Some(bytes) && !still_reads(core, text, bytes) {
                    return Err(at(gone("another array is there now")));
                }
                Ok((Next::Done(()), None))
            }
            Some(Reply::Got(None)) => Err(at(gone("the array is not there any more"))),
            _ => Err(at(jobs::unfit())),
        }
    }
}

fn gone(message: &str) -> Error {
    let message = format!("chunks are not stored, and {message}: it was erased, moved or replaced after it was opened");
    Error::new(ErrorKind::NotFound, message)
}

/// Whether chunks are read by a newer document as by the opened one: the same but for attributes and a shape that has
/// grown.
fn still_reads(core: &ArrayCore, key: &str, bytes: &[u8]) -> bool {
    let mut documents = core.found.documents.clone();
    documents.insert(key, bytes);
    let Ok(found) = reread(core.dialect(), core.path(), &documents) else { return false };
    let found = core.options.as_read(found);
    let (old, Some(new)) = (core.metadata(), found.node.as_array()) else { return false };
    let covers = old.shape.len() == new.shape.len() && old.shape.iter().zip(&new.shape).all(|(old, new)| old <= new);
    let layout = |array: &ArrayMetadata| {
        let mut array = array.clone();
        (array.shape, array.dimension_names) = (Vec::new(), None);
        (array.attributes, array.extra) = Default::default();
        array
    };
    // NaN differs from itself as a number, not as the text that fill values are.
    covers && layout(old) == layout(new)
}
