//! Encrypted connections.
//!
//! An adapter between `tokio-postgres` and `tokio-rustls`. The published crate for it depends on a second version of `syn`.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use petalflow::checkpoint::StoreError;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_postgres::{Config, Socket};
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, InvalidDnsNameError, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore, crypto};
use tokio_rustls::{TlsConnector, client};

use crate::error::problem;
use crate::options::PostgresOptions;

/// Encrypts connections, and checks the server's certificate.
#[derive(Clone)]
pub(crate) struct Connector(TlsConnector);

/// Reads the certificates to trust.
pub(crate) fn connector(options: &PostgresOptions, _: &Config) -> Result<Connector, StoreError> {
    let mut roots = RootCertStore::empty();
    if let Some(pem) = &options.root_certificates {
        for certificate in CertificateDer::pem_slice_iter(pem) {
            let certificate = certificate.map_err(|error| {
                problem(format!("the root certificates are not in PEM: {error:?}"))
            })?;
            roots
                .add(certificate)
                .map_err(|error| problem(format!("a root certificate cannot be used: {error}")))?;
        }
    } else {
        // Certificates of obsolete kinds are ignored.
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    }
    // The provider is named, because a program may have several and no default.
    let mut config =
        ClientConfig::builder_with_provider(Arc::new(crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| StoreError::Other(error.into()))?
            .with_root_certificates(roots)
            .with_no_client_auth();
    // Servers require this with `sslnegotiation=direct`.
    config.alpn_protocols = vec![b"postgresql".to_vec()];
    Ok(Connector(TlsConnector::from(Arc::new(config))))
}

impl MakeTlsConnect<Socket> for Connector {
    type Stream = Stream;
    type TlsConnect = Handshake;
    type Error = InvalidDnsNameError;

    fn make_tls_connect(&mut self, domain: &str) -> Result<Handshake, InvalidDnsNameError> {
        Ok(Handshake {
            connector: self.0.clone(),
            server: ServerName::try_from(domain.to_owned())?,
        })
    }
}

/// The handshake of one connection.
pub(crate) struct Handshake {
    connector: TlsConnector,
    server: ServerName<'static>,
}

impl TlsConnect<Socket> for Handshake {
    type Stream = Stream;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Stream>> + Send>>;

    fn connect(self, socket: Socket) -> Self::Future {
        Box::pin(async move { Ok(Stream(self.connector.connect(self.server, socket).await?)) })
    }
}

/// An encrypted connection.
pub(crate) struct Stream(client::TlsStream<Socket>);

impl TlsStream for Stream {
    /// Not supported: a URL with `channel_binding=require` is refused.
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}
