//! The macro that makes a test of each case.

/// Tests a [`Driver`](crate::Driver) against its contract: makes a module with a test for each case.
///
/// The first argument names the module. The second is called once per test and returns the driver: an async closure or the path of
/// an async function that returns `Result<Option<impl Driver>, BoxError>`. Where what a driver needs is not there, it returns `None`:
/// the tests pass and say so.
///
/// ```
/// use petalflow_testing::SteppedDriver;
///
/// petalflow_testing::driver_contract! { stepped, async || Ok(Some(SteppedDriver::new())) }
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! driver_contract {
    ($name:ident, $setup:expr $(,)?) => {
        mod $name {
            #[allow(unused_imports, clippy::wildcard_imports)]
            use super::*;

            $crate::driver_contract! { @cases ($setup)
                chain fork each each_with_failures loops routes retry catch failure_and_resume
                question questions_of_two_tasks approval rejection skip subflow kept_subflow
                question_in_subflow once turns limit managed messages changed_program
                unusable_result
            }
        }
    };
    (@cases ($setup:expr) $($case:ident)*) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() -> ::core::result::Result<(), $crate::__private::BoxError> {
                async fn run<D: $crate::Driver>(
                    driver: ::core::result::Result<
                        ::core::option::Option<D>,
                        $crate::__private::BoxError,
                    >,
                ) -> ::core::result::Result<(), $crate::__private::BoxError> {
                    match driver? {
                        ::core::option::Option::Some(driver) => $crate::cases::$case(&driver).await,
                        ::core::option::Option::None => {
                            ::std::eprintln!("skipped: the driver is not there");
                            ::core::result::Result::Ok(())
                        }
                    }
                }
                run(($setup)().await).await
            }
        )*
    };
}
