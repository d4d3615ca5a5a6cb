#!/usr/bin/env python3
"""Text keeps to the width that COLUMNS says, from 40 to 250: a longer line is one word, which only cutting would shorten.
Usage: width_test.py PATH_OF_SHARDPLAN"""
import os
import pathlib
import subprocess
import sys

root = pathlib.Path(__file__).resolve().parents[2]
program = str(root / "tests/data/audit/h100_mx_ep8_dm.hlo.gz")
narrow = ["--rules", "default", "--remat", "full,minimal"]
commands = [
    ["--help"], ["rules", "--help"],
    *[[command, "--help"] for command in ("plan", "explain", "compare", "sweep", "check", "audit", "calibrate", "validate")],
    ["--model", "llama2-7b", "--chips", "8", "--hardware", "tpu-v5p,h100", "--commands", "--what-if", *narrow],
    ["--model", "mixtral-8x7b", "--chips", "8", "--hardware", "tpu-v6e", *narrow],
    ["explain", "--model", "mixtral-8x7b", "--hardware", "v5p-16", "--mesh", "fsdp=8"],
    ["compare", "--model", "mixtral-8x7b", "--chips", "8", "--hardware", "h100", "--rules", "default,ep-as-cp",
     "--remat", "minimal"],
    ["sweep", "--model", "llama2-7b", "--hardware", "v5p,h100", "--chips", "8,16", "--tokens", "1T", "--price",
     "h100=2,v5p=4", *narrow],
    ["check", "--rules", "cp-as-ep", "--model", "mixtral-8x7b"],
    ["audit", "--hlo", program, "--mesh", "expert=8"],
    ["audit", "--hlo", program, "--baseline", program, "--hardware", "h100", "--chips", "8", "--mesh", "expert=8"],
    ["calibrate", "--hardware", "toy-switch", "--from", str(root / "tests/data/calibrate/all_gather_8.log"), "-o", "/dev/null"],
    ["explain", "--model", "gpt3-6b", "--hardware", "h100", "--chips", "8", "--mesh", "stage=2,context=2,expert=2",
     "per_device_batch_size=2"],
    ["audit", "--hlo", program, "--timeline", "--hardware", "h100", "--chips", "8", "--mesh", "expert=8"],
    ["validate", "--times"], ["validate", "--ranges"], ["models", "list"], ["hardware", "list"], ["rules", "list"],
]


def is_one_word(line):
    """Behind what it is; of a command that goes on, too; what a shell has to see on one line."""
    words = line.removesuffix("\\").split()
    return len(words) <= 2 or "$(" in line


def main(binary):
    failures = []
    for width in (40, 64, 100, 250):
        for command in commands:
            done = subprocess.run([binary, *command], capture_output=True, text=True,
                                  env=dict(os.environ, COLUMNS=str(width)))
            if done.returncode not in (0, 3, 4) or not done.stdout:
                failures.append(f"{' '.join(command)}: exit {done.returncode}: {done.stderr}")
            for line in done.stdout.splitlines():
                if len(line) > width and not is_one_word(line):
                    failures.append(f"{width} columns, {' '.join(command)}: {line}")
    print("\n".join(failures) or f"{len(commands)} commands")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(str(pathlib.Path(sys.argv[1]).resolve())))
