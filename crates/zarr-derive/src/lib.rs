//! Macro for `#[derive(zarr::Element)]`.
//!
// The page is tested by `zarr-tests`: a macro with the facade as a dependency, if of tests only, would have it built for itself.
#![doc = include_str!("lib.md")]
#![forbid(unsafe_code)]

mod expand;
mod input;

#[doc = include_str!("element.md")]
#[proc_macro_derive(Element, attributes(zarr))]
pub fn derive_element(tokens: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let input = syn::parse_macro_input!(tokens as syn::DeriveInput);
    let expanded = input::Struct::parse(&input).map(|parsed| expand::expand(&parsed));
    expanded.unwrap_or_else(|error| error.into_compile_error()).into()
}
