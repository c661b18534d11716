//! The macro that generates the contract tests of a memory backend.

/// Tests a [`MemoryBackend`](crate::MemoryBackend) against its contract: generates a module with one test per case.
///
/// The first argument is the name of the module. The second is called once per test and returns a fresh, empty
/// backend: an async closure, or the path of an async function that returns `Result<MemoryUnderTest, BoxError>`. Each
/// test has its own runtime. A complete test file:
///
/// ```
/// use petalflow_memory::InMemory;
/// use petalflow_memory::testing::MemoryUnderTest;
///
/// petalflow_memory::testing::memory_contract! {
///     in_memory, async || {
///         let memory = InMemory::new();
///         Ok(MemoryUnderTest::new(memory.clone()).with_other(memory))
///     }
/// }
/// # fn main() {}
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! __memory_contract {
    ($name:ident, $setup:expr $(,)?) => {
        mod $name {
            #[allow(unused_imports, clippy::wildcard_imports)]
            use super::*;

            async fn __setup() -> ::core::result::Result<
                $crate::testing::MemoryUnderTest,
                $crate::testing::BoxError,
            > {
                ($setup)().await
            }

            $crate::__memory_contract! { @cases
                g086_a_value_comes_back_as_it_was_put,
                a_missing_entry_is_none,
                a_value_takes_the_place_of_the_one_before,
                g086_deleting_takes_one_entry,
                names_and_keys_are_any_text,
                long_keys_and_values,
                deep_values_come_back_or_are_refused,
                entries_are_listed_in_order,
                a_prefix_is_whole_names,
                pages_go_on_where_the_last_ended,
                a_page_may_begin_anywhere,
                filters_come_before_limits,
                times_are_kept,
                an_expired_entry_is_missing,
                an_entry_lives_as_long_as_it_was_last_told,
                handles_see_each_others_entries,
                many_write_at_once,
                a_dropped_put_is_whole_or_nothing,
            }
        }
    };
    (@cases $($case:ident,)*) => {
        $(
            #[test]
            fn $case() {
                $crate::testing::run(
                    __setup,
                    $crate::testing::cases::$case,
                );
            }
        )*
    };
}

#[cfg(test)]
mod tests {
    /// Fails if a case is missing in the list: it would never run.
    #[test]
    fn every_case_is_in_the_list() {
        let listed = include_str!("memory_contract.rs");
        for case in include_str!("cases.rs").split("pub async fn ").skip(1) {
            let name = case.split('(').next().unwrap_or_default();
            assert!(
                listed.contains(&format!(" {name},")),
                "case `{name}` is missing in `memory_contract!`"
            );
        }
    }
}
