#!/usr/bin/env python3
"""Writes crates/tokens/tests/fixtures/tiktoken_counts.json: what OpenAI's own Python package counts.

    python3 -m venv VENV && VENV/bin/pip install tiktoken
    VENV/bin/python scripts/tokens/tiktoken_counts.py

The package fetches its vocabularies once, from OpenAI, and checks their SHA-256. Without that network, put
the files into TIKTOKEN_CACHE_DIR, named by the SHA-1 of their address: the crate bpe-openai carries the same
bytes as data/*.tiktoken.gz (this is how the committed fixture was made; the package accepted their checksums).
"""

import json
import pathlib
import random
import re
import string

import tiktoken

ROOT = pathlib.Path(__file__).parents[2]
OUT = ROOT / "crates/tokens/tests/fixtures/tiktoken_counts.json"


def samples():
    """The sentences of tests/it/samples.rs."""
    source = (ROOT / "crates/tokens/tests/it/samples.rs").read_text("utf-8")
    for raw, plain in re.findall(r'\("[a-z ]+", (?:r#"(.*?)"#|"((?:[^"\\]|\\.)*)")\)', source, re.S):
        yield raw or json.loads('"' + re.sub(r"\\\n\s*", "", plain).replace("\\'", "'") + '"')


def made(rng):
    pick = lambda alphabet, n: "".join(rng.choice(alphabet) for _ in range(n))
    yield from ["", " ", "\n", "hello world", "don't you'll WE'VE", "<|endoftext|> <|im_start|>", "a" * 300, " " * 300, "\n\n\n  \n", "\t\tx \r\n\r\n y"]
    yield from ["\u0000\u0007\u007f\u0085\u00a0\u2028\ufeff", "e\u0301\u0308 n\u0303", "ΑΣ ς ſ İı ǅ", "１２３４５ ٣٤٥ Ⅷ ½", "👩‍👩‍👧‍👦🏳️‍🌈🇫🇷", "\U000e0001\U0010ffff\ue000"]
    for _ in range(60):
        yield pick(string.printable, rng.randrange(1, 120))
        yield pick(string.ascii_letters, rng.randrange(1, 80))
        yield pick("  \n\r\t'sStTlL,.12345/aA", rng.randrange(1, 60))
        yield "".join(chr(c) for c in (rng.randrange(0x20, 0x3100) for _ in range(40)))
        yield "".join(chr(c) for c in (rng.randrange(0x110000) for _ in range(25)) if not 0xD800 <= c < 0xE000)
        yield "".join(chr(rng.randrange(0x4E00, 0xA000)) for _ in range(30))


def main():
    rng = random.Random(4)
    encodings = [tiktoken.get_encoding(name) for name in ("o200k_base", "cl100k_base")]
    rows = []
    for text in [*samples(), *made(rng)]:
        rows.append([text, *(len(encoding.encode_ordinary(text)) for encoding in encodings)])
    out = {"package": "tiktoken " + tiktoken.__version__, "columns": ["text", "o200k_base", "cl100k_base"], "rows": rows}
    OUT.parent.mkdir(parents=True, exist_ok=True)
    OUT.write_text(json.dumps(out, separators=(",", ":")).replace(',["', ',\n["') + "\n", "utf-8")
    print(OUT, OUT.stat().st_size, "bytes,", len(rows), "texts")


main()
