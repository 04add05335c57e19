//! Pointers to stores are stores.

use std::sync::Arc;

use crate::{AsyncStore, Store};

/// Every method of [`Store`], of the target of a pointer.
macro_rules! forward {
    ($($pointer:ty),*) => {$(
        #[deny(clippy::missing_trait_methods)]
        impl<S: Store + ?Sized> Store for $pointer {
            crate::delegate! { |this| (**this);
                get, get_into, set, set_pieces, begin_set, append_to_set, finish_set, set_many, create_many,
                copy_source, copy, erase, list_dir, list_prefix, list_sizes, erase_prefix, set_partial, rename_prefix, exchange_prefixes, as_async,
                find_link, leftovers, parent, pin, is_in_place, try_lock, take_warnings, flush, barrier, call, capabilities, access_profile
            }
        }
    )*};
}

forward!(&S, Arc<S>, Box<S>);

#[deny(clippy::missing_trait_methods)]
impl<S: AsyncStore + ?Sized> AsyncStore for Arc<S> {
    crate::delegate_async! { |this| **this;
        get, set, set_pieces, begin_set, append_to_set, finish_set, copy_source, copy, erase, list_dir, list_prefix, list_sizes,
        erase_prefix, rename_prefix, exchange_prefixes, pin, is_in_place, try_lock, pause, take_warnings, flush, barrier,
        call, capabilities, access_profile
    }
}
