"""An OpenAI-compatible endpoint that generates nothing: it streams as many tokens as it is asked for.

endpoint.py PORT SECONDS_TO_FIRST_TOKEN SECONDS_BETWEEN_TOKENS
"""
import http.server
import json
import sys
import time

port, first, gap = int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3])


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else a token waits until the client has acknowledged the one before it

    def do_GET(self):
        body = json.dumps({"data": [{"id": "toy"}]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        tokens = asked.get("max_tokens", 16)
        words = len(json.dumps(asked.get("messages", asked.get("prompt"))).split())
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        start = time.monotonic() + first
        for i in range(tokens):
            time.sleep(max(0, start + i * gap - time.monotonic()))
            self.event({"choices": [{"index": 0, "delta": {"content": "word "}, "text": "word "}]})
        self.event({"choices": [{"index": 0, "delta": {}, "finish_reason": "length"}]})
        self.event({"choices": [], "usage": {"prompt_tokens": words, "completion_tokens": tokens}})
        self.chunk(b"data: [DONE]\n\n")
        self.wfile.write(b"0\r\n\r\n")

    def event(self, data):
        self.chunk(b"data: " + json.dumps(data).encode() + b"\n\n")

    def chunk(self, data):
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def log_message(self, *args):
        pass


http.server.ThreadingHTTPServer.request_queue_size = 256
http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()
