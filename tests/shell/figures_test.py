#!/usr/bin/env python3
"""The figures of README.md and docs that `shardplan validate` prints are what it prints.
Usage: figures_test.py PATH_OF_SHARDPLAN"""
import json
import pathlib
import statistics
import subprocess
import sys

root = pathlib.Path(__file__).resolve().parents[2]


def answer(binary, *words):
    command = [binary, "validate", *words, "--format", "json"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def percent(share):
    return f"{100 * share:.1f}%"


def said_of(programs):
    """File: passages that have to stand in it."""
    scored = [p for p in programs if "collectives" in p]
    bytes_off, memory = [p["collectives"] for p in scored], [abs(p["memory"]) for p in scored]
    close = sum(abs(p["arguments"]) < 1e-4 for p in scored)
    within_5 = f"{sum(error <= 0.05 for error in bytes_off)} of {len(scored)} programs within 5%"
    memory_text = f"{percent(statistics.mean(memory))}, median {percent(statistics.median(memory))}"
    within_2 = sum(error <= 0.02 for error in bytes_off) / len(scored)
    worst_arguments = max(abs(p["arguments"]) for p in scored)
    plans = sum(p["id"].startswith("plan_") for p in scored)
    return {"README.md": [f"| {len(programs)} MaxText train steps",
                          f"| median {percent(statistics.median(bytes_off))}, {within_2:.0%} within 2%",
                          f"| mean {memory_text}, worst {percent(max(memory))} (",
                          f"| below 0.01% for {close} of {len(scored)}, worst {worst_arguments:.2%} ("],
            "docs/limits.md": [f"Median {percent(statistics.median(bytes_off))}; {within_5}", f"Mean {memory_text};"],
            "docs/cost-model.md": [f"recorded for {len(programs)} train steps", f"{plans} are what `plan` recommends"]}


def said_of_times(every_run):
    error = f"mean {every_run['mean_abs_log_error']:.0%}, {every_run['within_15_percent']} within 15%"
    return {"README.md": [f"| {every_run['runs']} published MaxText runs", f"| {error}"],
            "docs/limits.md": [f"{every_run['runs']} published runs: {error}"]}


def main(binary):
    wrong = 0
    for said in (said_of(answer(binary)["programs"]), said_of_times(answer(binary, "--times")["times"]["all"])):
        for file, passages in said.items():
            text = (root / file).read_text()
            for passage in passages:
                if passage not in text:
                    wrong += 1
                    print(f"{file} doesn't say: {passage}")
    print(f"{wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
