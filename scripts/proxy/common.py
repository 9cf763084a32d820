"""What the clients in Python share: `CLIENT.py PROXY UPSTREAM`."""

import json
import sys
import urllib.request

PROXY, UPSTREAM = sys.argv[1], sys.argv[2]
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
LONG = "The lantern build failed with E-4417 while the mast was lowered; the second boiler's valve is turned by hand. " * 12
FUNCTION = {"name": "run", "description": "Runs a command.", "parameters": {"type": "object", "properties": {"cmd": {"type": "string"}}}}


def seen():
    """What the upstream was asked."""
    return json.load(urllib.request.urlopen(f"{UPSTREAM}/seen"))


def each(conversations):
    """Has each of the conversations, which give the bytes of the client's list, and looks at what came of it."""
    for name, conversation in conversations.items():
        before = len(seen())
        size = conversation()
        new = seen()[before:]
        largest = max(entry["bytes"] for entry in new)
        refused = sum(entry["refused"] for entry in new)
        assert refused <= 1, f"{name}: {refused} were refused"
        assert largest * 2 < size or refused, (name, largest, size)
        print(f"{name}: {len(new)} requests, the client's list {size} bytes, the largest sent {largest}, refused {refused}")
