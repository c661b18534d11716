//! The return type.

use proc_macro2::{Ident, TokenStream};
use syn::Type;
use syn::ext::IdentExt as _;

use super::super::model::Returned;
use super::Cx;
use crate::site::quote;
use crate::types;

impl Cx<'_> {
    /// `type Output = ..;` of `Node`: the return type, in a `Result` if binding the parameters can fail.
    ///
    /// rustc checks the bound of `Node::Output` and reports a type that cannot be returned. If that type may be inside of a tuple or a
    /// `Result`, the output is a projection with the span of its tokens, so that rustc underlines that type and not the whole.
    pub(super) fn output(&self) -> TokenStream {
        let (runtime, node) = (self.runtime, self.node);
        if !node.usable {
            return quote!(type Output = #runtime::__private::Broken;);
        }
        let written = node
            .output
            .as_ref()
            .map_or_else(|| quote!(()), Returned::tokens);
        let ty = if let Some((_, value)) = self.result_alias() {
            let value = value.tokens();
            quote!(::core::result::Result<#value, #runtime::BoxError>)
        } else if self.fallible() {
            quote!(::core::result::Result<#written, #runtime::BoxError>)
        } else {
            written
        };
        let Some(output) = &node.output else {
            return quote!(type Output = #ty;);
        };
        let Some(culprit) = self.culprit(output) else {
            let begin = runtime.respan(&output.tokens(), quote!(type Output =));
            let end = runtime.respan(&output.tokens(), quote!(;));
            return quote!(#begin #ty #end);
        };
        let check = if self.doubtful_member().is_some() {
            quote!(__OUTPUT)
        } else {
            quote!(0)
        };
        let begin = runtime.respan(&culprit, quote!(type Output = <));
        let end = runtime.respan(
            &culprit,
            quote!(as #runtime::__private::Checked<#check>>::Type;),
        );
        quote!(#begin #ty #end)
    }

    /// An alias of `Result` that is imported, and its value. The error type is unknown. The output of the node does not repeat the
    /// alias: for `std::result::Result`, rustc would report the missing argument once more. A path names an alias on purpose.
    pub(super) fn result_alias(&self) -> Option<(&Ident, &Returned)> {
        match self.node.output.as_ref().filter(|_| self.node.usable)? {
            Returned::Wrapped(ty, value, None) => {
                let Type::Path(path) = ty else {
                    return None;
                };
                let [only] = &Vec::from_iter(&path.path.segments)[..] else {
                    return None;
                };
                (only.ident == "Result").then_some((&only.ident, &**value))
            }
            _ => None,
        }
    }

    /// A constant that fails if the doubtful member of a tuple cannot be returned. rustc says of a tuple only that it cannot be
    /// returned, because it would otherwise list the tuples that can be.
    pub(super) fn member_check(&self) -> Option<TokenStream> {
        let Cx { runtime, state, .. } = self;
        let (member, is_last) = self.doubtful_member()?;
        let tokens = member.tokens();
        let check = if is_last {
            quote!(#runtime::__private::last_output::<#state,)
        } else {
            quote!(#runtime::__private::key_output::<#state,)
        };
        let check = runtime.respan(&tokens, check);
        let end = runtime.respan(&tokens, quote!(>()));
        Some(quote!(const __OUTPUT: ::core::primitive::usize = #check #tokens #end;))
    }

    /// The member of a tuple that may not be allowed there, and whether it is the last one. Not of a method, whose types may have
    /// parameters.
    fn doubtful_member(&self) -> Option<(&Returned, bool)> {
        let usable = self.node.usable && !self.method;
        let mut output = self.node.output.as_ref().filter(|_| usable)?;
        while let Returned::Wrapped(ty, inner, _) = output
            && types::last_segment(ty).is_some_and(|last| last.ident == "Result")
        {
            output = inner;
        }
        match output {
            Returned::Tuple(_, members) => self.odd_member(members),
            _ => None,
        }
    }

    /// The first member that does not have the name of a key of the state, and whether it is the last one.
    fn odd_member<'m>(&self, members: &'m [Returned]) -> Option<(&'m Returned, bool)> {
        for (index, member) in members.iter().enumerate() {
            if !self.is_key(member) {
                return Some((member, index + 1 == members.len()));
            }
        }
        None
    }

    /// The part to underline if the output cannot be returned: the first member that does not have the name of a key of the state, or
    /// the error. `None` for the whole, or if all are keys.
    fn culprit(&self, output: &Returned) -> Option<TokenStream> {
        let part = match output {
            Returned::Unit(_) | Returned::One(_) => return None,
            Returned::Tuple(_, members) => self.odd_member(members)?.0,
            Returned::Wrapped(_, inner, error) => match error {
                Some(error) if self.is_key(inner) => return Some(quote!(#error)),
                _ if self.is_key(inner) => return None,
                _ => inner,
            },
        };
        self.culprit(part).or_else(|| Some(part.tokens()))
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
