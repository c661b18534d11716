//! Callbacks around tools.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use petalflow_agent::Agent;
use petalflow_agent::extension::{Callbacks, ToolStep};
use petalflow_llm::Reply;
use serde_json::{Value, json};

use crate::kit::{constant_tool, events, failing_tool, results, scripted_agent, tool};

/// What the model reads after a call of the tool `t` of this agent, whose script has been written.
async fn result(build: impl FnOnce(Agent) -> Agent) -> Value {
    let (agent, _) = scripted_agent([Reply::call("t", json!({"x": 1})), "done".into()]);
    let (_, talk) = events(&build(agent), "go").await;
    results(&talk).remove(0)
}

fn works() -> petalflow::tool::FuncTool {
    constant_tool("t", json!({ "result": "success" }))
}

fn uncalled_tool() -> petalflow::tool::FuncTool {
    tool("t", |_, _| panic!("the tool must not be called"))
}

#[tokio::test]
async fn a027_a028_c100_the_tools_own_result_or_error() {
    assert_eq!(
        result(|agent| agent.tool(works())).await,
        json!({ "result": "success" })
    );
    assert_eq!(
        result(|agent| agent.tool(failing_tool("t", "tool error"))).await,
        json!({ "error": "tool error" })
    );
}

#[tokio::test]
async fn a029_c100_a_result_before_the_tool_replaces_the_call() {
    let value = result(|agent| {
        agent
            .tool(uncalled_tool())
            .before_tool(|_| Ok(Some(json!({ "result": "intercepted" }))))
            .before_tool(|_| panic!("the first has decided"))
    });
    assert_eq!(value.await, json!({ "result": "intercepted" }));
}

#[tokio::test]
async fn a030_c100_an_error_before_the_tool_replaces_the_call() {
    let value = result(|agent| {
        agent
            .tool(uncalled_tool())
            .before_tool(|_| Err("before callback error".into()))
    });
    assert_eq!(value.await, json!({ "error": "before callback error" }));
}

#[tokio::test]
async fn a031_c100_a_result_before_the_tool_reaches_the_callbacks_after_it() {
    let value = result(|agent| {
        agent
            .tool(uncalled_tool())
            .before_tool(|_| Ok(Some(json!({ "result": "from_before" }))))
            .after_tool(|_, outcome| {
                assert_eq!(
                    *outcome.as_ref().unwrap(),
                    json!({ "result": "from_before" })
                );
                Ok(Some(json!({ "result": "from_after" })))
            })
    });
    assert_eq!(value.await, json!({ "result": "from_after" }));
}

#[tokio::test]
async fn a032_a033_c100_an_error_before_the_tool_reaches_the_error_callbacks_and_those_after_the_tool()
 {
    let before = |agent: Agent| {
        agent
            .tool(uncalled_tool())
            .before_tool(|_| Err("before".into()))
    };
    let seen_after = result(|agent| {
        before(agent).after_tool(|_, outcome| {
            assert_eq!(outcome.as_ref().unwrap_err().to_string(), "before");
            Ok(Some(json!({ "result": "error_handled_in_after" })))
        })
    });
    assert_eq!(
        seen_after.await,
        json!({ "result": "error_handled_in_after" })
    );

    let handled = |agent: Agent| {
        before(agent).on_tool_error(|_, _| {
            Ok(Some(
                json!({ "result": "error_handled_in_on_tool_error_callback" }),
            ))
        })
    };
    assert_eq!(
        result(handled).await,
        json!({ "result": "error_handled_in_on_tool_error_callback" })
    );
    let then_after = result(|agent| {
        handled(agent).after_tool(|_, outcome| {
            assert!(outcome.is_ok(), "the error is gone");
            Ok(Some(json!({ "result": "from_after" })))
        })
    });
    assert_eq!(then_after.await, json!({ "result": "from_after" }));

    let again = |agent: Agent| {
        before(agent).on_tool_error(|_, error| Err(format!("{error}, and again").into()))
    };
    let after_errs = result(|agent| {
        again(agent).after_tool(|_, outcome| {
            assert_eq!(
                outcome.as_ref().unwrap_err().to_string(),
                "before, and again"
            );
            Err("error_from_after_tool".into())
        })
    });
    assert_eq!(
        after_errs.await,
        json!({ "error": "error_from_after_tool" })
    );
    let after_returns = result(|agent| again(agent).after_tool(|_, _| Ok(Some(json!({ "x": 1 })))));
    assert_eq!(after_returns.await, json!({ "x": 1 }));
}

#[tokio::test]
async fn a034_c100_a_callback_after_the_tool_replaces_results_and_clears_errors() {
    let modified = result(|agent| {
        agent
            .tool(works())
            .after_tool(|_, _| Ok(Some(json!({ "result": "modified" }))))
    });
    assert_eq!(modified.await, json!({ "result": "modified" }));
    let handled = result(|agent| {
        agent
            .tool(failing_tool("t", "tool error"))
            .after_tool(|_, _| Ok(Some(json!({ "result": "error handled" }))))
            .after_tool(|_, _| panic!("the first has decided"))
    });
    assert_eq!(handled.await, json!({ "result": "error handled" }));
}

#[tokio::test]
async fn a035_c100_an_error_after_the_tool_replaces_its_result() {
    let value = result(|agent| {
        agent
            .tool(works())
            .after_tool(|_, _| Err("after callback error".into()))
    });
    assert_eq!(value.await, json!({ "error": "after callback error" }));
}

#[tokio::test]
async fn a036_c100_callbacks_that_decide_nothing_leave_the_result() {
    let value = result(|agent| {
        agent
            .tool(works())
            .before_tool(|_| Ok(None))
            .on_tool_error(|_, _| panic!("nothing has failed"))
            .after_tool(|_, _| Ok(None))
    });
    assert_eq!(value.await, json!({ "result": "success" }));
}

#[tokio::test]
async fn a026_a_callback_may_answer_for_an_unknown_tool() {
    let value = result(|agent| {
        agent.on_tool_error(|step, error| {
            assert!(error.to_string().starts_with("tool 't' not found."));
            Ok((step.call().name == "t").then(|| json!({ "result": "made good" })))
        })
    });
    assert_eq!(value.await, json!({ "result": "made good" }));
}

#[tokio::test]
async fn callbacks_may_change_arguments_and_state() {
    let (agent, _) = scripted_agent([Reply::call("t", json!({"x": 1})), "done".into()]);
    let agent = agent
        .tool(tool("t", |arguments, cx| {
            Ok(json!({ "x": arguments["x"], "by": cx.state("by") }))
        }))
        .before_tool(|step| {
            step.arguments["x"] = json!(2);
            step.set_state("by", "callback");
            assert_eq!(step.state("by"), Some(json!("callback")));
            Ok(None)
        });
    let (_, talk) = events(&agent, "go").await;
    assert_eq!(results(&talk), [json!({ "x": 2, "by": "callback" })]);
    assert_eq!(talk.state["by"], "callback");
}

/// Counts calls of tools, and after some of them decides.
struct Plugin(Arc<AtomicUsize>, Option<Value>);

#[petalflow::async_trait]
impl Callbacks for Plugin {
    async fn before_tool(
        &self,
        _: &mut ToolStep<'_>,
    ) -> Result<Option<Value>, petalflow::BoxError> {
        self.0.fetch_add(1, SeqCst);
        Ok(self.1.clone())
    }
}

#[tokio::test]
async fn a018_plugins_run_before_the_callbacks_of_the_agent_and_can_skip_them() {
    let seen = Arc::new(AtomicUsize::new(0));
    let order = Arc::clone(&seen);
    let value = result(|agent| {
        agent
            .tool(works())
            .before_tool(move |_| {
                assert_eq!(
                    order.load(SeqCst),
                    1,
                    "the plugin was first, though it was added last"
                );
                Ok(None)
            })
            .plugin(Plugin(Arc::clone(&seen), None))
    });
    assert_eq!(value.await, json!({ "result": "success" }));
    let value = result(|agent| {
        agent
            .tool(uncalled_tool())
            .before_tool(|_| panic!("the plugin has decided"))
            .plugin(Plugin(Arc::default(), Some(json!("plugin"))))
    });
    assert_eq!(value.await, json!("plugin"));
}
