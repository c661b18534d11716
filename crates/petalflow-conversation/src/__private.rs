//! What the code of [`conversation!`](crate::conversation) names.

pub use std::string::String;
pub use std::vec::Vec;

pub use petalflow::BoxError;
pub use petalflow::tool::{ToolArgument, ToolContext};
pub use petalflow_conversation_macros::conversation_impl;
pub use serde::{Serialize, Serializer};
pub use serde_json::{Map, Value};

pub use crate::typed::{
    Argument, BranchResult, Choice, Fields, Misfit, Reply, Write, action, boxed, branch, builder, call,
    done, find, function, object, own, reply, serialize, text, word,
};
pub use crate::{ActionCall, ConversationBuilder};
