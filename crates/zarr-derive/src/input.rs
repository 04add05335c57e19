//! Checks and parses the struct with `#[derive(Element)]`.

use std::collections::HashSet;
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Attribute, Data, DeriveInput, Error, Generics, Ident, LitStr, Member, Path, Result, Type};

/// Struct whose elements are copied field by field.
pub(crate) struct Struct<'a> {
    pub(crate) name: &'a Ident,
    pub(crate) generics: &'a Generics,
    /// Path of the crate with the traits.
    pub(crate) krate: Path,
    pub(crate) fields: Vec<Field<'a>>,
}

/// Field of the struct.
pub(crate) struct Field<'a> {
    pub(crate) member: Member,
    /// Name of the field in arrays.
    pub(crate) name: String,
    pub(crate) rust_type: &'a Type,
}

impl<'a> Struct<'a> {
    /// # Errors
    /// A fault of the struct or its attributes, with its location in the source.
    pub(crate) fn parse(input: &'a DeriveInput) -> Result<Self> {
        let data = match &input.data {
            Data::Struct(data) => data,
            Data::Enum(data) => {
                let message =
                    "found an enum, expected a struct: implement `zarr::dtype::FieldValue` for an enum that is a field";
                return Err(Error::new(data.enum_token.span(), message));
            }
            Data::Union(data) => return Err(Error::new(data.union_token.span(), "found a union, expected a struct")),
        };
        if let Some(lifetime) = input.generics.lifetimes().next() {
            return Err(Error::new(lifetime.span(), "found a lifetime, expected a struct that owns its fields"));
        }
        let krate = match text(&input.attrs, "crate")? {
            Some(path) => path.parse()?,
            None => syn::parse_str("::zarr")?,
        };
        let mut names = HashSet::new();
        let mut fields = Vec::new();
        for (field, member) in data.fields.iter().zip(data.fields.members()) {
            let name = match (text(&field.attrs, "name")?, &field.ident) {
                (Some(name), _) => name.value(),
                (None, Some(ident)) => ident.unraw().to_string(),
                (None, None) => {
                    let message = "found a field without a name, expected `#[zarr(name = \"..\")]` in front of it";
                    return Err(Error::new(field.span(), message));
                }
            };
            if !names.insert(name.clone()) {
                return Err(Error::new(field.span(), format!("found two fields {name:?}, expected names that differ")));
            }
            fields.push(Field { member, name, rust_type: &field.ty });
        }
        if fields.is_empty() {
            return Err(Error::new(input.ident.span(), "found a struct without fields, expected at least one"));
        }
        Ok(Self { name: &input.ident, generics: &input.generics, krate, fields })
    }
}

/// Returns the string of `#[zarr(key = "text")]`; `None` if there is no such attribute.
fn text(attributes: &[Attribute], key: &str) -> Result<Option<LitStr>> {
    let mut found = None;
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("zarr")) {
        attribute.parse_nested_meta(|meta| {
            if !meta.path.is_ident(key) {
                return Err(meta.error(format!("expected `{key} = \"..\"`")));
            }
            match found.replace(meta.value()?.parse()?) {
                Some(_) => Err(meta.error(format!("found `{key}` twice"))),
                None => Ok(()),
            }
        })?;
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use syn::parse_quote;

    fn refused(input: &DeriveInput) -> String {
        Struct::parse(input).map(|_| "taken").expect_err("it is refused").to_string()
    }

    #[test]
    fn errors_say_the_expected_form() {
        assert_eq!(
            refused(&parse_quote!(
                enum A {
                    B,
                }
            )),
            "found an enum, expected a struct: implement `zarr::dtype::FieldValue` for an enum that is a field"
        );
        assert_eq!(refused(&parse_quote!(union A { b: u8 })), "found a union, expected a struct");
        assert_eq!(
            refused(&parse_quote!(
                struct A<'a> {
                    b: &'a u8,
                }
            )),
            "found a lifetime, expected a struct that owns its fields"
        );
        assert_eq!(
            refused(&parse_quote!(
                struct A;
            )),
            "found a struct without fields, expected at least one"
        );
        assert_eq!(
            refused(&parse_quote!(
                struct A(u8);
            )),
            "found a field without a name, expected `#[zarr(name = \"..\")]` in front of it"
        );
        assert_eq!(
            refused(&parse_quote!(
                struct A {
                    b: u8,
                    #[zarr(name = "b")]
                    c: u8,
                }
            )),
            "found two fields \"b\", expected names that differ"
        );
        assert_eq!(
            refused(&parse_quote!(
                struct A {
                    #[zarr(rename = "c")]
                    b: u8,
                }
            )),
            "expected `name = \"..\"`"
        );
        assert_eq!(
            refused(&parse_quote!(
                #[zarr(name = "c")]
                struct A {
                    b: u8,
                }
            )),
            "expected `crate = \"..\"`"
        );
        assert_eq!(
            refused(&parse_quote!(
                struct A {
                    #[zarr(name = "c", name = "d")]
                    b: u8,
                }
            )),
            "found `name` twice"
        );
    }

    #[test]
    fn names_come_from_fields_or_attributes() {
        let input: DeriveInput = parse_quote! {
            #[zarr(crate = "a::b")]
            struct A<T> { r#type: T, #[zarr(name = "c d")] e: u8 }
        };
        let parsed = Struct::parse(&input).expect("a struct");
        assert!(parsed.krate.segments.iter().map(|segment| segment.ident.to_string()).eq(["a", "b"]));
        assert_eq!(parsed.fields.iter().map(|field| field.name.as_str()).collect::<Vec<_>>(), ["type", "c d"]);
    }
}
