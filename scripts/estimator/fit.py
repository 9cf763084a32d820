#!/usr/bin/env python3
"""Writes crates/core/src/count/estimator/table.rs: how likely a token begins at a character.

    python3 -m venv VENV && VENV/bin/pip install tiktoken django
    TIKTOKEN_CACHE_DIR=... VENV/bin/python scripts/estimator/fit.py SHARED

SHARED/data: real sessions. Django: its translations, short sentences in some 90 languages. The rest is made
here: random letters, base64, hex, random characters of each script. The tables are, for each pair of
neighbouring characters, the share of cases in which the tokenizer (o200k_base) starts a token at the
second, apart for calm text and for wild text (where the pairs of letters are odd ones). Nothing of the
texts can be read back from them.
"""

import base64
import collections
import glob
import json
import pathlib
import random
import re
import string
import sys
import uuid

import django
import tiktoken

OUT = pathlib.Path(__file__).parents[2] / "crates/core/src/count/estimator/table.rs"
LEVELS = 64
COLUMNS = 100  # see `column`
NON_ASCII = 99

# (first code point, name): a group reaches to the next one's first.
GROUPS = [
    (0x80, "Latin letters with marks"), (0x250, "phonetic, marks"), (0x370, "Greek"), (0x400, "Cyrillic"),
    (0x530, "Armenian, Hebrew"), (0x600, "Arabic"), (0x700, "Syriac and others"), (0x900, "Indic"),
    (0xE00, "Thai, Lao, Tibetan, Burmese, Georgian"), (0x1100, "Jamo, Ethiopic, Khmer and others"), (0x1E00, "more Latin and Greek"),
    (0x2000, "punctuation and symbols"), (0x2E80, "CJK punctuation, kana"), (0x3400, "Han"), (0xA000, "Yi and others"),
    (0xAC00, "Hangul"), (0xD7A4, "compatibility, private use"), (0x10000, "old scripts"), (0x1F000, "emoji"), (0x20000, "rare Han and the rest"),
]
BLOCKS_END = 0x20000
# Groups that are alphabets: their pairs can be odd. Group 0 stands for ASCII letters.
ALPHABETS = [0, 2, 3, 4, 5, 7, 8]
# Pairs that make up this share of natural text are not odd.
COVERED_ASCII, COVERED = 0.945, 0.98
# Translations are short and technical; running prose in these alphabets has more words that are one token.
PROSE = {2: 0.7, 3: 0.55, 4: 0.72, 5: 0.45, 7: 0.48, 8: 1.0, 10: 0.3, 12: 1.04}
# Odd pairs come late: the part before them was too cheap.
LATE = 1.1
ODD, CALM, WILD, WILDEST = 3, 1, 4, 12
MADE = 1


def column(code):
    if 0x20 <= code <= 0x7E:
        return code - 0x20
    return {10: 95, 9: 96, 13: 97}.get(code, 98 if code < 0x80 else NON_ASCII)


def group(code):
    return max(i for i, (first, _) in enumerate(GROUPS) if first <= code)


def alphabet_of(code):
    """The alphabet that a character belongs to, if any."""
    if code < 0x80:
        return 0 if chr(code).isalpha() else None
    found = group(code)
    return found if found in ALPHABETS and found else None


def pair_of(before, code):
    """The number of a pair of letters of one alphabet."""
    return (before & 31) * 32 + (code & 31) if code < 0x80 else (before & 63) * 64 + (code & 63)


def odd_pairs(texts):
    seen = {a: collections.Counter() for a in ALPHABETS}
    for text in texts:
        last = None
        for char in text:
            alphabet = alphabet_of(ord(char))
            if alphabet is not None and last is not None and alphabet_of(ord(last)) == alphabet:
                seen[alphabet][pair_of(ord(last), ord(char))] += 1
            last = char
    usual = {}
    for alphabet, counts in seen.items():
        total, reached, usual[alphabet] = sum(counts.values()), 0, set()
        for pair, count in sorted(counts.items(), key=lambda x: (-x[1], x[0])):
            if reached > (COVERED if alphabet else COVERED_ASCII) * total:
                break
            reached += count
            usual[alphabet].add(pair)
        print("alphabet", alphabet, total, "pairs,", len(usual[alphabet]), "usual")
    return usual


def strings_of(node):
    if isinstance(node, str):
        if len(node) >= 48:
            yield node
    elif isinstance(node, dict):
        for v in node.values():
            yield from strings_of(v)
    elif isinstance(node, list):
        for v in node:
            yield from strings_of(v)


def real(shared):
    seen = set()
    for name in sorted(glob.glob(shared + "/data/*/*")):
        path = pathlib.Path(name)
        if path.suffix not in (".json", ".jsonl", ".traj", ".md", ".py", ".txt"):
            continue
        text = path.read_text("utf-8", "replace")
        yield text[:20_000]  # the JSON itself
        for source in [text] if path.suffix != ".jsonl" else text.splitlines():
            try:
                node = json.loads(source)
            except ValueError:
                continue
            for found in strings_of(node):
                if found[:300] not in seen:
                    seen.add(found[:300])
                    yield found[:8000]


def translations():
    for name in sorted(glob.glob(django.__path__[0] + "/**/*.po", recursive=True)):
        text = pathlib.Path(name).read_text("utf-8")
        lines = [json.loads(q) for q in re.findall(r'^msgstr(?:\[\d\])? (".*")$', text, re.M)]
        yield "\n".join(line for line in lines if line)[:30_000]


SCRIPT_RANGES = [
    (0x4E00, 0x9FA5), (0x3041, 0x3096), (0x30A1, 0x30FA), (0xAC00, 0xD7A3), (0x1F300, 0x1F64F), (0x1F680, 0x1F6FF),
    (0x1F900, 0x1F9FF), (0x410, 0x44F), (0x391, 0x3C9), (0x5D0, 0x5EA), (0x621, 0x64A), (0x905, 0x939), (0xE01, 0xE3A), (0xC0, 0x17F),
    (0x2000, 0x2BFF), (0x10A0, 0x10FF), (0x531, 0x586), (0x1200, 0x1357), (0x3400, 0x4DB5), (0x20000, 0x2A6D6), (0xF900, 0xFFEF), (0x12000, 0x12399), (0xB80, 0xBFF), (0xA000, 0xA48C), (0x710, 0x7B1),
]


def made(rng):
    pick = lambda alphabet, n: "".join(rng.choice(alphabet) for _ in range(n))
    for _ in range(40):
        yield base64.b64encode(rng.randbytes(1500)).decode()
        yield "\n".join(rng.randbytes(32).hex() for _ in range(30))
        yield " ".join(str(uuid.UUID(bytes=rng.randbytes(16), version=4)) for _ in range(20))
        yield pick(string.ascii_lowercase, 800)
        yield " ".join(pick(string.ascii_lowercase, rng.randrange(1, 12)) for _ in range(150))
        yield pick(string.ascii_letters + string.digits, 1000)
        yield pick(string.ascii_letters + " ", 1000)
        yield pick(string.ascii_uppercase, 500)
        yield pick(string.digits, 600)
        yield " ".join(pick(string.digits, rng.randrange(1, 9)) for _ in range(100))
        yield pick(string.punctuation, 500)
        yield pick(string.printable, 1500)
        yield json.dumps({pick(string.ascii_lowercase, rng.randrange(1, 9)): rng.choice([rng.random(), rng.randrange(9999), pick(string.ascii_letters, 8)]) for _ in range(40)})
        yield "".join(rng.choice("=-#*~_. \t\n|+a0") * rng.randrange(3, 60) for _ in range(40))
        for first, last in SCRIPT_RANGES:
            yield "".join(chr(rng.randint(first, last)) for _ in range(150))
            yield " ".join("".join(chr(rng.randint(first, last)) for _ in range(rng.randrange(1, 8))) for _ in range(20))


def common_characters(encoding):
    for token in range(encoding.n_vocab):
        try:
            text = encoding.decode_single_token_bytes(token).decode()
        except (KeyError, UnicodeDecodeError):
            continue
        if len(text) == 1 and ord(text) >= 0x80:
            yield ord(text)


def main():
    rng = random.Random(7)
    encoding = tiktoken.get_encoding("o200k_base")
    common = set(common_characters(encoding))
    natural = list(real(sys.argv[1]))
    translated = list(translations())
    usual = odd_pairs(natural[::3] + translated)
    pairs, runs, wide, wild = (collections.Counter() for _ in range(4))
    pair_starts, run_starts, wide_starts, wild_starts = (collections.Counter() for _ in range(4))

    for source, weight in [(natural, 3), (translated, 5), (made(rng), MADE)]:
        for text in source:
            text = text.encode("utf-8", "replace").decode()
            starts = collections.Counter()
            at = 0
            for token in encoding.encode_ordinary(text):
                starts[at] += weight
                at += len(encoding.decode_single_token_bytes(token))
            at, last, before, heat, last_alphabet = 0, None, None, 0, None
            for char in text:
                code = ord(char)
                size = len(char.encode())
                began = sum(starts[at + i] for i in range(size))
                alphabet = alphabet_of(code)
                letters = alphabet is not None and alphabet == last_alphabet
                if letters:
                    odd = pair_of(ord(last), code) not in usual[alphabet]
                    heat = min(WILDEST, heat + ODD) if odd else max(0, heat - CALM)
                is_wild = letters and heat >= WILD
                if last is not None:
                    if code >= 0x80:
                        # Does the same script go on?
                        key = (group(code), code in common, ord(last) >= 0x80 and group(ord(last)) == group(code), is_wild)
                        wide[key] += weight
                        wide_starts[key] += began
                    elif char == last == before:
                        runs[column(code)] += weight
                        run_starts[column(code)] += began
                    elif is_wild:
                        key = (last.isupper(), char.isupper())
                        wild[key] += weight == MADE
                        wild_starts[key] += began * (weight == MADE)
                    else:
                        key = (column(ord(last)), column(code))
                        pairs[key] += weight
                        pair_starts[key] += began
                at += size
                last, before, last_alphabet = char, last, alphabet

    def level(starts, seen, prior, strength, top=LEVELS - 1):
        return min(top, round(LEVELS * (starts + prior * strength) / (seen + strength)))

    glyph = lambda n: chr(ord("0") + n)
    mean = sum(pair_starts.values()) / sum(pairs.values())
    rows = []
    for a in range(COLUMNS):
        row = ""
        for b in range(NON_ASCII):
            prior = max(mean, 0.6)
            row += glyph(level(pair_starts[a, b], pairs[a, b], prior, 12))
        rows.append(row)
    run = "".join(glyph(level(run_starts[b], runs[b], 0.125, 40)) for b in range(NON_ASCII))
    groups = []
    for i, (first, name) in enumerate(GROUPS):
        cells = []
        for is_common in (True, False):
            for same in (True, False):
                key = (i, is_common, same, False)
                prior = 0.9 if is_common else 2.5
                cells.append(min(255, level(wide_starts[key], wide[key], prior, 30, 255)))
        cells[0] = round(cells[0] * PROSE.get(i, 1))
        if i == 10:  # Vietnamese, nearly always between ASCII letters
            cells[1] = round(cells[1] * PROSE[i])
        key = (i, True, True, True)
        cells.append(max(cells[0], round(LATE * level(wide_starts[key], wide[key], 0.9, 30, 255))))
        groups.append((first, cells, name))
    blocks = []
    for block in range(BLOCKS_END >> 8):
        words = [sum(1 << i for i in range(64) if (block << 8) + 64 * w + i in common) for w in range(4)]
        if any(words):
            blocks.append((block, words))

    out = ["//! Made by `scripts/estimator/fit.py`; do not edit. What it means is said in the parent module.", ""]
    out += ["/// For each column of the character before (rows) and of the character: 64ths of a token, `0` + level.",
            "#[rustfmt::skip]", f"pub(super) const PAIRS: [&[u8; {NON_ASCII}]; {COLUMNS}] = ["]
    out += [f'    br"{row}",' for row in rows] + ["];", ""]
    out += ["/// The same for a character that follows two of its kind.", "#[rustfmt::skip]",
            f'pub(super) const RUN: &[u8; {NON_ASCII}] = br"{run}";', ""]
    out += ["/// First code point of a script group; 64ths of a token for a common character (same group before it,",
            "/// another before it), for a rare one (same, another), for a common one in wild text.", "#[rustfmt::skip]",
            f"pub(super) const GROUPS: [(u32, [u8; 5]); {len(groups)}] = ["]
    out += [f"    (0x{first:x}, {cells}), // {name}" for first, cells, name in groups] + ["];", ""]
    out += ["/// Common characters beyond ASCII: those that are one token by themselves. Block of 256 code points, bits.",
            "#[rustfmt::skip]", f"pub(super) const COMMON: [(u16, [u64; 4]); {len(blocks)}] = ["]
    out += ["    (0x%x, [%s])," % (b, ", ".join(f"0x{w:x}" for w in words)) for b, words in blocks] + ["];", ""]
    out += ["/// In wild text: 64ths for a letter after a letter, by whether they are capitals (before, this).",
            f"pub(super) const WILD: [[u8; 2]; 2] = {[[min(LEVELS, round(LATE * level(wild_starts[a, b], wild[a, b], 0.6, 30))) for b in (False, True)] for a in (False, True)]};", ""]
    out += ["/// Usual pairs of ASCII letters: a word for the letter before (low five bits), a bit for this one.",
            "#[rustfmt::skip]", "pub(super) const USUAL_ASCII: [u32; 32] = ["]
    out += [f"    0x{sum(1 << b for b in range(32) if a * 32 + b in usual[0]):x}," for a in range(32)] + ["];", ""]
    out += ["/// The same for other alphabets: group, and by the low six bits.", "#[rustfmt::skip]",
            f"pub(super) const USUAL: [(usize, [u64; 64]); {len(ALPHABETS) - 1}] = ["]
    for alphabet in ALPHABETS[1:]:
        words = [sum(1 << b for b in range(64) if a * 64 + b in usual[alphabet]) for a in range(64)]
        out += ["    (%d, [%s])," % (alphabet, ", ".join(f"0x{w:x}" for w in words))]
    out += ["];", ""]
    OUT.parent.mkdir(parents=True, exist_ok=True)
    OUT.write_text("\n".join(out), "utf-8")
    print(OUT, OUT.stat().st_size, "bytes;", sum(pairs.values()), "pairs; mean", round(mean, 3))
    for first, cells, name in groups:
        print(f"{first:x} {name}: {[round(c / 64, 2) for c in cells]}")


main()
