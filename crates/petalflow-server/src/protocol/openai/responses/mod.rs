//! `POST /v1/responses` and what is done with a response.
