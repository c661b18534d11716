//! Expansions, formatted as by `cargo expand`. `UPDATE_EXPECT=1 cargo test -p petalflow-macros` updates them.

use expect_test::{ExpectFile, expect_file};
use proc_macro2::TokenStream;
use quote::quote;

fn check(expansion: TokenStream, expected: &ExpectFile) {
    let file = super::derived(expansion);
    expected.assert_eq(&prettyplease::unparse(&file));
}

#[test]
fn a_flow() {
    let flow = quote! {
        [petalflow]
        /// Writes until the critic accepts the draft.
        pub WriteEssay(Essay) {
            START -> write -> critique -> match { Revise => write, Publish => END };
            defer critique;
        }
    };
    check(
        crate::flow::expand(flow),
        &expect_file!["snapshots/flow.rs"],
    );
}

#[test]
fn a_state() {
    let state = quote! {
        pub struct Essay {
            #[key(input)]
            pub topic: String,
        }
    };
    let expansion = crate::state::expand(quote!(), state);
    check(expansion, &expect_file!["snapshots/state.rs"]);
}

#[test]
fn a_node() {
    let node = quote! {
        async fn write(topic: &str) -> EssayDraft {
            EssayDraft(format!("about {topic}"))
        }
    };
    let expansion = crate::node::expand(quote!(Essay), node);
    check(expansion, &expect_file!["snapshots/node.rs"]);
}
