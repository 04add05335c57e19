"""A server of values in memory for tests: files over HTTP, and what clients of S3 ask for of a bucket."""

from __future__ import annotations

import gzip
import hashlib
import re
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape, unescape


class Server(ThreadingHTTPServer):
    """Values by the path of their URL, and the requests for them. A bucket is the first name of a path."""

    daemon_threads = True
    # Many connections begin at once.
    request_queue_size = 256

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.values: dict[str, bytes] = {}
        #: Method, path and headers of each request.
        self.requests: list[tuple[str, str, dict[str, str]]] = []
        #: Paths that answer with 403.
        self.refused: set[str] = set()
        #: Values come with this ``Content-Encoding``, ``gzip`` or ``deflate``, to who accepts that, and to who does not.
        self.encodes: str | None = None
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def asked_by(self, native: bool) -> list[tuple[str, str]]:
        """The requests for chunks by this library, or else by stores of Python."""
        return [
            (method, path)
            for method, path, headers in self.requests
            if headers.get("user-agent", "").startswith("zarr-rs/") == native and ("/c/" in path or method == "POST")
        ]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def log_message(self, *_: Any) -> None:
        pass

    def _answer(self, status: int, body: bytes = b"", **headers: str) -> None:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        named.setdefault("Content-Length", str(len(body)))
        head = f"HTTP/1.1 {status} x\r\n" + "".join(f"{name}: {value}\r\n" for name, value in named.items()) + "\r\n"
        self.wfile.write(head.encode() + (b"" if self.command == "HEAD" else body))

    def _begin(self) -> str:
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.requests.append((self.command, self.path, headers))
        return unquote(urlsplit(self.path).path)

    def do_GET(self) -> None:
        path, query = self._begin(), parse_qs(urlsplit(self.path).query, keep_blank_values=True)
        if "list-type" in query:
            return self._list(path.strip("/"), query)
        if path in self.server.refused:
            return self._answer(403, b"<Error><Code>AccessDenied</Code></Error>")
        value = self.server.values.get(path)
        if value is None:
            return self._answer(404, b"<Error><Code>NoSuchKey</Code></Error>")
        tag = f'"{hashlib.md5(value).hexdigest()}"'
        known = {"ETag": tag, "Last_Modified": "Thu, 01 Jan 2026 00:00:00 GMT", "Accept_Ranges": "bytes"}
        if self.headers.get("If-Match", tag) != tag:
            return self._answer(412)
        if self.server.encodes:
            compress = {"gzip": gzip.compress, "deflate": zlib.compress}[self.server.encodes]
            return self._answer(200, compress(value), Content_Encoding=self.server.encodes, **known)
        asked = self.headers.get("Range")
        if asked is None:
            return self._answer(200, value, **known, **({"Content_Length": str(len(value))} if self.command == "HEAD" else {}))
        start, _, end = asked.removeprefix("bytes=").partition("-")
        begin = max(0, len(value) - int(end)) if not start else int(start)
        stop = len(value) if not start or not end else min(len(value), int(end) + 1)
        if begin >= stop:
            return self._answer(416, Content_Range=f"bytes */{len(value)}")
        self._answer(206, value[begin:stop], Content_Range=f"bytes {begin}-{stop - 1}/{len(value)}", **known)

    do_HEAD = do_GET

    def do_PUT(self) -> None:
        path = self._begin()
        value = self.rfile.read(int(self.headers["Content-Length"]))
        if path in self.server.refused:
            return self._answer(403, b"<Error><Code>AccessDenied</Code></Error>")
        with self.server.lock:
            old = self.server.values.get(path)
            tag = None if old is None else f'"{hashlib.md5(old).hexdigest()}"'
            if self.headers.get("If-Match", tag) != tag or (self.headers.get("If-None-Match") == "*" and old is not None):
                return self._answer(412, b"<Error><Code>PreconditionFailed</Code></Error>")
            self.server.values[path] = value
        self._answer(200, ETag=f'"{hashlib.md5(value).hexdigest()}"')

    def do_DELETE(self) -> None:
        self.server.values.pop(self._begin(), None)
        self._answer(204)

    def do_POST(self) -> None:
        """Deletes several."""
        bucket = self._begin().strip("/")
        asked = self.rfile.read(int(self.headers["Content-Length"])).decode()
        names = [unescape(name) for name in re.findall("<Key>(.*?)</Key>", asked)]
        for name in names:
            self.server.values.pop(f"/{bucket}/{name}", None)
        done = "".join(f"<Deleted><Key>{escape(name)}</Key></Deleted>" for name in names)
        text = f'<?xml version="1.0"?><DeleteResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">{done}</DeleteResult>'
        self._answer(200, text.encode(), Content_Type="application/xml")

    def _list(self, bucket: str, query: dict[str, list[str]]) -> None:
        prefix, delimiter = query.get("prefix", [""])[0], query.get("delimiter", [""])[0]
        names = sorted(path.removeprefix(f"/{bucket}/") for path in tuple(self.server.values) if path.startswith(f"/{bucket}/{prefix}"))
        folders = {prefix + name[len(prefix) :].split(delimiter)[0] + delimiter for name in names if delimiter and delimiter in name[len(prefix) :]}
        names = [name for name in names if not delimiter or delimiter not in name[len(prefix) :]]
        found = "".join(
            f"<Contents><Key>{escape(name)}</Key><Size>{len(self.server.values[f'/{bucket}/{name}'])}</Size>"
            "<LastModified>2026-01-01T00:00:00.000Z</LastModified><ETag>x</ETag><StorageClass>STANDARD</StorageClass></Contents>"
            for name in names
        ) + "".join(f"<CommonPrefixes><Prefix>{escape(folder)}</Prefix></CommonPrefixes>" for folder in sorted(folders))
        head = f"<Name>{bucket}</Name><Prefix>{escape(prefix)}</Prefix><KeyCount>{len(names)}</KeyCount><IsTruncated>false</IsTruncated>"
        text = f'<?xml version="1.0"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">{head}{found}</ListBucketResult>'
        self._answer(200, text.encode(), Content_Type="application/xml")


@contextmanager
def serving() -> Iterator[Server]:
    """A server on a port of its own."""
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
