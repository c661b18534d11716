//! Percent-encoding of what becomes a part of an address.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// All but the unreserved characters of RFC 3986: no value can end its part of the address.
const VALUE: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// For `allowReserved`: the reserved characters that end neither a parameter nor the query, and `+`, which servers read as a
/// space.
const RESERVED_VALUE: &AsciiSet = &VALUE
    .remove(b':')
    .remove(b'/')
    .remove(b'?')
    .remove(b'@')
    .remove(b'!')
    .remove(b'$')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')')
    .remove(b'*')
    .remove(b',')
    .remove(b';');

/// A value without any character that has a meaning in an address.
pub(super) fn value(text: &str) -> String {
    utf8_percent_encode(text, VALUE).to_string()
}

/// A value of the query in which reserved characters are allowed.
pub(super) fn reserved_value(text: &str) -> String {
    utf8_percent_encode(text, RESERVED_VALUE).to_string()
}
