//! Code in place of a tool that was reported, so that its uses are not errors.

use proc_macro2::{Ident, TokenStream};

use crate::paths::{Runtime, name};
use crate::site::quote;

/// The implementation of `Tool`.
pub(crate) fn tool(ident: &Ident, runtime: &Runtime) -> TokenStream {
    quote! {
        #[automatically_derived]
        impl #runtime::tool::Tool for #ident {
            fn spec(&self) -> &::std::sync::Arc<#runtime::tool::ToolSpec> {
                ::core::unreachable!()
            }
            fn call<'__a, '__b, '__c>(
                &'__a self,
                _: #runtime::__private::tool::Value,
                _: &'__b #runtime::tool::ToolContext,
            ) -> #runtime::middleware::BoxFuture<'__c, ::core::result::Result<#runtime::__private::tool::Value, #runtime::tool::ToolError>>
            where
                '__a: '__c,
                '__b: '__c,
                Self: '__c,
            {
                ::std::boxed::Box::pin(::core::future::pending())
            }
        }
    }
}

/// The implementations of a tool, without its type.
pub(crate) fn fn_tool(ident: &Ident, runtime: &Runtime) -> TokenStream {
    let tool = tool(ident, runtime);
    let text = name(ident);
    quote! {
        const _: () = {
            #tool
            #[automatically_derived]
            impl #runtime::tool::FnTool for #ident {
                const NAME: &'static ::core::primitive::str = #text;
                const TOOL: Self = Self {};
            }
        };
    }
}
