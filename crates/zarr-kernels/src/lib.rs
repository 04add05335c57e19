//! The inner loops of codecs and views, where a plain loop would be several times slower than the machine.
//!
//! Shuffles come in several instruction sets, of which [`Isa::best`] picks at run time; all have equal results. The
//! environment variable `ZARR_ISA` (`avx512`, `avx2`, `sse2` or `portable`) keeps it from picking a better one, for tests
//! and measurements. It is read once, at the first use; other values have no effect.
//!
//! Where vector code stands, plain code that does the same stands beside it, and tests compare all sets that the machine has.
//!
//! Depends on no other crate, no codec, and no format except the formats of the loops themselves.
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
