//! Reading from an envelope.

use serde_json::Value;

use super::{Artifact, Envelope};
use petalflow_llm::{ChatMessage, Role};

impl Envelope {
    /// Returns a variable. A variable that is `null` exists.
    ///
    /// ```
    /// use petalflow_documents::Envelope;
    /// use serde_json::Value;
    ///
    /// let envelope = Envelope::new().with_var("nothing", Value::Null);
    /// assert_eq!(envelope.get_var("nothing"), Some(&Value::Null));
    /// assert_eq!(envelope.get_var("missing"), None);
    /// ```
    pub fn get_var(&self, name: &str) -> Option<&Value> {
        self.vars.get(name)
    }

    /// Returns a text variable. Returns an empty text if it is missing or not a text.
    pub fn get_var_string(&self, name: &str) -> &str {
        self.get_var(name)
            .and_then(Value::as_str)
            .unwrap_or_default()
    }

    /// Returns the value at a path of names separated by dots. The path goes through objects only.
    ///
    /// ```
    /// use petalflow_documents::Envelope;
    /// use serde_json::json;
    ///
    /// let envelope = Envelope::new().with_var("response", json!({ "data": { "ids": [7] } }));
    /// assert_eq!(envelope.get_var_nested("response.data.ids"), Some(&json!([7])));
    /// assert_eq!(envelope.get_var_nested("response.data.ids.0"), None);
    /// ```
    pub fn get_var_nested(&self, path: &str) -> Option<&Value> {
        let mut names = path.split('.');
        let first = self.vars.get(names.next()?)?;
        names.try_fold(first, |value, name| value.as_object()?.get(name))
    }

    /// Returns the value at a path, or else the variable whose name is the whole path.
    ///
    /// ```
    /// use petalflow_documents::Envelope;
    ///
    /// let envelope = Envelope::new().with_var("a.b", 1);
    /// assert!(envelope.get_var_nested("a.b").is_none());
    /// assert!(envelope.lookup("a.b").is_some());
    /// ```
    pub fn lookup(&self, path: &str) -> Option<&Value> {
        self.get_var_nested(path).or_else(|| self.get_var(path))
    }

    /// Returns the artifacts of exactly this type, in order.
    ///
    /// ```
    /// use petalflow_documents::{Artifact, Envelope};
    ///
    /// let mut envelope = Envelope::new();
    /// envelope.append_artifact(Artifact::new("chunk"));
    /// assert_eq!(envelope.get_artifacts_by_type("chunk").len(), 1);
    /// assert!(envelope.get_artifacts_by_type("Chunk").is_empty());
    /// ```
    pub fn get_artifacts_by_type(&self, kind: &str) -> Vec<&Artifact> {
        let artifacts = self.artifacts.iter();
        artifacts.filter(|artifact| artifact.kind == kind).collect()
    }

    /// Returns the last message, to read or change.
    ///
    /// ```
    /// use petalflow_documents::Envelope;
    /// use petalflow_llm::ChatMessage;
    ///
    /// let mut envelope = Envelope::new();
    /// envelope.append_message(ChatMessage::user("Hello."));
    /// envelope.get_last_message().unwrap().name = Some("ann".into());
    /// assert_eq!(envelope.messages[0].name.as_deref(), Some("ann"));
    /// ```
    pub fn get_last_message(&mut self) -> Option<&mut ChatMessage> {
        self.messages.last_mut()
    }

    /// Returns the messages of a role, in order.
    ///
    /// ```
    /// use petalflow_documents::Envelope;
    /// use petalflow_llm::{ChatMessage, Role};
    ///
    /// let mut envelope = Envelope::new();
    /// envelope.append_message(ChatMessage::user("Hello."));
    /// assert_eq!(envelope.get_messages_by_role(Role::User).len(), 1);
    /// assert!(envelope.get_messages_by_role(Role::Assistant).is_empty());
    /// ```
    pub fn get_messages_by_role(&self, role: Role) -> Vec<&ChatMessage> {
        let messages = self.messages.iter();
        messages.filter(|message| message.role == role).collect()
    }

    /// Whether there are error records.
    ///
    /// ```
    /// use petalflow_documents::{Envelope, NodeFailure};
    ///
    /// let mut envelope = Envelope::new();
    /// assert!(!envelope.has_errors());
    /// envelope.append_error(NodeFailure::new("fetch", "the line is dead"));
    /// assert!(envelope.has_errors());
    /// ```
    pub fn has_errors(&self) -> bool {
        !self.errors.is_empty()
    }
}
