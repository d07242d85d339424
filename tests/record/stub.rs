//! The model: a server on loopback that lets the client read each file of a list, then says "ok".
//!
//! It speaks as much HTTP as the clients need, one request a connection, and the two dialects that they talk to a model in.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

use crate::room::locked;

/// A server that has its port and does not answer yet: the layout names the port.
pub(crate) struct Stub(TcpListener, SocketAddr);

impl Stub {
    pub(crate) fn bind() -> Result<Self, String> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(|error| error.to_string())?;
        let address = listener.local_addr().map_err(|error| error.to_string())?;
        Ok(Self(listener, address))
    }

    pub(crate) fn port(&self) -> u16 {
        self.1.port()
    }

    /// Answers from now on: the model reads `reads`, and what is asked for by GET is in `remote`.
    pub(crate) fn serve(self, reads: Vec<String>, remote: BTreeMap<String, String>) -> Serving {
        let Self(listener, address) = self;
        let talk = Arc::new(Talk { reads, remote, requests: Mutex::default(), over: AtomicBool::new(false) });
        let shared = Arc::clone(&talk);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if shared.over.load(Ordering::Relaxed) {
                    break;
                }
                let talk = Arc::clone(&shared);
                // A client that breaks a connection off is one that has heard enough.
                std::thread::spawn(move || talk.answer(&stream).ok());
            }
        });
        Serving { talk, address }
    }
}

/// A server that answers until it is dropped.
pub(crate) struct Serving {
    talk: Arc<Talk>,
    address: SocketAddr,
}

impl Serving {
    /// What the client asked its model, in order. Requests without tools are for titles and the like, and not counted.
    pub(crate) fn requests(&self) -> Vec<Value> {
        locked(&self.talk.requests).clone()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.talk.over.store(true, Ordering::Relaxed);
        // Wakes the thread that waits for a connection, so that it sees that all is over.
        let _ = TcpStream::connect(self.address);
    }
}

struct Talk {
    reads: Vec<String>,
    remote: BTreeMap<String, String>,
    requests: Mutex<Vec<Value>>,
    over: AtomicBool,
}

/// What the model says: the next file to read, with the number of the request, or that it is done.
type Say<'a> = Option<(&'a str, usize)>;

impl Talk {
    fn answer(&self, stream: &TcpStream) -> std::io::Result<()> {
        stream.set_read_timeout(Some(Duration::from_secs(30)))?;
        let (method, path, body) = request(stream)?;
        let body: Value = serde_json::from_slice(&body).unwrap_or_default();
        let (status, kind, text) = match method.as_str() {
            "GET" => match self.remote.get(&path) {
                Some(text) => ("200 OK", "text/plain", text.clone()),
                None => ("404 Not Found", "application/json", "{}".to_string()),
            },
            "POST" if path.contains("count_tokens") => {
                ("200 OK", "application/json", json!({"input_tokens": 10}).to_string())
            }
            "POST" if path.contains("/v1/messages") => {
                let message = Message::new(&body, self.next(&body));
                match body["stream"] == true {
                    true => ("200 OK", "text/event-stream", message.events()),
                    false => ("200 OK", "application/json", message.whole().to_string()),
                }
            }
            "POST" if path.contains("chat/completions") => {
                ("200 OK", "text/event-stream", chat(&body, self.next(&body)))
            }
            "HEAD" => ("200 OK", "text/plain", String::new()),
            _ => ("200 OK", "application/json", "{}".to_string()),
        };
        let length = text.len();
        let mut stream = stream;
        write!(
            stream,
            "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
        )?;
        stream.write_all(text.as_bytes())
    }

    /// Takes a request down and says what the model wants next: the files in order, one a request.
    fn next(&self, body: &Value) -> Say<'_> {
        if body["tools"].as_array().is_none_or(Vec::is_empty) {
            return None;
        }
        let mut requests = locked(&self.requests);
        requests.push(body.clone());
        self.reads.get(requests.len() - 1).map(|path| (path.as_str(), requests.len()))
    }
}

/// Method, path and body.
fn request(stream: &TcpStream) -> std::io::Result<(String, String, Vec<u8>)> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let mut words = line.split_whitespace().map(str::to_string);
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let mut length = 0;
    loop {
        let mut header = String::new();
        if reader.read_line(&mut header)? == 0 || header.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = header.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    let mut body = Vec::new();
    reader.take(length).read_to_end(&mut body)?;
    Ok((method, path, body))
}

/// An answer in the dialect that Claude Code speaks.
struct Message {
    envelope: Value,
    content: Value,
    /// The content of a stream comes in two parts: what it is, and what is in it.
    opening: Value,
    delta: Value,
    stop: &'static str,
}

impl Message {
    fn new(body: &Value, say: Say<'_>) -> Self {
        let (content, opening, delta, stop) = match say {
            Some((path, number)) => {
                let tool = |input: Value| json!({"type": "tool_use", "id": format!("toolu_{number}"), "name": "Read", "input": input});
                let input = json!({ "file_path": path });
                let delta = json!({"type": "input_json_delta", "partial_json": input.to_string()});
                (tool(input), tool(json!({})), delta, "tool_use")
            }
            None => {
                let text = |text: &str| json!({"type": "text", "text": text});
                (text("ok"), text(""), json!({"type": "text_delta", "text": "ok"}), "end_turn")
            }
        };
        let envelope = json!({
            "id": format!("msg_{}", say.map_or(0, |(_, number)| number)), "type": "message", "role": "assistant",
            "model": body["model"], "content": [], "stop_reason": null, "stop_sequence": null,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        });
        Self { envelope, content, opening, delta, stop }
    }

    fn whole(mut self) -> Value {
        self.envelope["content"] = json!([self.content]);
        self.envelope["stop_reason"] = json!(self.stop);
        self.envelope
    }

    fn events(self) -> String {
        let Self { envelope, opening, delta, stop, .. } = self;
        [
            json!({"type": "message_start", "message": envelope}),
            json!({"type": "content_block_start", "index": 0, "content_block": opening}),
            json!({"type": "content_block_delta", "index": 0, "delta": delta}),
            json!({"type": "content_block_stop", "index": 0}),
            json!({"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": null}, "usage": {"output_tokens": 1}}),
            json!({"type": "message_stop"}),
        ]
        .iter()
        .map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default()))
        .collect()
    }
}

/// An answer in the dialect that OpenCode speaks, always as a stream.
fn chat(body: &Value, say: Say<'_>) -> String {
    let (delta, reason) = match say {
        Some((path, number)) => {
            let arguments = json!({ "filePath": path }).to_string();
            let call = json!({"index": 0, "id": format!("call_{number}"), "type": "function",
                "function": {"name": "read", "arguments": arguments}});
            (json!({"role": "assistant", "tool_calls": [call]}), "tool_calls")
        }
        None => (json!({"role": "assistant", "content": "ok"}), "stop"),
    };
    let chunk = |delta: Value, reason: Value| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": reason});
        let chunk = json!({"id": "c", "object": "chat.completion.chunk", "created": 1, "model": body["model"], "choices": [choice]});
        format!("data: {chunk}\n\n")
    };
    chunk(delta, Value::Null) + &chunk(json!({}), json!(reason)) + "data: [DONE]\n\n"
}
