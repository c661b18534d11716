//! The search of the agent for research, with a server in place of the service.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};

use petalflow_port_examples::research::{Tavily, Topic, Web};
use serde_json::json;

/// Reads a request: its first line and its body.
fn read(stream: &TcpStream) -> (String, String, Vec<String>) {
    let mut reader = BufReader::new(stream);
    let (mut first, mut headers) = (String::new(), Vec::new());
    reader.read_line(&mut first).expect("it reads");
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).expect("it reads");
        if line.trim().is_empty() {
            break;
        }
        headers.push(line.trim().to_lowercase());
    }
    let length = headers
        .iter()
        .find_map(|line| line.strip_prefix("content-length: "));
    let length = length.map_or(0, |length| length.parse().expect("a number"));
    let mut body = vec![0; length];
    reader.read_exact(&mut body).expect("it reads");
    (first, String::from_utf8(body).expect("a text"), headers)
}

#[tokio::test]
async fn f44_tavily_finds_a_page_and_its_text_is_read() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = format!("http://{}", listener.local_addr().expect("it is known"));
    let page = format!("{address}/page");
    let answers = [
        (
            "200 OK",
            json!({ "results": [{ "url": page, "title": "Roses", "score": 1 }] }).to_string(),
        ),
        ("200 OK", "<p>Red &amp; white</p>".to_string()),
        ("404 Not Found", String::new()),
    ];
    let serving = std::thread::spawn(move || {
        answers.map(|(status, body)| {
            let (mut stream, _) = listener.accept().expect("somebody asks");
            let request = read(&stream);
            let length = body.len();
            write!(
                stream,
                "HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
            )
            .expect("it is heard");
            request
        })
    });
    let tavily = Tavily::at(address, "key").expect("a client can be made");
    let hits = tavily
        .search("roses", 1, Topic::News)
        .await
        .expect("it works");
    assert_eq!((&*hits[0].title, &hits[0].url), ("Roses", &page));
    assert_eq!(tavily.page(&page).await.expect("it works"), "Red & white");
    tavily.page(&page).await.expect_err("it is gone");
    let [search, read, _] = serving.join().expect("it answers");
    assert!(search.0.starts_with("POST /search "), "{}", search.0);
    assert!(search.2.contains(&"authorization: bearer key".to_string()));
    let body: serde_json::Value = serde_json::from_str(&search.1).expect("it is JSON");
    assert_eq!(
        body,
        json!({ "query": "roses", "max_results": 1, "topic": "news" })
    );
    assert!(read.0.starts_with("GET /page "), "{}", read.0);
}
