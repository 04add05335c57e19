//! Questions whether a service keeps the condition that a value has a version, by puts of a key that nobody else has.

use std::sync::Arc;

use object_store::{PutMode, PutPayload, UpdateVersion};
use zarr_store::{Key, Operation};
use zarr_store_runtime::Attempts;

use crate::bucket::Bucket;
use crate::erase::erase_one;
use crate::exchange::Exchange;
use crate::object::options;
use crate::temporary::temporary_name;

/// The value of the key, for whoever finds one.
const VALUE: &str = "This object shows whether the service keeps conditions of puts. It may be removed.\n";

/// Answer of a service.
enum Answer {
    Kept,
    Ignored,
    /// Nothing of conditions, and will not another time.
    Unsaid,
    /// Nothing now.
    Later,
}

/// Puts a temporary key beside this one on the condition that it has a version which no value has, within the time that is left of an
/// operation, and notes the answer. Where it was put, it is erased.
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
        // Some pass over the condition as long as there is no value.
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

/// Finds the answer in a put that was not made.
fn refused(exchange: &Exchange) -> Answer {
    let seen = exchange.seen();
    let Some(problem) = seen.problem.as_ref().filter(|problem| !problem.foreign) else { return Answer::Later };
    match problem.status.as_u16() {
        // One that does not know the condition says so each time.
        404 | 409 | 412 | 501 => Answer::Kept,
        _ if seen.again.is_some() => Answer::Later,
        _ => Answer::Unsaid,
    }
}
