//! Servers on this machine's loopback, for tests of what speaks to servers: one of HTTP that a test tells what to do, and
//! programs that a machine may have (Debian's `redis-server`, PyPI's `moto_server`, which plays S3).
//!
//! A server ends with its value. That one is ready is read off what it prints, so nobody waits for a time.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// How an [`HttpServer`] answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// Keeps what is `PUT`, and gives it to who asks for it.
    Keeps,
    /// Gives, and refuses to keep.
    ReadOnly,
    /// Takes the question and never answers.
    Silent,
    /// Answers with a body that does not end.
    Endless,
    /// Asks for a password.
    Closed,
}

/// Bodies by path.
type Values = Arc<Mutex<BTreeMap<String, Vec<u8>>>>;

/// A server of HTTP, one connection a request.
pub struct HttpServer {
    address: SocketAddr,
    /// What was put, by path.
    pub values: Values,
    asked: Arc<AtomicUsize>,
    is_over: Arc<AtomicBool>,
}

impl HttpServer {
    /// Starts one on a free port.
    ///
    /// # Panics
    /// Where there is none.
    pub fn start(manner: Manner) -> HttpServer {
        HttpServer::with(manner, Values::default())
    }

    /// The same with what another server keeps.
    ///
    /// # Panics
    /// As [`HttpServer::start`].
    pub fn with(manner: Manner, values: Values) -> HttpServer {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let address = listener.local_addr().expect("an address");
        let server = HttpServer { address, values, asked: Arc::default(), is_over: Arc::default() };
        let (values, asked, is_over) = (server.values.clone(), server.asked.clone(), server.is_over.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if is_over.load(Ordering::SeqCst) {
                    break;
                }
                let (values, asked) = (values.clone(), asked.clone());
                // A client that goes away is no matter of the server's.
                std::thread::spawn(move || {
                    let _ = stream.and_then(|stream| answer(stream, manner, &values, &asked));
                });
            }
        });
        server
    }

    /// `127.0.0.1:port`.
    pub fn address(&self) -> String {
        self.address.to_string()
    }

    /// How many requests there were.
    pub fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        // Wakes who waits for a connection.
        let _ = TcpStream::connect(self.address);
    }
}

fn answer(stream: TcpStream, manner: Manner, values: &Values, asked: &AtomicUsize) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut out = stream;
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        if line.trim_end().is_empty() {
            break;
        }
        lines.push(line.trim_end().to_owned());
    }
    let Some(first) = lines.first().cloned() else { return Ok(()) };
    asked.fetch_add(1, Ordering::SeqCst);
    let header = |name: &str| {
        let mut pairs = lines.iter().filter_map(|line| line.split_once(':'));
        pairs.find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim().to_owned())
    };
    let length = header("content-length").and_then(|n| n.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let mut words = first.split(' ');
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default().to_owned());
    let mut values = values.lock().expect("values");
    let (status, body) = match (manner, method) {
        (Manner::Silent, _) => {
            drop(values);
            // Until the client has gone.
            return reader.read_to_end(&mut body).map(|_| ());
        }
        (Manner::Endless, _) => {
            drop(values);
            out.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")?;
            loop {
                out.write_all(&[b'x'; 1 << 16])?;
            }
        }
        (Manner::Closed, _) if header("authorization").is_none() => ("401 Unauthorized", Vec::new()),
        (Manner::Keeps | Manner::Closed, "PUT") => {
            values.insert(path, body);
            ("201 Created", Vec::new())
        }
        (_, "GET") => match values.get(&path) {
            Some(value) => ("200 OK", value.clone()),
            None => ("404 Not Found", Vec::new()),
        },
        _ => ("405 Method Not Allowed", Vec::new()),
    };
    drop(values);
    let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
    out.write_all(head.as_bytes())?;
    out.write_all(&body)
}

/// A program that serves, until its value ends.
pub struct Program {
    child: Child,
    /// Where it listens, on 127.0.0.1.
    pub port: u16,
}

impl Program {
    /// Makes a bucket of an S3 that lets everybody.
    ///
    /// # Panics
    /// Where it cannot be made.
    pub fn make_bucket(&self, name: &str) {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).expect("a connection");
        let request =
            format!("PUT /{name} HTTP/1.1\r\nHost: s3\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).expect("a question");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A `redis-server` that keeps nothing on disk, with a password if one is given; `None` where the machine has none.
///
/// # Panics
/// Where it does not start.
pub fn redis(folder: &Path, password: Option<&str>) -> Option<Program> {
    let start = |port: u16| {
        let mut command = Command::new("redis-server");
        command.current_dir(folder).args(["--port", &port.to_string(), "--bind", "127.0.0.1"]);
        command.args(["--save", "", "--appendonly", "no"]);
        if let Some(password) = password {
            command.args(["--requirepass", password]);
        }
        command.stdout(Stdio::piped()).stderr(Stdio::null()).stdin(Stdio::null());
        command
    };
    started("redis-server", start, "Ready to accept connections", |child| child.stdout.take().map(boxed))
}

/// A `moto_server`, which plays S3; `None` where the machine has none. `INVDIFF_MOTO` names one that is not on PATH.
///
/// # Panics
/// Where it does not start.
pub fn moto(folder: &Path) -> Option<Program> {
    let program = std::env::var("INVDIFF_MOTO").unwrap_or_else(|_| "moto_server".to_owned());
    let start = |port: u16| {
        let mut command = Command::new(&program);
        command.current_dir(folder).args(["-H", "127.0.0.1", "-p", &port.to_string()]);
        command.stdout(Stdio::null()).stderr(Stdio::piped()).stdin(Stdio::null());
        command
    };
    started(&program, start, "Running on", |child| child.stderr.take().map(boxed))
}

fn boxed(pipe: impl Read + Send + 'static) -> Box<dyn Read + Send> {
    Box::new(pipe)
}

/// Starts a program on a free port, and reads what it prints until it says that it is ready. Who was faster with the
/// port makes it end; then another port is tried.
fn started(
    program: &str,
    start: impl Fn(u16) -> Command,
    ready: &str,
    pipe: impl Fn(&mut Child) -> Option<Box<dyn Read + Send>>,
) -> Option<Program> {
    // How it ends says nothing: Redis 7.0 ends its help with 1.
    let help = Command::new(program).arg("--help").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if help.is_err() {
        return None;
    }
    for _ in 0..5 {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let port = listener.local_addr().expect("an address").port();
        drop(listener);
        let mut child = start(port).spawn().expect("a program that is there");
        let output = pipe(&mut child).expect("a pipe");
        let server = Program { child, port };
        let mut lines = BufReader::new(output).lines();
        if lines.by_ref().map_while(Result::ok).any(|line| line.contains(ready)) {
            // What it goes on to print must not fill the pipe.
            std::thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
            return Some(server);
        }
    }
    panic!("{program} does not start");
}
