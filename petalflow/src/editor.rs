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

/// The options of `#[node(..)]`, without the state.
#[derive(Debug)]
pub struct NodeOptions {
    /// The name in graphs, if it is not that of the function: `"write"`.
    pub name: (),
    /// The number of attempts: `3`, or a `Retry`.
    pub retry: (),
    /// The maximum duration of one attempt: `30s`.
    pub timeout: (),
    /// The maximum time without progress: `30s`.
    pub idle: (),
    /// How long a result is used again for equal inputs: `1h`.
    pub cache: (),
    /// For a plain `fn` that blocks: it runs on a separate thread.
    pub blocking: (),
    /// The node runs as a separate task of the runtime.
    pub spawn: (),
}

/// The options of `#[key(..)]`.
#[derive(Debug)]
pub struct KeyOptions {
    /// The key is part of the input.
    pub input: (),
    /// The default: a write replaces the value, at most one in a superstep.
    pub replace: (),
    /// A write is added at the end.
    pub append: (),
    /// A write is added at the beginning.
    pub prepend: (),
    /// A write is added to the number.
    pub sum: (),
    /// The smallest value remains.
    pub min: (),
    /// The largest value remains.
    pub max: (),
    /// The entries of a write are added.
    pub merge: (),
    /// The first write remains.
    pub first: (),
    /// Messages are added, and replace those with the same id.
    pub messages: (),
    /// A function of your own: `fn(&mut T, T)`.
    pub reduce: (),
    /// A write of the default of the type is ignored.
    pub skip_zero: (),
    /// The value before the first write; nodes may read it.
    pub default: (),
    /// A new turn of a thread resets the key to its default.
    pub turn: (),
    /// Every path to END must write the key.
    pub output: (),
    /// The key is never stored.
    pub untracked: (),
    /// The key has its value for one superstep only.
    pub ephemeral: (),
    /// A turn after one that did not end begins with what its finished tasks wrote.
    pub recover: (),
    /// A server does not show the value to clients.
    pub secret: (),
    /// The key takes messages, which another program sends while the thread runs.
    pub inbox: (),
    /// The name of the key in storage: `"draft"`.
    pub id: (),
    /// The name of the generated type.
    pub name: (),
}
