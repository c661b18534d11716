//! Events that nodes emit.

use std::any::{Any, type_name};
use std::fmt;
use std::sync::Arc;

use petalflow_store::codec::CodecError;
use serde_core::Serialize;

use crate::state::RawValue;

/// A value that a node can emit as a [`CustomEvent`]. Every type that is `Serialize + Send + Sync + 'static` is one.
///
/// ```
/// use petalflow::event::EventPayload;
///
/// let payload: Box<dyn EventPayload> = Box::new(["red", "white"]);
/// assert_eq!(payload.value()?.to_string(), r#"["red","white"]"#);
/// # Ok::<(), petalflow::BoxError>(())
/// ```
pub trait EventPayload: Any + Send + Sync {
    /// The serialized value.
    ///
    /// # Errors
    ///
    /// If its `Serialize` implementation fails.
    fn value(&self) -> Result<RawValue, CodecError>;

    /// The name of the type, for debug output.
    fn type_name(&self) -> &'static str {
        type_name::<Self>()
    }
}

impl<T: Serialize + Any + Send + Sync> EventPayload for T {
    fn value(&self) -> Result<RawValue, CodecError> {
        RawValue::new(self)
    }
}

/// A value that a node emitted ([`Context::emit`](crate::Context::emit)). A clone shares the value.
///
/// A listener that knows the type of the value takes it as it is. Any listener can serialize it.
///
/// ```
/// use petalflow::event::CustomEvent;
///
/// #[derive(serde::Serialize)]
/// struct Progress {
///     percent: u8,
/// }
///
/// let event = CustomEvent::new(Progress { percent: 50 });
/// assert_eq!(event.downcast_ref::<Progress>().unwrap().percent, 50);
/// assert_eq!(event.to_string(), r#"{"percent":50}"#);
/// ```
#[derive(Clone)]
pub struct CustomEvent {
    name: Option<&'static str>,
    payload: Arc<dyn EventPayload>,
    is_partial: bool,
    is_transient: bool,
}

impl CustomEvent {
    /// Creates an event.
    pub fn new(payload: impl EventPayload) -> Self {
        CustomEvent {
            name: None,
            payload: Arc::new(payload),
            is_partial: false,
            is_transient: false,
        }
    }

    /// Creates an event whose value is a map with the payload under `name`, which tells it from other events.
    ///
    /// ```
    /// use petalflow::event::CustomEvent;
    ///
    /// let event = CustomEvent::named("percent", 50);
    /// assert_eq!(event.name(), Some("percent"));
    /// assert_eq!(event.to_string(), r#"{"percent":50}"#);
    /// ```
    pub fn named(name: &'static str, payload: impl EventPayload) -> Self {
        CustomEvent {
            name: Some(name),
            ..Self::new(payload)
        }
    }

    /// Marks a part of something that a later event has whole, such as a piece of the text that a model writes. Listeners receive
    /// it, and an [event log](crate::thread::Threads::event_log) in a store has it. The log of a thread that an engine keeps does
    /// not have it, because that log travels with each superstep.
    ///
    /// ```
    /// use petalflow::event::CustomEvent;
    ///
    /// let piece = CustomEvent::new("All ab").partial();
    /// assert!(piece.is_partial());
    /// assert!(!CustomEvent::new("All about roses").is_partial());
    /// ```
    #[must_use]
    pub fn partial(mut self) -> Self {
        self.is_partial = true;
        self
    }

    /// Whether it is [marked](Self::partial) as a part.
    pub fn is_partial(&self) -> bool {
        self.is_partial
    }

    /// Marks a value that the next one of its kind replaces, such as an answer as far as it is known. Listeners receive it, and
    /// no event log has it. It is [partial](Self::partial) too.
    ///
    /// ```
    /// use petalflow::event::CustomEvent;
    ///
    /// let half = CustomEvent::named("answer", "All about").transient();
    /// assert!(half.is_transient() && half.is_partial());
    /// ```
    #[must_use]
    pub fn transient(mut self) -> Self {
        self.is_partial = true;
        self.is_transient = true;
        self
    }

    /// Whether it is [marked](Self::transient) as a value that no event log has.
    pub fn is_transient(&self) -> bool {
        self.is_transient
    }

    /// The name, if the event was created with one.
    pub fn name(&self) -> Option<&'static str> {
        self.name
    }

    /// The payload, if it is a `T`.
    ///
    /// ```
    /// use petalflow::event::CustomEvent;
    ///
    /// let event = CustomEvent::new(50_u8);
    /// assert_eq!(event.downcast_ref::<u8>(), Some(&50));
    /// assert_eq!(event.downcast_ref::<&str>(), None);
    /// ```
    pub fn downcast_ref<T: EventPayload>(&self) -> Option<&T> {
        let payload: &dyn Any = &*self.payload;
        payload.downcast_ref()
    }

    /// Takes the payload, if it is a `T`, and otherwise returns the event.
    ///
    /// # Errors
    ///
    /// If the payload is of another type.
    ///
    /// ```
    /// use petalflow::event::CustomEvent;
    ///
    /// let event = CustomEvent::new("half done".to_string()).downcast::<u8>().unwrap_err();
    /// assert_eq!(**event.downcast::<String>().unwrap(), *"half done");
    /// ```
    pub fn downcast<T: EventPayload>(self) -> Result<Arc<T>, Self> {
        let payload: Arc<dyn Any + Send + Sync> = Arc::clone(&self.payload) as _;
        payload.downcast().map_err(|_| self)
    }

    /// The serialized event, for formats such as JSON.
    ///
    /// # Errors
    ///
    /// If the `Serialize` implementation of the payload fails.
    ///
    /// ```
    /// use petalflow::event::CustomEvent;
    ///
    /// let event = CustomEvent::named("percent", 50);
    /// assert_eq!(serde_json::to_value(event.value()?)?["percent"], 50);
    /// # Ok::<(), petalflow::BoxError>(())
    /// ```
    pub fn value(&self) -> Result<RawValue, CodecError> {
        let payload = self.payload.value()?;
        Ok(match self.name {
            Some(name) => payload.named(name),
            None => payload,
        })
    }
}

impl<T: EventPayload> From<T> for CustomEvent {
    fn from(payload: T) -> Self {
        CustomEvent::new(payload)
    }
}

/// Displays the event as JSON.
impl fmt::Display for CustomEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.value() {
            Ok(value) => value.fmt(f),
            Err(error) => write!(f, "{}: {error}", (*self.payload).type_name()),
        }
    }
}

impl fmt::Debug for CustomEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CustomEvent({self})")
    }
}
