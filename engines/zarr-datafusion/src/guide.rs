//! Page of the guide whose programs are doc tests of this crate.
#![cfg(doctest)]
#![doc = include_str!("../../../docs/guide/engines.md")]
