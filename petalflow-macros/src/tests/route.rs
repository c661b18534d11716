use proc_macro2::TokenStream;
use quote::quote;

use super::{errors, text};
use crate::paths::route_hash;

fn route(item: TokenStream) -> TokenStream {
    crate::route::expand(item)
}

#[test]
fn a_payload_has_the_hash_of_its_variant() {
    // FNV-1a: `flow!` and code compiled long ago must agree.
    assert_eq!(route_hash(""), 0xcbf2_9ce4_8422_2325);
    assert_eq!(route_hash("a"), 0xaf63_dc4c_8601_ec8c);
    let expansion = text(route(quote!(
        enum Plan {
            Write,
            Dig(Topic),
            r#Box(u8),
        }
    )));
    for name in ["Dig", "Box"] {
        assert!(
            expansion.contains(&format!("{}u64", route_hash(name))),
            "{expansion}"
        );
    }
    assert!(expansion.contains("\"Write\" , \"Dig\" , \"Box\""));
}

#[test]
fn a_rejected_form_shows_the_accepted_form() {
    for (item, words) in [
        (
            quote!(
                struct Plan;
            ),
            "`enum Verdict { Revise, Publish }`",
        ),
        (
            quote!(union Plan { a: u8 }),
            "`enum Verdict { Revise, Publish }`",
        ),
        (
            quote!(
                enum Plan {}
            ),
            "`Dig(Topic)`",
        ),
        (
            quote!(
                enum Plan {
                    Dig { topic: Topic },
                }
            ),
            "`Dig(Type)`",
        ),
        (
            quote!(
                enum Plan {
                    Dig(Topic, u8),
                }
            ),
            "a struct or a tuple",
        ),
        (
            quote!(
                enum Plan {
                    Dig(),
                }
            ),
            "`Dig`",
        ),
        (
            quote!(
                enum Plan<T> {
                    Dig(T),
                }
            ),
            "name the types",
        ),
        (
            quote!(
                enum Plan<'a> {
                    Dig(&'a str),
                }
            ),
            "name the types",
        ),
        (
            quote!(
                #[route(krate = pf)]
                enum Plan {
                    A,
                }
            ),
            "`crate`",
        ),
    ] {
        let messages = errors(route(item.clone()));
        assert!(
            matches!(&messages[..], [message] if message.contains(words)),
            "{item}: {messages:?}"
        );
    }
}
