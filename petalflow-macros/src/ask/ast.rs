//! The syntax tree of `#[derive(Ask)]`: the options of the question.

use std::time::Duration;

use petalflow_graph::{Rule, messages};
use proc_macro2::{Ident, TokenStream};
use syn::ext::IdentExt as _;
use syn::parse::{ParseStream, Parser as _};
use syn::{Attribute, Data, DeriveInput, Expr, Generics, LitStr, Member, Path, Token, Type};

use crate::attributes;
use crate::errors::Errors;
use crate::options::{self, Opt, Seen, comma_separated};

/// A question.
pub(crate) struct AskAst {
    pub(crate) ident: Ident,
    pub(crate) generics: Generics,
    pub(crate) krate: Option<Path>,
    /// The lint levels of the item.
    pub(crate) lints: TokenStream,
    /// `None` if it is missing, which is reported.
    pub(crate) answer: Option<Type>,
    pub(crate) name: Option<LitStr>,
    pub(crate) key: Option<Member>,
    /// The time after which the question is answered with this expression.
    pub(crate) expiry: Option<(Duration, Expr)>,
}

/// The options, in the order of the documentation.
const OPTIONS: [&str; 6] = ["answer", "name", "key", "expires", "default", "crate"];

/// The value of an option.
enum Value {
    Type(Type),
    Member(Member),
    Expr(Expr),
}

/// The options `expires` and `default`. Each needs the other.
#[derive(Default)]
struct Expiry {
    after: Option<(Ident, Option<Duration>)>,
    answer: Option<(Ident, Expr)>,
}

impl AskAst {
    pub(crate) fn read(item: DeriveInput, errors: &mut Errors) -> Self {
        let DeriveInput {
            attrs,
            ident,
            generics,
            data,
            ..
        } = item;
        let mut ask = AskAst {
            ident,
            generics,
            krate: None,
            lints: attributes::lints(&attrs),
            answer: None,
            name: None,
            key: None,
            expiry: None,
        };
        let before = errors.count();
        ask.read_options(&attrs, errors);
        if ask.answer.is_none() && errors.count() == before {
            let message = format_args!(
                "the question `{}` needs the type of its answer: `#[ask(answer = bool)]`",
                ask.ident
            );
            errors.at(&ask.ident, message);
        }
        if let (Some(key), false) = (&ask.key, matches!(data, Data::Struct(_))) {
            errors.at(
                key,
                "`key` names a field of a struct: put the enum and its key in a struct",
            );
            ask.key = None;
        }
        if !ask.generics.params.is_empty() {
            let message = "a question cannot be generic, because only its name identifies the question: name the types";
            errors.at(&ask.generics, message);
        }
        ask
    }

    fn read_options(&mut self, attrs: &[Attribute], errors: &mut Errors) {
        let mut seen = Seen::new(&OPTIONS);
        let mut expiry = Expiry::default();
        for attr in &attributes::with_name(attrs, "ask") {
            let Ok(list) = attr.meta.require_list() else {
                errors.at(
                    attr,
                    "`#[ask]` takes options in parentheses: `#[ask(answer = bool)]`",
                );
                continue;
            };
            let read = |input: ParseStream| {
                comma_separated(input, errors, Errors::push, |input, errors| {
                    let (name, value) = option(input)?;
                    self.accept(name, value, &mut seen, &mut expiry, errors);
                    Ok(())
                });
                Ok(())
            };
            // `comma_separated` reports errors and parses all tokens.
            let _ = read.parse2(list.tokens.clone());
        }
        match (expiry.after, expiry.answer) {
            (Some((_, Some(after))), Some((_, answer))) => self.expiry = Some((after, answer)),
            (Some((_, None)), Some(_)) | (None, None) => {}
            (Some((expires, _)), None) => errors.rule(
                Rule::Option,
                &expires,
                "a question that expires needs a default answer: `default = ..`",
            ),
            (None, Some((default, _))) => errors.rule(
                Rule::Option,
                &default,
                "`default` is the answer of a question that expires: add `expires = 3d`",
            ),
        }
    }

    fn accept(
        &mut self,
        name: Ident,
        value: Value,
        seen: &mut Seen<'_>,
        expiry: &mut Expiry,
        errors: &mut Errors,
    ) {
        let mut option = Opt { name, value: None };
        let Some(known) = seen.accept(&option, errors) else {
            return;
        };
        match (known, value) {
            (_, Value::Type(answer)) => self.answer = Some(answer),
            (_, Value::Member(key)) => self.key = Some(key),
            ("expires", Value::Expr(after)) => {
                option.value = Some(after);
                let after = option.duration(errors);
                expiry.after = Some((option.name, after));
            }
            ("default", Value::Expr(answer)) => expiry.answer = Some((option.name, answer)),
            (known, Value::Expr(value)) => {
                option.value = Some(value);
                if known == "name" {
                    self.name = option.text(errors);
                } else {
                    self.krate = option.path(errors);
                }
            }
        }
    }
}

fn option(input: ParseStream) -> syn::Result<(Ident, Value)> {
    let name = Ident::parse_any(input)?;
    let written = name.unraw().to_string();
    if !input.peek(Token![=]) {
        let known = OPTIONS.contains(&&*written);
        let text = if known {
            format!("option `{written}` needs a value: `{written} = ..`")
        } else {
            let meant = options::meant(&written, &OPTIONS);
            messages::unknown_option(&written, meant, &OPTIONS)
                .as_str()
                .to_owned()
        };
        let text = format_args!("{}: {text}", Rule::Option.code());
        return Err(syn::Error::new(name.span(), text));
    }
    input.parse::<Token![=]>()?;
    let value = match &*written {
        "answer" => Value::Type(input.parse()?),
        "key" => Value::Member(input.parse().map_err(|error: syn::Error| {
            let text = format_args!(
                "{}: `key` names a field, such as `key = id`",
                Rule::Option.code()
            );
            syn::Error::new(error.span(), text)
        })?),
        _ => Value::Expr(input.parse()?),
    };
    Ok((name, value))
}
