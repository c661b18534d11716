//! Items that the macros generate for rust-analyzer only.

/// A node, and the type of its routes.
pub trait Chooses<S> {
    /// The enum.
    type Route;
}

/// A route, and a struct with a field for each variant.
pub trait Arms {
    /// The struct.
    type Arms;
}

/// The struct for the routes of a node.
pub type ArmsOf<N, S> = <<N as Chooses<S>>::Route as Arms>::Arms;

/// A value that is never made.
pub fn any<T>() -> T {
    unreachable!()
}

/// The options of `with`.
#[derive(Debug)]
pub struct NodeSettings {
    /// The number of attempts: `3`, or a `Retry`.
    pub retry: (),
    /// The maximum duration of one attempt: `30s`.
    pub timeout: (),
    /// The maximum time without progress: `30s`.
    pub idle: (),
    /// How long a result is used again for equal inputs: `1h`.
    pub cache: (),
    /// The pool of processes that run it, if an engine places nodes: `"crawlers"`.
    pub remote: (),
    /// The name in stored checkpoints: `"write"`.
    pub id: (),
}

/// The options of a sub-flow.
#[derive(Debug)]
pub struct SubflowSettings {
    /// Makes the input of the sub-flow: `|draft: &str| ReviewInput { .. }`.
    pub r#in: (),
    /// Makes the values to write: `|r: Review| EssayNotes(r.notes)`.
    pub out: (),
    /// `thread`: the state of the sub-flow is kept between its runs.
    pub keep: (),
}
