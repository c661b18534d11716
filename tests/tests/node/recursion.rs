//! Flows that contain themselves.

use petalflow::checkpoint::InMemoryStore;
use petalflow::prelude::*;

use crate::support::expect_error;

#[state]
#[derive(Debug, PartialEq)]
struct Tree {
    #[key(input)]
    height: u32,
    #[key(sum)]
    levels: u32,
}

#[node(Tree)]
async fn has_branches(height: &u32) -> bool {
    *height > 0
}

flow! {
    Grow(Tree) {
        node branch: Grow { in: |height: &u32| height - 1, out: |tree: Tree| TreeLevels(tree.levels + 1) };
        START -> has_branches;
        has_branches -> match { true => branch, false => END };
        with branch { retry: 3 };
    }
}

#[node(Tree)]
async fn call_branch(height: &u32, cx: Context) -> petalflow::Result<TreeLevels> {
    if *height == 0 {
        return Ok(TreeLevels(0));
    }
    let tree = GrowCalls::new().run_in(&cx, "branch", height - 1).await?;
    Ok(TreeLevels(tree.levels + 1))
}

flow! { GrowCalls(Tree) { call_branch } }

#[tokio::test(start_paused = true)]
async fn a_flow_can_contain_itself_to_a_depth_of_16() {
    let store = InMemoryStore::new();
    let outcomes = [
        Grow::run(16).await,
        GrowCalls::run(16).await,
        Grow::new()
            .store(&store)
            .thread("grow")
            .run(16)
            .await
            .map(|tree| tree.into_finished().unwrap()),
        GrowCalls::new()
            .store(&store)
            .thread("calls")
            .run(16)
            .await
            .map(|tree| tree.into_finished().unwrap()),
    ];
    assert_eq!(outcomes.map(|tree| tree.unwrap().levels), [16; 4]);
}

#[tokio::test(start_paused = true)]
async fn a_deeper_recursion_is_an_error_with_flow_and_depth() {
    let problem = |flow| {
        format!(
            "`{flow}` would run 17 levels inside the first flow, and at most 16 are allowed; if a flow contains itself, end the recursion earlier, write a loop, or raise `.max_depth(..)`"
        )
    };
    let store = InMemoryStore::new();
    let grow = format!("node `branch` failed in superstep 2: {}", problem("Grow"));
    assert_eq!(expect_error(Grow::run(u32::MAX).await).to_string(), grow);
    let stored = Grow::new().store(&store).thread("grow").run(u32::MAX).await;
    assert_eq!(stored.unwrap_err().to_string(), grow);
    let calls = format!(
        "node `call_branch` failed in superstep 1: {}",
        problem("GrowCalls")
    );
    assert_eq!(
        expect_error(GrowCalls::run(u32::MAX).await).to_string(),
        calls
    );
}
