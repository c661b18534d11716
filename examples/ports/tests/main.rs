//! The ports along the main paths of their sources, with scripts as models, and killed.

mod coder;
mod killed;
mod research;
mod support;
mod tavily;
