#!/usr/bin/env python3
"""Writes the table of habits in docs/cost-model.md anew, as `shardplan validate --ablate` measures it.

    refresh_ablation.py SHARDPLAN_BINARY
"""
import json, pathlib, re, subprocess, sys

HEAD = "| without | programs | worse | better | collectives | phases | memory | records |\n|---|---|---|---|---|---|---|---|\n"
SMALLEST = 0.0005  # a twentieth of a point is no change


def change(record, key):
    if "failed" in record:
        return 1.0
    return record["without"][key] - record["with"][key]


def largest(habit, key):
    changes = [change(record, key) for record in habit["worse"] + habit["better"]]
    most = max(changes, key=abs, default=0.0)
    return f"{most * 100:+.1f}" if abs(most) >= SMALLEST else "-"


def row(habit):
    worse = len(habit["worse"])
    support = ", ".join(record["id"] for record in habit["worse"][:2]) or "none: see its evidence"
    return (f"| `{habit['habit']}` | {habit['programs']} | {worse}{' (one record)' if worse == 1 else ''} | "
            f"{len(habit['better'])} | {largest(habit, 'collectives')} | {largest(habit, 'phases')} | "
            f"{largest(habit, 'memory')} | {support} |\n")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    answer = subprocess.run([sys.argv[1], "validate", "--ablate", "--format", "json"], check=True, capture_output=True,
                            text=True).stdout
    table = HEAD + "".join(row(habit) for habit in json.loads(answer)["habits"] if habit["programs"])
    page = pathlib.Path(__file__).resolve().parents[3] / "docs" / "cost-model.md"
    text, replaced = re.subn(r"\| without \|.*?\n(?=\n)", lambda _: table, page.read_text(), flags=re.S)
    if replaced != 1:
        sys.exit(f"{page}: expected one table of habits, found {replaced}")
    page.write_text(text)


if __name__ == "__main__":
    main()
