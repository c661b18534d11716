//! The built-in reducers.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use petalflow::state::reduce::{append, first, max, merge, min, prepend, replace, sum};

fn reduced<T>(reducer: fn(&mut T, T), mut current: T, written: T) -> T {
    reducer(&mut current, written);
    current
}

#[test]
fn each_built_in_reducer_folds_as_its_name_says() {
    assert_eq!(reduced(replace, 1, 2), 2);
    assert_eq!(reduced(append, vec![1, 2], vec![3, 4]), [1, 2, 3, 4]);
    assert_eq!(reduced(append, Vec::new(), vec![3, 4]), [3, 4]);
    assert_eq!(reduced(append, vec![1, 2], Vec::new()), [1, 2]);
    assert_eq!(
        *reduced(append, Arc::new(vec![1]), Arc::new(vec![2])),
        [1, 2]
    );
    assert_eq!(reduced(append, "ab".to_string(), "cd".to_string()), "abcd");
    assert_eq!(
        reduced(prepend, vec!['c', 'd'], vec!['a', 'b']),
        ['a', 'b', 'c', 'd']
    );
    assert_eq!(
        reduced(prepend, VecDeque::from([3, 4]), VecDeque::from([1, 2])),
        [1, 2, 3, 4]
    );
    assert_eq!(reduced(sum, 10, 5), 15);
    assert_eq!(reduced(sum, 1.5, 2.0).to_string(), "3.5");
    assert_eq!(reduced(max, 5, 10), 10);
    assert_eq!(reduced(max, -5, 0), 0);
    assert_eq!(reduced(min, 10, 5), 5);
    assert_eq!(reduced(min, -5, 0), -5);
    let (old, new) = (
        BTreeMap::from([("a", 1), ("b", 2)]),
        BTreeMap::from([("b", 3), ("c", 4)]),
    );
    assert_eq!(
        reduced(merge, old, new),
        BTreeMap::from([("a", 1), ("b", 3), ("c", 4)])
    );
    assert_eq!(reduced(first, "first", "second"), "first");
    assert_eq!(reduced(first, "", "new"), "new");
}
