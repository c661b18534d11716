//! The syntax tree of `#[state]`: a struct, and the options of its keys.

use petalflow_graph::{Rule, similar};
use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::parse::discouraged::Speculative as _;
use syn::parse::{ParseStream, Parser as _};
use syn::{Attribute, Data, DeriveInput, Field, Lifetime, LitInt, Meta, Path, Token, Type};

use crate::attributes;
use crate::errors::Errors;
use crate::options::{self, Opt, Seen};
use crate::site::quote;
use crate::types;

/// The arguments of `#[state(..)]`.
#[derive(Default)]
pub(crate) struct StateArgs {
    pub(crate) krate: Option<Path>,
    pub(crate) volatile: bool,
    pub(crate) schema: Option<Ident>,
    pub(crate) version: Given<LitInt>,
    pub(crate) migrate: Given<Path>,
}

/// The name of an option, if it is given, and its value, if that is valid.
type Given<T> = Option<(Ident, Option<T>)>;

impl StateArgs {
    pub(crate) fn parse(args: TokenStream, errors: &mut Errors) -> Self {
        let mut parsed = StateArgs::default();
        let mut seen = Seen::new(&["volatile", "version", "migrate", "schema", "crate"]);
        for option in options::parse_tokens(args, errors) {
            match seen.accept(&option, errors) {
                Some("volatile") => parsed.volatile = option.flag(errors),
                Some("version") => {
                    let version = option.version(errors);
                    parsed.version = Some((option.name, version));
                }
                Some("migrate") => {
                    let migrate = option.path(errors);
                    parsed.migrate = Some((option.name, migrate));
                }
                Some("schema") if option.flag(errors) => parsed.schema = Some(option.name),
                Some("crate") => parsed.krate = option.path(errors),
                _ => {}
            }
        }
        parsed
    }

    /// The version of stored values, and the function that migrates lower versions to it.
    pub(crate) fn migration(&self) -> Option<(LitInt, Path)> {
        if self.volatile {
            return None;
        }
        let (_, version) = self.version.clone()?;
        let (_, migrate) = self.migrate.clone()?;
        Some((version?, migrate?))
    }
}

/// The struct, without the `#[key]` attributes of its fields.
pub(crate) struct StateAst {
    /// The item to emit: the user's item without `#[key]`.
    pub(crate) item: DeriveInput,
    /// The options of each field, by position.
    pub(crate) options: Vec<Vec<Opt>>,
}

impl StateAst {
    pub(crate) fn parse(item: TokenStream, errors: &mut Errors) -> syn::Result<Self> {
        let mut item = read(item)?;
        let mut options = Vec::new();
        for field in fields_of(&mut item.data) {
            options.push(key_options(&mut field.attrs, errors));
            own(&mut field.ty, errors);
        }
        Ok(StateAst { item, options })
    }

    pub(crate) fn is_generic(&self) -> bool {
        !self.item.generics.params.is_empty()
    }
}

/// Parses the item. If that fails, it parses the item without the fields that are incomplete.
fn read(item: TokenStream) -> syn::Result<DeriveInput> {
    let parsed = syn::parse2(item.clone());
    parsed.or_else(|error| {
        if error.to_string().starts_with("expected one of: `struct`") {
            let text = "only a struct can be a state: `#[state] struct Essay { topic: String }`";
            return Err(syn::Error::new(error.span(), text));
        }
        syn::parse2(complete_fields(item).ok_or(error)?)
    })
}

/// The item without its incomplete fields. rustc has parsed the item before and reports them; the types of the other keys are
/// still generated.
fn complete_fields(item: TokenStream) -> Option<TokenStream> {
    let mut tokens: Vec<TokenTree> = item.into_iter().collect();
    let Some(TokenTree::Group(body)) = tokens.pop() else {
        return None;
    };
    let read = |input: ParseStream| {
        let mut fields = Vec::new();
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
        Ok(fields)
    };
    let fields = read.parse2(body.stream()).ok()?;
    let mut braces = Group::new(body.delimiter(), quote!(#(#fields,)*));
    braces.set_span(body.span());
    tokens.push(braces.into());
    Some(tokens.into_iter().collect())
}

/// The fields of the item, of all variants.
fn fields_of(data: &mut Data) -> Vec<&mut Field> {
    match data {
        Data::Struct(data) => data.fields.iter_mut().collect(),
        Data::Enum(data) => {
            let variants = data.variants.iter_mut();
            variants.flat_map(|variant| &mut variant.fields).collect()
        }
        Data::Union(data) => data.fields.named.iter_mut().collect(),
    }
}

/// Reports a type without a size, or with a lifetime that is left out, and replaces it by the owned type.
fn own(ty: &mut Type, errors: &mut Errors) {
    let part = types::text_of(ty);
    let (owner, problem) = match &*ty {
        Type::Reference(reference) if is_left_out(reference.lifetime.as_ref()) => {
            let owner = whole(&reference.elem).unwrap_or_else(|| reference.elem.to_token_stream());
            (owner, "borrows one")
        }
        ty => match whole(ty) {
            Some(owner) => (owner, "is a part of one"),
            None if part.contains("'_") => (without_left_out(ty.to_token_stream()), "borrows one"),
            None => return,
        },
    };
    let owner = syn::parse2(owner).expect("the tokens are a type");
    let whole = types::text_of(&owner).replace(',', ", ");
    let part = part.replace(',', ", ");
    let message = format_args!("a key owns its value, and a `{part}` {problem}: write `{whole}`");
    errors.at(&*ty, message);
    *ty = owner;
}

/// The owned type of which the type is a part.
fn whole(ty: &Type) -> Option<TokenStream> {
    match ty {
        Type::Path(path) if path.path.is_ident("str") => Some(quote!(String)),
        Type::Slice(slice) => {
            let element = &slice.elem;
            Some(quote!(Vec<#element>))
        }
        _ => None,
    }
}

fn is_left_out(lifetime: Option<&Lifetime>) -> bool {
    lifetime.is_none_or(|lifetime| lifetime.ident == "_")
}

/// The tokens with `'static` in place of each `'_`.
fn without_left_out(tokens: TokenStream) -> TokenStream {
    let mut after_quote = false;
    let tokens = tokens.into_iter().map(|token| {
        let is_name = std::mem::replace(
            &mut after_quote,
            matches!(&token, TokenTree::Punct(punct) if punct.as_char() == '\''),
        );
        match token {
            TokenTree::Ident(name) if is_name && name == "_" => {
                Ident::new("static", name.span()).into()
            }
            TokenTree::Group(group) => {
                Group::new(group.delimiter(), without_left_out(group.stream())).into()
            }
            token => token,
        }
    });
    tokens.collect()
}

/// Options that are reported if they are attributes of a field. The others may be attributes of a derive.
const NO_ATTRIBUTES: [&str; 4] = ["input", "append", "sum", "reduce"];

/// Removes the `#[key]` attributes of a field and parses them. Reports the attributes that should be one.
/// The arguments of each `#[key(..)]` of a struct, complete or not.
pub(crate) fn key_arguments(item: &TokenStream) -> Vec<TokenStream> {
    let fields = item.clone().into_iter().filter_map(|token| match token {
        TokenTree::Group(fields) if fields.delimiter() == Delimiter::Brace => Some(fields.stream()),
        _ => None,
    });
    let attributes = fields.flatten().filter_map(|token| match token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket => Some(group.stream()),
        _ => None,
    });
    let arguments = attributes.filter_map(|attribute| {
        let mut tokens = attribute.into_iter();
        match (tokens.next(), tokens.next()) {
            (Some(TokenTree::Ident(name)), Some(TokenTree::Group(group))) if name == "key" => {
                Some(group.stream())
            }
            _ => None,
        }
    });
    arguments.collect()
}

fn key_options(attrs: &mut Vec<Attribute>, errors: &mut Errors) -> Vec<Opt> {
    let mut options = Vec::new();
    for attr in attributes::extract(attrs, |attr| is_meant_as_key(attr.path())) {
        let path = attr.path();
        if let Some(option) = NO_ATTRIBUTES.iter().find(|name| path.is_ident(name)) {
            errors.rule(
                Rule::Option,
                path,
                format_args!("`{option}` is an option of a key: write `#[key({option})]`"),
            );
            if !matches!(attr.meta, Meta::List(_)) {
                let meta = attr.meta.to_token_stream();
                options.extend(options::parse_tokens(meta, errors));
            }
            continue;
        }
        if !path.is_ident("key") {
            errors.rule(
                Rule::Option,
                path,
                format_args!(
                    "a field has no attribute `{}`; did you mean `#[key(..)]`?",
                    path.to_token_stream()
                ),
            );
        }
        match &attr.meta {
            Meta::Path(_) => {}
            Meta::List(list) => options.extend(options::parse_tokens(list.tokens.clone(), errors)),
            Meta::NameValue(pair) => {
                errors.at(
                    pair,
                    "the options of a key are written in parentheses: `#[key(append)]`",
                );
                // An option that is lost would be a second error where the flow needs it.
                let meant = pair.value.to_token_stream();
                options.extend(options::parse_tokens(meant, &mut Errors::default()));
            }
        }
    }
    options
}

fn is_meant_as_key(path: &Path) -> bool {
    path.get_ident().is_some_and(|ident| {
        let text = ident.to_string();
        similar(&text, ["key"].into_iter()).is_some() || NO_ATTRIBUTES.contains(&&*text)
    })
}

/// Whether a field has `#[cfg]` or `#[cfg_attr]`.
pub(crate) fn has_cfg(item: &TokenStream) -> bool {
    let Ok(mut item) = read(item.clone()) else {
        return false;
    };
    let fields = fields_of(&mut item.data);
    let mut attrs = fields.iter().flat_map(|field| &field.attrs);
    attrs.any(|attr| attr.path().is_ident("cfg") || attr.path().is_ident("cfg_attr"))
}

/// The arguments of `#[state(..)]`, if a derive expands the state.
pub(crate) fn args_of(item: &TokenStream) -> TokenStream {
    let attrs = syn::parse2::<DeriveInput>(item.clone()).map(|item| item.attrs);
    let args = attrs
        .into_iter()
        .flatten()
        .find_map(|attr| match attr.meta {
            Meta::List(list) if list.path.is_ident("__petalflow_state") => Some(list.tokens),
            _ => None,
        });
    args.unwrap_or_default()
}
