"""Runs moto: moto_locked.py PORT. Requests that write are answered one at a time.

moto compares the ETag of a conditional PUT and then sets the value, in threads and without a lock, so that both of two racing writers
may succeed. S3 promises that one does.
"""

import sys
from threading import Lock

from moto.server import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
from werkzeug.serving import run_simple

moto, lock = DomainDispatcherApplication(create_backend_app), Lock()


def application(environ, start_response):
    if environ["REQUEST_METHOD"] in ("GET", "HEAD"):
        return moto(environ, start_response)
    with lock:
        return list(moto(environ, start_response))


run_simple("127.0.0.1", int(sys.argv[1]), application, threaded=True, request_handler=MotoRequestHandler)
