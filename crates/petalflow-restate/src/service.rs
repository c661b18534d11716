//! Services whose names are known at run time. The macros of the SDK need names that are known when they are compiled, so this does
//! by hand what they expand to.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use petalflow::Flow;
use petalflow::state::Storable;
use restate_sdk::discovery::{
    self, HandlerName, HandlerType, InputPayload, OutputPayload, ServiceName, ServiceType,
};
use restate_sdk::endpoint::{ContextInternal, Error};
use restate_sdk::errors::HandlerError;
use restate_sdk::serde::{Json, Serialize};
use restate_sdk::service::{Service, ServiceDefinition, macro_support::service_definition};
use tokio::sync::Semaphore;

use crate::error::RestateError;
use crate::flow::RestateFlow;
use crate::thread_state::SentMessage;
use crate::{driver, links, node_host};

type Handled = BoxFuture<'static, Result<(), Error>>;

/// The service of the threads of a flow.
pub(crate) fn threads<F: Flow<State: Storable>>(
    flow: &RestateFlow<F>,
) -> Result<ServiceDefinition, RestateError> {
    let exclusive = |name| (name, None);
    let shared = |name| (name, Some(HandlerType::Shared));
    let handlers = [
        exclusive("advance"),
        exclusive("change"),
        exclusive("hold"),
        exclusive("send"),
        exclusive("delete"),
        exclusive("subscribe"),
        exclusive("nudge"),
        exclusive("join"),
        exclusive("look"),
        shared("ping"),
        shared("stop"),
        shared("read"),
        shared("wait"),
        shared("forget"),
    ];
    let service = describe(
        &flow.threads_service(),
        ServiceType::VirtualObject,
        &handlers,
    )?;
    let definition = service_definition(Threads(Arc::new(flow.clone())), service);
    Ok(definition.options(flow.options()))
}

/// The service of a pool. Only other services call it.
pub(crate) fn nodes<F: Flow<State: Storable>>(
    flow: &RestateFlow<F>,
    pool: &str,
    limit: Option<Arc<Semaphore>>,
) -> Result<ServiceDefinition, RestateError> {
    let handlers = [("run", None)];
    let service = describe(&flow.nodes_service(pool), ServiceType::Service, &handlers)?;
    let definition = service_definition(Nodes(Arc::new(flow.clone()), limit), service);
    Ok(definition.options(flow.options().ingress_private(true)))
}

/// The threads of a flow.
struct Threads<F: Flow>(Arc<RestateFlow<F>>);

/// The nodes of a flow on a pool.
struct Nodes<F: Flow>(Arc<RestateFlow<F>>, Option<Arc<Semaphore>>);

impl<F: Flow<State: Storable>> Service for Threads<F> {
    type Future = Handled;

    fn handle(&self, ctx: ContextInternal) -> Handled {
        let flow = Arc::clone(&self.0);
        Box::pin(async move {
            match ctx.handler_name() {
                "advance" => {
                    let (version, meta) = ctx.input::<u64>().await;
                    let advanced = driver::advance(&flow, (&ctx, meta).into(), version).await;
                    answer(&ctx, advanced);
                }
                "change" => {
                    let (change, meta) = ctx.input().await;
                    let changed = driver::change(&flow, (&ctx, meta).into(), change).await;
                    answer(&ctx, changed);
                }
                "hold" => {
                    let ((), meta) = ctx.input().await;
                    let held = driver::hold(&flow, (&ctx, meta).into()).await;
                    answer(&ctx, held);
                }
                "send" => {
                    let (message, meta) = ctx.input::<Json<SentMessage>>().await;
                    let message = message.into_inner();
                    let sent = driver::send(&flow, (&ctx, meta).into(), message).await;
                    answer(&ctx, sent);
                }
                "delete" => {
                    let (version, meta) = ctx.input::<u64>().await;
                    let deleted = driver::delete(&flow, (&ctx, meta).into(), version).await;
                    answer(&ctx, deleted);
                }
                "subscribe" => {
                    let (id, meta) = ctx.input::<String>().await;
                    let subscribed = driver::subscribe(&flow, (&ctx, meta).into(), id).await;
                    answer(&ctx, subscribed);
                }
                "nudge" => {
                    let ((), meta) = ctx.input().await;
                    let nudged = driver::nudge(&flow, (&ctx, meta).into()).await;
                    answer(&ctx, nudged);
                }
                "join" => {
                    let (by, meta) = ctx.input::<Json<String>>().await;
                    let joined = links::join(&flow, (&ctx, meta).into(), by.into_inner()).await;
                    answer(&ctx, joined);
                }
                "look" => {
                    let ((), meta) = ctx.input().await;
                    let looked = links::look(&flow, (&ctx, meta).into()).await;
                    answer(&ctx, looked);
                }
                "ping" => {
                    let ((), _) = ctx.input().await;
                    answer(&ctx, Ok(()));
                }
                "stop" => {
                    let ((), meta) = ctx.input().await;
                    let stopped = driver::stop((&ctx, meta).into()).await;
                    answer(&ctx, stopped);
                }
                "read" => {
                    let ((), meta) = ctx.input().await;
                    let read = driver::read((&ctx, meta).into()).await;
                    answer(&ctx, read);
                }
                "wait" => {
                    let ((), meta) = ctx.input().await;
                    let waited = driver::wait(&flow, (&ctx, meta).into()).await;
                    answer(&ctx, waited);
                }
                "forget" => {
                    let (incarnation, meta) = ctx.input().await;
                    let context = (&ctx, meta).into();
                    let forgotten = driver::forget_objects(&flow, context, incarnation).await;
                    answer(&ctx, forgotten);
                }
                unknown => return Err(Error::unknown_handler(ctx.service_name(), unknown)),
            }
            Ok(())
        })
    }
}

impl<F: Flow<State: Storable>> Service for Nodes<F> {
    type Future = Handled;

    fn handle(&self, ctx: ContextInternal) -> Handled {
        let (flow, limit) = (Arc::clone(&self.0), self.1.clone());
        Box::pin(async move {
            if ctx.handler_name() != "run" {
                return Err(Error::unknown_handler(
                    ctx.service_name(),
                    ctx.handler_name(),
                ));
            }
            let (call, meta) = ctx.input().await;
            let ran = node_host::run(flow, limit, (&ctx, meta).into(), call).await;
            answer(&ctx, ran);
            Ok(())
        })
    }
}

/// Ends an invocation.
fn answer<T: Serialize + 'static>(ctx: &ContextInternal, result: Result<T, HandlerError>) {
    ctx.handle_handler_result(result);
    ctx.end();
}

fn describe(
    name: &str,
    ty: ServiceType,
    handlers: &[(&str, Option<HandlerType>)],
) -> Result<discovery::Service, RestateError> {
    let refused = || RestateError::Name(name.to_string());
    let handlers = handlers.iter().map(|(name, ty)| {
        let name = HandlerName::try_from(*name).map_err(|_| refused())?;
        Ok(handler(name, *ty))
    });
    Ok(discovery::Service {
        ty,
        handlers: handlers.collect::<Result<_, RestateError>>()?,
        name: ServiceName::try_from(name).map_err(|_| refused())?,
        documentation: None,
        metadata: std::collections::HashMap::default(),
        abort_timeout: None,
        inactivity_timeout: None,
        journal_retention: None,
        idempotency_retention: None,
        enable_lazy_state: None,
        ingress_private: None,
        retry_policy_initial_interval: None,
        retry_policy_max_interval: None,
        retry_policy_max_attempts: None,
        retry_policy_exponentiation_factor: None,
        retry_policy_on_max_attempts: None,
    })
}

fn handler(name: HandlerName, ty: Option<HandlerType>) -> discovery::Handler {
    discovery::Handler {
        name,
        input: Some(InputPayload {
            content_type: Some("*/*".into()),
            json_schema: None,
            required: Some(false),
        }),
        output: Some(OutputPayload {
            content_type: Some("application/octet-stream".into()),
            json_schema: None,
            set_content_type_if_empty: Some(false),
        }),
        ty,
        documentation: None,
        metadata: std::collections::HashMap::default(),
        abort_timeout: None,
        inactivity_timeout: None,
        journal_retention: None,
        idempotency_retention: None,
        workflow_completion_retention: None,
        enable_lazy_state: None,
        ingress_private: None,
        retry_policy_initial_interval: None,
        retry_policy_max_interval: None,
        retry_policy_max_attempts: None,
        retry_policy_exponentiation_factor: None,
        retry_policy_on_max_attempts: None,
    }
}
