//! Stores, servers and requests.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;
use zarr_array::{Array, Group, NewArray, NewGroup, Registry, Store};
use zarr_json::Value;
use zarr_serve::{ServeOptions, Server};
use zarr_store::MemoryStore;

pub(crate) fn registry() -> Arc<Registry> {
    let mut registry = Registry::default();
    zarr_codec_bytes::CODECS.iter().for_each(|entry| registry.codecs.add(*entry));
    zarr_codec_sharding::CODECS.iter().for_each(|entry| registry.codecs.add(*entry));
    Arc::new(registry)
}

/// A data set: `t2m` (time 3, lat 4, lon 6), packed, with coordinates; and a group with an array of strings' neighbours.
pub(crate) fn climate() -> Arc<dyn Store> {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let group = Group::create(&store, "/", NewGroup::new().attribute("title", "test"), &registry()).unwrap();
    let array = |name: &str, dims: &[&str], shape: &[u64], data_type: &str| {
        NewArray::new(shape, data_type).dimension_names(dims).codecs("bytes").unwrap().attribute("long_name", name)
    };
    let time = array("time", &["time"], &[3], "int32").attribute("units", "days since 2020-01-01");
    group.create_array("time", time).unwrap().write(.., &[0, 1, 31]).unwrap();
    let lat = array("lat", &["lat"], &[4], "float32").attribute("units", "degrees_north");
    group.create_array("lat", lat).unwrap().write(.., &[60_f32, 50.5, 40.0, 30.0]).unwrap();
    let t2m = array("t2m", &["time", "lat", "lon"], &[3, 4, 6], "int16")
        .chunks(&[1, 2, 3])
        .attribute("scale_factor", 0.5)
        .attribute("add_offset", 273.0)
        .attribute("_FillValue", -1)
        .attribute("units", "K");
    let mut values: Vec<i16> = (0..72).collect();
    values[30] = -1;
    group.create_array("t2m", t2m).unwrap().write(.., &values).unwrap();
    let other = NewGroup::new();
    Group::create(&store, "/other", other, &registry()).unwrap();
    let plain = NewArray::new(&[2, 2], "float64").codecs("bytes").unwrap();
    let plain = Array::create(&store, "/other/plain", plain, &registry()).unwrap();
    plain.write(.., &[1.5, f64::NAN, f64::INFINITY, -2.0]).unwrap();
    store
}

pub(crate) fn serve(store: Arc<dyn Store>, options: &ServeOptions) -> Server {
    Server::start(store, registry(), options).unwrap()
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    head: String,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    /// The answer in these bytes, if they are one.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let at = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
        let head = String::from_utf8(bytes.get(..at)?.to_vec()).ok()?;
        let status = head.strip_prefix("HTTP/1.1 ").or(head.strip_prefix("HTTP/1.0 "))?.get(..3)?.parse().ok()?;
        Some(Self { status, head, body: bytes.get(at + 4..)?.to_vec() })
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().skip(1).filter_map(|line| line.split_once(": "));
        lines.into_iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn json(&self) -> Value {
        Value::from_json(&self.text()).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

pub(crate) fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    stream.set_write_timeout(Some(Duration::from_secs(60))).unwrap();
    stream
}

/// Sends bytes and reads until the server closes the connection.
pub(crate) fn exchange(address: SocketAddr, request: &[u8]) -> Vec<u8> {
    let mut stream = connect(address);
    // A server that refuses a request early may not take the rest.
    let _ = stream.write_all(request);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    answer
}

/// A request with lines of headers, each with its end.
pub(crate) fn request(server: &Server, method: &str, path: &str, headers: &str) -> Answer {
    let text = format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}\r\n");
    let bytes = exchange(server.address(), text.as_bytes());
    Answer::parse(&bytes).unwrap_or_else(|| panic!("{method} {path}: {:?}", String::from_utf8_lossy(&bytes)))
}

pub(crate) fn get(server: &Server, path: &str) -> Answer {
    request(server, "GET", path, "")
}

/// The answer to a question, which has to be one.
pub(crate) fn ask(server: &Server, question: &str) -> Value {
    let answer = get(server, &format!("/api/{question}"));
    assert_eq!(answer.status, 200, "{question}: {}", answer.text());
    answer.json()
}

/// A member of an answer as text.
pub(crate) fn at(value: &Value, pointer: &str) -> String {
    value.pointer(pointer).unwrap_or_else(|| panic!("{pointer}: {value}")).to_string()
}
