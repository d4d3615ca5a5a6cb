#!/usr/bin/env python3
"""Writes memory_error of compilers/*.json anew, as `shardplan validate --ranges` measures it on the built-in records.

    refresh_ranges.py SHARDPLAN_BINARY

Run it whenever a memory model or a record changes; the test MemoryRanges.OfTheCompilersAreMeasured says when.
"""
import json, pathlib, re, subprocess, sys

FILES = {"XLA:TPU": "xla-tpu.json", "XLA:GPU": "xla-gpu.json"}
SOURCE = "shardplan validate --ranges: recorded programs of the family against predictions"


def block(rows):
    lines = [f'    "{row["moe_path"]}": {{"low": {row["low"]:g}, "high": {row["high"]:g}, "records": {row["records"]}}},'
             for row in rows]
    return "\n".join(['  "memory_error": {', *lines, f'    "source": "{SOURCE}"', "  },", ""])


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    answer = subprocess.run([sys.argv[1], "validate", "--ranges", "--format", "json"], check=True, capture_output=True,
                            text=True).stdout
    rows = json.loads(answer)["memory_error"]
    folder = pathlib.Path(__file__).resolve().parents[3] / "compilers"
    for family, name in FILES.items():
        path = folder / name
        text, replaced = re.subn(r'  "memory_error": \{\n.*?\n  \},\n',
                                 lambda _: block([row for row in rows if row["family"] == family]), path.read_text(),
                                 flags=re.S)
        if replaced != 1:
            sys.exit(f"{path}: expected one memory_error, found {replaced}")
        path.write_text(text)


if __name__ == "__main__":
    main()
