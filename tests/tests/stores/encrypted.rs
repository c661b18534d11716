//! Stores whose servers want encryption.

use petalflow::BoxError;
use petalflow::checkpoint::{Address, Store, StoreError, StoredCheckpoint};
use petalflow_postgres::{PostgresOptions, PostgresStore};
use petalflow_redis::{RedisOptions, RedisStore};

use super::servers::{Postgres, Redis};

async fn works(store: &dyn Store) -> Result<(), BoxError> {
    let address = Address::root("essay");
    let checkpoint = StoredCheckpoint {
        seq: 1,
        base: 1,
        created_ms: 1,
        // More than fits into one record.
        bytes: vec![7; 100_000],
    };
    store.append(address, &checkpoint, None, 0..0).await?;
    let read = store.read(address, None).await?;
    assert_eq!(read.expect("it was appended").chain, [checkpoint]);
    Ok(())
}

/// An unknown certificate is refused before anything is said.
fn assert_unknown(error: &StoreError) {
    let words = format!("{error:?}");
    assert!(words.contains("UnknownIssuer"), "{words}");
}

#[tokio::test]
async fn postgres_speaks_tls() -> Result<(), BoxError> {
    let (server, pem) = match Postgres::start_encrypted() {
        Ok(server) => server,
        Err(why) => {
            eprintln!("skipped: {why}");
            return Ok(());
        }
    };
    let options = PostgresOptions::new(format!("{}?sslmode=require", server.url));
    let unknown = PostgresStore::connect_with(options.clone()).await;
    assert_unknown(&unknown.unwrap_err());
    let store = PostgresStore::connect_with(options.root_certificates(pem)).await?;
    works(&store).await
}

#[tokio::test]
async fn redis_speaks_tls() -> Result<(), BoxError> {
    let (server, pem) = match Redis::start_encrypted() {
        Ok(server) => server,
        Err(why) => {
            eprintln!("skipped: {why}");
            return Ok(());
        }
    };
    let options = RedisOptions::new(server.url.clone());
    let unknown = RedisStore::connect_with(options.clone()).await;
    assert_unknown(&unknown.unwrap_err());
    let store = RedisStore::connect_with(options.root_certificates(pem)).await?;
    works(&store).await
}
