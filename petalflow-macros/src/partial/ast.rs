//! The syntax tree of `#[derive(Partial)]`: the fields, with their names in JSON.

use proc_macro2::{Ident, TokenStream};
use quote::ToTokens as _;
use syn::meta::ParseNestedMeta;
use syn::{
    Attribute, Data, DeriveInput, Field, Fields, Generics, LitStr, Path, Token, Type, Visibility,
    parenthesized,
};

use super::case;
use crate::attributes;
use crate::errors::Errors;
use crate::paths::name;

/// A type with a partial form.
pub(crate) struct PartialAst {
    pub(crate) ident: Ident,
    pub(crate) visibility: Visibility,
    pub(crate) generics: Generics,
    pub(crate) lints: TokenStream,
    pub(crate) krate: Option<Path>,
    /// What the partial form derives besides.
    pub(crate) derives: TokenStream,
    /// `None` for a type that is known as a whole.
    pub(crate) fields: Option<Vec<PartialField>>,
}

/// A field of the partial form.
pub(crate) struct PartialField {
    pub(crate) ident: Ident,
    pub(crate) visibility: Visibility,
    pub(crate) docs: TokenStream,
    pub(crate) ty: Type,
    pub(crate) source: FieldSource,
    /// Whether the field is known as a whole.
    pub(crate) whole: bool,
}

/// Where the value of a field is.
pub(crate) enum FieldSource {
    Named(String),
    /// The fields of the value are those of the object itself.
    Flattened,
}

/// What serde says about a type.
#[derive(Default)]
struct OfType {
    style: Option<LitStr>,
    /// Whether serde reads it from another type.
    converted: bool,
}

/// What the attributes of a field say.
#[derive(Default)]
struct OfField {
    rename: Option<LitStr>,
    flatten: bool,
    skip: bool,
    whole: bool,
    /// Its own function that reads it.
    custom: Option<Path>,
}

impl PartialAst {
    pub(crate) fn read(item: DeriveInput, errors: &mut Errors) -> Self {
        let mut partial = PartialAst {
            visibility: item.vis,
            lints: attributes::lints(&item.attrs),
            krate: None,
            derives: TokenStream::new(),
            fields: None,
            ident: item.ident,
            generics: item.generics,
        };
        for attr in attributes::with_name(&item.attrs, "partial") {
            let read = attr.parse_nested_meta(|option| partial.option(&option));
            errors.ok(read);
        }
        let serde = OfType::read(&item.attrs, errors);
        match item.data {
            Data::Struct(data) => {
                if let (Fields::Named(fields), false) = (data.fields, serde.converted) {
                    let fields = fields.named.into_iter();
                    let fields = fields.filter_map(|field| read_field(field, &serde, errors));
                    partial.fields = Some(fields.collect());
                }
            }
            Data::Enum(_) => {}
            Data::Union(data) => errors.at(data.union_token, "a union has no partial form"),
        }
        if partial.fields.is_some() && !partial.generics.params.is_empty() {
            let message = "a generic struct has no partial form: write the struct with the types, or `#[partial(whole)]` at its fields";
            errors.at(&partial.generics, message);
            partial.fields = None;
        }
        partial
    }

    fn option(&mut self, option: &ParseNestedMeta<'_>) -> syn::Result<()> {
        if option.path.is_ident("derive") {
            let derives;
            parenthesized!(derives in option.input);
            self.derives = derives.parse()?;
            Ok(())
        } else if option.path.is_ident("crate") {
            self.krate = Some(option.value()?.parse()?);
            Ok(())
        } else {
            Err(option.error("unknown option: a type has `derive(..)` and `crate = path`"))
        }
    }
}

impl OfType {
    fn read(attrs: &[Attribute], errors: &mut Errors) -> Self {
        let mut found = OfType::default();
        for attr in attributes::with_name(attrs, "serde") {
            let read = attr.parse_nested_meta(|option| {
                if option.path.is_ident("rename_all") {
                    found.style = renamed_to(&option)?;
                } else {
                    let converts = ["from", "try_from", "transparent"];
                    found.converted |= converts.iter().any(|name| option.path.is_ident(name));
                    skip_value(&option)?;
                }
                Ok(())
            });
            errors.ok(read);
        }
        found
    }
}

fn read_field(field: Field, of_type: &OfType, errors: &mut Errors) -> Option<PartialField> {
    let ident = field.ident?;
    let mut found = OfField::default();
    for attr in &field.attrs {
        let read = if attr.path().is_ident("serde") {
            attr.parse_nested_meta(|option| found.serde(&option))
        } else if attr.path().is_ident("partial") {
            attr.parse_nested_meta(|option| found.partial(&option))
        } else {
            Ok(())
        };
        errors.ok(read);
    }
    if found.skip {
        return None;
    }
    if let Some(custom) = found.custom {
        errors.at(
            custom,
            "serde reads this field with a function, which has no partial form: write `#[partial(skip)]` at the field",
        );
        return None;
    }
    let written = name(&ident);
    let source = match (found.flatten, found.rename, &of_type.style) {
        (true, ..) => FieldSource::Flattened,
        (_, Some(rename), _) => FieldSource::Named(rename.value()),
        (_, None, Some(style)) => match case::renamed(&written, &style.value()) {
            Some(renamed) => FieldSource::Named(renamed),
            // serde reports it.
            None => return None,
        },
        (_, None, None) => FieldSource::Named(written),
    };
    Some(PartialField {
        ident,
        visibility: field.vis,
        docs: attributes::tokens(&field.attrs, "doc"),
        ty: field.ty,
        source,
        whole: found.whole,
    })
}

impl OfField {
    fn serde(&mut self, option: &ParseNestedMeta<'_>) -> syn::Result<()> {
        let is = |name: &str| option.path.is_ident(name);
        if is("rename") {
            self.rename = renamed_to(option)?;
            return Ok(());
        }
        if is("with") || is("deserialize_with") {
            self.custom = Some(option.path.clone());
        }
        self.flatten |= is("flatten");
        self.skip |= is("skip") || is("skip_deserializing");
        skip_value(option)
    }

    fn partial(&mut self, option: &ParseNestedMeta<'_>) -> syn::Result<()> {
        if option.path.is_ident("whole") {
            self.whole = true;
        } else if option.path.is_ident("skip") {
            self.skip = true;
        } else {
            return Err(option.error("unknown option: a field has `whole` and `skip`"));
        }
        Ok(())
    }
}

/// The name in `rename = "..."`, or in `rename(deserialize = "...")`.
fn renamed_to(option: &ParseNestedMeta<'_>) -> syn::Result<Option<LitStr>> {
    if option.input.peek(Token![=]) {
        return Ok(Some(option.value()?.parse()?));
    }
    let mut renamed = None;
    option.parse_nested_meta(|direction| {
        let text = direction.value()?.parse()?;
        if direction.path.is_ident("deserialize") {
            renamed = Some(text);
        }
        Ok(())
    })?;
    Ok(renamed)
}

/// Reads the value of an option of serde that changes nothing here.
fn skip_value(option: &ParseNestedMeta<'_>) -> syn::Result<()> {
    if option.input.peek(Token![=]) {
        let value: syn::Expr = option.value()?.parse()?;
        drop(value.into_token_stream());
    } else if option.input.peek(syn::token::Paren) {
        let inner;
        parenthesized!(inner in option.input);
        inner.parse::<TokenStream>()?;
    }
    Ok(())
}
