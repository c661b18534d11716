//! The types of personal data that a guardian finds in texts.

use std::sync::LazyLock;

use regex::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A type of personal data.
///
/// ```
/// use petalflow_documents::kinds::PiiType;
///
/// assert!(PiiType::CreditCard.is_in("4111 1111 1111 1111"));
/// assert!(!PiiType::CreditCard.is_in("4111 1111 1111 1112"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PiiType {
    /// A social security number of the USA.
    Ssn,
    /// An e-mail address.
    Email,
    /// A telephone number of North America.
    Phone,
    /// A card number of 16 digits.
    CreditCard,
    /// An IPv4 address.
    IpAddress,
    /// A date such as `12/31/1999`.
    DateOfBirth,
}

struct Patterns {
    ssn: Regex,
    email: Regex,
    phone: Regex,
    credit_card: Regex,
    ip_address: Regex,
    date_of_birth: Regex,
}

static PATTERNS: LazyLock<Patterns> = LazyLock::new(|| {
    let regex = |pattern| Regex::new(pattern).expect("the pattern is constant");
    Patterns {
        ssn: regex(r"\b\d{3}-\d{2}-\d{4}\b"),
        email: regex(r"(?i)\b[a-z0-9._%+-]+@[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,}\b"),
        phone: regex(r"(?:\+?1[-. ]?)?(?:\(\d{3}\) ?|\b\d{3}[-. ]?)\d{3}[-. ]?\d{4}\b"),
        credit_card: regex(r"\b(?:\d{4}[- ]?){3}\d{4}\b"),
        ip_address: regex(r"\b\d{1,3}(?:\.\d{1,3}){3}\b"),
        date_of_birth: regex(r"\b(?:0[1-9]|1[0-2])[/-](?:0[1-9]|[12]\d|3[01])[/-](?:19|20)\d{2}\b"),
    }
});

impl PiiType {
    /// All types.
    pub const ALL: [PiiType; 6] = [
        PiiType::Ssn,
        PiiType::Email,
        PiiType::Phone,
        PiiType::CreditCard,
        PiiType::IpAddress,
        PiiType::DateOfBirth,
    ];

    /// The name in settings.
    pub(super) fn name(self) -> &'static str {
        match self {
            PiiType::Ssn => "ssn",
            PiiType::Email => "email",
            PiiType::Phone => "phone",
            PiiType::CreditCard => "credit_card",
            PiiType::IpAddress => "ip_address",
            PiiType::DateOfBirth => "date_of_birth",
        }
    }

    /// Whether a text contains such data.
    ///
    /// ```
    /// use petalflow_documents::kinds::PiiType;
    ///
    /// let text = "Write to ann@example.com.";
    /// let found: Vec<_> = PiiType::ALL.into_iter().filter(|kind| kind.is_in(text)).collect();
    /// assert_eq!(found, [PiiType::Email]);
    /// ```
    pub fn is_in(self, text: &str) -> bool {
        let patterns = &*PATTERNS;
        match self {
            PiiType::Ssn => patterns.ssn.is_match(text),
            PiiType::Email => patterns.email.is_match(text),
            PiiType::Phone => patterns.phone.is_match(text),
            PiiType::DateOfBirth => patterns.date_of_birth.is_match(text),
            PiiType::CreditCard => {
                let mut found = patterns.credit_card.find_iter(text);
                found.any(|found| has_check_digit(found.as_str()))
            }
            PiiType::IpAddress => {
                let mut found = patterns.ip_address.find_iter(text);
                let byte = |part: &str| part.parse::<u8>().is_ok();
                found.any(|found| found.as_str().split('.').all(byte))
            }
        }
    }
}

/// Whether the last digit is the correct check digit of Luhn's algorithm.
fn has_check_digit(number: &str) -> bool {
    let digits = number.chars().rev().filter_map(|digit| digit.to_digit(10));
    let sum: u32 = digits
        .enumerate()
        .map(|(index, digit)| match index % 2 {
            0 => digit,
            _ => digit * 2 / 10 + digit * 2 % 10,
        })
        .sum();
    sum.is_multiple_of(10)
}
