//! Texts of a `format`.

use std::net::{Ipv4Addr, Ipv6Addr};

/// A format that is checked. All others are words for the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Date,
    Time,
    DateTime,
    Email,
    Uri,
    Uuid,
    Ipv4,
    Ipv6,
}

impl Format {
    pub(super) fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "date" => Format::Date,
            "time" => Format::Time,
            "date-time" => Format::DateTime,
            "email" => Format::Email,
            "uri" => Format::Uri,
            "uuid" => Format::Uuid,
            "ipv4" => Format::Ipv4,
            "ipv6" => Format::Ipv6,
            _ => return None,
        })
    }

    /// What a text must be, with an example.
    pub(super) fn expected(self) -> &'static str {
        match self {
            Format::Date => "a date such as `2026-03-31`",
            Format::Time => "a time such as `18:30:00Z`",
            Format::DateTime => "a date with a time such as `2026-03-31T18:30:00Z`",
            Format::Email => "an address such as `ann@example.com`",
            Format::Uri => "a URI such as `https://example.com/`",
            Format::Uuid => "a UUID such as `123e4567-e89b-12d3-a456-426614174000`",
            Format::Ipv4 => "an IPv4 address such as `192.0.2.1`",
            Format::Ipv6 => "an IPv6 address such as `2001:db8::1`",
        }
    }

    pub(super) fn fits(self, text: &str) -> bool {
        match self {
            Format::Date => is_date(text),
            Format::Time => is_time(text),
            Format::DateTime => text
                .split_once(['T', 't'])
                .is_some_and(|(date, time)| is_date(date) && is_time(time)),
            Format::Email => text.rsplit_once('@').is_some_and(|(name, host)| {
                let is_word = |it: &str| !it.is_empty() && !it.contains(char::is_whitespace);
                is_word(name) && is_word(host)
            }),
            Format::Uri => text.split_once(':').is_some_and(|(scheme, rest)| {
                scheme.starts_with(|c: char| c.is_ascii_alphabetic())
                    && scheme
                        .chars()
                        .all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
                    && !rest.is_empty()
                    && !rest.contains(char::is_whitespace)
            }),
            Format::Uuid => {
                let lengths = text.split('-').map(str::len);
                lengths.eq([8, 4, 4, 4, 12])
                    && text.chars().all(|c| c == '-' || c.is_ascii_hexdigit())
            }
            Format::Ipv4 => text.parse::<Ipv4Addr>().is_ok(),
            Format::Ipv6 => text.parse::<Ipv6Addr>().is_ok(),
        }
    }
}

fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [year, month, day] = parts.as_slice() else {
        return false;
    };
    let (Some(year), Some(month), Some(day)) = (digits(year, 4), digits(month, 2), digits(day, 2))
    else {
        return false;
    };
    let is_leap_year = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 if is_leap_year => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    (1..=12).contains(&month) && (1..=days).contains(&day)
}

/// A time with its distance from UTC, as RFC 3339 has it.
fn is_time(text: &str) -> bool {
    let (clock, zone_is_right) = match text.strip_suffix(['Z', 'z']) {
        Some(clock) => (clock, true),
        None => match text.rsplit_once(['+', '-']) {
            Some((clock, zone)) => (clock, is_clock(zone, &[24, 60])),
            None => return false,
        },
    };
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
    // A minute can have 61 seconds.
    zone_is_right
        && is_clock(clock, &[24, 60, 61])
        && !fraction.is_empty()
        && fraction.bytes().all(|it| it.is_ascii_digit())
}

/// Numbers of two digits, each below its limit.
fn is_clock(text: &str, limits: &[u32]) -> bool {
    let parts: Vec<&str> = text.split(':').collect();
    parts.len() == limits.len()
        && parts
            .iter()
            .zip(limits)
            .all(|(part, limit)| digits(part, 2).is_some_and(|it| it < *limit))
}

fn digits(text: &str, count: usize) -> Option<u32> {
    let is_right = text.len() == count && text.bytes().all(|it| it.is_ascii_digit());
    is_right.then(|| text.parse().ok()).flatten()
}
