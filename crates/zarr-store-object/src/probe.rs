//! Test whether a service respects the condition that a value has a version, by a put of a temporary key.

use std::sync::Arc;

use object_store::{PutMode, PutPayload, UpdateVersion};
use zarr_store::{Key, Operation};
use zarr_store_runtime::Attempts;

use crate::bucket::Bucket;
use crate::erase::erase_one;
use crate::exchange::Exchange;
use crate::object::options;
use crate::temporary::temporary_name;

/// Value of the temporary key, for people who find it.
const VALUE: &str = "This object shows whether the service keeps conditions of puts. It may be removed.\n";

/// Result of the test.
enum Answer {
    Kept,
    Ignored,
    /// The response says nothing about conditions, and will not another time.
    Unsaid,
    /// The response says nothing this time.
    Later,
}

/// Puts a temporary key beside `beside` on the condition of a version that no value has, within the remaining time of an operation, and
/// records the result. If the put succeeds, the key is erased.
pub(crate) async fn ask(inner: Arc<Bucket>, beside: Key, attempts: Attempts) {
    let above = beside.as_str().rsplit_once('/').map_or(String::new(), |(above, _)| format!("{above}/"));
    let key = Key::new(&format!("{above}{}", temporary_name()));
    let Ok((key, path)) = key.and_then(|key| Ok((key.clone(), inner.path(Operation::Set, &key)?))) else {
        return inner.conditions.are_unsaid();
    };
    let exchange = Exchange::new(attempts);
    let put = async || {
        let never = UpdateVersion { e_tag: Some(format!("\"never-{}\"", key.name())), version: None };
        let options = options(&key, PutMode::Update(never));
        exchange.during(inner.store.put_opts(&path, PutPayload::from_static(VALUE.as_bytes()), options)).await
    };
    let (mut is_set, answer) = match put().await {
        Err(_) => (false, refused(&exchange)),
        // Some services ignore the condition as long as there is no value.
        Ok(_) => match put().await {
            Err(_) => (true, refused(&exchange)),
            Ok(_) => (true, Answer::Ignored),
        },
    };
    is_set |= exchange.seen().maybe_set;
    match answer {
        Answer::Kept => inner.conditions.are_kept(),
        Answer::Ignored => inner.conditions.are_ignored(),
        Answer::Unsaid => inner.conditions.are_unsaid(),
        Answer::Later => inner.conditions.ask_later(),
    }
    if is_set && let Err(error) = erase_one(&inner, key.as_str(), path).await {
        let text = format!("the key that showed whether the service keeps conditions of puts is left behind: {error}");
        inner.conditions.warn(text);
    }
}

/// Returns the result of the test from a put that failed.
fn refused(exchange: &Exchange) -> Answer {
    let seen = exchange.seen();
    let Some(problem) = seen.problem.as_ref().filter(|problem| !problem.foreign) else { return Answer::Later };
    match problem.status.as_u16() {
        // A service that does not know the condition says so each time.
        404 | 409 | 412 | 501 => Answer::Kept,
        _ if seen.again.is_some() => Answer::Later,
        _ => Answer::Unsaid,
    }
}
