//! Conditions on the value of a search attribute, as the ranges of bytes that stores compare.

use std::ops::Range;

use super::value::{Attribute, AttributeKind, bounds};

/// Above the bytes of all attributes.
const END: u8 = 0xff;

/// Which values of a search attribute meet a condition. A thread without the attribute never does.
///
/// A value is only compared with values of its type: `AttributeTest::above(100)` finds no text.
///
/// ```
/// use petalflow::checkpoint::{Attribute, AttributeTest};
///
/// let large = AttributeTest::above(100);
/// assert!(large.covers(&Attribute::from(100.5)));
/// assert!(!large.covers(&Attribute::from(100)) && !large.covers(&Attribute::from("a lot")));
/// assert!(AttributeTest::starts_with("ann").covers(&Attribute::from("anna")));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttributeTest {
    ranges: Vec<Range<Vec<u8>>>,
    contained: Option<String>,
}

impl AttributeTest {
    fn of(range: Range<Vec<u8>>) -> Self {
        AttributeTest {
            ranges: vec![range],
            contained: None,
        }
    }

    /// This value.
    pub fn is(value: impl Into<Attribute>) -> Self {
        let value = value.into().as_bytes().to_vec();
        Self::of(value.clone()..after(value))
    }

    /// Another value, of any type.
    pub fn is_not(value: impl Into<Attribute>) -> Self {
        let value = value.into().as_bytes().to_vec();
        AttributeTest {
            ranges: vec![Vec::new()..value.clone(), after(value)..vec![END]],
            contained: None,
        }
    }

    /// Neither of two values of different types.
    pub(crate) fn is_not_either(one: Attribute, other: Attribute) -> Self {
        let (first, last) = if one < other {
            (one, other)
        } else {
            (other, one)
        };
        let (first, last) = (first.as_bytes().to_vec(), last.as_bytes().to_vec());
        AttributeTest {
            ranges: vec![
                Vec::new()..first.clone(),
                after(first)..last.clone(),
                after(last)..vec![END],
            ],
            contained: None,
        }
    }

    /// Values below this one.
    pub fn below(value: impl Into<Attribute>) -> Self {
        let value = value.into();
        Self::of(bounds(value.kind()).0..value.as_bytes().to_vec())
    }

    /// This value and those below it.
    pub fn at_most(value: impl Into<Attribute>) -> Self {
        let value = value.into();
        Self::of(bounds(value.kind()).0..after(value.as_bytes().to_vec()))
    }

    /// Values above this one.
    pub fn above(value: impl Into<Attribute>) -> Self {
        let value = value.into();
        Self::of(after(value.as_bytes().to_vec())..bounds(value.kind()).1)
    }

    /// This value and those above it.
    pub fn at_least(value: impl Into<Attribute>) -> Self {
        let value = value.into();
        Self::of(value.as_bytes().to_vec()..bounds(value.kind()).1)
    }

    /// Texts that begin with this one.
    pub fn starts_with(text: &str) -> Self {
        let from = Attribute::from(text).as_bytes().to_vec();
        let mut end = from.clone();
        // No byte of a text or of a type is the greatest byte.
        if let Some(last) = end.last_mut() {
            *last += 1;
        }
        Self::of(from..end)
    }

    /// Texts that contain this one. Upper and lower case are different.
    pub fn contains(text: &str) -> Self {
        let (from, end) = bounds(AttributeKind::Text);
        AttributeTest {
            ranges: vec![from..end],
            contained: Some(text.into()),
        }
    }

    /// Any value: the thread has the attribute.
    pub fn exists() -> Self {
        Self::of(Vec::new()..vec![END])
    }

    /// Values that meet this condition or the other one. Neither is about what a text contains.
    pub(crate) fn or(mut self, other: AttributeTest) -> Self {
        self.ranges.extend(other.ranges);
        self
    }

    /// Whether a value of this type can meet it.
    ///
    /// ```
    /// use petalflow::checkpoint::{AttributeKind, AttributeTest};
    ///
    /// assert!(AttributeTest::above(100).fits(AttributeKind::Number));
    /// assert!(!AttributeTest::above(100).fits(AttributeKind::Text));
    /// ```
    pub fn fits(&self, kind: AttributeKind) -> bool {
        let (from, end) = bounds(kind);
        self.ranges
            .iter()
            .any(|range| range.start < end && from < range.end)
    }

    /// For stores: the ranges of [bytes](Attribute::as_bytes) of which the value is in one. There is at least one, and they have no
    /// byte in common.
    ///
    /// ```
    /// use petalflow::checkpoint::AttributeTest;
    ///
    /// let test = AttributeTest::is(true);
    /// assert_eq!(test.ranges(), [vec![1, 1]..vec![1, 1, 0]]);
    /// ```
    pub fn ranges(&self) -> &[Range<Vec<u8>>] {
        &self.ranges
    }

    /// For stores: what the bytes after the first one contain besides.
    ///
    /// ```
    /// use petalflow::checkpoint::AttributeTest;
    ///
    /// assert_eq!(AttributeTest::contains("petal").contained(), Some("petal"));
    /// assert_eq!(AttributeTest::is("petal").contained(), None);
    /// ```
    pub fn contained(&self) -> Option<&str> {
        self.contained.as_deref()
    }

    /// Whether a value meets the condition.
    pub fn covers(&self, value: &Attribute) -> bool {
        let bytes = value.as_bytes();
        let within = |range: &Range<Vec<u8>>| *range.start <= *bytes && *bytes < *range.end;
        let contains = |text: &str| {
            // The bytes of a letter are no part of those of another.
            let (text, bytes) = (text.as_bytes(), &bytes[1..]);
            text.is_empty() || bytes.windows(text.len()).any(|part| part == text)
        };
        self.ranges.iter().any(within) && self.contained().is_none_or(contains)
    }
}

/// The bytes directly after these.
fn after(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.push(0);
    bytes
}

#[cfg(test)]
mod tests {
    use super::{Attribute, AttributeTest};

    #[test]
    fn f43_each_condition_has_its_values() {
        let values: Vec<Attribute> = vec![
            false.into(),
            true.into(),
            (-3).into(),
            7.into(),
            7.5.into(),
            "".into(),
            "petal".into(),
            "petals".into(),
            "röte\u{3}".into(),
        ];
        let found = |test: AttributeTest| {
            let covered = values.iter().filter(|value| test.covers(value));
            covered.map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(found(AttributeTest::is(7_u8)), ["7"]);
        assert_eq!(found(AttributeTest::is("7")), [""; 0]);
        assert_eq!(found(AttributeTest::is_not(7)).len(), values.len() - 1);
        assert_eq!(found(AttributeTest::below(7)), ["-3"]);
        assert_eq!(found(AttributeTest::at_most(7)), ["-3", "7"]);
        assert_eq!(found(AttributeTest::above(7)), ["7.5"]);
        assert_eq!(found(AttributeTest::at_least(7)), ["7", "7.5"]);
        assert_eq!(
            found(AttributeTest::above("petal")),
            ["petals", "röte\u{3}"]
        );
        assert_eq!(found(AttributeTest::above(false)), ["true"]);
        assert_eq!(
            found(AttributeTest::starts_with("petal")),
            ["petal", "petals"]
        );
        assert_eq!(found(AttributeTest::starts_with("")).len(), 4);
        assert_eq!(found(AttributeTest::contains("etal")), ["petal", "petals"]);
        assert_eq!(found(AttributeTest::contains("\u{3}")), ["röte\u{3}"]);
        assert_eq!(found(AttributeTest::contains("ö")), ["röte\u{3}"]);
        assert_eq!(found(AttributeTest::contains("")).len(), 4);
        assert_eq!(found(AttributeTest::exists()).len(), values.len());
    }
}
