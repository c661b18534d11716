//! Models of real providers, asked over a real wire.

mod cancel;
mod failures;
mod openai;
mod recorded;
