use proc_macro2::TokenStream;
use quote::quote;

use super::{errors, text, types};

fn node(args: TokenStream, item: TokenStream) -> TokenStream {
    crate::node::expand(args, item)
}

/// The one error of a function over `Essay`.
fn error(item: TokenStream) -> String {
    let messages = errors(node(quote!(Essay), item));
    assert_eq!(messages.len(), 1, "{messages:?}");
    messages[0].clone()
}

#[test]
fn the_function_is_unchanged_and_a_struct_is_added() {
    let function = quote!(
        /// Writes.
        pub(crate) async fn write(topic: &str) -> EssayDraft {
            EssayDraft(topic.into())
        }
    );
    let expansion = node(quote!(Essay), function.clone());
    assert!(text(expansion.clone()).starts_with(&text(function)));
    assert_eq!(types(expansion.clone()), ["write"]);
    assert!(errors(expansion).is_empty());
}

#[test]
fn attributes_of_parameters_are_removed() {
    let expansion = text(node(
        quote!(Essay),
        quote!(
            fn write(
                #[item] topic: &str,
                #[key(EssayNotes)]
                #[allow(unused)]
                old: &[String],
            ) {
            }
        ),
    ));
    assert!(
        expansion.starts_with("fn write (topic : & str , # [allow (unused)] old : & [String]"),
        "{expansion}"
    );
}

#[test]
fn an_incomplete_body_is_accepted() {
    let expansion = node(
        quote!(Essay),
        quote!(async fn write(topic: &str) -> EssayDraft { topic. }),
    );
    assert!(text(expansion).contains("struct write { }"));
}

#[test]
fn a_rejected_form_shows_the_accepted_form() {
    for (item, words) in [
        (
            quote!(
                fn write<T>(topic: &str) {}
            ),
            "impl<K: Key>",
        ),
        (
            quote!(
                fn write<'a>(topic: &'a str) {}
            ),
            "write `&str`",
        ),
        (
            quote!(
                fn write(topic: &mut String) {}
            ),
            "`EssayDraft(..)`",
        ),
        (
            quote!(
                fn write((a, b): &(u8, u8)) {}
            ),
            "plain name",
        ),
        (
            quote!(
                fn write(topic: impl ToString) {}
            ),
            "name a type",
        ),
        (
            quote!(
                fn write() -> impl Sized {}
            ),
            "name the keys",
        ),
        (
            quote!(
                fn write() -> &str {}
            ),
            "`String` for `&str`",
        ),
        (
            quote!(
                unsafe fn write() {}
            ),
            "plain function",
        ),
        (
            quote!(
                const fn write() {}
            ),
            "plain function",
        ),
        (
            quote!(
                extern "C" fn write() {}
            ),
            "plain function",
        ),
        (
            quote!(
                fn write(#[item] a: &str, #[item] b: &str) {}
            ),
            "one struct",
        ),
        (
            quote!(
                fn write(#[item] a: String) {}
            ),
            "`#[item] topic: &str`",
        ),
        (
            quote!(
                fn write(#[key(EssayDraft)] a: String) {}
            ),
            "`#[key(EssayNotes)] old: &[String]`",
        ),
        (
            quote!(
                struct Write;
            ),
            "`#[node(Essay)] async fn",
        ),
        (quote!(impl Write {}), "`async fn run(&self, ..) -> ..`"),
        (quote!(impl Write { fn run(self) {} }), "`&self`"),
        (
            quote!(impl Write { fn run(&self) {} fn other(&self) {} }),
            "another `impl` block",
        ),
        (
            quote!(impl Clone for Write { fn clone(&self) -> Self {} }),
            "`#[node(Essay)] impl Shout",
        ),
    ] {
        let message = error(item.clone());
        assert!(message.contains(words), "{item}: {message}");
    }
}

#[test]
fn a_node_with_an_error_is_a_node() {
    let expansion = node(
        quote!(Essay),
        quote!(
            async fn write<T>(topic: &mut String) -> impl Sized {}
        ),
    );
    assert_eq!(errors(expansion.clone()).len(), 3);
    assert_eq!(types(expansion.clone()), ["write"]);
    assert!(text(expansion).contains("const FUNCTION"));
}

#[test]
fn a_method_and_a_function_with_the_name_of_its_state_are_not_expanded() {
    let method = quote!(
        fn write(&self) {}
    );
    assert!(text(node(quote!(Essay), method.clone())).starts_with(&text(method)));
    assert!(
        types(node(
            quote!(essay),
            quote!(
                fn essay() {}
            )
        ))
        .is_empty()
    );
}

#[test]
fn the_state_is_required_and_options_are_checked() {
    let of = |args: TokenStream| {
        errors(node(
            args,
            quote!(
                fn write() {}
            ),
        ))
    };
    assert_eq!(
        of(quote!()),
        ["`#[node]` needs the state as its first argument: `#[node(Essay)]`"]
    );
    assert_eq!(of(quote!(blocking)).len(), 1);
    assert_eq!(
        of(quote!(Essay, retrys = 3)),
        ["PF024: there is no option `retrys`; did you mean `retry`?"]
    );
    assert_eq!(
        of(quote!(Essay, retry = 3, retry = 4)),
        ["PF024: option `retry` is given twice; remove one of them"]
    );
    assert_eq!(of(quote!(Essay, timeout = 30, retry = 0)).len(), 2);
    assert!(of(quote!(Essay, retry = [3, Retry::attempts(2)])).is_empty());
    for wrong in [quote!([3, 0]), quote!([]), quote!(["3"])] {
        let messages = of(quote!(Essay, retry = #wrong));
        assert!(
            matches!(&messages[..], [one] if one.starts_with("PF024: ")),
            "{messages:?}"
        );
    }
    assert!(
        of(quote!(
            crate::Essay,
            retry = Retry::attempts(3),
            timeout = 30s,
            idle = "1m",
            name = "w",
            spawn
        ))
        .is_empty()
    );
}

#[test]
fn another_path_of_the_runtime_is_used_everywhere() {
    let expansion = text(node(
        quote!(Essay, crate = pf),
        quote!(
            async fn write(cx: Context, a: Option<&str>) -> (A, B) {}
        ),
    ));
    assert!(!expansion.contains(":: petalflow"), "{expansion}");
}

#[test]
fn other_attributes_on_a_node_are_one_error_each_and_are_removed() {
    for (other, words) in [
        (quote!(#[node(Essay)]), "remove this `#[node]`"),
        (quote!(#[petalflow::node(Other)]), "remove this `#[node]`"),
        (quote!(#[petalflow::prelude::node(Other)]), "remove this"),
        #[cfg(feature = "tool")]
        (quote!(#[tool(confirm)]), "remove `#[tool]`"),
    ] {
        let expansion = node(
            quote!(Essay),
            quote!(
                #other
                async fn write(topic: String, #[item] a: u8) {}
            ),
        );
        let messages = errors(expansion.clone());
        assert!(
            matches!(&messages[..], [one] if one.contains(words)),
            "{other}: {messages:?}"
        );
        assert_eq!(types(expansion.clone()), ["write"]);
        assert!(text(expansion).starts_with("async fn write (topic : String , a : u8)"));
    }
    let foreign = quote!(
        #[other::node]
        async fn write() {}
    );
    assert!(errors(node(quote!(Essay), foreign)).is_empty());
    let block = quote!(
        #[node(Essay)]
        impl Write {
            fn run(&self) {}
        }
    );
    assert_eq!(errors(node(quote!(Essay), block)).len(), 1);
}

#[test]
fn a_macro_path_that_begins_with_the_name_of_the_node_is_reported() {
    for body in [
        quote!({ log::info!("petals") }),
        quote!({
            if true {
                f(log::inner::info!("petals"))
            }
        }),
    ] {
        let message = error(quote!(fn log() #body));
        assert!(
            message.ends_with("write `::log`, or rename the function"),
            "{message}"
        );
    }
    for body in [
        quote!({ ::log::info!("petals") }),
        quote!({ other::log::info!("petals") }),
        quote!({
            use ::log;
            log::info!("petals")
        }),
        quote!({ log::LEVEL != (3) }),
        quote!({ log {} }),
    ] {
        assert_eq!(
            errors(node(quote!(Essay), quote!(fn log() #body))),
            Vec::<String>::new()
        );
    }
}
