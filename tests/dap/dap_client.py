# SPDX-License-Identifier: Apache-2.0
"""A small Debug Adapter Protocol client: sockets and JSON only, none of the program's own code."""
import collections
import json
import socket
import subprocess

TIMEOUT_S = 120  # of one wait; a stuck adapter fails the test instead of hanging it


class DapError(Exception):
    """The adapter answered a request with success = false."""


class DapClient:
    """Speaks over any pair of binary streams. Events that come while a response is awaited are kept."""

    def __init__(self, reader, writer):
        self._reader = reader
        self._writer = writer
        self._seq = 0
        self._events = collections.deque()
        self.seen = []  # every event's name, in order

    def send_raw(self, data):
        self._writer.write(data)
        self._writer.flush()

    def send_body(self, body):
        self.send_raw(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def read_message(self):
        length = None
        while True:
            line = self._reader.readline()
            if not line:
                raise EOFError("the adapter closed the connection")
            if line == b"\r\n":
                break
            name, _, value = line.partition(b":")
            if name.lower() != b"content-length":
                raise AssertionError(f"the adapter wrote something that is no DAP header: {line!r}")
            length = int(value)
        body = self._reader.read(length)
        return json.loads(body)

    def _next(self, wanted):
        while True:
            message = self.read_message()
            if message["type"] == "event":
                self.seen.append(message["event"])
                self._events.append(message)
                if wanted == "event":
                    return message
            elif wanted == "response":
                return message

    def request(self, command, **arguments):
        """The response's body; raises DapError with its message."""
        self._seq += 1
        self.send_body(json.dumps({"seq": self._seq, "type": "request", "command": command,
                                   "arguments": arguments}).encode())
        response = self._next("response")
        assert response["request_seq"] == self._seq, response
        assert response["command"] == command, response
        if not response["success"]:
            raise DapError(response["message"])
        return response.get("body", {})

    def response(self):
        return self._next("response")

    def event(self, name):
        """The body of the next event of that name; others are kept."""
        while True:
            for message in self._events:
                if message["event"] == name:
                    self._events.remove(message)
                    return message.get("body", {})
            self._next("event")

    def initialize(self):
        capabilities = self.request("initialize", adapterID="tapescope", linesStartAt1=True)
        self.event("initialized")
        return capabilities

    def break_on(self, *names):
        return self.request("setFunctionBreakpoints", breakpoints=[{"name": name} for name in names])["breakpoints"]

    def go(self, command, **arguments):
        """A step or continue, and the stop it leads to."""
        self.request(command, threadId=1, **arguments)
        return self.event("stopped")

    def frames(self):
        return self.request("stackTrace", threadId=1)["stackFrames"]

    def scopes(self, frame_id):
        return {scope["name"]: scope["variablesReference"]
                for scope in self.request("scopes", frameId=frame_id)["scopes"]}

    def variables(self, reference, **paging):
        return {each["name"]: each
                for each in self.request("variables", variablesReference=reference, **paging)["variables"]}


class Server:
    """`tapescope dap --port 0` as a child process."""

    def __init__(self, program):
        self.process = subprocess.Popen([program, "dap", "--port", "0"], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        line = self.process.stdout.readline().decode()
        prefix = "listening on 127.0.0.1:"
        if not line.startswith(prefix):
            self.close()
            raise AssertionError(f"tapescope dap --port 0 said {line!r} instead of {prefix}PORT")
        self.port = int(line[len(prefix):])

    def connect(self):
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=TIMEOUT_S)
        stream = connection.makefile("rwb")
        client = DapClient(stream, stream)

        def vanish():
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # the adapter has closed it already
            stream.close()
            connection.close()

        client.close = vanish
        return client

    def close(self):
        self.process.terminate()
        self.process.wait(TIMEOUT_S)
        self.process.stdout.close()
        self.process.stderr.close()
