//! Parsing, meaning and rules, from tokens.
