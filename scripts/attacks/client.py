"""A small HTTP client: one connection, which is opened again when the server closes it, and one session."""

import asyncio
import json
from dataclasses import dataclass, field

TIMEOUT = 30


@dataclass
class Response:
    status: int
    headers: dict = field(default_factory=dict)
    body: bytes = b""

    def json(self):
        return json.loads(self.body)

    @property
    def code(self):
        """The error's code, or an empty text."""
        try:
            return self.json().get("code", "")
        except (ValueError, AttributeError):
            return ""

    @property
    def is_honest(self):
        """Whether this is no failure of the server, or one that says when to come back."""
        return self.status < 500 or (self.status == 503 and "retry-after" in self.headers)


class Client:
    """A visitor from an address of its own, which the server learns from X-Forwarded-For."""

    def __init__(self, port, address=None):
        self.port = port
        self.address = address
        self.cookies = {}
        self.reader = self.writer = None

    async def get(self, path, **headers):
        return await self.request("GET", path, headers)

    async def post(self, path, value, **headers):
        headers.setdefault("content_type", "application/json")
        return await self.request("POST", path, headers, json.dumps(value).encode())

    async def request(self, method, path, headers=None, body=b""):
        """Sends a request. A connection that the server closed between two requests is opened again, once."""
        message = self._head(method, path, headers or {}, body) + body
        is_reused = self.writer is not None
        try:
            return await asyncio.wait_for(self._exchange(message), TIMEOUT)
        except (OSError, asyncio.IncompleteReadError):
            self.close()
            if not is_reused:
                raise
        except BaseException:
            self.close()
            raise
        return await asyncio.wait_for(self._exchange(message), TIMEOUT)

    def close(self):
        if self.writer:
            self.writer.close()
        self.reader = self.writer = None

    def _head(self, method, path, headers, body):
        lines = {"host": f"127.0.0.1:{self.port}", "content-length": str(len(body))}
        if self.address:
            lines["x-forwarded-for"] = self.address
        if self.cookies:
            lines["cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        lines |= {name.replace("_", "-"): value for name, value in headers.items()}
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        return f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode()

    async def _exchange(self, message):
        if not self.writer:
            self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
        self.writer.write(message)
        await self.writer.drain()
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        response = Response(int(head[0].split()[1]))
        for line in filter(None, head[1:]):
            name, value = line.split(":", 1)
            name, value = name.lower(), value.strip()
            if name == "set-cookie":
                cookie, content = value.split(";")[0].split("=", 1)
                self.cookies[cookie] = content
            response.headers[name] = value
        response.body = await self._body(response.headers)
        if response.headers.get("connection") == "close":
            self.close()
        return response

    async def _body(self, headers):
        if headers.get("transfer-encoding") != "chunked":
            return await self.reader.readexactly(int(headers.get("content-length", 0)))
        chunks = []
        while size := int((await self.reader.readline()).split(b";")[0], 16):
            chunks.append(await self.reader.readexactly(size))
            await self.reader.readline()
        await self.reader.readline()
        return b"".join(chunks)
