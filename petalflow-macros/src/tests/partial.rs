use proc_macro2::TokenStream;
use quote::quote;

use super::{errors, types};

fn partial(item: TokenStream) -> TokenStream {
    crate::partial::expand(item)
}

#[test]
fn f44_4_a_struct_has_a_partial_form_and_other_types_are_their_own() {
    let form = partial(quote!(
        struct Recipe {
            title: String,
        }
    ));
    assert_eq!(types(form), ["RecipePartial"]);
    for item in [
        quote!(
            enum Risk {
                Low,
                Of(u8),
            }
        ),
        quote!(
            struct Id(u64);
        ),
        quote!(
            #[serde(try_from = "String")]
            struct Name {
                text: String,
            }
        ),
        quote!(
            enum Either<A, B> {
                Left(A),
                Right(B),
            }
        ),
    ] {
        let form = partial(item.clone());
        assert!(errors(form.clone()).is_empty(), "{item}");
        assert_eq!(types(form), Vec::<String>::new(), "{item}");
    }
}

#[test]
fn f44_4_what_has_no_partial_form_is_an_error_that_says_what_to_write() {
    for (item, words) in [
        (
            quote!(union Either { a: u8 }),
            "a union has no partial form",
        ),
        (
            quote!(
                struct Page<T> {
                    items: Vec<T>,
                }
            ),
            "write the struct with the types",
        ),
        (
            quote!(
                struct Day {
                    #[serde(with = "days")]
                    day: u32,
                }
            ),
            "write `#[partial(skip)]` at the field",
        ),
        (
            quote!(
                #[partial(clone)]
                struct Day {
                    day: u32,
                }
            ),
            "a type has `derive(..)` and `crate = path`",
        ),
        (
            quote!(
                struct Day {
                    #[partial(all)]
                    day: u32,
                }
            ),
            "a field has `whole` and `skip`",
        ),
    ] {
        let messages = errors(partial(item.clone()));
        assert!(
            matches!(&messages[..], [message] if message.contains(words)),
            "{item}: {messages:?}"
        );
    }
}
