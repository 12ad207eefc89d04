"""A stand-in for the embedded server: same order, same answer, same end, and no model.

The first argument says how it behaves; the marker file named by the second collects one line per start.
"""

import http.server
import json
import os
import sys
import threading
import time
from pathlib import Path


class Hello(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = b'{"status": "ok"}'
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        return


def main() -> None:
    behaviour, marker = sys.argv[1], Path(sys.argv[2])
    json.loads(sys.stdin.readline())
    with marker.open("a") as file:
        file.write(f"{os.getpid()}\n")
    print("a line of log", file=sys.stderr, flush=True)
    match behaviour:
        case "refuse":
            print(json.dumps({"error": "the model is made of wood."}), flush=True)
            sys.exit(1)
        case "crash":
            os.kill(os.getpid(), 11)
        case "babble":
            print("llama llama", flush=True)
        case "hang":
            time.sleep(600)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hello)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(json.dumps({"port": server.server_address[1], "pid": os.getpid()}), flush=True)
    sys.stdin.read()
    if behaviour == "stubborn":
        time.sleep(600)
    os._exit(0)


if __name__ == "__main__":
    main()
