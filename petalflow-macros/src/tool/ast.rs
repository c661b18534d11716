//! The syntax tree of `#[tool]`: options and a function.

use petalflow_graph::Rule;
use proc_macro2::{Ident, TokenStream};
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Expr, Lit, LitStr, Path};

use crate::errors::Errors;
use crate::node::ast::{NodeFn, complete_params, starts_other_item};
use crate::options::{self, Opt, Seen};
use crate::paths::{Runtime, name};
use crate::types;

/// The arguments of `#[tool(..)]`.
#[derive(Default)]
pub(crate) struct ToolArgs {
    pub(crate) name: Option<LitStr>,
    pub(crate) description: Option<LitStr>,
    pub(crate) long_running: bool,
    pub(crate) deferred: bool,
    pub(crate) confirm: Option<Confirm>,
    /// Expressions for the fields of `Policy`, without `Some`.
    pub(crate) retry: Option<TokenStream>,
    pub(crate) timeout: Option<TokenStream>,
    pub(crate) blocking: Option<Ident>,
    pub(crate) krate: Option<Path>,
}

/// When a person must confirm a call.
pub(crate) enum Confirm {
    /// Always.
    Always,
    /// Always, with this question.
    Question(LitStr),
    /// If this function decides so.
    Predicate(Path),
}

const OPTIONS: &[&str] = &[
    "name",
    "description",
    "long_running",
    "deferred",
    "confirm",
    "timeout",
    "retry",
    "blocking",
    "crate",
];

impl ToolArgs {
    pub(crate) fn parse(args: TokenStream, errors: &mut Errors) -> Self {
        let mut parsed = ToolArgs::default();
        let mut seen = Seen::new(OPTIONS);
        let mut retry = None;
        for option in options::parse_tokens(args, errors) {
            match seen.accept(&option, errors) {
                Some("name") => parsed.name = option.text(errors),
                Some("description") => parsed.description = option.text(errors),
                Some("long_running") => parsed.long_running = option.flag(errors),
                Some("deferred") => parsed.deferred = option.flag(errors),
                Some("confirm") => parsed.confirm = Confirm::of(&option, errors),
                Some("timeout") => {
                    parsed.timeout = option.duration(errors).map(options::duration_tokens);
                }
                Some("retry") => retry = Some(option),
                Some("blocking") => parsed.blocking = option.flag(errors).then_some(option.name),
                Some("crate") => parsed.krate = option.path(errors),
                _ => {}
            }
        }
        let runtime = Runtime::new(parsed.krate.as_ref());
        parsed.retry = retry.and_then(|option| option.retry(&runtime, errors));
        parsed
    }
}

impl ToolArgs {
    /// The name of the tool.
    pub(crate) fn name_of(&self, function: &Ident) -> String {
        self.name
            .as_ref()
            .map_or_else(|| name(function), LitStr::value)
    }
}

impl Confirm {
    fn of(option: &Opt, errors: &mut Errors) -> Option<Self> {
        let Some(value) = &option.value else {
            return Some(Confirm::Always);
        };
        match types::ungroup_expr(value) {
            Expr::Lit(literal) if matches!(literal.lit, Lit::Str(_)) => {
                option.text(errors).map(Confirm::Question)
            }
            Expr::Path(path) => Some(Confirm::Predicate(path.path.clone())),
            value => {
                errors.rule(
                    Rule::Option,
                    value,
                    "option `confirm` has no value, a text, or the path of a function: write `confirm = \"…\"` or `confirm = is_risky`",
                );
                None
            }
        }
    }
}

/// The item: a function.
pub(crate) struct ToolItem(pub(crate) NodeFn);

impl ToolItem {
    /// Parses the item. If that fails, it parses the item without the parameters that are incomplete, which rustc reports.
    pub(crate) fn read(item: TokenStream) -> syn::Result<Self> {
        let error = match syn::parse2(item.clone()) {
            Ok(item) => return Ok(item),
            Err(error) => error,
        };
        match complete_params(item) {
            Some(item) => syn::parse2(item),
            None => Err(error),
        }
    }
}

impl Parse for ToolItem {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let attrs = input.call(Attribute::parse_outer)?;
        if starts_other_item(input) {
            let message = "a tool is a function: `#[tool] async fn search(query: String) -> String { .. }`; for a closure use `FuncTool::new`";
            return Err(syn::Error::new(input.span(), message));
        }
        NodeFn::parse(attrs, input).map(ToolItem)
    }
}
