//! Partial writes: the value is read, changed and set.

use std::borrow::Cow;
use std::ops::Deref;

use crate::snapshot::NEWEST;
use crate::{Below, ByteRange, Call, CallBytes, Conflicts, Error, Fetched, Key, Precondition, Result, SetOptions};

/// Maximum number of further attempts at a partial write after conflicts.
const ATTEMPTS: u32 = 1000;

/// Reads a value, writes `parts` into it, and sets it; repeats this if another writer set the value meanwhile.
pub(crate) async fn splice_and_set<B: Below>(store: B, key: &Key, parts: &[(u64, CallBytes<'_>)]) -> Result<()> {
    let conditional = store.capabilities().conditional;
    let mut conflicts = Conflicts::new(ATTEMPTS);
    loop {
        let ranges = Cow::Borrowed(&[ByteRange::Full][..]);
        let get = Call::Get { key: Cow::Borrowed(key), ranges, options: Cow::Borrowed(&NEWEST) };
        let fetched = store.call(get).await?.into_got()?;
        let fetched = Fetched::checked(&store, key, fetched, 1, &NEWEST)?;
        let value = splice(fetched.as_ref().map_or(&[], |fetched| fetched.part(0)), parts)?;
        let when = match fetched.map(|fetched| fetched.version) {
            _ if !conditional => Precondition::None,
            Some(Some(version)) => Precondition::Version(version),
            Some(None) => Precondition::None,
            None => Precondition::NotExists,
        };
        let options = Cow::Owned(SetOptions::when(when));
        let set = Call::Set { key: Cow::Borrowed(key), value: CallBytes::Owned(value.into()), options };
        match store.call(set).await {
            Ok(_) => return Ok(()),
            Err(error) => match error.is_precondition().then(|| conflicts.again()).flatten() {
                Some(pause) => store.pause(pause).await,
                None => return Err(error),
            },
        }
        debug_assert!(conditional, "{key}: only a condition can fail to hold");
    }
}

/// Returns `value` with `parts` written over it, and zeros in gaps behind its end.
fn splice<P: Deref<Target = [u8]>>(value: &[u8], parts: &[(u64, P)]) -> Result<Vec<u8>> {
    let mut size = value.len();
    for (offset, part) in parts {
        let memory = Error::Memory { size: offset.saturating_add(part.len() as u64) };
        let end = usize::try_from(*offset).ok().and_then(|offset| offset.checked_add(part.len()));
        size = size.max(end.ok_or(memory)?);
    }
    let mut spliced = Vec::new();
    spliced.try_reserve_exact(size).map_err(|_| Error::Memory { size: size as u64 })?;
    spliced.extend_from_slice(value);
    spliced.resize(size, 0);
    for (offset, part) in parts {
        // The loop above has shown that the end is within `size`, which is a `usize`.
        #[expect(clippy::cast_possible_truncation, reason = "shown to fit above")]
        let start = *offset as usize;
        spliced[start..start + part.len()].copy_from_slice(part);
    }
    Ok(spliced)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn splicing_equals_byte_by_byte(
            value in proptest::collection::vec(any::<u8>(), 0..8),
            parts in proptest::collection::vec((0_u64..12, proptest::collection::vec(any::<u8>(), 0..5)), 0..4),
        ) {
            let mut model = value.clone();
            for (offset, part) in &parts {
                for i in 0..=part.len() {
                    let at = usize::try_from(*offset).expect("small") + i;
                    if at > model.len() { model.resize(at, 0); }
                    if i < part.len() {
                        if at == model.len() { model.push(0); }
                        model[at] = part[i];
                    }
                }
            }
            let parts: Vec<_> = parts.iter().map(|(offset, part)| (*offset, part.as_slice())).collect();
            prop_assert_eq!(splice(&value, &parts).expect("memory"), model);
        }
    }

    #[test]
    fn an_offset_that_cannot_be_is_an_error() {
        assert!(matches!(splice(b"", &[(u64::MAX, &b"x"[..])]), Err(Error::Memory { .. })));
        assert!(matches!(splice(b"", &[(1 << 62, &b"x"[..])]), Err(Error::Memory { .. })));
    }
}
