//! Functions on vectors, for the whole crate, so that they are compiled once for each type of elements.

/// This many empty lists.
#[inline]
pub(crate) fn lists<T>(count: usize) -> Vec<Vec<T>> {
    let mut lists = Vec::with_capacity(count);
    for _ in 0..count {
        lists.push(Vec::new());
    }
    lists
}
