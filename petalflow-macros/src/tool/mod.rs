//! `#[tool]`: makes a tool of a function; `tools!`: a list of tools.

mod ast;
mod check;
mod expand;
mod model;
pub(crate) mod set;

use proc_macro2::TokenStream;

use self::ast::{ToolArgs, ToolItem};
use self::check::Form;
use self::model::Tool;
use crate::attributes;
use crate::errors::Errors;
use crate::node::check::body_calls_no_macro_of_its_name;
use crate::node::expand_reported;
use crate::paths::Runtime;
use crate::site::quote;

/// Expands `#[tool(args)] item`.
pub(crate) fn expand(args: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let args = ToolArgs::parse(args, &mut errors);
    let code = match ToolItem::read(item.clone()) {
        Ok(ToolItem(mut item)) => {
            let runtime = Runtime::new(args.krate.as_ref());
            let others = attributes::take_from_tool(&mut item.attrs, &mut errors);
            if others.any && item.sig.receiver().is_none() {
                let (code, errors) = (expand_reported(&item, true, &runtime), errors.into_tokens());
                return quote!(#code #errors);
            }
            let mut tool = Tool::build(&item.sig);
            let before = errors.count();
            let cx = check::Cx {
                args: &args,
                function: &item,
                tool: &tool,
            };
            let form = check::all(&cx, &mut errors);
            let is_readable = body_calls_no_macro_of_its_name("a tool", &item, &mut errors);
            tool.usable &= errors.count() == before;
            let code = match form {
                Form::Tool => Some(expand::tool(&args, &item, &tool, &runtime)),
                Form::Method | Form::NamedLikeAPrimitive => None,
            };
            let item = if tool.has_extractor() || !is_readable {
                item.to_tokens_without_parameters()
            } else {
                item.to_tokens_without(attributes::is_of_a_tool)
            };
            quote!(#item #code)
        }
        Err(error) => {
            errors.push(error);
            item
        }
    };
    let errors = errors.into_tokens();
    quote!(#code #errors)
}
