use proc_macro2::TokenStream;
use quote::quote;

use super::{errors, text, types};

fn tool(args: TokenStream, item: TokenStream) -> TokenStream {
    crate::tool::expand(args, item)
}

/// The one error of a function.
fn error(args: TokenStream, item: TokenStream) -> String {
    let messages = errors(tool(args, item));
    assert_eq!(messages.len(), 1, "{messages:?}");
    messages[0].clone()
}

#[test]
fn the_function_is_unchanged_without_the_attributes_of_parameters() {
    let expansion = tool(
        quote!(),
        quote!(
            /// Searches.
            pub(crate) async fn search(
                /// Words.
                #[serde(default)]
                #[schemars(length(max = 9))]
                query: String,
                #[run]
                #[allow(unused)]
                clock: Clock,
            ) -> Vec<Book> {
                find(query)
            }
        ),
    );
    let function = quote!(
        /// Searches.
        pub(crate) async fn search(query: String, #[allow(unused)] clock: Clock) -> Vec<Book> {
            find(query)
        }
    );
    let function = text(function);
    let begin: String = text(expansion.clone())
        .replace(" ,)", ")")
        .chars()
        .take(function.chars().count())
        .collect();
    assert_eq!(begin, function);
    assert_eq!(types(expansion.clone()), ["search"]);
    assert!(errors(expansion).is_empty());
}

#[test]
fn an_incomplete_body_is_accepted() {
    let expansion = tool(
        quote!(),
        quote!(async fn search(query: String) -> String { query. }),
    );
    assert!(text(expansion).contains("struct search { }"));
}

#[test]
fn a_tool_with_an_error_has_its_type() {
    let expansion = tool(
        quote!(confrim),
        quote!(
            fn search(query: &str) {}
        ),
    );
    let text = text(expansion.clone());
    assert!(text.contains("struct search { }") && text.contains("FnTool for search"));
    assert_eq!(errors(expansion).len(), 2);
}

#[test]
fn a_rejected_reference_shows_its_owned_type() {
    for (written, owned) in [
        (quote!(&str), "String"),
        (quote!(&'static str), "String"),
        (quote!(&[u8]), "Vec<u8>"),
        (quote!(&std::path::Path), "PathBuf"),
        (quote!(&Filter), "Filter"),
        (quote!(&mut Filter), "Filter"),
        (quote!(Option<&str>), "Option<String>"),
        (
            quote!(HashMap<&str, Vec<&[u8]>>),
            "HashMap<String, Vec<Vec<u8>>>",
        ),
        (quote!((u8, &str)), "(u8, String)"),
        (quote!([&str; 2]), "[String; 2]"),
    ] {
        let message = error(quote!(), quote!(fn search(query: #written) {}));
        let end = format!("write `query: {owned}`");
        assert!(message.ends_with(&end), "{message} / {end}");
    }
}

#[test]
fn providers_accept_the_names() {
    for name in ["a", "_a", "search-books", "Search_2"] {
        assert!(
            errors(tool(
                quote!(name = #name),
                quote!(
                    fn f() {}
                )
            ))
            .is_empty(),
            "{name}"
        );
    }
    let long = "a".repeat(65);
    for name in ["search books", "2nd", "-a", "größe", "a.b", long.as_str()] {
        let message = error(
            quote!(name = #name),
            quote!(
                fn f() {}
            ),
        );
        assert!(message.contains("choose another name"), "{message}");
    }
    let message = error(
        quote!(),
        quote!(
            fn größe() {}
        ),
    );
    assert!(message.contains("#[tool(name = "), "{message}");
    assert!(
        errors(tool(
            quote!(),
            quote!(
                fn r#type() {}
            )
        ))
        .is_empty()
    );
}

#[test]
fn only_plain_functions_are_accepted() {
    let cases = [
        (
            quote!(
                fn f(&self) {}
            ),
            "a method cannot be a tool",
        ),
        (
            quote!(
                fn f<T>(t: T) {}
            ),
            "a tool cannot be generic",
        ),
        (
            quote!(
                fn f<'a>(t: u8) {}
            ),
            "a tool needs no lifetimes",
        ),
        (
            quote!(
                const fn f() {}
            ),
            "a tool is a plain function",
        ),
        (
            quote!(
                unsafe fn f() {}
            ),
            "a tool is a plain function",
        ),
        (
            quote!(
                extern "C" fn f() {}
            ),
            "a tool is a plain function",
        ),
        (
            quote!(
                fn f((a, b): (u8, u8)) {}
            ),
            "needs a plain name",
        ),
        (
            quote!(
                fn f(a: impl Into<u8>) {}
            ),
            "cannot take `impl Trait`",
        ),
        (
            quote!(
                struct Tool;
            ),
            "a tool is a function",
        ),
        (quote!(impl Tool { fn f() {} }), "a tool is a function"),
    ];
    for (item, begin) in cases {
        let message = error(quote!(), item);
        assert!(message.contains(begin), "{message} / {begin}");
    }
}

#[test]
fn options_are_known_and_have_valid_values() {
    for args in [
        quote!(confirm = 3),
        quote!(timeout = 30),
        quote!(retry = 0),
        quote!(long_running = true),
        quote!(description = 3),
        quote!(idle = 3s),
        quote!(retry = 1, retry = 2),
    ] {
        let message = error(
            args,
            quote!(
                fn f() {}
            ),
        );
        assert!(message.starts_with("PF024: "), "{message}");
    }
}

#[test]
fn a_set_rejects_expressions_and_continues() {
    let expansion = crate::tool::set::expand(quote!([::petalflow] search, search {}, "x", fetch));
    let text = text(expansion);
    assert_eq!(text.matches("compile_error").count(), 2, "{text}");
    assert!(text.contains("< fetch as"), "{text}");
}
