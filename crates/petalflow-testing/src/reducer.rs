//! The laws of reducers.

use petalflow::state::{Write, Writes};

/// Checks that a reducer obeys the laws that the engine relies on, for these sample values:
///
/// * **batches do not matter**: folding `a` and then `b` gives what folding them in one superstep gives;
/// * **the current value counts**: the fold starts from it, never from the type's zero;
/// * **nothing is nothing**: an update without writes changes nothing.
///
/// One line in a test covers a reducer of your own:
///
/// ```
/// fn longest(current: &mut String, update: String) {
///     if update.len() > current.len() {
///         *current = update;
///     }
/// }
///
/// petalflow_testing::check_reducer(longest, ["", "a", "bb", "cc"].map(String::from));
/// ```
///
/// # Panics
///
/// If a law is broken; the message names the law and the values.
pub fn check_reducer<T>(reducer: impl Fn(&mut T, T), samples: impl IntoIterator<Item = T>)
where
    T: Clone + PartialEq + std::fmt::Debug,
{
    let samples: Vec<T> = samples.into_iter().collect();
    for start in &samples {
        let mut untouched = start.clone();
        let wrote = Writes::default().fold_into(&mut untouched, false, &reducer);
        assert!(
            !wrote && untouched == *start,
            "an update without writes changed {start:?} to {untouched:?}"
        );
        for a in &samples {
            for b in &samples {
                let one_by_one = fold(&reducer, fold(&reducer, start.clone(), [a]), [b]);
                let together = fold(&reducer, start.clone(), [a, b]);
                assert!(
                    one_by_one == together,
                    "from {start:?}, the writes {a:?} and {b:?} give {one_by_one:?} in two supersteps but {together:?} in one: the reducer must \
                     depend on nothing but its arguments"
                );
                associates(&reducer, start, a, b);
            }
        }
    }
}

/// Batches fold alike however they are cut: `(start ⊕ a) ⊕ b` is `start ⊕ (a ⊕ b)`.
fn associates<T: Clone + PartialEq + std::fmt::Debug>(
    reducer: &impl Fn(&mut T, T),
    start: &T,
    a: &T,
    b: &T,
) {
    let left = fold(reducer, fold(reducer, start.clone(), [a]), [b]);
    let batch = fold(reducer, a.clone(), [b]);
    let right = fold(reducer, start.clone(), [&batch]);
    assert!(
        left == right,
        "from {start:?}, writing {a:?} and then {b:?} gives {left:?}, but writing them folded into {batch:?} gives {right:?}: the result must not \
         depend on how writes are batched"
    );
}

fn fold<'a, T: Clone + 'a>(
    reducer: &impl Fn(&mut T, T),
    mut current: T,
    writes: impl IntoIterator<Item = &'a T>,
) -> T {
    let mut pending = Writes::default();
    writes
        .into_iter()
        .for_each(|value| pending.push(Write::Fold(value.clone())));
    pending.fold_into(&mut current, false, reducer);
    current
}
