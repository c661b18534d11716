//! The rules of a tool. They only read the model, and emit no code. Each message shows the accepted form.

use petalflow_graph::Rule;
use syn::{Attribute, Expr, Lit, Signature};

use super::ast::ToolArgs;
use super::model::{Misuse, Problem, Tool};
use crate::errors::Errors;
use crate::node::ast::NodeFn;
use crate::node::check::{managed_unsized, not_generic, plain_function};
use crate::paths::name;
use crate::types::is_primitive;

/// All providers accept names of this length.
const MAX_NAME_LENGTH: usize = 64;

/// The options of `#[serde(..)]` on a field.
const SERDE_OPTIONS: [&str; 14] = [
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

/// The input of the rules.
pub(crate) struct Cx<'a> {
    pub(crate) args: &'a ToolArgs,
    pub(crate) function: &'a NodeFn,
    pub(crate) tool: &'a Tool,
}

/// The rules, in the order in which violations are reported.
const RULES: &[fn(&Cx<'_>, &mut Errors)] = &[
    parameters_can_be_supplied,
    serde_options_exist,
    argument_names_are_unique,
    function_is_not_generic,
    function_is_plain,
    blocking_function_is_not_async,
    providers_accept_the_name,
];

/// How a function can be expanded.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Tool,
    /// A method, where no other item can be emitted.
    Method,
    /// The type of the tool would hide a type of the language.
    NamedLikeAPrimitive,
}

/// Checks a function.
pub(crate) fn all(cx: &Cx<'_>, errors: &mut Errors) -> Form {
    let sig = &cx.function.sig;
    if let Some(receiver) = sig.receiver() {
        let message = "a method cannot be a tool, because a model cannot supply `self`: write a function that takes what it needs as a `Managed<T>`, or a closure with `FuncTool::new`";
        errors.at(receiver, message);
        return Form::Method;
    }
    if cx.function.body.to_string() == ";" {
        let message = "a tool is a function with a body; a trait method cannot be a tool";
        errors.at(&sig.ident, message);
        return Form::Method;
    }
    if is_primitive(&sig.ident) {
        let name = &sig.ident;
        let message = format_args!(
            "a tool is a type with the name of its function, and `{name}` is a type of the language: rename the function, and keep the name for models with `#[tool(name = \"{name}\")]`"
        );
        errors.at(name, message);
        return Form::NamedLikeAPrimitive;
    }
    RULES.iter().for_each(|rule| rule(cx, errors));
    Form::Tool
}

/// A call or the run can supply each parameter.
fn parameters_can_be_supplied(cx: &Cx<'_>, errors: &mut Errors) {
    for Misuse { at, problem } in &cx.tool.misuses {
        match problem {
            Problem::NoPlainName => errors.at(at, "a parameter of a tool needs a plain name, because a model names its arguments: destructure the value in the body"),
            Problem::RunOptions => errors.at(at, "`#[run]` takes no options: `#[run] clock: Clock`"),
            Problem::Borrowed { name, owned } => errors.at(at, format_args!("a tool takes owned values, because it cannot borrow from the call: write `{name}: {owned}`")),
            Problem::Extractor => errors.at(at, "a tool has no extractors: a parameter is an argument that the model gives, and `db: Managed<Db>` takes a value that the run gets with `.manage(db)`"),
            Problem::ManagedUnsized(ty) => errors.at(at, managed_unsized(ty)),
            Problem::ImplTrait => errors.at(at, "a tool cannot take `impl Trait`, because its schema describes its arguments: name a type"),
        }
    }
}

fn serde_options_exist(cx: &Cx<'_>, errors: &mut Errors) {
    for (_, _, attrs) in cx.tool.arguments() {
        each_serde_option(attrs, |option, value| {
            if let Some(value) = value
                && option.is_ident("default")
                && !names_a_function(value)
            {
                let text = "the default of an argument is a function, which a text names: write `fn ten() -> u32 { 10 }`, and `#[serde(default = \"ten\")]`";
                errors.at(value, text);
            }
            let known = option
                .get_ident()
                .is_some_and(|word| SERDE_OPTIONS.iter().any(|option| word == option));
            if !known {
                errors.at(option, "serde has no such option for a field");
            }
        });
    }
}

/// Whether the expression is a text with a path.
fn names_a_function(value: &Expr) -> bool {
    matches!(value, Expr::Lit(literal) if matches!(&literal.lit, Lit::Str(text) if text.parse::<syn::Path>().is_ok()))
}

/// No two arguments have one name in a call. rustc reports two parameters of one name.
fn argument_names_are_unique(cx: &Cx<'_>, errors: &mut Errors) {
    if cx.tool.repeats_parameter() {
        return;
    }
    let mut names: Vec<String> = Vec::new();
    for (_, param, attrs) in cx.tool.arguments() {
        let mut in_call = name(&param.ident);
        each_serde_option(attrs, |option, value| {
            if let Some(Expr::Lit(literal)) = value
                && let Lit::Str(text) = &literal.lit
                && option.is_ident("rename")
            {
                in_call = text.value();
            }
        });
        if names.contains(&in_call) {
            errors.at(
                &param.ident,
                format_args!(
                    "two arguments of the tool have the name `{in_call}`; rename one of them"
                ),
            );
        }
        names.push(in_call);
    }
}

/// Calls `visit` with the path and the value of each option of `#[serde(..)]`. serde reports attributes that are not lists of
/// options.
fn each_serde_option(attrs: &[Attribute], mut visit: impl FnMut(&syn::Path, Option<&Expr>)) {
    for attr in attrs.iter().filter(|attr| attr.path().is_ident("serde")) {
        let _ = attr.parse_nested_meta(|option| {
            let mut expr = None;
            if let Ok(value) = option.value() {
                expr = Some(value.parse::<Expr>());
            } else if option.input.peek(syn::token::Paren) {
                option.parse_nested_meta(|_| Ok(()))?;
            }
            let expr = expr.transpose();
            visit(&option.path, expr.as_ref().ok().and_then(Option::as_ref));
            expr.map(drop)
        });
    }
}

fn function_is_not_generic(cx: &Cx<'_>, errors: &mut Errors) {
    not_generic(
        &cx.function.sig,
        "a tool needs no lifetimes: it takes and returns owned values, such as `String`",
        "a tool cannot be generic, because its schema describes its arguments: name the types",
        errors,
    );
}

fn function_is_plain(cx: &Cx<'_>, errors: &mut Errors) {
    plain_function("a tool", &cx.function.sig, errors);
}

/// PF024.
fn blocking_function_is_not_async(cx: &Cx<'_>, errors: &mut Errors) {
    if let (Some(blocking), Some(_)) = (&cx.args.blocking, &cx.function.sig.asyncness) {
        let message =
            "`blocking` is for a plain `fn`, which then runs on its own thread: remove `async`";
        errors.rule(Rule::Option, blocking, message);
    }
}

/// PF024 if an option gives the name: `OpenAI`, Anthropic and Gemini accept it.
fn providers_accept_the_name(cx: &Cx<'_>, errors: &mut Errors) {
    let Cx { args, function, .. } = cx;
    let Signature { ident, .. } = &function.sig;
    let text = args.name_of(ident);
    let starts = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let valid = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if starts && text.chars().all(valid) && text.len() <= MAX_NAME_LENGTH {
        return;
    }
    let message = format!(
        "model providers accept names of up to {MAX_NAME_LENGTH} letters (`a` to `z`, `A` to `Z`), digits, `_` and `-` that begin with a letter or `_`"
    );
    match &args.name {
        Some(name) => errors.rule(
            Rule::Option,
            name,
            format_args!("{message}: choose another name"),
        ),
        None => errors.at(
            ident,
            format_args!("{message}: choose a name with `#[tool(name = \"…\")]`"),
        ),
    }
}
