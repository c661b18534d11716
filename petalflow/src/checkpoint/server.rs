//! What is said of every server in which a store is.

/// The settings that all stores in a server have, in the same words.
macro_rules! server_options {
    ($options:ident) => {
        impl $options {
            /// How long connecting may take.
            #[must_use]
            pub fn connect_timeout(mut self, timeout: Duration) -> Self {
                self.connect_timeout = timeout;
                self
            }

            /// The certificates, in PEM, that the server's certificate must lead to. Without any they are those that the system
            /// trusts.
            #[cfg(feature = "tls")]
            #[must_use]
            pub fn root_certificates(mut self, pem: impl Into<Vec<u8>>) -> Self {
                self.root_certificates = Some(pem.into());
                self
            }
        }
    };
}

pub(super) use server_options;
