//! An operation as a tool.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use petalflow::async_trait;
use petalflow::tool::{Tool, ToolContext, ToolError, ToolSpec};
use reqwest::Client;
use reqwest::header::HeaderMap;
use serde_json::Value;

use super::answer;
use super::call::Call;
use super::options::Confirm;
use super::request::{header, request};
use super::secrets::Secrets;
use super::send::{Limits, send};

/// What the tools of a service share.
pub(super) struct Service {
    pub(super) client: Client,
    pub(super) limits: Limits,
    pub(super) headers: HeaderMap,
    pub(super) confirm: Option<Arc<Confirm>>,
    pub(super) idempotency_header: Option<String>,
}

pub(super) struct OperationTool {
    pub(super) service: Arc<Service>,
    pub(super) call: Call,
    pub(super) spec: Arc<ToolSpec>,
}

#[diagnostic::do_not_recommend]
#[async_trait]
impl Tool for OperationTool {
    fn spec(&self) -> &Arc<ToolSpec> {
        &self.spec
    }

    async fn call(&self, arguments: Value, cx: &ToolContext) -> Result<Value, ToolError> {
        let (service, call) = (&*self.service, &self.call);
        let mut secrets = Secrets::default();
        let secret_headers = service.headers.values().filter(|it| it.is_sensitive());
        for value in secret_headers {
            secrets.add(value.to_str().unwrap_or_default());
        }
        let mut credentials = Vec::with_capacity(call.credentials.len());
        for placed in &call.credentials {
            credentials.push(placed.part(&mut secrets).await.map_err(ToolError::Failed)?);
        }
        let mut request = request(
            call,
            arguments,
            credentials,
            &service.headers,
            service.limits.request,
        )?;
        let mut may_repeat = call.operation.is_idempotent();
        if let Some(name) = &service.idempotency_header
            && !call.operation.is_read()
            && let Some((name, value)) = header(name, &idempotency_key(cx), false)
        {
            request.headers_mut().insert(name, value);
            may_repeat = true;
        }
        let title = call.operation.title();
        let names = (&*self.spec.name, &*title);
        let answer = send(&service.client, names, request, service.limits, may_repeat).await?;
        answer::read(&title, answer, &secrets)
    }

    fn confirm(&self, arguments: &Value) -> Option<String> {
        let operation = &self.call.operation;
        match &self.service.confirm {
            Some(ask) => ask(operation, arguments),
            None if operation.is_read() => None,
            None => Some(format!(
                "Call `{}`? It sends `{}` to `{}`, which can change something.",
                self.spec.name,
                operation.title(),
                self.call.base.host_str().unwrap_or_default()
            )),
        }
    }
}

/// The key of a call: the same when a task is repeated after a crash. A call outside of a run has a new one.
fn idempotency_key(cx: &ToolContext) -> String {
    let Some(run) = cx.context() else {
        let random = || RandomState::new().hash_one(());
        return format!("{:016x}{:016x}", random(), random());
    };
    let call = cx.call_id.chars();
    let call = call.map(|c| if c.is_ascii_graphic() { c } else { '_' });
    format!("{}-{}", run.task_id(), call.collect::<String>())
}
