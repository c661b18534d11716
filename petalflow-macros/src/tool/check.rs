//! The rules of tools: each rejected form, with the accepted form in its message.

use syn::{Expr, Lit, Signature};

use super::ast::ToolArgs;
use super::model::Tool;
use crate::errors::Errors;
use crate::node::ast::NodeFn;
use crate::node::check::plain_function;
use crate::options;
use crate::paths::name;

/// The longest name that every provider takes.
const LONGEST_NAME: usize = 64;

/// What a function is.
pub(crate) enum Form {
    Tool,
    /// Not a tool, and no item can be emitted beside it.
    Method,
}

/// What serde knows of a field.
const SERDE: [&str; 14] = [
    "alias",
    "borrow",
    "bound",
    "default",
    "deserialize_with",
    "flatten",
    "getter",
    "rename",
    "serialize_with",
    "skip",
    "skip_deserializing",
    "skip_serializing",
    "skip_serializing_if",
    "with",
];

/// Checks a function. Says whether it can be a tool at all.
pub(crate) fn all(
    args: &ToolArgs,
    function: &NodeFn,
    tool: &mut Tool,
    errors: &mut Errors,
) -> Form {
    let sig = &function.sig;
    if let Some(receiver) = sig.receiver() {
        let message = "a method cannot be a tool, because a model cannot supply `self`: write a function that takes what it needs as a `Managed<T>`, or a closure with `FuncTool::new`";
        errors.at(receiver, message);
        return Form::Method;
    }
    if function.body.to_string() == ";" {
        let message = "a tool is a function with a body; a trait method cannot be a tool";
        errors.at(&sig.ident, message);
        return Form::Method;
    }
    let before = errors.count();
    tool.usable &= distinct(tool, errors);
    not_generic(sig, errors);
    plain_function("a tool", sig, errors);
    one_thread(args, sig, errors);
    name_that_providers_take(args, sig, errors);
    tool.usable &= errors.count() == before;
    Form::Tool
}

/// Reports arguments of one name. Two parameters of one name are reported by rustc.
fn distinct(tool: &Tool, errors: &mut Errors) -> bool {
    let mut distinct = true;
    let mut wire: Vec<String> = Vec::new();
    let mut idents = Vec::new();
    for (_, param, attrs) in tool.arguments() {
        let mut known = name(&param.ident);
        distinct &= !idents.contains(&known);
        idents.push(known.clone());
        for attr in attrs.iter().filter(|attr| attr.path().is_ident("serde")) {
            // What is no list of options, serde says.
            let _ = attr.parse_nested_meta(|option| {
                let word = option.path.get_ident().map(ToString::to_string);
                if !word.as_deref().is_some_and(|word| SERDE.contains(&word)) {
                    errors.at(&option.path, "serde has no such option for a field");
                }
                if let Ok(value) = option.value() {
                    let value: Expr = value.parse()?;
                    if let (Some("rename"), Expr::Lit(literal)) = (word.as_deref(), &value)
                        && let Lit::Str(text) = &literal.lit
                    {
                        known = text.value();
                    }
                } else if option.input.peek(syn::token::Paren) {
                    option.parse_nested_meta(|_| Ok(()))?;
                }
                Ok(())
            });
        }
        if wire.contains(&known) && distinct {
            errors.at(
                &param.ident,
                format!("two arguments of the tool are called `{known}` for the model; rename one of them"),
            );
        }
        wire.push(known);
    }
    distinct
}

fn not_generic(sig: &Signature, errors: &mut Errors) {
    let generics = &sig.generics;
    if generics.params.is_empty() {
        return;
    }
    if generics.lifetimes().next().is_some() {
        errors.at(
            generics,
            "a tool needs no lifetimes: it takes and returns owned values, such as `String`",
        );
    } else {
        errors.at(
            generics,
            "a tool cannot be generic, because its schema describes its arguments: name the types",
        );
    }
}

fn one_thread(args: &ToolArgs, sig: &Signature, errors: &mut Errors) {
    if let (Some(blocking), Some(_)) = (&args.blocking, &sig.asyncness) {
        options::clash(
            errors,
            blocking,
            "`blocking` is for a plain `fn`, which then runs on its own thread: remove `async`",
        );
    }
}

/// What OpenAI, Anthropic and Gemini all accept.
fn name_that_providers_take(args: &ToolArgs, sig: &Signature, errors: &mut Errors) {
    let text = args
        .name
        .as_ref()
        .map_or_else(|| name(&sig.ident), syn::LitStr::value);
    let starts = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let fits = text
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if starts && fits && text.len() <= LONGEST_NAME {
        return;
    }
    let message = format!(
        "providers take names of up to {LONGEST_NAME} letters (`a` to `z`, `A` to `Z`), digits, `_` and `-` that begin with a letter or `_`"
    );
    match &args.name {
        Some(name) => options::wrong(errors, name, format!("{message}: choose another name")),
        None => errors.at(
            &sig.ident,
            format!("{message}: say which one with `#[tool(name = \"…\")]`"),
        ),
    }
}
