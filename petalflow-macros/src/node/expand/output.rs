//! The return type.

use proc_macro2::TokenStream;
use quote::quote;
use syn::ext::IdentExt as _;

use super::super::model::Returned;
use super::Cx;
use crate::types;

impl Cx<'_> {
    /// `type Output = ..;` of `Node`: the return type, in a `Result` if binding the parameters can fail.
    ///
    /// rustc checks the bound of `Node::Output` and reports a type that cannot be returned. The span of the tokens makes it underline
    /// that type rather than the whole tuple.
    pub(super) fn output(&self) -> TokenStream {
        let (runtime, node) = (self.runtime, self.node);
        if !node.usable {
            return quote!(type Output = #runtime::__private::Broken;);
        }
        let written = node
            .output
            .as_ref()
            .map_or_else(|| quote!(()), Returned::tokens);
        let ty = if self.fallible() {
            quote!(::core::result::Result<#written, #runtime::BoxError>)
        } else {
            written
        };
        let Some(output) = &node.output else {
            return quote!(type Output = #ty;);
        };
        let culprit = self.culprit(output);
        let (begin, end) = (
            runtime.respan(&culprit, quote!(type Output = <)),
            runtime.respan(&culprit, quote!(as #runtime::__private::Itself>::Type;)),
        );
        quote!(#begin #ty #end)
    }

    /// The member to underline if one cannot be returned: the first that does not have the name of a key of the state, where the
    /// last member may be a route.
    fn culprit(&self, output: &Returned) -> TokenStream {
        match output {
            Returned::Unit(_) | Returned::One(_) => output.tokens(),
            Returned::Tuple(_, members) => {
                let Some((last, others)) = members.split_last() else {
                    return output.tokens();
                };
                let odd = others
                    .iter()
                    .find(|member| !self.is_key(member))
                    .or_else(|| (!self.is_key(last)).then_some(last));
                odd.map_or_else(|| output.tokens(), |odd| self.culprit(odd))
            }
            Returned::Wrapped(_, inner, error) => match error {
                Some(error) if self.is_key(inner) => quote!(#error),
                _ => self.culprit(inner),
            },
        }
    }

    /// Whether the type has the name of a key of the state, or consists of such types.
    fn is_key(&self, output: &Returned) -> bool {
        match output {
            Returned::Unit(_) => true,
            Returned::One(ty) => types::last_segment(ty).is_some_and(|segment| {
                let name = segment.ident.unraw().to_string();
                name == "Overwrite" || name.starts_with(&self.state_name)
            }),
            Returned::Tuple(_, members) => members.iter().all(|member| self.is_key(member)),
            Returned::Wrapped(_, inner, _) => self.is_key(inner),
        }
    }
}
