//! The return type.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote};

use super::super::model::Returned;
use super::Cx;
use crate::paths::{local, local_at, no_generics};

/// How the return type stands in `Node::Output`.
pub(super) struct Output {
    /// What else has to stand in the node's `const` block.
    pub(super) items: TokenStream,
    /// The type.
    pub(super) ty: TokenStream,
    /// What the returned value is wrapped in.
    pub(super) wrapper: Option<Ident>,
}

impl Cx<'_> {
    pub(super) fn output(&self) -> Output {
        let runtime = self.runtime;
        if !self.node.usable {
            return Output { items: TokenStream::new(), ty: quote!(#runtime::__private::Broken), wrapper: None };
        }
        let Some(output) = &self.node.output else {
            return Output { items: TokenStream::new(), ty: quote!(()), wrapper: None };
        };
        let written = output.tokens();
        if self.generic || mentions_self(written.clone()) {
            // An alias cannot name the block's parameters. What is wrong is underlined as a whole.
            return Output { items: TokenStream::new(), ty: written, wrapper: None };
        }
        let generics = no_generics(&self.node.call);
        let alias = format_ident!("__PetalflowReturned");
        // The user's tokens stand here alone, so that a type that does not exist is one error.
        let items = quote!(type #alias #generics = #written;);
        match output {
            Returned::Tuple(..) => self.taken_apart(output, items, &alias, None),
            Returned::Wrapped(wrapper, inner, error) if wrapper.is_result => match &**inner {
                Returned::Tuple(..) => self.taken_apart(inner, items, &alias, Some(error.as_ref().map_or_else(|| wrapper.ty.to_token_stream(), ToTokens::to_token_stream))),
                inner => {
                    let culprit = wrapper.arguments(inner.tokens(), error.as_ref());
                    Output { items, ty: runtime.spot(&culprit, quote!(<#alias as #runtime::__private::Itself>::Type)), wrapper: None }
                }
            },
            output => {
                let culprit = output.tokens();
                Output { items, ty: runtime.spot(&culprit, quote!(<#alias as #runtime::__private::Itself>::Type)), wrapper: None }
            }
        }
    }

    /// A tuple is written out: a type of its own implements `Output` member by member, so that a wrong member is one error, at
    /// that member. A bound on the tuple would underline all of it.
    fn taken_apart(&self, returned: &Returned, mut items: TokenStream, alias: &Ident, error: Option<TokenStream>) -> Output {
        let (runtime, state, vis) = (self.runtime, self.state, &self.vis);
        let tuple = if error.is_some() { quote!(<#alias as #runtime::__private::Fallible>::Ok) } else { quote!(#alias) };
        let mut members = Vec::new();
        let (value, effects) = (local("value"), local("effects"));
        let pattern = self.members(returned, &tuple, &mut members);
        let last = members.pop();
        let mut may = Vec::new();
        let mut must = Vec::new();
        let mut twice = Vec::new();
        let mut put = Vec::new();
        for Member { ty, at, value } in &members {
            let written = |item| runtime.spot(at, quote!(<#ty as #runtime::Written<#state>>::#item));
            may.push(written(quote!(WRITES.0)));
            must.push(written(quote!(WRITES.1)));
            twice.push(written(quote!(WRITES.2)));
            let write = written(quote!(write));
            put.push(quote!(#write(#value, #effects)?;));
        }
        let then = last.map_or_else(
            || quote!(type Then = ();),
            |Member { ty, at, value }| {
                let output = |item| runtime.spot(&at, quote!(<#ty as #runtime::Output<#state>>::#item));
                may.push(output(quote!(MAY)));
                must.push(output(quote!(MUST)));
                twice.push(output(quote!(TWICE)));
                let apply = output(quote!(apply));
                put.push(quote!(#apply(#value, #effects)?;));
                let then = output(quote!(Then));
                runtime.spot(&at, quote!(type Then = #then;))
            },
        );
        let unwrap = error.map(|error| {
            let boxed = runtime.spot(&error, quote!(<<#alias as #runtime::__private::Fallible>::Err as #runtime::__private::Fails>::boxed));
            let problem = local("error");
            quote! {
                let #value = match #runtime::__private::Fallible::result(#value) {
                    ::core::result::Result::Ok(#value) => #value,
                    ::core::result::Result::Err(#problem) => return ::core::result::Result::Err(#boxed(#problem)),
                };
            }
        });
        let where_state = self.where_state();
        let wrapper = format_ident!("__PetalflowOutput");
        items.extend(quote! {
            #[allow(missing_debug_implementations)]
            #vis struct #wrapper(#vis #alias);
            #[automatically_derived]
            impl #runtime::Output<#state> for #wrapper #where_state {
                const MAY: #runtime::KeySet = #runtime::KeySet::NONE #(.union(#may))*;
                const MUST: #runtime::KeySet = #runtime::KeySet::NONE #(.union(#must))*;
                const TWICE: #runtime::KeySet = #runtime::__private::twice(&[#((#may, #twice)),*]);
                #then
                fn apply(self, #effects: &mut #runtime::Effects<#state>) -> ::core::result::Result<(), #runtime::BoxError> {
                    let #value = self.0;
                    #unwrap
                    let #pattern = #value;
                    #(#put)*
                    ::core::result::Result::Ok(())
                }
            }
        });
        Output { items, ty: quote!(#wrapper), wrapper: Some(wrapper) }
    }

    /// The members of a tuple, also of tuples in it, and the pattern that takes them apart. A member's type is reached through
    /// the tuple, so that the user's tokens are not repeated.
    fn members(&self, returned: &Returned, path: &TokenStream, members: &mut Vec<Member>) -> TokenStream {
        let Returned::Tuple(_, all) = returned else {
            let value = local_at("member", members.len());
            members.push(Member { ty: path.clone(), at: returned.tokens(), value: value.clone() });
            return quote!(#value);
        };
        let runtime = self.runtime;
        let patterns = all.iter().enumerate().map(|(index, member)| {
            let at = member.tokens();
            let path = runtime.spot(&at, quote!(<#path as #runtime::__private::At<#index>>::Type));
            self.members(member, &path, members)
        });
        let patterns: Vec<_> = patterns.collect();
        quote!((#(#patterns,)*))
    }
}

/// A member of a tuple.
struct Member {
    ty: TokenStream,
    /// The user's tokens.
    at: TokenStream,
    /// The variable that holds it.
    value: Ident,
}

fn mentions_self(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        proc_macro2::TokenTree::Group(group) => mentions_self(group.stream()),
        proc_macro2::TokenTree::Ident(ident) => ident == "Self",
        _ => false,
    })
}
