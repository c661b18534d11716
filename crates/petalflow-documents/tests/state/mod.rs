//! The envelope as a state: its fields, its variables and its wire form.

mod envelope;
mod small_types;
mod var_key;
mod wire;
