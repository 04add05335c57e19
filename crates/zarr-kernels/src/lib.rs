//! The inner loops of codecs and views, where a plain loop would be several times slower than the machine.
//!
//! Shuffles exist for several instruction sets, with equal results; [`Isa::best`] picks one at run time. The environment variable
//! `ZARR_ISA` (`avx512`, `avx2`, `sse2` or `portable`) limits the choice, for tests and measurements. The variable is read once, at the
//! first use; other values have no effect.
//!
//! Beside each function of vector code there is portable code with the same result, and tests compare all instruction sets that the machine
//! supports.
//!
//! This crate depends on no other crate, on no codec, and on no format except those of the loops themselves.
//!
//! ```
//! let pairs = *b"a1b2c3d4";
//! let mut planes = [0; 8];
//! zarr_kernels::Isa::best().shuffle_bytes(2, &pairs, &mut planes);
//! assert_eq!(&planes, b"abcd1234");
//! ```

mod isa;
pub mod lz4;
mod matches;
mod output;
mod rows;
mod shuffle;

pub use isa::Isa;
pub use matches::Matches;
pub use output::{Fault, Output};
pub use rows::Rows;
