"""seen.py UPSTREAM: what the scripted upstream was sent, a request a line."""

import json
import sys
import urllib.request

for entry in json.load(urllib.request.urlopen(f"{sys.argv[1]}/seen")):
    if not entry["refused"]:
        print(json.dumps(entry))
