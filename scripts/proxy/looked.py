"""looked.py UPSTREAM PATH CLIENT COMPACTIONS: what a client's requests to paths that end with PATH looked like upstream.

CLIENT is a part of its user-agent. Prints them, and fails when nothing came, a sealed capsule went up, or the beginning of
a conversation changed more often than the proxy compacted. Requests without tools of clients that have tools (for titles
and the like) are left out. Cache marks move with every turn and are not compared.
"""

import json
import sys
import urllib.request

upstream, path, client, compactions = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])


def plain(value):
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items() if key != "cache_control"}
    return [plain(inner) for inner in value] if isinstance(value, list) else value


def messages(entry):
    body = json.loads(entry["raw"])
    return [json.dumps(plain(message)) for message in body.get("messages", body.get("input"))]


def common(before, after):
    """So many messages of the request before stand at the beginning of the one after it."""
    pairs = zip(before, after)
    return next((at for at, (one, other) in enumerate(pairs) if one != other), min(len(before), len(after)))


seen = json.load(urllib.request.urlopen(f"{upstream}/seen"))
mine = [entry for entry in seen if entry["path"].endswith(path) and client in entry["client"] and not entry["refused"]]
assert mine, "nothing came"
assert not any("cnsp1." in entry["raw"] for entry in mine), "a capsule went up"
if any(entry["tools"] for entry in mine):
    mine = [entry for entry in mine if entry["tools"]]
changed, before = 0, []
for entry in mine:
    now = messages(entry)
    same = common(before, now)
    # Clients put something of their own into the newest messages, which is no longer there at the next turn.
    changed += same < len(before) - 2
    print(f'  {entry["path"]} {entry["bytes"]} bytes, {len(now)} messages, {same} of the {len(before)} before')
    before = now
print(f"  {mine[0]['client']}: {len(mine)} requests, the beginning changed {changed} times, {compactions} compactions")
assert changed <= compactions
