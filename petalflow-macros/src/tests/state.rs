use proc_macro2::TokenStream;
use quote::quote;

use super::{errors, text, types};

fn state(item: TokenStream) -> TokenStream {
    crate::state::expand(TokenStream::new(), item)
}

#[test]
fn each_key_has_a_newtype_named_state_and_key() {
    let expansion = state(quote!(
        pub struct Essay {
            #[key(input)]
            topic: String,
            r#type: u32,
            word_count: u32,
            #[key(name = Words)]
            _private__words: u32,
        }
    ));
    assert_eq!(
        types(expansion),
        [
            "Essay",
            "EssayInput",
            "EssayTopic",
            "EssayType",
            "EssayWordCount",
            "Words",
            "EssayUpdate"
        ]
    );
}

#[test]
fn only_attributes_of_the_macro_are_removed() {
    let expansion = text(state(quote!(
        #[derive(Debug)]
        struct Essay {
            /// What to write about.
            #[key(input)]
            #[allow(unused)]
            topic: String,
        }
    )));
    assert!(!expansion.contains("# [key"));
    assert!(
        expansion.contains("derive (Debug)")
            && expansion.contains("allow (unused)")
            && expansion.contains("What to write about.")
    );
}

#[test]
fn one_mistake_is_one_error_and_the_types_exist() {
    let expansion = state(quote!(
        struct Essay {
            #[key(inptu)]
            topic: String,
            draft: String,
        }
    ));
    assert_eq!(
        errors(expansion.clone()),
        ["PF024: there is no option `inptu`; did you mean `input`?"]
    );
    assert_eq!(
        types(expansion),
        [
            "Essay",
            "EssayInput",
            "EssayTopic",
            "EssayDraft",
            "EssayUpdate"
        ]
    );
}

#[test]
fn all_mistakes_are_reported_at_once() {
    let expansion = state(quote!(
        struct Essay {
            #[key(append, sum)]
            notes: Vec<String>,
            #[key(input, input)]
            topic: String,
            #[key(ephemeral, turn)]
            hint: String,
            #[key(id)]
            draft: String,
            input: String,
        }
    ));
    let messages = errors(expansion);
    assert_eq!(messages.len(), 5, "{messages:#?}");
}

#[test]
fn another_item_is_reported_and_unchanged() {
    for (item, word) in [
        (
            quote!(
                enum Essay {
                    A,
                }
            ),
            "an enum",
        ),
        (quote!(union Essay { a: u8 }), "a union"),
        (
            quote!(
                struct Essay(String);
            ),
            "need names",
        ),
        (
            quote!(
                struct Essay;
            ),
            "braces",
        ),
        (
            quote!(
                struct Essay<'a> {
                    draft: &'a str,
                }
            ),
            "generic",
        ),
    ] {
        let messages = errors(state(item.clone()));
        assert!(
            matches!(&messages[..], [message] if message.contains(word)),
            "{item}: {messages:?}"
        );
        assert!(text(state(item.clone())).starts_with(&text(item)));
    }
}

#[test]
fn rustc_reports_a_repeated_field() {
    let expansion = state(quote!(
        struct Essay {
            draft: String,
            draft: u32,
        }
    ));
    assert!(errors(expansion.clone()).is_empty());
    assert_eq!(
        types(expansion),
        ["Essay", "EssayInput", "EssayDraft", "EssayUpdate"]
    );
}

#[test]
fn a_derive_expands_fields_with_cfg() {
    let expansion = text(state(quote!(
        struct Essay {
            #[cfg(unix)]
            draft: String,
        }
    )));
    assert!(
        expansion.contains("StateAfterCfg") && !expansion.contains("EssayDraft"),
        "{expansion}"
    );
}
