//! Default answers to calls, for stores without a better way.

use std::borrow::Cow;

use super::{Answer, Call, CallBytes};
use crate::below::{Blocking, at_once};
use crate::capabilities::{check_writable, refuse};
use crate::durability::ALWAYS;
use crate::ext::size_of;
use crate::pieces::join_pieces;
use crate::set_stream::Collected;
use crate::snapshot::NEWEST;
use crate::splice::splice_and_set;
use crate::{
    Below, Copied, Error, Fetched, GetInto, GotMany, Key, Lock, Operation, Precondition, Result, SetOptions, Store,
    ValueGet,
};

/// Answers a call for a blocking store without a better way, as [`fallback`] does for both kinds of stores.
///
/// # Errors
/// The errors of [`fallback`].
pub fn fallback_blocking<S: Store + ?Sized>(store: &S, call: Call<'_>) -> Result<Answer> {
    match call {
        // The calls of reads and writes of chunks are answered without the state of a future.
        Call::GetInto { .. } => Ok(Answer::GotInto(GetInto::Declined)),
        Call::SetMany { values } => {
            check_writable(&store, store.capabilities(), Operation::Set)?;
            for (key, value) in values {
                store.call(Call::Set { key, value, options: Cow::Borrowed(&ALWAYS) })?.into_version()?;
            }
            Ok(Answer::Done)
        }
        call => at_once(fallback(Blocking(store), call)),
    }
}

/// Answers a call for a store without a better way: by other calls of `store`, or by an answer that is right for every store. Stores
/// pass calls to this function from [`AsyncStore::call`](crate::AsyncStore::call), and from [`Wrapper::answer`](crate::Wrapper::answer).
///
/// # Errors
/// The errors of the other calls. [`Error::Unsupported`] for a get and a listing, and [`Error::ReadOnly`] for a set and an erase, which no
/// other call can replace.
pub async fn fallback<B: Below>(store: B, call: Call<'_>) -> Result<Answer> {
    Ok(match call {
        Call::Get { .. } => return Err(unsupported(store, Operation::Get)),
        Call::ListDir { .. } => return Err(unsupported(store, Operation::List)),
        Call::Set { .. } => return refuse(&store, Operation::Set),
        Call::Erase { .. } => return refuse(&store, Operation::Erase),
        Call::GetMany { gets } => {
            let mut got = GotMany::with_capacity(gets.len());
            for ValueGet { key, ranges, options } in gets {
                got.push(store.call(Call::Get { key, ranges, options }).await.and_then(Answer::into_got));
            }
            Answer::GotMany(got)
        }
        Call::GetInto { .. } => Answer::GotInto(GetInto::Declined),
        Call::SetPieces { key, pieces, options } => {
            let value = CallBytes::Owned(join_pieces(&pieces.slices())?.into());
            return store.call(Call::Set { key, value, options }).await;
        }
        Call::BeginSet { key: _, head, options } => {
            check_writable(&store, store.capabilities(), Operation::Set)?;
            Answer::Begun(Collected::stream(head, &options))
        }
        Call::AppendToSet { key, stream, pieces } => {
            Collected::append(&store, &key, &stream, pieces)?;
            Answer::Done
        }
        Call::FinishSet { key, stream, head } => {
            let (pieces, options) = Collected::finish(&store, &key, &stream, head)?;
            let (pieces, options) = (super::CallPieces::Owned(pieces), Cow::Borrowed(options));
            return store.call(Call::SetPieces { key, pieces, options }).await;
        }
        Call::SetMany { values } => set_each(store, values, &ALWAYS).await?,
        Call::CreateMany { values, durability } => {
            set_each(store, values, &SetOptions::when(Precondition::NotExists).durable(durability)).await?
        }
        Call::SetPartial { key, parts } => {
            check_writable(&store, store.capabilities(), Operation::Set)?;
            splice_and_set(store, &key, &parts).await?;
            Answer::Done
        }
        Call::Copy { .. } => Answer::Copied(Copied::Declined),
        Call::ErasePrefix { prefix } => {
            check_writable(&store, store.capabilities(), Operation::Erase)?;
            for key in store.call(Call::ListPrefix { prefix }).await?.into_keys()? {
                store.call(Call::Erase { key: Cow::Owned(key) }).await?.into_done()?;
            }
            Answer::Done
        }
        Call::RenamePrefix { .. } | Call::ExchangePrefixes { .. } => {
            check_writable(&store, store.capabilities(), Operation::Set)?;
            Answer::Is(false)
        }
        Call::ListPrefix { prefix } => {
            let mut keys = Vec::new();
            let mut todo = vec![prefix.into_owned()];
            while let Some(prefix) = todo.pop() {
                let listing = store.call(Call::ListDir { prefix: Cow::Owned(prefix) }).await?.into_listing()?;
                keys.extend(listing.keys);
                todo.extend(listing.prefixes);
            }
            keys.sort_unstable();
            Answer::Keys(keys)
        }
        Call::ListSizes { prefix, visit } => {
            for key in store.call(Call::ListPrefix { prefix }).await?.into_keys()? {
                if let Some(size) = size(store, &key).await? {
                    visit(key, size);
                }
            }
            Answer::Done
        }
        Call::FindLink { .. } => Answer::Link(None),
        Call::Leftovers { .. } => Answer::Leftovers(Vec::new()),
        Call::Pin { .. } => Answer::Pinned(None),
        Call::IsInPlace => Answer::Is(true),
        Call::Lock { prefix } => Answer::Locked(Lock::in_process(&store, &prefix)),
        Call::Flush => Answer::Done,
        Call::Barrier if store.capabilities().appears_at_flush => Answer::Done,
        Call::Barrier => return store.call(Call::Flush).await,
    })
}

fn unsupported<B: Below>(store: B, operation: Operation) -> Error {
    Error::Unsupported { store: store.to_string(), operation }
}

async fn set_each<B: Below>(
    store: B,
    values: Vec<(Cow<'_, Key>, CallBytes<'_>)>,
    options: &SetOptions,
) -> Result<Answer> {
    check_writable(&store, store.capabilities(), Operation::Set)?;
    for (key, value) in values {
        store.call(Call::Set { key, value, options: Cow::Borrowed(options) }).await?.into_version()?;
    }
    Ok(Answer::Done)
}

/// Returns the size of a value in bytes; `None` if the key does not exist.
async fn size<B: Below>(store: B, key: &Key) -> Result<Option<u64>> {
    let get = Call::Get { key: Cow::Borrowed(key), ranges: Cow::Borrowed(&[]), options: Cow::Borrowed(&NEWEST) };
    let fetched = store.call(get).await?.into_got()?;
    let fetched = Fetched::checked(&store, key, fetched, 0, &NEWEST)?;
    fetched.map(|fetched| size_of(&store, key, &fetched)).transpose()
}
