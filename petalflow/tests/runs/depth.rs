//! The limit on flows inside each other.

use petalflow::prelude::*;

#[state]
#[derive(Clone, Debug)]
struct Count {
    #[key(input)]
    levels: u32,
}

#[node(Count)]
async fn down(levels: &u32, cx: Context) -> petalflow::Result<()> {
    if *levels > 0 {
        // A launch inside a node has the depth of the outermost launch.
        Down::new()
            .max_depth(1_000)
            .run_in(&cx, "inner", levels - 1)
            .await?;
    }
    Ok(())
}

flow!(Down(Count) { down });

#[tokio::test]
async fn a_launch_sets_the_depth_of_nested_flows() {
    Down::run(16).await.unwrap();
    let text = Down::run(17).await.unwrap_err().to_string();
    assert!(
        text.contains("at most 16 are allowed") && text.contains("`.max_depth(..)`"),
        "{text}"
    );
    Down::new().max_depth(2).run(2).await.unwrap();
    let text = Down::new()
        .max_depth(2)
        .run(3)
        .await
        .unwrap_err()
        .to_string();
    assert!(
        text.contains("would run 3 levels") && text.contains("at most 2"),
        "{text}"
    );
    Down::new().max_depth(0).run(0).await.unwrap();
    Down::new().max_depth(0).run(1).await.unwrap_err();
}

#[test]
fn a_larger_stack_allows_more_levels() {
    let run = || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        runtime
            .block_on(Down::new().max_depth(100).run(100))
            .unwrap();
    };
    let thread = std::thread::Builder::new()
        .stack_size(32 * 1024 * 1024)
        .spawn(run);
    thread.unwrap().join().unwrap();
}
