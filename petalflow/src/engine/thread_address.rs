//! The address of a thread in an engine.

use std::fmt;

/// How a thread of an engine is reached.
///
/// ```
/// use petalflow::engine::ThreadAddress;
///
/// let address = ThreadAddress::parse("orders/order-7").expect("it has an engine");
/// assert_eq!((&*address.engine, &*address.thread), ("orders", "order-7"));
/// assert_eq!(address.to_string(), "orders/order-7");
/// assert_eq!(ThreadAddress::parse("order-7"), None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ThreadAddress {
    /// The [name](super::EngineThreads::name) of the threads of its flow.
    pub engine: String,
    /// Its id.
    pub thread: String,
}

impl ThreadAddress {
    /// The address that is displayed so. `None` if it is none.
    pub fn parse(text: &str) -> Option<Self> {
        let (engine, thread) = text.split_once('/')?;
        Some(ThreadAddress {
            engine: engine.into(),
            thread: thread.into(),
        })
    }
}

impl fmt::Display for ThreadAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.engine, self.thread)
    }
}
