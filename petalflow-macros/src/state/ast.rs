//! What was written: a struct, and the options of its keys.

use petalflow_graph::Rule;
use proc_macro2::{Group, Ident, TokenStream, TokenTree};
use quote::quote;
use syn::parse::discouraged::Speculative as _;
use syn::parse::{ParseStream, Parser as _};
use syn::{Attribute, Data, DeriveInput, Field, Fields, LitInt, Meta, Path, Token};

use crate::errors::Errors;
use crate::options::{self, Opt, Seen, clash};

/// The arguments of `#[state(..)]`.
#[derive(Default)]
pub(crate) struct StateArgs {
    pub(crate) krate: Option<Path>,
    pub(crate) volatile: bool,
    /// The version of what is stored, and what brings lower versions up to it.
    pub(crate) version: Option<(LitInt, Path)>,
}

impl StateArgs {
    pub(crate) fn parse(args: TokenStream, errors: &mut Errors) -> Self {
        let mut parsed = StateArgs::default();
        let mut seen = Seen::new(&["volatile", "version", "migrate", "crate"]);
        let (mut version, mut migrate) = (None, None);
        for option in options::parse_tokens(args, errors) {
            match seen.accept(&option, errors) {
                Some("volatile") => parsed.volatile = option.flag(errors),
                Some("version") => version = Some((option.version(errors), option.name)),
                Some("migrate") => migrate = Some((option.path(errors), option.name)),
                Some("crate") => parsed.krate = option.path(errors),
                _ => {}
            }
        }
        parsed.version = versioned(parsed.volatile, version, migrate, errors);
        parsed
    }
}

/// An option, if its value makes sense, and its name.
type Given<T> = Option<(Option<T>, Ident)>;

/// A version is nothing without a migration to it, and the reverse.
fn versioned(
    volatile: bool,
    version: Given<LitInt>,
    migrate: Given<Path>,
    errors: &mut Errors,
) -> Option<(LitInt, Path)> {
    match (version, migrate) {
        (Some((_, name)), _) | (_, Some((_, name))) if volatile => {
            let message = format_args!(
                "a `volatile` state is never stored, so there is nothing to migrate: remove `{name}` or `volatile`"
            );
            errors.rule(Rule::Option, &name, message);
            None
        }
        (Some((version, _)), Some((migrate, _))) => version.zip(migrate),
        (Some((_, name)), None) => {
            let message = "`version` needs `migrate = path`: the function that converts stored threads of lower versions to this one";
            clash(errors, &name, message);
            None
        }
        (None, Some((_, name))) => {
            let message =
                "`migrate` needs `version = 1`: it is called for stored threads of a lower version";
            clash(errors, &name, message);
            None
        }
        (None, None) => None,
    }
}

/// The struct, with the attributes of its fields taken apart.
pub(crate) struct StateAst {
    /// The item to emit: the user's, without `#[key]`.
    pub(crate) item: DeriveInput,
    /// The options of each field, by position.
    pub(crate) options: Vec<Vec<Opt>>,
}

impl StateAst {
    pub(crate) fn parse(item: TokenStream, errors: &mut Errors) -> syn::Result<Self> {
        let mut item = read(item)?;
        let mut options = Vec::new();
        for field in fields_mut(&mut item.data) {
            options.push(key_options(&mut field.attrs, errors));
        }
        Ok(StateAst { item, options })
    }
}

/// The item, or what of it can be read.
fn read(item: TokenStream) -> syn::Result<DeriveInput> {
    let whole = syn::parse2(item.clone());
    whole.or_else(|error| syn::parse2(whole_fields(item).ok_or(error)?))
}

/// The item without the fields that are no fields yet: rustc and editors have read it before and say what they lack, and the
/// types of the other keys are there.
fn whole_fields(item: TokenStream) -> Option<TokenStream> {
    let mut tokens: Vec<TokenTree> = item.into_iter().collect();
    let Some(TokenTree::Group(body)) = tokens.pop() else {
        return None;
    };
    let mut fields = Vec::new();
    let read = |input: ParseStream| {
        while !input.is_empty() {
            let fork = input.fork();
            match Field::parse_named(&fork) {
                Ok(field) if fork.is_empty() || fork.peek(Token![,]) => {
                    input.advance_to(&fork);
                    fields.push(field);
                }
                _ => drop(input.parse::<TokenTree>()?),
            }
            input.parse::<Option<Token![,]>>()?;
        }
        Ok(())
    };
    read.parse2(body.stream()).ok()?;
    let mut braces = Group::new(body.delimiter(), quote!(#(#fields,)*));
    braces.set_span(body.span());
    tokens.push(braces.into());
    Some(tokens.into_iter().collect())
}

fn fields_mut(data: &mut Data) -> Vec<&mut Field> {
    let all = |fields| -> Vec<&mut Field> {
        match fields {
            &mut Fields::Named(ref mut fields) => fields.named.iter_mut().collect(),
            &mut Fields::Unnamed(ref mut fields) => fields.unnamed.iter_mut().collect(),
            Fields::Unit => Vec::new(),
        }
    };
    match data {
        Data::Struct(data) => all(&mut data.fields),
        Data::Enum(data) => data
            .variants
            .iter_mut()
            .flat_map(|variant| all(&mut variant.fields))
            .collect(),
        Data::Union(data) => data.fields.named.iter_mut().collect(),
    }
}

/// Takes the `#[key]` attributes off a field and reads them.
fn key_options(attrs: &mut Vec<Attribute>, errors: &mut Errors) -> Vec<Opt> {
    let mut options = Vec::new();
    for attr in attrs.extract_if(.., |attr| attr.path().is_ident("key")) {
        match &attr.meta {
            Meta::Path(_) => {}
            Meta::List(list) => options.extend(options::parse_tokens(list.tokens.clone(), errors)),
            Meta::NameValue(pair) => errors.at(
                pair,
                "the options of a key are written in parentheses: `#[key(append)]`",
            ),
        }
    }
    options
}

/// Whether a field may be removed or changed by `#[cfg]` or `#[cfg_attr]`.
pub(crate) fn has_cfg(item: &TokenStream) -> bool {
    let Ok(mut item) = read(item.clone()) else {
        return false;
    };
    let mut attrs = fields_mut(&mut item.data)
        .into_iter()
        .flat_map(|field| &field.attrs);
    attrs.any(|attr| attr.path().is_ident("cfg") || attr.path().is_ident("cfg_attr"))
}

/// The arguments of `#[state(..)]`, when a derive expands it.
pub(crate) fn args_of(item: &TokenStream) -> TokenStream {
    let item = syn::parse2::<DeriveInput>(item.clone());
    let attr = item.ok().and_then(|item| {
        item.attrs
            .into_iter()
            .find(|attr| attr.path().is_ident("__petalflow_state"))
    });
    match attr.map(|attr| attr.meta) {
        Some(Meta::List(list)) => list.tokens,
        _ => TokenStream::new(),
    }
}
