//! What the code of [`conversation!`](crate::conversation) names.

pub use std::string::String;
pub use std::vec::Vec;

pub use petalflow::BoxError;
pub use petalflow::tool::{ToolArgument, ToolContext};
pub use petalflow_document_macros::conversation_impl;
pub use serde::{Serialize, Serializer};
pub use serde_json::{Map, Value};

pub use crate::typed::{
    Argument, BranchResult, Fields, Function, Misfit, Reply, Write, action, arguments, boxed,
    branch, builder, done, find, function, own, position, refused, reply, serialize, text, word,
};
pub use crate::{ActionCall, ConversationBuilder};
