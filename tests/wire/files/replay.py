"""Sends the requests of a file one after the other and compares the answers, without any client library.

usage: replay.py FILE      the cluster and the user are those of $KUBECONFIG

The file is YAML with `requests`, a list of maps:
    ask: METHOD PATH       what is sent
    send: {...}            its body, JSON of the media type `as` (application/json when not said)
    gives: 200             the status that must come
    shows: {...}           what the answer must have: maps by their keys, lists by their items, other values equal
    within: 60             asked again until both hold, for at most so many seconds
Says what differs, else how many requests there were.
"""
import base64
import http.client
import json
import os
import ssl
import sys
import tempfile
import time
import urllib.parse

import yaml


def connection():
    """A connection with the certificate of the kubeconfig."""
    config = yaml.safe_load(open(os.environ["KUBECONFIG"]))
    cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
    context = ssl.create_default_context(cadata=base64.b64decode(cluster["certificate-authority-data"]).decode())
    with tempfile.NamedTemporaryFile() as pair:
        pair.write(base64.b64decode(user["client-certificate-data"]) + base64.b64decode(user["client-key-data"]))
        pair.flush()
        context.load_cert_chain(pair.name)
    return http.client.HTTPSConnection(urllib.parse.urlsplit(cluster["server"]).netloc, context=context)


def has(actual, expected):
    """Whether an answer has what is expected of it."""
    if isinstance(expected, dict):
        return isinstance(actual, dict) and all(key in actual and has(actual[key], value) for key, value in expected.items())
    if isinstance(expected, list):
        return isinstance(actual, list) and len(actual) == len(expected) and all(map(has, actual, expected))
    return actual == expected


def ask(kept, request):
    """'' when the answer is what the request says, else how it differs."""
    method, path = request["ask"].split()
    body = json.dumps(request["send"]) if "send" in request else None
    kept.request(method, path, body, {"Content-Type": request.get("as", "application/json"), "Accept": "application/json"})
    answer = kept.getresponse()
    text = answer.read().decode()
    if answer.status != request["gives"] or not has(json.loads(text), request.get("shows", {})):
        return f"{request['ask']}: {answer.status} {text.strip()[:600]}"
    return ""


def main():
    kept = connection()
    requests = yaml.safe_load(open(sys.argv[1]))["requests"]
    for request in requests:
        deadline = time.monotonic() + request.get("within", 0)
        while problem := ask(kept, request):
            if time.monotonic() >= deadline:
                print(problem)
                return 1
            time.sleep(0.2)
    print(f"{len(requests)} requests")
    return 0


if __name__ == "__main__":
    sys.exit(main())
