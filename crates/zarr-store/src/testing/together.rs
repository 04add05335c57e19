//! Gets that are made together have the outcomes of gets that are made one by one.

use crate::{ByteRange, Fetched, GetOptions, Key, Result, Store, StoreExt, ValueGet};

use super::key;

/// Gets all of these values together, ranges of them, ranges that are not inside them, and keys that are not there.
pub(super) fn check(store: &dyn Store, values: &[(Key, &[u8])]) {
    let absent = key("absent");
    let options = [GetOptions::default(), GetOptions::snapshot()];
    for options in &options {
        let mut asked = Vec::new();
        for (key, value) in values {
            let size = value.len() as u64;
            asked.push((key, vec![ByteRange::Full]));
            asked.push((key, vec![ByteRange::Suffix(size / 2), ByteRange::Range(0..size / 3)]));
            asked.push((key, vec![ByteRange::Range(size..size + 1)]));
            asked.push((&absent, vec![ByteRange::Full]));
            asked.push((key, Vec::new()));
        }
        let gets = asked.iter().map(|(key, ranges)| ValueGet::new(key, ranges, options)).collect();
        let together = store.get_many(gets).expect("get");
        assert_eq!(together.len(), asked.len(), "{store}");
        for ((key, ranges), together) in asked.iter().zip(together) {
            match (store.get(key, ranges, options), together) {
                (Ok(None), Ok(None)) => {}
                (Ok(Some(alone)), Ok(Some(together))) => {
                    assert!(alone.parts().eq(together.parts()), "{store}: {key}: {alone:?}, {together:?}");
                    let state = (&alone.size, &alone.version);
                    // A get of few bytes need not tell.
                    let said =
                        (together.size.or(alone.size), together.version.clone().or_else(|| alone.version.clone()));
                    assert!(alone.size.is_none() || *state.0 == said.0, "{store}: {key}: {alone:?}, {together:?}");
                    assert!(alone.version.is_none() || *state.1 == said.1, "{store}: {key}: {alone:?}, {together:?}");
                }
                (Err(alone), Err(together)) => {
                    assert_eq!((alone.to_string(), alone.kind()), (together.to_string(), together.kind()), "{store}");
                }
                (alone, together) => {
                    let is_found = |got: &Result<Option<Fetched>>| got.as_ref().is_ok_and(Option::is_some);
                    assert_eq!(
                        is_found(&alone),
                        is_found(&together),
                        "{store}: {key}: {ranges:?}: {alone:?}, {together:?}"
                    );
                    assert_eq!(
                        alone.is_err(),
                        together.is_err(),
                        "{store}: {key}: {ranges:?}: {alone:?}, {together:?}"
                    );
                }
            }
        }
    }
}
