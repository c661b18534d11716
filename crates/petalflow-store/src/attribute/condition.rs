//! Conditions on search attributes as people write them: `amount>100`.

use std::fmt;

use super::ranges::AttributeTest;
use super::value::{Attribute, AttributeKind};

/// A condition on a search attribute in its written form, such as `amount>100`, `customer=ann` or `paid=true`.
///
/// | form | values |
/// | --- | --- |
/// | `name=value`, `name!=value` | this value, another one |
/// | `name<value`, `name<=value`, `name>value`, `name>=value` | below, above |
/// | `name^=text` | texts that begin with this |
/// | `name*=text` | texts that contain this |
///
/// A value is compared as what it reads as: `true` and `false` as a bool, a number as a number, another text as a text. With `=`
/// and `!=`, such a value is found as a text too. Within quotes, `"100"` is a text only.
///
/// ```
/// use petalflow::checkpoint::{Attribute, AttributeCondition, AttributeKind};
///
/// let condition: AttributeCondition = "amount>100".parse()?;
/// assert_eq!(condition.name(), "amount");
/// assert!(condition.test().covers(&Attribute::from(101)));
/// assert!("amount".parse::<AttributeCondition>().is_err());
/// let late: AttributeCondition = "amount>late".parse()?;
/// assert!(!late.fits(AttributeKind::Number) && late.fits(AttributeKind::Text));
/// # Ok::<(), petalflow::checkpoint::AttributeConditionError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttributeCondition {
    name: String,
    test: AttributeTest,
    kinds: Vec<AttributeKind>,
    text: String,
}

/// A condition on a search attribute cannot be read.
///
/// ```
/// use petalflow::checkpoint::AttributeCondition;
///
/// let error = "amount".parse::<AttributeCondition>().expect_err("it has no comparison");
/// assert!(error.to_string().contains("`amount>100`"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}` is no condition on an attribute: write its name, one of `=`, `!=`, `<`, `<=`, `>`, `>=`, `^=` (begins with) and `*=` (contains), and a value, such as `amount>100`"
)]
pub struct AttributeConditionError {
    text: String,
}

/// The comparisons. One that begins with another comes first.
const COMPARISONS: [&str; 8] = ["!=", "<=", ">=", "^=", "*=", "=", "<", ">"];

impl AttributeCondition {
    /// The name of the attribute: that of the key in storage.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The values that meet it.
    pub fn test(&self) -> &AttributeTest {
        &self.test
    }

    /// Whether the value can be compared with attributes of this type.
    pub fn fits(&self, kind: AttributeKind) -> bool {
        self.kinds.contains(&kind)
    }
}

impl fmt::Display for AttributeCondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::str::FromStr for AttributeCondition {
    type Err = AttributeConditionError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = || AttributeConditionError { text: text.into() };
        let at = text
            .find(['!', '<', '>', '^', '*', '='])
            .ok_or_else(error)?;
        let (name, rest) = (text[..at].trim(), &text[at..]);
        let comparison = COMPARISONS.into_iter().find(|it| rest.starts_with(it));
        let comparison = comparison.ok_or_else(error)?;
        let value = rest[comparison.len()..].trim();
        if name.is_empty() {
            return Err(error());
        }
        let (quoted, literal) = unquoted(value);
        let read = if quoted { None } else { read(literal) };
        let as_text = Attribute::from(literal);
        let is_equality = matches!(comparison, "=" | "!=");
        let is_of_text = matches!(comparison, "^=" | "*=");
        let compared = match &read {
            Some(value) if !is_of_text => value.clone(),
            _ => as_text.clone(),
        };
        let mut kinds = vec![compared.kind()];
        let test = match comparison {
            "=" => {
                let text = AttributeTest::is(as_text.clone());
                match read {
                    Some(value) => AttributeTest::is(value).or(text),
                    None => text,
                }
            }
            "!=" => match read {
                Some(value) => AttributeTest::is_not_either(value, as_text.clone()),
                None => AttributeTest::is_not(as_text.clone()),
            },
            "<" => AttributeTest::below(compared),
            "<=" => AttributeTest::at_most(compared),
            ">" => AttributeTest::above(compared),
            ">=" => AttributeTest::at_least(compared),
            "^=" => AttributeTest::starts_with(literal),
            _ => AttributeTest::contains(literal),
        };
        if is_equality && !kinds.contains(&AttributeKind::Text) {
            kinds.push(AttributeKind::Text);
        }
        Ok(AttributeCondition {
            name: name.into(),
            test,
            kinds,
            text: text.into(),
        })
    }
}

/// A value without its quotes, and whether it has had them.
fn unquoted(value: &str) -> (bool, &str) {
    let inside = value
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'));
    match inside {
        Some(inside) => (true, inside),
        None => (false, value),
    }
}

/// The bool or number that a text is.
fn read(text: &str) -> Option<Attribute> {
    match text {
        "true" => return Some(true.into()),
        "false" => return Some(false.into()),
        _ => {}
    }
    if let Ok(integer) = text.parse::<i128>() {
        return Some(integer.into());
    }
    // Not the words that a float can be, such as `inf` or `nan`: they may be names.
    let has_digits = text.contains(|letter: char| letter.is_ascii_digit());
    let float = text.parse::<f64>().ok().filter(|_| has_digits)?;
    Some(float.into())
}

#[cfg(test)]
mod tests {
    use super::{Attribute, AttributeCondition};

    fn covers(condition: &str, value: impl Into<Attribute>) -> bool {
        let condition: AttributeCondition = condition.parse().expect("it can be read");
        condition.test().covers(&value.into())
    }

    #[test]
    fn f43_conditions_read_as_people_write_them() {
        assert!(covers("amount>100", 100.5) && !covers("amount>100", 100));
        assert!(covers("amount >= 100", 100) && !covers("amount>=100", "200"));
        assert!(covers("amount<-1e3", -1_001) && covers("amount<=-1", -1));
        assert!(covers("amount=100", 100) && covers("amount=100", "100"));
        assert!(covers("amount=\"100\"", "100") && !covers("amount=\"100\"", 100));
        assert!(!covers("amount!=100", 100) && !covers("amount!=100", "100"));
        assert!(covers("amount!=100", 99) && covers("amount!=100", "99"));
        assert!(covers("paid=true", true) && !covers("paid=true", false));
        assert!(covers("paid!=true", false) && !covers("paid!=true", true));
        assert!(covers("name=a=b", "a=b") && covers("name!=a", "b"));
        assert!(covers("name^=100", "1000") && covers("name*=0", "10"));
        assert!(covers("name=inf", "inf") && !covers("name=inf", f64::INFINITY));
        assert!(covers("name=", "") && covers("day>2026-01-31", "2026-02-01"));
    }

    #[test]
    fn f43_what_is_no_condition_is_named() {
        for text in ["", "amount", ">5", "amount!5", "amount^5"] {
            let error = text.parse::<AttributeCondition>().expect_err(text);
            assert!(error.to_string().starts_with(&format!("`{text}` is no ")));
        }
    }
}
