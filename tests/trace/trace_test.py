#!/usr/bin/env python3
"""--trace by the rules of the trace event format that viewers rely on: every event of a kind that they know with what it
needs, every track named before it is used, and on a track slices beside or inside each other, never across.
Usage: trace_test.py PATH_OF_SHARDPLAN"""
import collections
import copy
import pathlib
import sys
import tempfile

from traces import lines, slices_of, write_trace

needed = {"X": {"name", "cat", "ph", "ts", "dur", "pid", "tid", "args"}, "M": {"name", "ph", "pid", "tid", "args"}}
tiny = 1e-6  # microseconds, a thousandth of what viewers round to


def faults_of_events(trace):
    for event in trace["traceEvents"]:
        if event.get("ph") not in needed:
            yield f"phase {event.get('ph')}"
        elif set(event) != needed[event["ph"]]:
            yield f"{event['ph']} with {sorted(event)}"
        elif not all(type(event[key]) is int for key in ("pid", "tid")):
            yield f"{event['name']}: pid and tid are whole numbers"
        elif event["ph"] == "X" and any(abs(event[key] * 1000 - round(event[key] * 1000)) > tiny for key in ("ts", "dur")):
            yield f"{event['name']}: {event['ts']}, {event['dur']}: viewers count whole nanoseconds, and drop what then overlaps"
        elif event["ph"] == "X" and not (event["ts"] >= 0 and event["dur"] > 0 and event["name"]):
            yield f"{event['name']}: at {event['ts']} for {event['dur']}"


def faults_of_names(trace):
    processes, tracks = {}, {}
    for event in trace["traceEvents"]:
        place = (event["pid"], event["tid"])
        if event["ph"] == "M" and event["name"] == "process_name":
            processes[event["pid"]] = event["args"]["name"]
        elif event["ph"] == "M" and event["name"] == "thread_name":
            if place in tracks:
                yield f"track {place} is named twice"
            tracks[place] = event["args"]["name"]
        elif event["ph"] == "X" and (event["pid"] not in processes or place not in tracks):
            yield f"{event['name']} on a track without a name: {place}"
    named = [(pid, name) for (pid, _), name in tracks.items()]
    if len(set(named)) < len(named) or len(set(processes.values())) < len(processes) or "" in {*tracks.values(), *processes.values()}:
        yield f"names that say nothing: {processes} {tracks}"
    if {(e["pid"], e["tid"]) for e in slices_of(trace)} != set(tracks):
        yield "a track without a slice"


def faults_of_overlap(trace):
    by_track = collections.defaultdict(list)
    for event in slices_of(trace):
        by_track[event["pid"], event["tid"]].append(event)
    names = {(e["pid"], e["tid"]): e["args"]["name"] for e in trace["traceEvents"] if e["name"] == "thread_name"}
    for track, events in by_track.items():
        nests = names.get(track) in ("loops", "step")
        around = []
        for event in sorted(events, key=lambda e: (e["ts"], -e["dur"])):
            end = event["ts"] + event["dur"]
            while around and around[-1][0] <= event["ts"] + tiny:
                around.pop()
            if around and (end > around[-1][0] + tiny or not nests):
                yield f"{names.get(track)}: {event['name']} at {event['ts']} within {around[-1][1]}"
            around.append((end, event["name"]))


def faults(trace):
    return [*faults_of_events(trace)] or [*faults_of_names(trace), *faults_of_overlap(trace)]


def check_that_it_can_fail(trace):
    def damaged(change):
        broken = copy.deepcopy(trace)
        change(broken)
        return faults(broken)

    compute = next(e["tid"] for e in trace["traceEvents"] if e["name"] == "thread_name" and e["args"]["name"] == "compute")
    long = next(i for i, e in enumerate(trace["traceEvents"]) if e["ph"] == "X" and e["tid"] == compute)
    assert damaged(lambda t: t["traceEvents"][long].update(dur=1e9)), "a slice across others"
    assert damaged(lambda t: t["traceEvents"][long].pop("dur")), "a slice without a length"
    assert damaged(lambda t: t["traceEvents"][long].update(ph="B")), "a begin without its end"
    assert damaged(lambda t: t["traceEvents"][long].update(tid=99)), "a track without a name"


def main(binary):
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        for name in lines:
            _, trace = write_trace(binary, name, pathlib.Path(folder))
            found = faults(trace)
            failures += [f"{name}: {len(found)} faults, the first: {found[0]}"] if found else []
            if not found:
                check_that_it_can_fail(trace)
    print("\n".join(failures) or f"{len(lines)} traces")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
