//! The ends of the logs of threads in use.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use petalflow::checkpoint::Address;

use super::tail::Tail;

/// With more threads all are forgotten: a log that is not known takes two queries more.
const MOST_THREADS: usize = 10_000;

/// Where logs ended when this process appended to them last. Another process may have appended since.
#[derive(Default)]
pub(crate) struct Tails(Mutex<HashMap<String, Vec<(String, Tail)>>>);

impl Tails {
    pub(crate) fn get(&self, address: Address<'_>) -> Option<Tail> {
        let tails = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let namespaces = tails.get(address.thread)?.iter();
        let mut found = namespaces.filter(|(namespace, _)| namespace == address.namespace);
        found.next().map(|(_, tail)| *tail)
    }

    /// Sets the end of a log after it was committed.
    pub(crate) fn set(&self, address: Address<'_>, tail: Tail) {
        let mut tails = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(namespaces) = tails.get_mut(address.thread) {
            let known = namespaces
                .iter_mut()
                .find(|(namespace, _)| namespace == address.namespace);
            match known {
                Some((_, known)) => *known = tail,
                None => namespaces.push((address.namespace.into(), tail)),
            }
            return;
        }
        if tails.len() >= MOST_THREADS {
            tails.clear();
        }
        tails.insert(
            address.thread.into(),
            vec![(address.namespace.into(), tail)],
        );
    }
}
