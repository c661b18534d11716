//! The id of one run of one node within a thread.

use std::fmt;

/// The id of one run of one node within a thread. It is the same for all attempts and, with a store, after a crash or a
/// resume, so it can be used as an idempotency key.
///
/// ```
/// # use petalflow::prelude::*;
/// # #[state]
/// # struct Shop { receipt: String }
/// /// A service that charges once per key, however often it is asked.
/// async fn charge(idempotency_key: String) -> petalflow::Result<String> {
///     Ok(format!("receipt for {idempotency_key}"))
/// }
///
/// #[node(Shop, retry = 3)]
/// async fn pay(cx: Context) -> petalflow::Result<ShopReceipt> {
///     Ok(ShopReceipt(charge(cx.task_id().to_string()).await?))
/// }
///
/// flow!(Buy(Shop) { pay });
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// assert!(Buy::run(()).await?.receipt.starts_with("receipt for "));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TaskId([u8; 16]);

impl TaskId {
    /// The id as bytes, for a store.
    ///
    /// ```
    /// use petalflow::event::TaskId;
    ///
    /// let id = TaskId::from_bytes([7; 16]);
    /// assert_eq!(id.to_bytes(), [7; 16]);
    /// assert_eq!(id.to_string(), "07".repeat(16));
    /// ```
    pub const fn to_bytes(self) -> [u8; 16] {
        self.0
    }

    /// The id with these bytes. Ids sort like their bytes.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        TaskId(bytes)
    }

    /// The id with this text form.
    #[doc(hidden)]
    pub fn parse(text: &str) -> Option<Self> {
        let is_hex = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let id = u128::from_str_radix(text, 16).ok().filter(|_| is_hex)?;
        Some(TaskId(id.to_be_bytes()))
    }

    /// The id of a task: a hash of everything that distinguishes it from other tasks.
    #[doc(hidden)]
    pub fn of(parts: &[&[u8]]) -> Self {
        // Parts have a length prefix, so that ("ab", "c") and ("a", "bc") differ.
        let mut bytes = Vec::with_capacity(128);
        for part in parts {
            bytes.extend_from_slice(&(part.len() as u64).to_le_bytes());
            bytes.extend_from_slice(part);
        }
        // SipHash with fixed keys, because the id must not change between builds.
        let hash = siphasher::sip128::SipHasher13::new().hash(&bytes);
        TaskId(hash.as_u128().to_be_bytes())
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Each event of an agent has the text, and formatting the number takes five times as long.
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut text = [0; 32];
        for (pair, byte) in text.chunks_exact_mut(2).zip(self.0) {
            pair[0] = DIGITS[usize::from(byte >> 4)];
            pair[1] = DIGITS[usize::from(byte & 15)];
        }
        // Digits are valid text.
        f.write_str(std::str::from_utf8(&text).unwrap_or_default())
    }
}

impl fmt::Debug for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TaskId({self})")
    }
}

/// The id of a task: from its thread and namespace, the checkpoint of its frontier, and its node and index in the
/// frontier. The incarnation distinguishes the tasks of a thread from those of a deleted one with the same id.
pub fn task_id(
    thread: &str,
    incarnation: u64,
    namespace: &str,
    origin: u64,
    node: &str,
    send: Option<u32>,
) -> TaskId {
    let send = send.map_or(u64::MAX, u64::from);
    let (origin, send, incarnation) = (
        origin.to_le_bytes(),
        send.to_le_bytes(),
        incarnation.to_le_bytes(),
    );
    let parts = [
        thread.as_bytes(),
        namespace.as_bytes(),
        &origin,
        node.as_bytes(),
        &send,
        &incarnation,
    ];
    // Left out of the first incarnation, whose tasks have the ids that they had before there were incarnations.
    let is_first = incarnation == [0; 8];
    TaskId::of(if is_first { &parts[..5] } else { &parts })
}
