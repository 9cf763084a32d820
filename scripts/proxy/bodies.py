"""bodies.py DIR: bodies of growing conversations of about 10 kB, 100 kB and 1 MB, twenty of each, each longer than the one
before; and the script that has wrk send them in turn."""

import json
import pathlib
import sys

OUT = pathlib.Path(sys.argv[1])
WORDS = "The lantern build failed with E-4417 while the mast was lowered; the second boiler's valve is turned by hand. "


def body(name, count, text):
    said = [{"role": "system", "content": f"Be brief. {name}"}]
    for n in range(count):
        said.append({"role": ["user", "assistant"][n % 2], "content": f"{n} {text}"})
    return json.dumps({"model": "m", "messages": said})


for name, size in [("10k", 10_000), ("100k", 100_000), ("1m", 1_000_000)]:
    folder = OUT / name
    folder.mkdir(parents=True, exist_ok=True)
    text = WORDS * max(1, size // 60 // len(WORDS))
    last = max(41, size // (len(text) + 45))
    for n in range(20):
        (folder / f"{n}.json").write_text(body(name, last - 2 * (19 - n) + 1, text))

(OUT / "wrk.lua").write_text(
    """
local folder = os.getenv("BODIES")
local bodies, at = {}, 0
for n = 0, 19 do
  local file = io.open(folder .. "/" .. n .. ".json")
  bodies[n] = file:read("*a")
  file:close()
end
local headers = {["content-type"] = "application/json", ["authorization"] = "Bearer made-up"}
request = function()
  at = (at + 1) % 20
  return wrk.format("POST", "/v1/chat/completions", headers, bodies[at])
end
done = function(summary, latency)
  local errors = summary.errors.status + summary.errors.connect + summary.errors.read + summary.errors.timeout
  io.write(string.format("%.0f %.0f %.1f %d\\n", latency:percentile(50), latency:percentile(99), summary.requests / summary.duration * 1e6, errors))
end
"""
)
