//! As much of HTTP/1.1 as the scripted model needs: one bounded request and one answer a connection.

use std::io::{self, BufRead, Read, Write};

/// The longest request line and header lines together, in bytes.
const LONGEST_HEAD: u64 = 64 * 1024;
/// The longest body, in bytes. A conversation of a million tokens is about 4 MB.
const LONGEST_BODY: u64 = 64 * 1024 * 1024;

/// One request, read whole. Header names are in lower case.
pub(super) struct Request {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

/// Why no request could be read.
#[derive(Debug)]
pub(super) enum Unreadable {
    /// The other side closed the connection, or it broke. There is nobody to answer.
    Gone,
    /// What came is not a request that can be served; answer with this status and say why.
    Refused { status: u16, why: String },
}

/// One answer. `Connection: close` is added, because every connection serves one request.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) content_type: &'static str,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

impl Request {
    /// Returns the value of a header, by its name in lower case.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Returns the path without the query.
    pub(super) fn route(&self) -> &str {
        self.path.split_once('?').map_or(self.path.as_str(), |(path, _)| path)
    }
}

impl From<io::Error> for Unreadable {
    fn from(_: io::Error) -> Self {
        Unreadable::Gone
    }
}

/// Returns the next request of a connection; `writer` is asked to tell a waiting client to send its body.
pub(super) fn read_request(
    reader: &mut impl BufRead,
    writer: &mut impl Write,
) -> Result<Request, Unreadable> {
    let mut head = reader.take(LONGEST_HEAD);
    let first = head_line(&mut head)?;
    let mut words = first.split(' ');
    let (Some(method), Some(path), Some("HTTP/1.1" | "HTTP/1.0")) =
        (words.next(), words.next(), words.next())
    else {
        return Err(refused(400, "the request line is not one of HTTP/1.1"));
    };
    let mut request = Request {
        method: method.to_owned(),
        path: path.to_owned(),
        headers: Vec::new(),
        body: Vec::new(),
    };
    loop {
        let line = head_line(&mut head)?;
        if line.is_empty() {
            break;
        }
        let Some((name, value)) = line.split_once(':') else {
            return Err(refused(400, "a header line has no colon"));
        };
        request.headers.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
    }
    if request.header("expect").is_some_and(|value| value.eq_ignore_ascii_case("100-continue")) {
        writer.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
    }
    request.body = read_body(reader, &request)?;
    Ok(request)
}

/// Writes one answer whole. A `HEAD` request gets the headers only.
pub(super) fn write_answer(
    writer: &mut impl Write,
    method: &str,
    answer: &Answer,
) -> io::Result<()> {
    let mut head = format!(
        "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n",
        answer.status,
        phrase(answer.status),
        answer.content_type,
        answer.body.len()
    );
    for (name, value) in &answer.headers {
        head.push_str(name);
        head.push_str(": ");
        head.push_str(value);
        head.push_str("\r\n");
    }
    head.push_str("\r\n");
    writer.write_all(head.as_bytes())?;
    if method != "HEAD" {
        writer.write_all(&answer.body)?;
    }
    writer.flush()
}

fn head_line(head: &mut impl BufRead) -> Result<String, Unreadable> {
    let mut line = Vec::new();
    head.read_until(b'\n', &mut line)?;
    if line.is_empty() {
        return Err(Unreadable::Gone);
    }
    if line.pop() != Some(b'\n') {
        return Err(refused(431, "the head of the request is too long or cut off"));
    }
    if line.last() == Some(&b'\r') {
        line.pop();
    }
    String::from_utf8(line).map_err(|_| refused(400, "the head of the request is not UTF-8"))
}

fn read_body(reader: &mut impl BufRead, request: &Request) -> Result<Vec<u8>, Unreadable> {
    if request
        .header("transfer-encoding")
        .is_some_and(|value| value.eq_ignore_ascii_case("chunked"))
    {
        return read_chunks(reader);
    }
    let Some(length) = request.header("content-length") else {
        return Ok(Vec::new());
    };
    let length: u64 =
        length.parse().map_err(|_| refused(400, "the content length is not a number"))?;
    read_exactly(reader, length, 0)
}

fn read_chunks(reader: &mut impl BufRead) -> Result<Vec<u8>, Unreadable> {
    let mut body = Vec::new();
    loop {
        let line = head_line(&mut reader.take(LONGEST_HEAD))?;
        let size = line.split(';').next().unwrap_or_default().trim();
        let size = u64::from_str_radix(size, 16)
            .map_err(|_| refused(400, "the size of a chunk is not a number"))?;
        if size == 0 {
            break;
        }
        body.append(&mut read_exactly(reader, size, body.len() as u64)?);
        if !head_line(&mut reader.take(LONGEST_HEAD))?.is_empty() {
            return Err(refused(400, "a chunk is longer than its size"));
        }
    }
    // Trailers mean nothing here; they end at an empty line.
    while !head_line(&mut reader.take(LONGEST_HEAD))?.is_empty() {}
    Ok(body)
}

fn read_exactly(
    reader: &mut impl BufRead,
    length: u64,
    already: u64,
) -> Result<Vec<u8>, Unreadable> {
    if length > LONGEST_BODY.saturating_sub(already) {
        return Err(refused(413, "the body is too long"));
    }
    let mut body = Vec::new();
    reader.take(length).read_to_end(&mut body)?;
    if (body.len() as u64) < length {
        return Err(Unreadable::Gone);
    }
    Ok(body)
}

fn refused(status: u16, why: &str) -> Unreadable {
    Unreadable::Refused { status, why: why.to_owned() }
}

fn phrase(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        413 => "Content Too Large",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        500 => "Internal Server Error",
        529 => "Overloaded",
        _ => "Other",
    }
}
