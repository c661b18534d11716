//! Lists of lists, without the code that `vec![Vec::new(); count]` has to copy a list for each type.

/// This many empty lists.
pub(crate) fn lists<T>(count: usize) -> Vec<Vec<T>> {
    let mut lists = Vec::with_capacity(count);
    for _ in 0..count {
        lists.push(Vec::new());
    }
    lists
}
