//! Macro for methods that a store forwards to another store.

/// Implements methods of [`Store`](crate::Store) by calls of the same methods of another store, which is a field of `this`.
///
/// This macro is for a store that implements some methods in its own way. A store that wraps another store, blocking or async, is a
/// [`Wrapper`](crate::Wrapper). `#[deny(clippy::missing_trait_methods)]` on the implementation reports methods that are neither
/// delegated nor implemented. `call` keeps its default, which calls the methods: delegated to the other store, it would bypass the methods
/// that are implemented.
///
/// # Example
/// ```
/// # use zarr_store::*;
/// # #[derive(Debug)]
/// struct Wrapper<S>(S);
///
/// # impl<S: Store> std::fmt::Display for Wrapper<S> {
/// #     fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
/// #         std::fmt::Display::fmt(&self.0, f)
/// #     }
/// # }
/// impl<S: Store> Store for Wrapper<S> {
///     fn erase(&self, key: &Key) -> Result<()> {
///         println!("erase {key}");
///         self.0.erase(key)
///     }
///
///     zarr_store::delegate! { |this| this.0;
///         get, get_many, location, get_into, set, set_pieces, begin_set, append_to_set, finish_set, set_many, create_many,
///         copy_source, copy, list_dir, list_prefix, list_sizes, erase_prefix, set_partial, rename_prefix, exchange_prefixes, as_async, find_link,
///         leftovers, parent, pin, is_in_place, try_lock, take_warnings, flush, barrier, capabilities, access_profile
///     }
/// }
/// # testing::contract(&Wrapper(MemoryStore::new()));
/// ```
#[macro_export]
macro_rules! delegate {
    (|$this:ident| $store:expr; $($method:ident),* $(,)?) => {
        $($crate::delegate! { @$method |$this| $store })*
    };
    (@get |$this:ident| $store:expr) => { $crate::delegate! { @fn |$this| $store;
        get(key: &$crate::Key, ranges: &[$crate::ByteRange], options: &$crate::GetOptions)
            -> $crate::Result<Option<$crate::Fetched>> } };
    (@get_many |$this:ident| $store:expr) => { $crate::delegate! { @fn |$this| $store;
        get_many(gets: Vec<$crate::ValueGet<'_>>) -> $crate::Result<$crate::GotMany> } };
    (@location |$this:ident| $store:expr) => { $crate::delegate! { @fn |$this| $store;
        location(key: &$crate::Key) -> Option<$crate::Location> } };
    (@get_into |$this:ident| $store:expr) => { $crate::delegate! { @fn |$this| $store;
        get_into(key: &$crate::Key, into: &mut [u8]) -> $crate::Result<$crate::GetInto> } };
    (@set |$this:ident| $store:expr) => { $crate::delegate! { @fn |$this| $store;
        set(key: &$crate::Key, value: &[u8], options: &$crate::SetOptions) -> $crate::Result<Option<$crate::Version>> } };
    (@set_pieces |$this:ident| $store:expr) => { $crate::delegate! { @fn |$this| $store;
        set_pieces(key: &$crate::Key, pieces: &[&[u8]], options: &$crate::SetOptions)
            -> $crate::Result<Option<$crate::Version>> } };
    (@begin_set |$this:ident| $store:expr) => { $crate::delegate! { @fn |$this| $store;
        begin_set(key: &$crate::Key, head: u64, options: &$crate::SetOptions) -> $crate::Result<$crate::SetStream> } };
    (@append_to_set |$this:ident| $store:expr) => { $crate::delegate! { @fn |$this| $store;
        append_to_set(key: &$crate::Key, stream: &$crate::SetStream, pieces: Vec<$crate::Bytes>) -> $crate::Result<()> } };
    (@finish_set |$this:ident| $store:expr) => { $crate::delegate! { @fn |$this| $store;
        finish_set(key: &$crate::Key, stream: &$crate::SetStream, head: $crate::Bytes)
            -> $crate::Result<Option<$crate::Version>> } };
    (@set_many |$this:ident| $store:expr) => { $crate::delegate! { @fn |$this| $store;
        set_many(values: &[(&$crate::Key, &[u8])]) -> $crate::Result<()> } };
    (@create_many |$this:ident| $store:expr) => { $crate::delegate! { @fn |$this| $store;
        create_many(values: &[(&$crate::Key, &[u8])], durability: $crate::Durability) -> $crate::Result<()> } };
    (@copy_source |$this:ident| $store:expr) => { $crate::delegate! { @fn |$this| $store;
        copy_source(key: &$crate::Key) -> Option<$crate::CopySource> } };
    (@copy |$this:ident| $store:expr) => { $crate::delegate! { @fn |$this| $store;
        copy(from: &$crate::CopySource, to: &$crate::Key) -> $crate::Result<$crate::Copied> } };
    (@erase |$this:ident| $store:expr) => { $crate::delegate! { @fn |$this| $store;
        erase(key: &$crate::Key) -> $crate::Result<()> } };
    (@list_dir |$this:ident| $store:expr) => { $crate::delegate! { @fn |$this| $store;
        list_dir(prefix: &$crate::Prefix) -> $crate::Result<$crate::Listing> } };
    (@list_prefix |$this:ident| $store:expr) => { $crate::delegate! { @fn |$this| $store;
        list_prefix(prefix: &$crate::Prefix) -> $crate::Result<Vec<$crate::Key>> } };
    (@list_sizes |$this:ident| $store:expr) => { $crate::delegate! { @fn |$this| $store;
        list_sizes(prefix: &$crate::Prefix, visit: &$crate::SizeVisitor) -> $crate::Result<()> } };
    (@erase_prefix |$this:ident| $store:expr) => { $crate::delegate! { @fn |$this| $store;
        erase_prefix(prefix: &$crate::Prefix) -> $crate::Result<()> } };
    (@set_partial |$this:ident| $store:expr) => { $crate::delegate! { @fn |$this| $store;
        set_partial(key: &$crate::Key, parts: &[(u64, &[u8])]) -> $crate::Result<()> } };
    (@rename_prefix |$this:ident| $store:expr) => { $crate::delegate! { @fn |$this| $store;
        rename_prefix(from: &$crate::Prefix, to: &$crate::Prefix) -> $crate::Result<bool> } };
    (@exchange_prefixes |$this:ident| $store:expr) => { $crate::delegate! { @fn |$this| $store;
        exchange_prefixes(a: &$crate::Prefix, b: &$crate::Prefix) -> $crate::Result<bool> } };
    (@find_link |$this:ident| $store:expr) => { $crate::delegate! { @fn |$this| $store;
        find_link(prefix: &$crate::Prefix) -> $crate::Result<Option<String>> } };
    (@leftovers |$this:ident| $store:expr) => { $crate::delegate! { @fn |$this| $store;
        leftovers(prefix: &$crate::Prefix, remove: bool) -> $crate::Result<Vec<$crate::Leftover>> } };
    (@as_async |$this:ident| $store:expr) => { $crate::delegate! { @fn |$this| $store;
        as_async() -> Option<std::sync::Arc<dyn $crate::AsyncStore>> } };
    (@parent |$this:ident| $store:expr) => { $crate::delegate! { @fn |$this| $store;
        parent() -> Option<(std::sync::Arc<dyn $crate::Store>, String)> } };
    (@pin |$this:ident| $store:expr) => { $crate::delegate! { @fn |$this| $store;
        pin(prefix: &$crate::Prefix) -> $crate::Result<Option<std::sync::Arc<dyn $crate::Store>>> } };
    (@is_in_place |$this:ident| $store:expr) => { $crate::delegate! { @fn |$this| $store;
        is_in_place() -> $crate::Result<bool> } };
    (@try_lock |$this:ident| $store:expr) => { $crate::delegate! { @fn |$this| $store;
        try_lock(prefix: &$crate::Prefix) -> $crate::Result<Option<$crate::Lock>> } };
    (@take_warnings |$this:ident| $store:expr) => { $crate::delegate! { @fn |$this| $store; take_warnings() -> Vec<String> } };
    (@flush |$this:ident| $store:expr) => { $crate::delegate! { @fn |$this| $store; flush() -> $crate::Result<()> } };
    (@barrier |$this:ident| $store:expr) => { $crate::delegate! { @fn |$this| $store; barrier() -> $crate::Result<()> } };
    (@capabilities |$this:ident| $store:expr) => { $crate::delegate! { @fn |$this| $store;
        capabilities() -> $crate::Capabilities } };
    (@access_profile |$this:ident| $store:expr) => { $crate::delegate! { @fn |$this| $store;
        access_profile() -> $crate::AccessProfile } };
    (@fn |$this:ident| $store:expr; $method:ident($($name:ident: $type:ty),*) -> $output:ty) => {
        fn $method(&self, $($name: $type),*) -> $output {
            let $this = self;
            $store.$method($($name),*)
        }
    };
}
