//! A server that requires encrypted connections.

use petalflow_redis::{RedisOptions, RedisStore};
use petalflow_test_servers::store_tests::{assert_unknown_issuer, stores_large_checkpoint};
use petalflow_test_servers::{Redis, found_or_skip};

#[tokio::test]
async fn connections_are_encrypted() {
    let Some((server, pem)) = found_or_skip(Redis::start_encrypted()) else {
        return;
    };
    let options = RedisOptions::new(server.url.clone());
    let unknown = RedisStore::connect_with(options.clone()).await;
    assert_unknown_issuer(&unknown.unwrap_err());
    let store = RedisStore::connect_with(options.root_certificates(pem)).await;
    stores_large_checkpoint(&store.unwrap()).await;
}
