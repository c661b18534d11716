//! A proxy whose connections can be cut, and whose server can be replaced.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// A proxy on a port of its own.
pub(crate) struct Proxy {
    pub(crate) address: SocketAddr,
    target: Arc<Mutex<Option<SocketAddr>>>,
    /// A new value cuts all connections.
    cuts: watch::Sender<()>,
}

impl Proxy {
    pub(crate) async fn start(target: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0")
            .await
            .expect("a port is free");
        let address = listener.local_addr().expect("it has an address");
        let target = Arc::new(Mutex::new(Some(target)));
        let cuts = watch::Sender::new(());
        tokio::spawn({
            let (target, cuts) = (Arc::clone(&target), cuts.clone());
            async move {
                while let Ok((client, _)) = listener.accept().await {
                    let target = *target.lock().unwrap_or_else(PoisonError::into_inner);
                    tokio::spawn(forward(client, target, cuts.subscribe()));
                }
            }
        });
        Proxy {
            address,
            target,
            cuts,
        }
    }

    /// Cuts all connections.
    pub(crate) fn cut(&self) {
        self.cuts.send_replace(());
    }

    /// Connects to another server from now on, or to none.
    pub(crate) fn redirect(&self, target: Option<SocketAddr>) {
        *self.target.lock().unwrap_or_else(PoisonError::into_inner) = target;
        self.cut();
    }
}

/// Dropping both streams closes the connections.
async fn forward(mut client: TcpStream, target: Option<SocketAddr>, mut cuts: watch::Receiver<()>) {
    let Some(target) = target else { return };
    let Ok(mut server) = TcpStream::connect(target).await else {
        return;
    };
    tokio::select! {
        _ = cuts.changed() => {}
        _ = copy_bidirectional(&mut client, &mut server) => {}
    }
}
