#!/usr/bin/env python3
"""How fast other planners cost configurations of the same training, in turns with shardplan.

    bench/peers/time_peers.py SHARDPLAN [--python PYTHON] [--calculon FOLDER] [--seconds 10] [--runs 3]

GPT-3 175B in sequences of 2,048 tokens on 64 H100. SHARDPLAN is a binary. PYTHON is the interpreter of an environment with
`pip install llm-analysis`; FOLDER a checkout of github.com/calculon-ai/calculon, which PYTHON runs, too (`pip install
psutil`). What isn't there is left out, and said so. Prints configurations a second of one core, and what costing one means
to each: the numbers are only as comparable as those lines are.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))

DEPTH = {
    "shardplan": "every collective that XLA emits under MaxText's rules, each buffer at the peak, products by a table of "
                 "kernels, the schedule of each loop body; only what its bounds don't rule out is costed, and of that the "
                 "best is certain",
    "llm-analysis": "closed forms of a layer's FLOPs, weights and activations; no search of its own: all splits over "
                    "tensor, pipeline and data parallelism, ZeRO and recomputation are asked one by one",
    "calculon": "each layer's FLOPs, traffic and collectives, pipeline and overlap in closed form; timed on shuffled "
                "combinations of its own search, those without offloading",
}

# Named where they are asked about: they answer another question.
OTHERS = {"AIConfigurator": "plans serving, not training",
          "SimuMax": "isn't on PyPI; no adapter was written"}


def measured(command, environment=None):
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
    out, err = process.communicate()
    if process.returncode != 0:
        sys.exit(f"{' '.join(command)}: {err.decode().strip().splitlines()[-1:]}")
    return out


def shardplan_rate(binary):
    before = os.times()
    answer = json.loads(measured([binary, "--model", "gpt3-175b", "--hardware", "h100", "--chips", "64", "--seq-len", "2048",
                                  "--format", "json"]))
    after = os.times()
    seconds = after.children_user + after.children_system - before.children_user - before.children_system
    return sum(result["evaluated"] for result in answer["results"]) / seconds


def script_rate(python, script, seconds, folder=None):
    environment = {**os.environ, "HF_HUB_OFFLINE": "1"}
    if folder:
        environment["PYTHONPATH"] = folder
    result = json.loads(measured([python, os.path.join(HERE, script), str(seconds)] + ([folder] if folder else []), environment))
    return result["configurations"] / result["cpu_seconds"]


def has_module(python, module):
    command = [python, "-c", f"import importlib.util, sys; sys.exit(importlib.util.find_spec('{module}') is None)"]
    return subprocess.run(command).returncode == 0


def peers_of(options):
    peers = {"shardplan": lambda: shardplan_rate(options.shardplan)}
    if has_module(options.python, "llm_analysis"):
        peers["llm-analysis"] = lambda: script_rate(options.python, "llm_analysis_rate.py", options.seconds)
    if options.calculon and has_module(options.python, "psutil"):
        peers["calculon"] = lambda: script_rate(options.python, "calculon_rate.py", options.seconds, options.calculon)
    return peers


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shardplan")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--calculon")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    peers = peers_of(options)
    rates = {name: [] for name in peers}
    for _ in range(options.runs):  # in turns: a machine's speed drifts
        for name, rate in peers.items():
            rates[name].append(rate())
    for name, depth in DEPTH.items():
        if name in rates:
            print(f"{name:13} {statistics.median(rates[name]):10,.0f} configurations a second of one core: {depth}")
        else:
            print(f"{name:13} not installed")
    for name, why in OTHERS.items():
        print(f"{name:13} not timed: {why}")


if __name__ == "__main__":
    main()
