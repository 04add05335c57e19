//! Code that is generated for a struct.

use crate::input::Struct;
use proc_macro2::TokenStream;
use quote::quote;
use syn::parse_quote;

/// Returns the implementations of `FieldValue` and `Element` for the struct.
pub(crate) fn expand(input: &Struct<'_>) -> TokenStream {
    let Struct { name, krate, .. } = input;
    let path = quote!(#krate::derive);
    let value = quote!(#path::FieldValue);
    let result = |of: TokenStream| quote!(::core::result::Result<#of, #path::Error>);

    let mut generics = input.generics.clone();
    for parameter in generics.type_params_mut() {
        parameter.bounds.push(parse_quote!(#value));
        // Parameters of an implementation must have no defaults.
        parameter.default = None;
    }
    let (generic, arguments, bounds) = generics.split_for_impl();

    let members: Vec<_> = input.fields.iter().map(|field| &field.member).collect();
    let names: Vec<_> = input.fields.iter().map(|field| &field.name).collect();
    let types: Vec<_> = input.fields.iter().map(|field| field.rust_type).collect();
    // Number of offsets, and number of bytes, of the fields before each field.
    let parts = (0..types.len()).map(|index| {
        let before = &types[..index];
        quote!(const { 0 #(+ 1 + <#before as #value>::PARTS)* })
    });
    let parts: Vec<_> = parts.collect();
    let sizes: Vec<_> = (0..types.len())
        .map(|index| {
            let before = &types[..index];
            quote!(const { 0 #(+ <#before as #value>::SIZE)* })
        })
        .collect();

    let (unit, vector, bytes) = (result(quote!(())), quote!(::std::vec::Vec), quote!([::core::primitive::u8]));
    let (usize, field_type) =
        (quote!(::core::primitive::usize), quote!((#path::DataType, #vector<::core::primitive::u64>)));
    let (field_type, items) = (result(field_type), result(quote!(#vector<::core::primitive::u8>)));
    let (elements, data_type) = (result(quote!(#vector<Self>)), result(quote!(#path::DataType)));
    quote! {
        #[automatically_derived]
        impl #generic #value for #name #arguments #bounds {
            const SIZE: #usize = 0 #(+ <#types as #value>::SIZE)*;
            const PARTS: #usize = 0 #(+ 1 + <#types as #value>::PARTS)*;

            fn offsets(data_type: &#path::DataType, shape: &[::core::primitive::u64], into: &mut #vector<#usize>) -> #unit {
                let fields = #path::Fields::of(data_type, shape, &[#(#names),*])?;
                #(fields.find::<#types>(#names, into)?;)*
                ::core::result::Result::Ok(())
            }

            fn field_type() -> #field_type {
                let fields = ::std::vec![#(#path::field::<#types>(#names)?),*];
                ::core::result::Result::Ok((#path::struct_type(fields)?, #vector::new()))
            }

            fn zero() -> Self {
                Self { #(#members: <#types as #value>::zero()),* }
            }

            #[inline(always)]
            fn load(&mut self, offsets: #path::Offsets<'_>, bytes: &#bytes) -> #unit {
                #({
                    let start = offsets.field(#parts, #sizes);
                    let within = offsets.within(1 + #parts, <#types as #value>::PARTS);
                    #value::load(&mut self.#members, within, &bytes[start..start + <#types as #value>::SIZE])?;
                })*
                ::core::result::Result::Ok(())
            }

            #[inline(always)]
            fn store(&self, offsets: #path::Offsets<'_>, bytes: &mut #bytes) -> #unit {
                #({
                    let start = offsets.field(#parts, #sizes);
                    let within = offsets.within(1 + #parts, <#types as #value>::PARTS);
                    #value::store(&self.#members, within, &mut bytes[start..start + <#types as #value>::SIZE])?;
                })*
                ::core::result::Result::Ok(())
            }
        }

        #[automatically_derived]
        impl #generic #path::Element for #name #arguments #bounds {
            fn name() -> ::std::string::String {
                ::std::borrow::ToOwned::to_owned(::core::any::type_name::<Self>())
            }

            fn accepts(data_type: &#path::DataType) -> ::core::primitive::bool {
                #path::check::<Self>(data_type).is_ok()
            }

            fn check(data_type: &#path::DataType) -> #unit {
                #path::check::<Self>(data_type)
            }

            fn default_data_type() -> #data_type {
                ::core::result::Result::Ok(<Self as #value>::field_type()?.0)
            }

            fn zeroed_vec(len: #usize) -> #elements {
                #path::zeroed_vec(len)
            }

            fn from_items(data_type: &#path::DataType, items: &#bytes, _: &#path::Heap) -> #elements {
                #path::from_items(data_type, items)
            }

            fn to_items(data_type: &#path::DataType, elements: &[Self], _: &#path::Heap) -> #items {
                #path::to_items(data_type, elements)
            }
        }
    }
}
