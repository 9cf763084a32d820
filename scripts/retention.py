#!/usr/bin/env python3
"""Retention of the digest beside two baselines, as Markdown tables. Called by retention.sh.

Uses the shared evaluation (data/tools/retention_eval.py) for cases and measures, and adds the share of the
user's content words per format. COMPACT_CMD names the engine. Standard library only.

  retention.py SHARED            all formats, budgets 5% and 10%
  retention.py SHARED claude pi  some formats
"""
import glob, os, sys

BUDGETS = (0.05, 0.1)
MIN_GROUPS, MIN_NEEDED, CUTS = 12, 3, (0.5, 0.75)
SOURCES = {
    'claude': ['claude-code-*/*.jsonl'], 'codex': ['codex*/*.jsonl'], 'pi': ['pi/*.jsonl'],
    'miniswe': ['mini-swe-agent/*.json'], 'langchain': ['deer-flow/*.json'], 'tau': ['tau-bench/*.json'],
    'tau2': ['tau2-bench/*.json'], 'sweagent': ['swe-agent/*.traj', 'swe-smith/*.traj'],
    'oh_jsonl': ['openhands/*.jsonl'], 'msgs_jsonl': ['swe-smith-chat/*.jsonl'], 'gemini': ['gemini-cli*/*.json*'],
    'copilot': ['copilot-cli/*.jsonl'], 'cline': ['cline/session*.json'],
}


def cases(E, data, fmt):
    """(parts before the cut, entities needed later, edited files, user texts, tokens) for each cut."""
    files = sorted(f for pattern in SOURCES[fmt] for f in glob.glob(os.path.join(data, pattern)))
    for name in files:
        if '__subagents__' in name: continue
        with open(name, errors='replace') as file: conversations = E.R.load(fmt, file.read())
        for _, parts in conversations:
            groups = len(E.groups(parts))
            if groups < MIN_GROUPS: continue
            for cut in CUTS:
                pre, need, art = E.fer_case(parts, int(groups * cut))
                if len(need) < MIN_NEEDED: continue
                said = [p['text'] for p in pre if p['role'] == 'user' and p['kind'] == 'text' and not host_wrote(p['text'])]
                yield pre, need, art, said, E.toks('\n'.join(E.render(p) for p in pre))


def host_wrote(text):
    """Wrappers and notices that stand in the user's place but were not typed."""
    return text.startswith(('<', 'Caveat: The messages below were generated'))


def user_words(E, text, said):
    have, shares = set(E.norm(text).split()), []
    for message in said:
        words = set(E.norm(message).split()) - E.STOP
        if words: shares.append(len(words & have) / len(words))
    return mean(shares)


def mean(values):
    values = [v for v in values if v is not None]
    return sum(values) / len(values) if values else None


def show(value): return '–' if value is None else f'{value:.3f}'


def main():
    shared, wanted = sys.argv[1], sys.argv[2:] or list(SOURCES)
    data = os.path.join(shared, 'data')
    sys.path.insert(0, os.path.join(data, 'tools'))
    import retention_eval as E
    methods = [('keep-last', E.keep_last), ('extractive', E.extractive), ('digest', E.external)]
    print('| format (cases, needed) | budget | later-needed entities: keep-last / extractive / **digest** | edited files | user\'s words |')
    print('|---|--:|--:|--:|--:|')
    behind = []
    for fmt in wanted:
        rows = list(cases(E, data, fmt))
        if not rows: continue
        needed = mean([len(row[1]) for row in rows])
        for budget in BUDGETS:
            cells = []
            for _, method in methods:
                scores = []
                for pre, need, art, said, total in rows:
                    limit = int(total * budget)
                    text = method(pre, limit)
                    if method is E.external and E.toks(text) > limit: sys.exit(f'over the budget: {E.toks(text)} > {limit}')
                    scores.append((E.recall(text, need), E.recall(text, art), user_words(E, text, said)))
                cells.append([mean(column) for column in zip(*scores)])
            for measure in range(3):
                values = [c[measure] for c in cells]
                if values[2] is not None and values[2] < max(values[:2]) - 1e-9:
                    behind.append(f'{fmt} at {budget:.0%}: {("entities", "files", "words")[measure]} {values[2]:.3f} < {max(values[:2]):.3f}')
            columns = [' / '.join([show(cells[0][m]), show(cells[1][m]), f'**{show(cells[2][m])}**']) for m in range(3)]
            print(f'| {fmt} ({len(rows)}, {needed:.1f}) | {budget:.0%} | ' + ' | '.join(columns) + ' |')
    print('\nBehind a baseline: ' + ('; '.join(behind) or 'nowhere'))


main()
