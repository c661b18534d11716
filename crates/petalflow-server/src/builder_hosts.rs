//! The hosts at which a server is reached, and routes of the program.

use axum::Router;

use crate::builder::ServerBuilder;

impl ServerBuilder {
    /// Sets the hosts at which the server is reached, without ports, such as `localhost` and `[::1]`. A request with another
    /// `Host` or `Origin` gets 403, also for the routes of the program. By default all are accepted.
    ///
    /// It protects a server on this machine, or one without a token, from pages of other hosts in the browser of a person: such a
    /// page may send requests to any address, and may give its own name this address (DNS rebinding).
    ///
    /// ```
    /// use petalflow::checkpoint::InMemoryStore;
    /// use petalflow_server::Server;
    ///
    /// let builder = Server::builder(&InMemoryStore::new()).hosts(["localhost", "127.0.0.1", "[::1]"]);
    /// # let _ = builder;
    /// ```
    #[must_use]
    pub fn hosts(mut self, hosts: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let hosts = hosts.into_iter().map(Into::into);
        self.hosts
            .extend(hosts.map(|host| host.to_ascii_lowercase()));
        self
    }

    /// Adds routes of the program, such as those of a page. They need no token, and the limits on requests do not apply to
    /// them.
    ///
    /// ```
    /// use axum::Router;
    /// use petalflow::checkpoint::InMemoryStore;
    /// use petalflow_server::Server;
    ///
    /// let page = Router::new().route("/about", axum::routing::get(async || "Refunds of our shop"));
    /// let builder = Server::builder(&InMemoryStore::new()).routes(page);
    /// # let _ = builder;
    /// ```
    #[must_use]
    pub fn routes(mut self, routes: Router) -> Self {
        self.routes = self.routes.merge(routes);
        self
    }
}
