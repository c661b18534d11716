//! Connections that end in the middle of a reply.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use petalflow::checkpoint::{Store, StoreError, StoredCheckpoint};
use petalflow_test_servers::store_tests::{ESSAY, checkpoint};
use petalflow_test_servers::{Redis, found_or_skip};

use crate::open;

/// Replies of fewer bytes are never cut, so that the client can connect.
const LONG: usize = 1_000;

/// Forwards connections to a server. While `cut` is set, ends each connection in the middle of its first long reply.
fn start_proxy(server: &str, cut: Arc<AtomicBool>) -> String {
    let server = server.trim_start_matches("redis://").to_owned();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = listener.local_addr().expect("it is bound");
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let Ok(upstream) = TcpStream::connect(&server) else {
                continue;
            };
            let (Ok(mut requests), Ok(mut to_server)) = (client.try_clone(), upstream.try_clone())
            else {
                continue;
            };
            std::thread::spawn(move || std::io::copy(&mut requests, &mut to_server));
            let cut = Arc::clone(&cut);
            std::thread::spawn(move || forward_replies(upstream, client, &cut));
        }
    });
    format!("redis://{address}")
}

fn forward_replies(mut from: TcpStream, mut to: TcpStream, cut: &AtomicBool) {
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(read @ 1..) = from.read(&mut buffer) {
        let is_cut = read >= LONG && cut.load(Ordering::SeqCst);
        let forwarded = if is_cut { LONG / 2 } else { read };
        if to.write_all(&buffer[..forwarded]).is_err() || is_cut {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Both);
    let _ = from.shutdown(Shutdown::Both);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_reply_that_is_cut_is_unavailable() {
    let Some(server) = found_or_skip(Redis::start_own(&[])) else {
        return;
    };
    let cut = Arc::new(AtomicBool::new(false));
    let store = open(&start_proxy(&server.url, Arc::clone(&cut)), "cut")
        .await
        .unwrap();
    let large = StoredCheckpoint {
        bytes: vec![7; 5 * LONG],
        ..checkpoint(1)
    };
    store.append(ESSAY, &large, None, 0..0, None).await.unwrap();
    cut.store(true, Ordering::SeqCst);
    for _ in 0..3 {
        let error = store.read(ESSAY, None).await.unwrap_err();
        assert!(matches!(error, StoreError::Unavailable(_)), "{error:?}");
    }
    cut.store(false, Ordering::SeqCst);
    let stored = store.read(ESSAY, None).await.unwrap().unwrap();
    assert_eq!(stored.chain, [large]);
}
