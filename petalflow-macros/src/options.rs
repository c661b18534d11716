//! Parsing of options in attributes: `retry = 3, timeout = 30s, blocking`.

use std::time::Duration;

use petalflow_graph::{Rule, messages, similar};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::ToTokens;
use syn::ext::IdentExt as _;
use syn::parse::{ParseStream, Parser as _};
use syn::{Expr, Lit, LitInt, LitStr, Path, Token, token};

use crate::errors::{Errors, coded_at};
use crate::site::{self, quote};
use crate::types;

/// Words of other libraries, and the options that have their meaning.
const OTHER_WORDS: &[(&str, &str)] = &[
    ("add", "sum"),
    ("count", "sum"),
    ("push", "append"),
    ("extend", "append"),
    ("concat", "append"),
    ("union", "merge"),
    ("update", "merge"),
    ("reducer", "reduce"),
    ("overwrite", "replace"),
    ("last", "replace"),
    ("in", "input"),
    ("out", "output"),
    ("retries", "retry"),
    ("attempts", "retry"),
    ("max_attempts", "retry"),
    ("deadline", "timeout"),
    ("about", "description"),
    ("doc", "description"),
    ("approve", "confirm"),
    ("approval", "confirm"),
    ("returns", "answer"),
    ("type", "answer"),
    ("timeout", "expires"),
];

/// The known option that an unknown one may mean.
pub(crate) fn meant<'a>(written: &str, known: &[&'a str]) -> Option<&'a str> {
    let similar = similar(written, known.iter().copied());
    if similar.is_some() {
        return similar;
    }
    let meant = |option: &&&str| OTHER_WORDS.contains(&(written, **option));
    known.iter().find(meant).copied()
}

/// One option.
pub(crate) struct Opt {
    /// Its name.
    pub(crate) name: Ident,
    /// The value after `=`.
    pub(crate) value: Option<Expr>,
}

/// Parses the options of an attribute. An option that cannot be parsed is reported and skipped.
pub(crate) fn parse_tokens(tokens: TokenStream, errors: &mut Errors) -> Vec<Opt> {
    let options = |input: ParseStream| Ok(parse(input, errors));
    // `parse` reports errors and parses all tokens.
    options.parse2(tokens).unwrap_or_default()
}

/// Parses options up to the end of `input`. An option that cannot be parsed is reported and skipped.
pub(crate) fn parse(input: ParseStream, errors: &mut Errors) -> Vec<Opt> {
    let mut options = Vec::new();
    comma_separated(input, errors, Errors::push, |input, _| {
        options.push(parse_one(input)?);
        Ok(())
    });
    options
}

/// Parses a comma-separated list with `item`. If an item or a comma cannot be parsed, it calls `report` and continues after
/// the next comma. `cx` is passed to both closures.
pub(crate) fn comma_separated<C>(
    input: ParseStream,
    cx: &mut C,
    report: impl Fn(&mut C, syn::Error),
    mut item: impl FnMut(ParseStream, &mut C) -> syn::Result<()>,
) {
    while !input.is_empty() {
        if let Err(error) = item(input, cx) {
            report(cx, error);
            skip_to_comma(input);
        }
        if !input.is_empty()
            && let Err(error) = input.parse::<Token![,]>()
        {
            report(cx, error);
            skip_to_comma(input);
            let _ = input.parse::<Token![,]>();
        }
    }
}

fn parse_one(input: ParseStream) -> syn::Result<Opt> {
    let name = Ident::parse_any(input).map_err(|error| {
        syn::Error::new(error.span(), "expected an option, such as `name = value`")
    })?;
    let value = if input.parse::<Option<Token![=]>>()?.is_some() {
        Some(input.parse()?)
    } else if input.is_empty() || input.peek(Token![,]) {
        None
    } else if input.peek(Token![:]) {
        return Err(input.error(format_args!("an option is written `{name} = ..`")));
    } else if input.peek(token::Paren) {
        let text = format_args!("an option has no parentheses: write `{name}`, or `{name} = ..`");
        return Err(input.error(text));
    } else {
        return Err(input.error(format_args!("expected `,`, or a value: `{name} = ..`")));
    };
    Ok(Opt { name, value })
}

/// Skips the rest of an element of a comma-separated list.
pub(crate) fn skip_to_comma(input: ParseStream) {
    while !input.is_empty() && !input.peek(Token![,]) {
        let _ = input.parse::<proc_macro2::TokenTree>();
    }
}

/// Checks that each option is known and given once.
pub(crate) struct Seen<'a> {
    known: &'a [&'a str],
    names: Vec<String>,
}

impl<'a> Seen<'a> {
    /// No option has been seen yet.
    pub(crate) fn new(known: &'a [&'a str]) -> Self {
        Seen {
            known,
            names: Vec::new(),
        }
    }

    /// The name of the option. If it is unknown or repeated, reports that and returns `None`.
    pub(crate) fn accept(&mut self, option: &Opt, errors: &mut Errors) -> Option<&'a str> {
        let written = option.name.unraw().to_string();
        let Some(&name) = self.known.iter().find(|name| **name == written) else {
            let text = messages::unknown_option(&written, meant(&written, self.known), self.known);
            errors.rule(Rule::Option, &option.name, text);
            return None;
        };
        if self.names.contains(&written) {
            errors.rule(
                Rule::Option,
                &option.name,
                messages::repeated_option(&written),
            );
            return None;
        }
        self.names.push(written);
        Some(name)
    }
}

impl Opt {
    /// An option without a value.
    pub(crate) fn flag(&self, errors: &mut Errors) -> bool {
        if let Some(value) = &self.value {
            errors.rule(
                Rule::Option,
                value,
                format_args!(
                    "option `{0}` takes no value: write `{0}`",
                    self.name.unraw()
                ),
            );
        }
        true
    }

    /// An option with a text.
    pub(crate) fn text(&self, errors: &mut Errors) -> Option<LitStr> {
        if let Some(Expr::Lit(literal)) = self.value.as_ref().map(types::ungroup_expr)
            && let Lit::Str(text) = &literal.lit
            && !text.value().is_empty()
        {
            return Some(text.clone());
        }
        self.push_expected(errors, "a text", "\"…\"");
        None
    }

    /// An option with a path.
    pub(crate) fn path(&self, errors: &mut Errors) -> Option<Path> {
        if let Some(Expr::Path(path)) = self.value.as_ref().map(types::ungroup_expr) {
            return Some(path.path.clone());
        }
        self.push_expected(errors, "a path", "path");
        None
    }

    /// An option with the name of a generated type.
    pub(crate) fn ident(&self, errors: &mut Errors) -> Option<Ident> {
        if let Some(Expr::Path(path)) = self.value.as_ref().map(types::ungroup_expr)
            && let Some(ident) = path.path.get_ident()
        {
            return Some(ident.clone());
        }
        self.push_expected(errors, "a name", "Name");
        None
    }

    /// An option with a version: a number from 1, because 0 means no version.
    pub(crate) fn version(&self, errors: &mut Errors) -> Option<LitInt> {
        if let Some(Expr::Lit(literal)) = self.value.as_ref().map(types::ungroup_expr)
            && let Lit::Int(number) = &literal.lit
            && number.suffix().is_empty()
            && number.base10_parse::<u32>().is_ok_and(|number| number > 0)
        {
            return Some(number.clone());
        }
        self.push_expected(errors, "a whole number from 1", "1");
        None
    }

    /// An option with an expression.
    pub(crate) fn expr(&self, errors: &mut Errors, example: &str) -> Option<Expr> {
        if self.value.is_none() {
            self.push_expected(errors, "a value", example);
        }
        self.bare_value()
    }

    /// The value after `=`, without parentheses around it.
    pub(crate) fn bare_value(&self) -> Option<Expr> {
        Some(match types::ungroup_expr(self.value.as_ref()?) {
            Expr::Paren(paren) => (*paren.expr).clone(),
            value => value.clone(),
        })
    }

    /// An option with a time span: `30s`, `"500ms"`.
    pub(crate) fn duration(&self, errors: &mut Errors) -> Option<Duration> {
        let Some(value) = &self.value else {
            self.push_expected(errors, "a time span", "30s");
            return None;
        };
        errors.ok(duration(value))
    }

    /// An option with retries: a number of attempts, an expression of type `Retry`, or a list of these. Returns the list.
    pub(crate) fn retry(&self, runtime: &dyn ToTokens, errors: &mut Errors) -> Option<TokenStream> {
        let value = self.expr(errors, "3")?;
        errors.ok(retries(&value, runtime))
    }

    fn push_expected(&self, errors: &mut Errors, what: &str, example: &str) {
        let message = format_args!(
            "option `{0}` takes {what}: write `{0} = {example}`",
            self.name.unraw()
        );
        match &self.value {
            Some(value) => errors.rule(Rule::Option, value, message),
            None => errors.rule(Rule::Option, &self.name, message),
        }
    }
}

/// An expression of type `&[Retry]` from a number of attempts, an expression of type `Retry`, or a list of these.
pub(crate) fn retries(value: &Expr, runtime: &dyn ToTokens) -> syn::Result<TokenStream> {
    let Expr::Array(list) = types::ungroup_expr(value) else {
        let retry = retry(value, runtime)?;
        return Ok(quote!(&[#retry]));
    };
    if list.elems.is_empty() {
        let message = "the list of retries is empty: write `1` for a node that is not retried, or remove the option";
        return Err(coded_at(Rule::Option, value, message));
    }
    let retries = list.elems.iter().map(|value| retry(value, runtime));
    let retries = retries.collect::<syn::Result<Vec<_>>>()?;
    Ok(quote!(&[#(#retries),*]))
}

/// An expression of type `Retry` from a number of attempts or an expression of that type.
fn retry(value: &Expr, runtime: &dyn ToTokens) -> syn::Result<TokenStream> {
    let attempts = match types::ungroup_expr(value) {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Int(count) if count.suffix().is_empty() => count.base10_parse::<u32>().ok(),
            _ => None,
        },
        Expr::Unary(unary) if matches!(*unary.expr, Expr::Lit(_)) => None,
        _ => return Ok(quote!(#value)),
    };
    let message = match attempts {
        Some(attempts) if attempts > 0 => {
            let attempts = site::literal(Literal::u32_suffixed(attempts));
            return Ok(quote!(#runtime::policy::Retry::attempts(#attempts)));
        }
        Some(_) => "`retry` counts all attempts, so it is at least 1 (no retry)",
        None => "`retry` takes the number of attempts, such as `3`, or a `Retry`",
    };
    Err(coded_at(Rule::Option, value, message))
}

/// The text of a string literal. `None` if the value is none, or empty.
pub(crate) fn text(value: &Expr) -> Option<String> {
    let Expr::Lit(literal) = types::ungroup_expr(value) else {
        return None;
    };
    match &literal.lit {
        Lit::Str(text) => Some(text.value()).filter(|text| !text.is_empty()),
        _ => None,
    }
}

/// A time span from a literal: `30s`, `500ms`, `2m`, `1h`, `3d`, `2w`, `1.5s`, or the same in quotes.
pub(crate) fn duration(value: &Expr) -> syn::Result<Duration> {
    let text = match types::ungroup_expr(value) {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Str(text) => Some(text.value()),
            Lit::Int(number) => Some(number.to_string()),
            Lit::Float(number) => Some(number.to_string()),
            _ => None,
        },
        _ => None,
    };
    let Some(duration) = text.as_deref().and_then(parse_duration) else {
        let message = "not a time span: write `30s`, `500ms`, `2m`, `1h` or `3d`";
        return Err(coded_at(Rule::Option, value, message));
    };
    if duration.is_zero() {
        let message = "a time span must be longer than zero";
        return Err(coded_at(Rule::Option, value, message));
    }
    Ok(duration)
}

/// Parses a time span.
fn parse_duration(text: &str) -> Option<Duration> {
    let text = text.trim().replace('_', "");
    let unit = text.bytes().position(|byte| byte.is_ascii_alphabetic())?;
    let (number, unit) = text.split_at(unit);
    let millis = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 24 * 3_600_000,
        "w" => 7 * 24 * 3_600_000,
        _ => return None,
    };
    let number = number.trim();
    if !number.as_bytes().first().is_some_and(u8::is_ascii_digit) {
        return None;
    }
    if let Ok(whole) = number.parse::<u64>() {
        return whole.checked_mul(millis).map(Duration::from_millis);
    }
    let seconds = number.parse::<f64>().ok()? * Duration::from_millis(millis).as_secs_f64();
    Duration::try_from_secs_f64(seconds).ok()
}

/// An expression of type `Duration`.
pub(crate) fn duration_tokens(duration: Duration) -> TokenStream {
    let seconds = site::literal(Literal::u64_suffixed(duration.as_secs()));
    let nanos = site::literal(Literal::u32_suffixed(duration.subsec_nanos()));
    quote!(::core::time::Duration::new(#seconds, #nanos))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{OTHER_WORDS, duration, meant};

    fn of(text: &str) -> Result<Duration, String> {
        duration(&syn::parse_str(text).unwrap()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_word_of_another_library_means_an_option_that_is_known() {
        assert_eq!(meant("add", &["sum", "append"]), Some("sum"));
        assert_eq!(meant("add", &["append"]), None);
        assert_eq!(meant("apend", &["sum", "append"]), Some("append"));
        for (word, option) in OTHER_WORDS {
            assert_eq!(meant(word, &[option]), Some(*option));
        }
    }

    #[test]
    fn time_spans_are_read_with_their_unit() {
        assert_eq!(of("30s"), Ok(Duration::from_secs(30)));
        assert_eq!(of("\"500 ms\""), Ok(Duration::from_millis(500)));
        assert_eq!(of("1_000ms"), Ok(Duration::from_secs(1)));
        assert_eq!(of("2m"), Ok(Duration::from_mins(2)));
        assert_eq!(of("1h"), Ok(Duration::from_hours(1)));
        assert_eq!(of("3d"), Ok(Duration::from_hours(72)));
        assert_eq!(of("2w"), Ok(Duration::from_hours(336)));
        assert_eq!(of("1.5s"), Ok(Duration::from_millis(1500)));
        for wrong in ["30", "30x", "\"\"", "\"s\"", "true", "0s", "x"] {
            assert!(of(wrong).is_err(), "{wrong}");
        }
    }
}
