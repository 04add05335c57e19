//! Macros that implement the methods of stores by calls.

/// Implements the methods of [`Store`](crate::Store) by [`Store::call`](crate::Store::call), which the store must implement: its default
/// calls the methods, which would never end.
///
/// # Example
/// ```
/// # use zarr_store::*;
/// /// Another store that tells of changes.
/// #[derive(Debug)]
/// struct Telling<S>(S);
///
/// # impl<S: Store> std::fmt::Display for Telling<S> {
/// #     fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
/// #         std::fmt::Display::fmt(&self.0, f)
/// #     }
/// # }
/// impl<S: Store> Store for Telling<S> {
///     fn call(&self, call: Call<'_>) -> Result<Answer> {
///         if call.is_change() {
///             println!("{} {}", call.operation(), call.name());
///         }
///         self.0.call(call)
///     }
///
///     fn capabilities(&self) -> Capabilities {
///         self.0.capabilities()
///     }
///
///     fn access_profile(&self) -> AccessProfile {
///         self.0.access_profile()
///     }
///
///     zarr_store::methods_by_call! {}
/// }
/// # testing::contract(&Telling(MemoryStore::new()));
/// ```
#[macro_export]
macro_rules! methods_by_call {
    () => { $crate::methods_by_call! {
        get(key: &$crate::Key, ranges: &[$crate::ByteRange], options: &$crate::GetOptions) -> Option<$crate::Fetched>,
            get(key, ranges, options), into_got;
        get_many(gets: Vec<$crate::ValueGet<'_>>) -> $crate::GotMany, get_many(gets), into_got_many;
        get_into(key: &$crate::Key, into: &mut [u8]) -> $crate::GetInto, get_into(key, into), into_got_into;
        set(key: &$crate::Key, value: &[u8], options: &$crate::SetOptions) -> Option<$crate::Version>,
            set(key, $crate::CallBytes::Lent(value), options), into_version;
        set_pieces(key: &$crate::Key, pieces: &[&[u8]], options: &$crate::SetOptions) -> Option<$crate::Version>,
            set_pieces(key, $crate::CallPieces::Lent(pieces), options), into_version;
        begin_set(key: &$crate::Key, head: u64, options: &$crate::SetOptions) -> $crate::SetStream,
            begin_set(key, head, options), into_begun;
        append_to_set(key: &$crate::Key, stream: &$crate::SetStream, pieces: Vec<$crate::Bytes>) -> (),
            append_to_set(key, stream, pieces), into_done;
        finish_set(key: &$crate::Key, stream: &$crate::SetStream, head: $crate::Bytes) -> Option<$crate::Version>,
            finish_set(key, stream, head), into_version;
        set_many(values: &[(&$crate::Key, &[u8])]) -> (), set_many(values), into_done;
        create_many(values: &[(&$crate::Key, &[u8])], durability: $crate::Durability) -> (),
            create_many(values, durability), into_done;
        set_partial(key: &$crate::Key, parts: &[(u64, &[u8])]) -> (), set_partial(key, parts), into_done;
        copy(from: &$crate::CopySource, to: &$crate::Key) -> $crate::Copied, copy(from, to), into_copied;
        erase(key: &$crate::Key) -> (), erase(key), into_done;
        erase_prefix(prefix: &$crate::Prefix) -> (), erase_prefix(prefix), into_done;
        rename_prefix(from: &$crate::Prefix, to: &$crate::Prefix) -> bool, rename_prefix(from, to), into_bool;
        exchange_prefixes(a: &$crate::Prefix, b: &$crate::Prefix) -> bool, exchange_prefixes(a, b), into_bool;
        list_dir(prefix: &$crate::Prefix) -> $crate::Listing, list_dir(prefix), into_listing;
        list_prefix(prefix: &$crate::Prefix) -> Vec<$crate::Key>, list_prefix(prefix), into_keys;
        list_sizes(prefix: &$crate::Prefix, visit: &$crate::SizeVisitor) -> (), list_sizes(prefix, visit), into_done;
        find_link(prefix: &$crate::Prefix) -> Option<String>, find_link(prefix), into_link;
        leftovers(prefix: &$crate::Prefix, remove: bool) -> Vec<$crate::Leftover>,
            leftovers(prefix, remove), into_leftovers;
        pin(prefix: &$crate::Prefix) -> Option<std::sync::Arc<dyn $crate::Store>>, pin(prefix), into_pinned;
        is_in_place() -> bool, is_in_place(), into_bool;
        try_lock(prefix: &$crate::Prefix) -> Option<$crate::Lock>, try_lock(prefix), into_lock;
        flush() -> (), flush(), into_done;
        barrier() -> (), barrier(), into_done;
    } };
    ($($method:ident($($name:ident: $type:ty),*) -> $output:ty, $call:ident($($argument:expr),*), $into:ident;)*) => {$(
        fn $method(&self, $($name: $type),*) -> $crate::Result<$output> {
            $crate::Store::call(self, $crate::Call::$call($($argument),*))?.$into()
        }
    )*};
}

/// Implements the methods of [`AsyncStore`](crate::AsyncStore) by [`AsyncStore::call`](crate::AsyncStore::call), as [`methods_by_call`]
/// does for a [`Store`](crate::Store).
#[macro_export]
macro_rules! async_methods_by_call {
    () => { $crate::async_methods_by_call! {
        get(key: &'a $crate::Key, ranges: &'a [$crate::ByteRange], options: &'a $crate::GetOptions) -> Option<$crate::Fetched>,
            get(key, ranges, options), into_got;
        get_many(gets: Vec<$crate::ValueGet<'a>>) -> $crate::GotMany, get_many(gets), into_got_many;
        set(key: &'a $crate::Key, value: $crate::Bytes, options: &'a $crate::SetOptions) -> Option<$crate::Version>,
            set(key, $crate::CallBytes::Owned(value), options), into_version;
        set_pieces(key: &'a $crate::Key, pieces: Vec<$crate::Bytes>, options: &'a $crate::SetOptions) -> Option<$crate::Version>,
            set_pieces(key, $crate::CallPieces::Owned(pieces), options), into_version;
        begin_set(key: &'a $crate::Key, head: u64, options: &'a $crate::SetOptions) -> $crate::SetStream,
            begin_set(key, head, options), into_begun;
        append_to_set(key: &'a $crate::Key, stream: &'a $crate::SetStream, pieces: Vec<$crate::Bytes>) -> (),
            append_to_set(key, stream, pieces), into_done;
        finish_set(key: &'a $crate::Key, stream: &'a $crate::SetStream, head: $crate::Bytes) -> Option<$crate::Version>,
            finish_set(key, stream, head), into_version;
        copy(from: &'a $crate::CopySource, to: &'a $crate::Key) -> $crate::Copied, copy(from, to), into_copied;
        erase(key: &'a $crate::Key) -> (), erase(key), into_done;
        erase_prefix(prefix: &'a $crate::Prefix) -> (), erase_prefix(prefix), into_done;
        rename_prefix(from: &'a $crate::Prefix, to: &'a $crate::Prefix) -> bool, rename_prefix(from, to), into_bool;
        exchange_prefixes(a: &'a $crate::Prefix, b: &'a $crate::Prefix) -> bool, exchange_prefixes(a, b), into_bool;
        list_dir(prefix: &'a $crate::Prefix) -> $crate::Listing, list_dir(prefix), into_listing;
        list_prefix(prefix: &'a $crate::Prefix) -> Vec<$crate::Key>, list_prefix(prefix), into_keys;
        list_sizes(prefix: &'a $crate::Prefix, visit: &'a $crate::SizeVisitor) -> (), list_sizes(prefix, visit), into_done;
        pin(prefix: &'a $crate::Prefix) -> Option<std::sync::Arc<dyn $crate::AsyncStore>>, pin(prefix), into_pinned_async;
        is_in_place() -> bool, is_in_place(), into_bool;
        try_lock(prefix: &'a $crate::Prefix) -> Option<$crate::Lock>, try_lock(prefix), into_lock;
        flush() -> (), flush(), into_done;
        barrier() -> (), barrier(), into_done;
    } };
    ($($method:ident($($name:ident: $type:ty),*) -> $output:ty, $call:ident($($argument:expr),*), $into:ident;)*) => {$(
        fn $method<'a>(&'a self, $($name: $type),*) -> $crate::BoxFuture<'a, $crate::Result<$output>> {
            let answer = $crate::AsyncStore::call(self, $crate::Call::$call($($argument),*));
            Box::pin(async move { answer.await?.$into() })
        }
    )*};
}
