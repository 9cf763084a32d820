#!/usr/bin/env python3
"""Draws a compaction: the conversation before as a column, the request after beside it, heights by tokens.

    cargo run --release --quiet -- plan examples/conversations/openai.json --json | scripts/picture.py > docs/picture.svg

Reads what `conspectus plan --json` prints (its first conversation), writes an SVG. Standard library only; the same
input gives the same bytes.
"""

import json
import sys
from html import escape

WIDTH, TOP, COLUMN = 760, 72, 440
BAR = 150
LEFT, RIGHT = 136, 444
GAP = 1.2  # between blocks, taken from their height
FOOT = 44

# Light and dark. "fold" and "keep" are the bands; the other kinds may colour a band too, so they come after.
LIGHT = {
    "fold": "#d97a13", "keep": "#7d8694",
    "card": "#ffffff", "edge": "#d5dae1", "ink": "#1f2733", "soft": "#5c6675",
    "system": "#7d8694", "user": "#2f6fdb", "assistant": "#8a5bd0", "tool": "#1f9470", "summary": "#d97a13",
}
DARK = {
    "fold": "#f0a03c", "keep": "#8b95a5",
    "card": "#12161d", "edge": "#2c3440", "ink": "#e6eaf0", "soft": "#9aa5b4",
    "system": "#8b95a5", "user": "#5b95f5", "assistant": "#a987ea", "tool": "#35b38c", "summary": "#f0a03c",
}


def kind(unit):
    """The colour of a unit: a call stands with its result."""
    if " calls " in unit["what"]:
        return "tool"
    return unit["what"] if unit["what"] in ("system", "user", "assistant") else "tool"


def blocks_before(units):
    return [{**u, "kind": kind(u), "size": u["tokens"]} for u in units]


def blocks_after(units, summary):
    """What the model is sent: leading system messages, the summary, then what stays."""
    stays = [{**u, "kind": kind(u), "size": u["tokens_after"]} for u in units if u["fate"] == "stays"]
    lead = [b for b in stays if b["why"] == "system prompt"]
    rest = [b for b in stays if b["why"] != "system prompt"]
    if summary is None:
        return lead + rest
    return lead + [{"kind": "summary", "size": summary["tokens"], "why": "summary", "messages": []}] + rest


def place(blocks, scale):
    """Gives every block its top and bottom."""
    y = TOP
    for block in blocks:
        block["y0"], block["y1"] = y, y + block["size"] * scale
        y = block["y1"]
    return y


def rect(x, block, faded=False):
    height = max(block["y1"] - block["y0"] - GAP, 1.4)
    extra = ' opacity=".38"' if faded else ""
    return (
        f'<rect class="{block["kind"]}" x="{x}" y="{block["y0"]:.1f}" width="{BAR}" '
        f'height="{height:.1f}" rx="1.5"{extra}/>'
    )


def band(cls, a0, a1, b0, b1):
    """A band from the left column's a0..a1 to the right column's b0..b1."""
    x0, x1 = LEFT + BAR + 3, RIGHT - 3
    mid = (x0 + x1) / 2
    return (
        f'<path class="{cls}" d="M{x0} {a0:.1f}C{mid} {a0:.1f} {mid} {b0:.1f} {x1} {b0:.1f}'
        f'L{x1} {b1:.1f}C{mid} {b1:.1f} {mid} {a1:.1f} {x0} {a1:.1f}Z"/>'
    )


def runs(blocks, same):
    """Neighbours that are the same, joined."""
    out = []
    for block in blocks:
        if out and same(out[-1][-1], block):
            out[-1].append(block)
        else:
            out.append([block])
    return out


def bands(before, after):
    """What stays leads to where it stands now; what goes leads into its share of the summary."""
    now = {tuple(b["messages"]): b for b in after if b["messages"]}
    summary = next((b for b in after if b["kind"] == "summary"), None)
    going = sum(b["size"] for b in before if b["fate"] == "goes") or 1
    folded, kept, at = [], [], summary["y0"] if summary else 0
    for run in runs(before, lambda a, b: a["why"] == b["why"]):
        first, last = run[0], run[-1]
        if first["fate"] == "goes" and summary:
            share = sum(b["size"] for b in run) / going * (summary["y1"] - summary["y0"])
            folded.append(band("fold", first["y0"], last["y1"] - GAP, at, at + share))
            at += share
        elif first["fate"] == "stays":
            to = [now[tuple(b["messages"])] for b in run]
            cls = "keep" if len(run) > 1 or first["kind"] == "system" else f"keep {first['kind']}"
            kept.append(band(cls, first["y0"], last["y1"] - GAP, to[0]["y0"], to[-1]["y1"] - GAP))
    return folded + kept


def text(x, y, words, cls="", anchor="start"):
    cls = f' class="{cls}"' if cls else ""
    return f'<text x="{x}" y="{y:.1f}" text-anchor="{anchor}"{cls}>{escape(words)}</text>'


def labels(before, after):
    """A word beside each run of the right column, and the key beside the left one."""
    out, free = [], 0
    for run in runs(after, lambda a, b: a["why"] == b["why"]):
        tokens = sum(b["size"] for b in run)
        y = max((run[0]["y0"] + run[-1]["y1"]) / 2 + 4, free)
        out.append(text(RIGHT + BAR + 12, y, run[0]["why"]))
        out.append(text(RIGHT + BAR + 12, y + 14, f"{tokens:,}", "soft"))
        free = y + 32
    names = (("system", "system"), ("user", "user"), ("assistant", "assistant"), ("tool", "call + result"))
    present = [n for n in names if any(b["kind"] == n[0] for b in before)]
    for row, (name, words) in enumerate(present):
        y = TOP + 10 + 22 * row
        out.append(f'<rect class="{name}" x="22" y="{y - 9}" width="10" height="10" rx="2"/>')
        out.append(text(38, y, words, "soft"))
    return out


def style():
    def rules(colours):
        fills = "".join(f".{k}{{fill:{v}}}" for k, v in colours.items() if k not in ("card", "edge", "ink", "soft"))
        return (f".card{{fill:{colours['card']};stroke:{colours['edge']}}}text{{fill:{colours['ink']}}}"
                f"text.soft{{fill:{colours['soft']}}}{fills}")

    return (
        "<style>text{font:13px system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif}"
        "text.head{font-size:15px;font-weight:600}text.gain{font-size:34px;font-weight:600}"
        ".fold{opacity:.22}.keep{opacity:.32}.keep.user{opacity:.8}"
        f"{rules(LIGHT)}@media (prefers-color-scheme:dark){{{rules(DARK)}}}</style>"
    )


def gain(talk):
    """What it comes to, with a true minus."""
    return f"\u2212{100 - round(100 * talk['counted_after'] / talk['counted_before'])}%"


def draw(plan):
    result = plan["results"][0]
    talk = result["conversations"][0]
    before = blocks_before(talk["units"])
    after = blocks_after(talk["units"], talk["summary"])
    scale = COLUMN / sum(b["size"] for b in before)
    bottom = max(place(before, scale), place(after, scale) + 100)
    height = int(bottom + FOOT)
    title = (f"A conversation of {talk['messages_before']} messages and {talk['counted_before']:,} tokens becomes "
             f"{talk['messages_after']} messages and a summary, {talk['counted_after']:,} tokens")
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        f'role="img" aria-labelledby="t"><title id="t">{escape(title)}</title>',
        style(),
        f'<rect class="card" x=".5" y=".5" width="{WIDTH - 1}" height="{height - 1}" rx="10"/>',
        text(LEFT, 32, "before", "head"),
        text(LEFT, 52, f"{talk['messages_before']} messages, {talk['counted_before']:,} tokens", "soft"),
        text(RIGHT, 32, "what the model is sent after", "head"),
        text(RIGHT, 52, f"{talk['messages_after']} messages and a summary, {talk['counted_after']:,} tokens", "soft"),
        *bands(before, after),
        *(rect(LEFT, b, faded=b["fate"] == "goes") for b in before),
        *(rect(RIGHT, b) for b in after),
        *labels(before, after),
        text(RIGHT, after[-1]["y1"] + 72, gain(talk), "gain"),
        text(RIGHT, after[-1]["y1"] + 94, "tokens", "soft"),
        text(WIDTH - 24, height - 16, "heights by tokens; faded: folded into the summary", "soft", "end"),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.stdout.write(draw(json.load(sys.stdin)))
