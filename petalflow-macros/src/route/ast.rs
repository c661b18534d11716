//! The syntax tree of `#[derive(Route)]`: the variants and their payloads.

use proc_macro2::{Ident, TokenStream};
use syn::{Attribute, Data, DeriveInput, Fields, Path, Type};

use crate::attributes;
use crate::errors::Errors;
use crate::options::{self, Seen};

/// An enum that is a route.
pub(crate) struct RouteAst {
    pub(crate) ident: Ident,
    pub(crate) krate: Option<Path>,
    /// The lint levels of the enum and its variants.
    pub(crate) lints: TokenStream,
    pub(crate) variants: Vec<Variant>,
    /// Whether the enum is a valid route. If not, the expansion has the errors only.
    pub(crate) usable: bool,
}

/// One route.
pub(crate) struct Variant {
    pub(crate) ident: Ident,
    /// The type of the value that is delivered to the target.
    pub(crate) payload: Option<Type>,
}

/// The form of a route, for messages.
const FORM: &str =
    "`enum Verdict { Revise, Publish }`, where a variant may carry one value: `Dig(Topic)`";

impl RouteAst {
    pub(crate) fn read(item: DeriveInput, errors: &mut Errors) -> Self {
        let DeriveInput {
            attrs,
            ident,
            generics,
            data,
            ..
        } = item;
        let krate = krate(&attrs, errors);
        let mut route = RouteAst {
            ident,
            krate,
            lints: attributes::lints(&attrs),
            variants: Vec::new(),
            usable: true,
        };
        match data {
            Data::Enum(data) => {
                if data.variants.is_empty() {
                    errors.at(
                        &route.ident,
                        format_args!("a route needs a variant to choose: {FORM}"),
                    );
                    route.usable = false;
                }
                for variant in &data.variants {
                    route.read_variant(variant, errors);
                }
            }
            Data::Struct(data) => {
                errors.at(
                    data.struct_token,
                    format_args!("a route is an enum: {FORM}"),
                );
                route.usable = false;
            }
            Data::Union(data) => {
                errors.at(data.union_token, format_args!("a route is an enum: {FORM}"));
                route.usable = false;
            }
        }
        if !generics.params.is_empty() {
            let message = "a route cannot be generic, because the flow's edges depend on what its variants carry: name the types";
            errors.at(&generics, message);
            route.usable = false;
        }
        route
    }

    fn read_variant(&mut self, variant: &syn::Variant, errors: &mut Errors) {
        let syn::Variant {
            attrs,
            ident,
            fields,
            ..
        } = variant;
        if let Some(attr) = attributes::with_name(attrs, "route").first() {
            errors.at(
                attr,
                "a variant has no options: the name of a route is that of its variant",
            );
        }
        self.lints.extend(attributes::lints(attrs));
        let mut payload = None;
        match fields {
            Fields::Unit => {}
            Fields::Unnamed(fields) => match fields.unnamed.len() {
                1 => payload = Some(fields.unnamed[0].ty.clone()),
                0 => {
                    errors.at(fields, format_args!("a variant that carries nothing is written without parentheses: `{ident}`"));
                    self.usable = false;
                }
                _ => {
                    let message = "a variant carries at most one value, because an edge delivers one item: put the values in a struct or a tuple";
                    errors.at(&fields.unnamed, message);
                    self.usable = false;
                }
            },
            Fields::Named(fields) => {
                errors.at(
                    fields,
                    format_args!(
                        "a variant carries an unnamed value, `{ident}(Type)`, or nothing, `{ident}`"
                    ),
                );
                self.usable = false;
            }
        }
        let ident = ident.clone();
        if self.variants.iter().any(|other| other.ident == ident) {
            // rustc reports the second variant of a name.
            self.usable = false;
            return;
        }
        self.variants.push(Variant { ident, payload });
    }
}

/// `#[route(crate = path)]`.
fn krate(attrs: &[Attribute], errors: &mut Errors) -> Option<Path> {
    let mut krate = None;
    let mut seen = Seen::new(&["crate"]);
    for attr in &attributes::with_name(attrs, "route") {
        let Ok(list) = attr.meta.require_list() else {
            errors.at(
                attr,
                "`#[route]` takes an option in parentheses: `#[route(crate = path)]`",
            );
            continue;
        };
        for option in options::parse_tokens(list.tokens.clone(), errors) {
            if seen.accept(&option, errors).is_some() {
                krate = option.path(errors);
            }
        }
    }
    krate
}
