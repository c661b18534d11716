//! The builder of a flow with node values: the methods of a launch, and the traits for its errors.

use crate::checkpoint::Store;
use crate::flow::Flow;
use crate::launch::Launch;
use crate::state::Storable;
use crate::thread::Threads;

/// Defines the methods of [`Launch`](crate::Launch) for a builder whose first field is a launch.
#[doc(hidden)]
#[macro_export]
macro_rules! __forward_launch {
    // The parameters have names that no static or constant of the user has.
    ([$supersteps:ident, $nodes:ident, $timeout:ident, $token:ident, $value:ident, $provider:ident, $cache:ident, $middleware:ident] $flow:ty, $state:ty) => {
        /// The most supersteps a run may make; see [`Launch::limit`]($crate::Launch::limit).
        pub fn limit(self, $supersteps: ::core::primitive::u64) -> Self {
            Self(self.0.limit($supersteps))
        }

        /// The most nodes in flight at once; see [`Launch::max_concurrency`]($crate::Launch::max_concurrency).
        ///
        /// # Panics
        ///
        /// If it is 0.
        pub fn max_concurrency(self, $nodes: ::core::primitive::usize) -> Self {
            Self(self.0.max_concurrency($nodes))
        }

        /// The longest a run may take.
        pub fn timeout(self, $timeout: ::core::time::Duration) -> Self {
            Self(self.0.timeout($timeout))
        }

        /// The longest any one superstep may take.
        pub fn superstep_timeout(self, $timeout: ::core::time::Duration) -> Self {
            Self(self.0.superstep_timeout($timeout))
        }

        /// Lets the token stop the runs.
        pub fn cancel_with(
            self,
            $token: impl ::core::convert::Into<$crate::run::RunToken>,
        ) -> Self {
            Self(self.0.cancel_with($token))
        }

        /// Lends a value to the nodes; see [`Launch::manage`]($crate::Launch::manage).
        pub fn manage<T: $crate::state::ThreadSafe>(self, $value: T) -> Self {
            Self(self.0.manage($value))
        }

        /// Lends a value that is shared already, or made by a provider; see [`Launch::manage_with`]($crate::Launch::manage_with).
        pub fn manage_with<T: $crate::state::ThreadSafe>(
            self,
            $provider: impl ::core::convert::Into<$crate::node::ManagedProvider<T>>,
        ) -> Self {
            Self(self.0.manage_with($provider))
        }

        /// Keeps results of nodes; see [`Launch::cache`]($crate::Launch::cache).
        pub fn cache(self, $cache: &(impl $crate::cache::Cache + ::core::clone::Clone)) -> Self {
            Self(self.0.cache($cache))
        }

        /// Puts code around every node; see [`Launch::middleware`]($crate::Launch::middleware).
        pub fn middleware(self, $middleware: impl $crate::Middleware<$state>) -> Self {
            Self(self.0.middleware($middleware))
        }

        /// Puts code around the whole run; see [`Launch::run_middleware`]($crate::Launch::run_middleware).
        pub fn run_middleware(
            self,
            $middleware: impl $crate::__private::flow::RunMiddleware<$state>,
        ) -> Self {
            Self(self.0.run_middleware($middleware))
        }

        /// Keeps the run going when a node fails; see [`Launch::continue_on_error`]($crate::Launch::continue_on_error).
        pub fn continue_on_error<
            FailureKey: $crate::node::Key<State = $state, Value: $crate::error::FailureLog>,
        >(
            self,
        ) -> Self {
            Self(self.0.continue_on_error::<FailureKey>())
        }
    };
    // For documentation.
    ($flow:ty, $state:ty) => {
        $crate::__private::flow::forward_launch! {
            [supersteps, nodes, timeout, token, value, provider, cache, middleware] $flow, $state
        }
    };
}

pub use crate::__forward_launch as forward_launch;

/// A store can contain the threads of the flow. The store is a parameter, because rustc reports a bound without parameters
/// that does not hold, as for a state that cannot be stored. `Flow` is not a supertrait for the same reason.
pub trait KeptBy<S>: Sized {
    fn threads(launch: Launch<Self>, store: &S) -> Threads<Self>
    where
        Self: Flow;
}

impl<S: Store + Clone, F: Flow<State: Storable>> KeptBy<S> for F {
    fn threads(launch: Launch<F>, store: &S) -> Threads<F> {
        launch.store(store)
    }
}

/// The flow can run without node values. No flow implements it: a flow that can has a `run` without this bound.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot run by itself: it has a node value without a default",
    label = "needs more than the input",
    note = "give the value to the builder, by its name: `{Self}::new().value(..).run(..)`"
)]
pub trait RunsAtOnce<Input> {}
