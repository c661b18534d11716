//! OpenAI.
