//! `#[derive(zarr::Element)]`: Rust structs as elements of arrays of structs.
//!
//! ```
//! use zarr::prelude::*;
//!
//! #[derive(Clone, Debug, PartialEq, zarr::Element)]
//! struct Point {
//!     x: f32,
//!     y: f32,
//! }
//!
//! let store = zarr::store::create("memory:")?;
//! let array = zarr::create((&store, "/points")).array(NewArray::of::<Point>(&[2])?)?;
//! array.write(.., &[Point { x: 1.0, y: 2.0 }, Point { x: 3.0, y: 4.0 }])?;
//! assert_eq!(array.read::<Point>(1)?, [Point { x: 3.0, y: 4.0 }]);
//! # Ok::<(), zarr::Error>(())
//! ```

#![forbid(unsafe_code)]

mod expand;
mod input;

/// Makes a Rust struct an element of arrays of structs: `zarr::Element` and `zarr::dtype::FieldValue`.
///
/// Any struct of types of fixed size will do, which are bools, numbers, complex numbers, arrays of them and of bytes,
/// other such structs, and types that implement `zarr::dtype::FieldValue`, whose documentation has the table of data
/// types. The struct needs no `repr`, may have padding, and has to be `Clone`. Fields are copied one by one. They go by
/// their names: the data type may have them in another order. A field that the struct or the data type lacks, and one
/// of another type, is an error that names it.
///
/// ```
/// use zarr::prelude::*;
///
/// #[derive(Clone, Debug, PartialEq, zarr::Element)]
/// struct Station {
///     id: u16,
///     tag: [u8; 4],
///     #[zarr(name = "type")]
///     kind: u8,
///     latest: Measurement,
/// }
///
/// #[derive(Clone, Debug, Default, PartialEq, zarr::Element)]
/// struct Measurement {
///     valid: bool,
///     kelvin: f32,
/// }
///
/// let store = zarr::store::create("memory:")?;
/// let array = zarr::create((&store, "/stations")).array(NewArray::of::<Station>(&[100])?)?;
/// let station = Station { id: 7, tag: *b"abcd", kind: 1, latest: Measurement::default() };
/// array.write(0..1, &[station.clone()])?;
/// assert_eq!(array.read::<Station>(0)?, [station]);
/// # Ok::<(), zarr::Error>(())
/// ```
///
/// A field that is an array, such as `[f64; 2]`, is for arrays of version 2 (`NewArray::dialect`): the structs of version 3 have
/// none. `[u8; N]` is bytes, which both have.
///
/// `#[zarr(name = "type")]` on a field is its name in arrays; a field of a tuple struct has to have it.
/// `#[zarr(crate = "path")]` on the struct is the path of the crate `zarr`, or `zarr_dtype`, where it is not `::zarr`.
///
/// A struct may have types as parameters, which then have to be types for fields:
///
/// ```
/// #[derive(Clone, zarr::Element)]
/// struct Pair<T> {
///     low: T,
///     high: T,
/// }
/// # use zarr::Element;
/// let (data_type, _) = zarr::dtype::from_npy_value(&zarr::json!([["low", "<f4"], ["high", "<f4"]]))?;
/// assert_eq!(Pair::<f32>::default_data_type()?, data_type);
/// # Ok::<(), zarr::dtype::Error>(())
/// ```
///
/// It may not have lifetimes, since elements that are read belong to no one else:
///
/// ```compile_fail
/// #[derive(Clone, zarr::Element)]
/// struct Name<'a> {
///     bytes: &'a [u8; 4],
/// }
/// ```
///
/// Enums and unions have no fields that each element has:
///
/// ```compile_fail
/// #[derive(Clone, zarr::Element)]
/// enum Sky { Clear, Overcast }
/// ```
///
/// ```compile_fail
/// #[derive(Clone, Copy, zarr::Element)]
/// union Bits { float: f32, bits: u32 }
/// ```
///
/// nor has a struct without fields; texts and vectors have no fixed size:
///
/// ```compile_fail
/// #[derive(Clone, zarr::Element)]
/// struct Nothing {}
/// ```
///
/// ```compile_fail
/// #[derive(Clone, zarr::Element)]
/// struct Named { name: String }
/// ```
#[proc_macro_derive(Element, attributes(zarr))]
pub fn derive_element(tokens: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let input = syn::parse_macro_input!(tokens as syn::DeriveInput);
    let expanded = input::Struct::parse(&input).map(|parsed| expand::expand(&parsed));
    expanded.unwrap_or_else(|error| error.into_compile_error()).into()
}
