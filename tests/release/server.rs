//! A server on loopback that hands out what a test gives it: the files of a release, or a registry of npm packages.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

/// What is found under each path; anything else is not there.
pub type Shelf = BTreeMap<String, Vec<u8>>;

/// The address of a server with what `fill` puts on the shelf. `fill` gets the address.
pub fn serve(fill: impl FnOnce(&str) -> Shelf) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let shelf = Arc::new(fill(&address));
    // It ends with the process: who asks is part of the same test.
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let shelf = Arc::clone(&shelf);
            std::thread::spawn(move || answer(stream, &shelf));
        }
    });
    address
}

/// Answers one request, and closes. Nobody is to be told when the other side has left.
fn answer(mut stream: TcpStream, shelf: &Shelf) -> Option<()> {
    let mut lines = BufReader::new(stream.try_clone().ok()?).lines();
    let first = lines.next()?.ok()?;
    while !lines.next()?.ok()?.is_empty() {}
    let path = first.split(' ').nth(1)?;
    let (status, body) = match shelf.get(path.split('?').next()?) {
        Some(body) => ("200 OK", body.as_slice()),
        None => ("404 Not Found", &b"{}"[..]),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).ok()?;
    stream.write_all(body).ok()
}
