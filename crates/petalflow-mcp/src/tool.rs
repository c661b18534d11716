//! A tool of an MCP server.

use std::sync::Arc;

use petalflow::async_trait;
use serde_json::Value;

use super::call::call;
use super::session::Session;
use petalflow::tool::{Tool, ToolContext, ToolError, ToolSpec};

pub(super) struct McpTool {
    pub(super) session: Arc<Session>,
    /// The server's name of the tool.
    pub(super) name: Arc<str>,
    pub(super) spec: Arc<ToolSpec>,
    /// Whether the server says that the tool destroys something.
    pub(super) destructive: bool,
    /// The schema of its structured results.
    pub(super) output_schema: Option<Arc<Value>>,
}

#[diagnostic::do_not_recommend]
#[async_trait]
impl Tool for McpTool {
    fn spec(&self) -> &Arc<ToolSpec> {
        &self.spec
    }

    async fn call(&self, arguments: Value, cx: &ToolContext) -> Result<Value, ToolError> {
        let arguments = match arguments {
            Value::Object(arguments) => arguments,
            Value::Null => serde_json::Map::new(),
            _ => {
                let message = format!(
                    "the arguments of tool `{}` are not an object; call it again with an object that fits its schema",
                    self.spec.name
                );
                return Err(ToolError::Arguments(message));
            }
        };
        let names = (&*self.name, &*self.spec.name);
        let output_schema = self.output_schema.as_deref();
        call(&self.session, names, output_schema, arguments, cx).await
    }

    fn confirm(&self, arguments: &Value) -> Option<String> {
        match &self.session.options.confirm {
            Some(ask) => ask(&self.name, arguments),
            None => self.destructive.then(|| {
                format!(
                    "Call `{}`? Its server says that it can delete or overwrite something.",
                    self.spec.name
                )
            }),
        }
    }
}
