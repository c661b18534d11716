//! Tokens for several parts of the code: numbers, lists, generated names, and checks at a token of the user.

use petalflow_graph::NodeIdx;
use proc_macro2::{Literal, Span, TokenStream};
use quote::{ToTokens, TokenStreamExt as _, quote, quote_spanned};
use syn::spanned::Spanned as _;

use crate::paths::Name;
use crate::spans::with_spans;
use crate::tokens::list;

/// The maximum number of nodes in one list. Lists of bounds and of `match` arms are quadratic in rustc.
pub(super) const CHUNK: usize = 32;

/// A number without a suffix, so that its type is inferred.
#[derive(Clone, Copy)]
pub(super) struct Number(usize);

impl ToTokens for Number {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        tokens.append(Literal::usize_unsuffixed(self.0));
    }
}

pub(super) fn number(number: usize) -> Number {
    Number(number)
}

pub(super) fn int(number: u32) -> Number {
    Number(number as usize)
}

/// A `NodeIdx` constant.
fn node_idx(node: NodeIdx) -> TokenStream {
    let index = int(node.as_u32());
    quote!(__petalflow::NodeIdx::new(#index))
}

/// `0, 1, 2,`.
pub(super) fn ints(numbers: &[u32]) -> TokenStream {
    list(numbers, &|number| int(*number).into_token_stream())
}

/// The same of `NodeIdx` constants.
pub(super) fn node_indices(nodes: &[NodeIdx]) -> TokenStream {
    list(nodes, &|node| node_idx(*node))
}

/// The name of a generated item: prefix and index.
pub(super) fn numbered(prefix: &'static str, index: usize) -> Name {
    Name::numbered(prefix, index, Span::call_site())
}

/// A constant that checks something. All tokens have the span of the user's token, so that rustc underlines only that.
pub(super) fn check_at(at: &TokenStream, call: TokenStream) -> TokenStream {
    let span = at.span();
    let call = respan(call, span);
    quote_spanned!(span=> const _: () = #call;)
}

/// The tokens, all with this span.
pub(super) fn respan(tokens: TokenStream, span: Span) -> TokenStream {
    with_spans(tokens, &|_| span)
}

/// The alias of the path or type of a node.
pub(super) fn written(index: usize, span: Span) -> Name {
    Name::numbered("__Written", index, span)
}
