//! The methods that an async store which wraps another one passes on.

/// As [`delegate`](crate::delegate), for [`AsyncStore`](crate::AsyncStore).
#[macro_export]
macro_rules! delegate_async {
    (|$this:ident| $store:expr; $($method:ident),* $(,)?) => {
        $($crate::delegate_async! { @$method |$this| $store })*
    };
    (@get |$this:ident| $store:expr) => {
        fn get<'a>(
            &'a self,
            key: &'a $crate::Key,
            ranges: &'a [$crate::ByteRange],
            options: &'a $crate::GetOptions,
        ) -> $crate::BoxFuture<'a, $crate::Result<Option<$crate::Fetched>>> {
            let $this = self;
            $store.get(key, ranges, options)
        }
    };
    (@set |$this:ident| $store:expr) => {
        fn set<'a>(
            &'a self,
            key: &'a $crate::Key,
            value: $crate::Bytes,
            options: &'a $crate::SetOptions,
        ) -> $crate::BoxFuture<'a, $crate::Result<Option<$crate::Version>>> {
            let $this = self;
            $store.set(key, value, options)
        }
    };
    (@set_pieces |$this:ident| $store:expr) => {
        fn set_pieces<'a>(
            &'a self,
            key: &'a $crate::Key,
            pieces: Vec<$crate::Bytes>,
            options: &'a $crate::SetOptions,
        ) -> $crate::BoxFuture<'a, $crate::Result<Option<$crate::Version>>> {
            let $this = self;
            $store.set_pieces(key, pieces, options)
        }
    };
    (@copy_source |$this:ident| $store:expr) => {
        fn copy_source(&self, key: &$crate::Key) -> Option<$crate::CopySource> {
            let $this = self;
            $store.copy_source(key)
        }
    };
    (@copy |$this:ident| $store:expr) => {
        fn copy<'a>(
            &'a self,
            from: &'a $crate::CopySource,
            to: &'a $crate::Key,
        ) -> $crate::BoxFuture<'a, $crate::Result<$crate::Copied>> {
            let $this = self;
            $store.copy(from, to)
        }
    };
    (@begin_set |$this:ident| $store:expr) => {
        fn begin_set<'a>(
            &'a self,
            key: &'a $crate::Key,
            head: u64,
            options: &'a $crate::SetOptions,
        ) -> $crate::BoxFuture<'a, $crate::Result<$crate::SetStream>> {
            let $this = self;
            $store.begin_set(key, head, options)
        }
    };
    (@append_to_set |$this:ident| $store:expr) => {
        fn append_to_set<'a>(
            &'a self,
            key: &'a $crate::Key,
            stream: &'a $crate::SetStream,
            pieces: Vec<$crate::Bytes>,
        ) -> $crate::BoxFuture<'a, $crate::Result<()>> {
            let $this = self;
            $store.append_to_set(key, stream, pieces)
        }
    };
    (@finish_set |$this:ident| $store:expr) => {
        fn finish_set<'a>(
            &'a self,
            key: &'a $crate::Key,
            stream: &'a $crate::SetStream,
            head: $crate::Bytes,
        ) -> $crate::BoxFuture<'a, $crate::Result<Option<$crate::Version>>> {
            let $this = self;
            $store.finish_set(key, stream, head)
        }
    };
    (@erase |$this:ident| $store:expr) => {
        fn erase<'a>(&'a self, key: &'a $crate::Key) -> $crate::BoxFuture<'a, $crate::Result<()>> {
            let $this = self;
            $store.erase(key)
        }
    };
    (@list_dir |$this:ident| $store:expr) => { $crate::delegate_async! { @prefix |$this| $store; list_dir -> $crate::Listing } };
    (@list_prefix |$this:ident| $store:expr) => {
        $crate::delegate_async! { @prefix |$this| $store; list_prefix -> Vec<$crate::Key> }
    };
    (@list_sizes |$this:ident| $store:expr) => {
        fn list_sizes<'a>(
            &'a self,
            prefix: &'a $crate::Prefix,
            visit: &'a $crate::SizeVisitor,
        ) -> $crate::BoxFuture<'a, $crate::Result<()>> {
            let $this = self;
            $store.list_sizes(prefix, visit)
        }
    };
    (@erase_prefix |$this:ident| $store:expr) => { $crate::delegate_async! { @prefix |$this| $store; erase_prefix -> () } };
    (@try_lock |$this:ident| $store:expr) => {
        $crate::delegate_async! { @prefix |$this| $store; try_lock -> Option<$crate::Lock> }
    };
    (@rename_prefix |$this:ident| $store:expr) => {
        fn rename_prefix<'a>(
            &'a self,
            from: &'a $crate::Prefix,
            to: &'a $crate::Prefix,
        ) -> $crate::BoxFuture<'a, $crate::Result<bool>> {
            let $this = self;
            $store.rename_prefix(from, to)
        }
    };
    (@exchange_prefixes |$this:ident| $store:expr) => {
        fn exchange_prefixes<'a>(
            &'a self,
            a: &'a $crate::Prefix,
            b: &'a $crate::Prefix,
        ) -> $crate::BoxFuture<'a, $crate::Result<bool>> {
            let $this = self;
            $store.exchange_prefixes(a, b)
        }
    };
    (@pin |$this:ident| $store:expr) => {
        $crate::delegate_async! { @prefix |$this| $store; pin -> Option<std::sync::Arc<dyn $crate::AsyncStore>> }
    };
    (@is_in_place |$this:ident| $store:expr) => {
        fn is_in_place(&self) -> $crate::BoxFuture<'_, $crate::Result<bool>> {
            let $this = self;
            $store.is_in_place()
        }
    };
    (@pause |$this:ident| $store:expr) => {
        fn pause(&self, duration: std::time::Duration) -> $crate::BoxFuture<'_, ()> {
            let $this = self;
            $store.pause(duration)
        }
    };
    (@take_warnings |$this:ident| $store:expr) => {
        fn take_warnings(&self) -> Vec<String> {
            let $this = self;
            $store.take_warnings()
        }
    };
    (@flush |$this:ident| $store:expr) => {
        fn flush(&self) -> $crate::BoxFuture<'_, $crate::Result<()>> {
            let $this = self;
            $store.flush()
        }
    };
    (@barrier |$this:ident| $store:expr) => {
        fn barrier(&self) -> $crate::BoxFuture<'_, $crate::Result<()>> {
            let $this = self;
            $store.barrier()
        }
    };
    (@call |$this:ident| $store:expr) => {
        fn call<'a>(&'a self, call: $crate::Call<'a>) -> $crate::BoxFuture<'a, $crate::Result<$crate::Answer>> {
            let $this = self;
            $store.call(call)
        }
    };
    (@capabilities |$this:ident| $store:expr) => {
        fn capabilities(&self) -> $crate::Capabilities {
            let $this = self;
            $store.capabilities()
        }
    };
    (@access_profile |$this:ident| $store:expr) => {
        fn access_profile(&self) -> $crate::AccessProfile {
            let $this = self;
            $store.access_profile()
        }
    };
    (@prefix |$this:ident| $store:expr; $method:ident -> $output:ty) => {
        fn $method<'a>(&'a self, prefix: &'a $crate::Prefix) -> $crate::BoxFuture<'a, $crate::Result<$output>> {
            let $this = self;
            $store.$method(prefix)
        }
    };
}
