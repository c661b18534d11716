//! Sorted slices and vectors.
//!
//! The macros compile this package without optimization, once per program. The functions of the standard library would be several
//! times as long for LLVM for each type. Here all types share the loops.

use std::cmp::Ordering;

/// A slice, for functions that are compiled once for all types of elements.
trait Heap {
    fn is_less(&self, a: usize, b: usize) -> bool;
    fn swap(&mut self, a: usize, b: usize);
}

impl<T: Ord> Heap for &mut [T] {
    fn is_less(&self, a: usize, b: usize) -> bool {
        self[a] < self[b]
    }

    fn swap(&mut self, a: usize, b: usize) {
        <[T]>::swap(self, a, b);
    }
}

/// Sorts, without an order among equal values. It is a heap sort, because the sort of the standard library is 1,300 lines of code
/// for LLVM for each type.
pub(crate) fn sort<T: Ord>(mut values: &mut [T]) {
    let len = values.len();
    sort_heap(&mut values, len);
}

fn sort_heap(heap: &mut dyn Heap, len: usize) {
    for root in (0..len / 2).rev() {
        sink(heap, root, len);
    }
    for end in (1..len).rev() {
        heap.swap(0, end);
        sink(heap, 0, end);
    }
}

/// Moves a value of a heap of this length below the greater ones.
fn sink(heap: &mut dyn Heap, mut at: usize, len: usize) {
    loop {
        let mut greatest = at;
        for child in 2 * at + 1..len.min(2 * at + 3) {
            if heap.is_less(greatest, child) {
                greatest = child;
            }
        }
        if greatest == at {
            return;
        }
        heap.swap(at, greatest);
        at = greatest;
    }
}

/// The index of an element among sorted ones, or else the index at which it belongs. `order` compares the element at an index with
/// the wanted one. A parameter of the type `dyn Fn`, so that the function is compiled once.
pub(crate) fn search(len: usize, order: &dyn Fn(usize) -> Ordering) -> Result<usize, usize> {
    let (mut begin, mut end) = (0, len);
    while begin < end {
        let middle = usize::midpoint(begin, end);
        match order(middle) {
            Ordering::Less => begin = middle + 1,
            Ordering::Equal => return Ok(middle),
            Ordering::Greater => end = middle,
        }
    }
    Err(begin)
}

/// Adds an element to a sorted set. Returns whether it is new.
pub(crate) fn insert<T: Ord>(set: &mut Vec<T>, element: T) -> bool {
    match search(set.len(), &|index| set[index].cmp(&element)) {
        Ok(_) => false,
        Err(index) => {
            set.insert(index, element);
            true
        }
    }
}

/// Whether a sorted set contains the element.
#[cfg(feature = "analysis")]
pub(crate) fn contains<T: Ord>(set: &[T], element: &T) -> bool {
    search(set.len(), &|index| set[index].cmp(element)).is_ok()
}

/// The union of two sorted sets.
#[cfg(feature = "analysis")]
pub(crate) fn union<T: Copy + Ord>(a: &[T], b: &[T]) -> Vec<T> {
    let mut all = Vec::with_capacity(a.len() + b.len());
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        let order = a[i].cmp(&b[j]);
        all.push(a[i].min(b[j]));
        i += usize::from(order.is_le());
        j += usize::from(order.is_ge());
    }
    all.extend(&a[i..]);
    all.extend(&b[j..]);
    all
}

/// Whether every element of the sorted set `a` is in the sorted set `b`.
#[cfg(feature = "analysis")]
pub(crate) fn subset<T: Copy + Ord>(a: &[T], b: &[T]) -> bool {
    let mut from = 0;
    for element in a {
        while from < b.len() && b[from] != *element {
            from += 1;
        }
        if from == b.len() {
            return false;
        }
        from += 1;
    }
    true
}
