//! A server that requires encrypted connections.

use petalflow_postgres::{PostgresOptions, PostgresStore};
use petalflow_test_servers::store_tests::{assert_unknown_issuer, stores_large_checkpoint};
use petalflow_test_servers::{Postgres, found_or_skip};

#[tokio::test]
async fn connections_are_encrypted() {
    let Some((server, pem)) = found_or_skip(Postgres::start_encrypted()) else {
        return;
    };
    let options = PostgresOptions::new(format!("{}?sslmode=require", server.url));
    let unknown = PostgresStore::connect_with(options.clone()).await;
    assert_unknown_issuer(&unknown.unwrap_err());
    let store = PostgresStore::connect_with(options.root_certificates(pem)).await;
    stores_large_checkpoint(&store.unwrap()).await;
}
