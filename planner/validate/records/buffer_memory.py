"""Memory of a program from what XLA writes about it before it generates code (xla_dump_to): buffers and when they live.

The peak agrees with the compiled program's own memory analysis within 50 KB (plan_llama318b_tpuv5p_8,
ll8_v6e8_fsdp8_act_offload), the rest to the byte.
"""
import collections, pathlib, re, time

# In the order in which they are written.
RANGES, BUFFERS, PROGRAM = "*live-range.txt", "*after_optimizations-buffer-assignment.txt", "*.after_optimizations.txt"
DEVICE = 0  # memory space
QUIET = 6  # seconds without another file: code is being generated


def is_complete(dump):
    files = list(dump.glob("*"))
    return bool(list(dump.glob(PROGRAM))) and time.time() - max(file.stat().st_mtime for file in files) > QUIET


def one(dump, pattern):
    return next(dump.glob(pattern)).read_text()


def allocations(dump):
    """Of each allocation its size and what it is for; the values in it: name → (allocation, space, size, offset)."""
    sizes, uses, values, current = {}, {}, {}, None
    for line in one(dump, BUFFERS).splitlines():
        if found := re.match(r"allocation (\d+): size (\d+)(.*)", line):
            current = int(found[1])
            sizes[current], uses[current] = int(found[2]), found[3]
        elif found := re.match(r" value: <\d+ (\S+)(?: \(phi\))? @(\d+)> \(size=(\d+),offset=(\d+)\)", line):
            values[found[1]] = current, int(found[2]), int(found[3]), int(found[4])
    return sizes, uses, values


def live_ranges(dump):
    text = one(dump, RANGES).split("BufferLiveRange:", 1)[1].split("Live ranges at", 1)[0]
    ranges = {}
    for name, index, first, last in re.findall(r"^\s+(\S+)\{([\d,]*)\}:(\d+)-(\d+)$", text, re.M):
        ranges[name + (f"{{{index}}}" if index else "")] = int(first), int(last)
    return ranges


def joined(ranges):
    """Values in the same place follow each other; those of a loop overlap what enters and leaves it."""
    ranges.sort()
    first, last = ranges[0]
    for begin, end in ranges[1:]:
        if begin > last:
            yield first, last
            first, last = begin, end
        last = max(last, end)
    yield first, last


def peak_of_temporaries(uses, values, ranges):
    places = collections.defaultdict(list)
    for name, (allocation, space, size, offset) in values.items():
        if space == DEVICE and "preallocated-temp" in uses[allocation] and name in ranges:
            places[allocation, offset, size].append(ranges[name])
    changes = collections.Counter()
    for (_, _, size), lives in places.items():
        for first, last in joined(lives):
            changes[first] += size
            changes[last + 1] -= size
    now = most = 0
    for step in sorted(changes):
        now += changes[step]
        most = max(most, now)
    return most


def memory(dump):
    sizes, uses, values = allocations(dump)
    def total(*words):
        return sum(size for a, size in sizes.items() if "color" not in uses[a] and all(word in uses[a] for word in words))
    arguments = total("parameter")
    return {"arguments_bytes": arguments, "outputs_bytes": total("maybe-live-out"),
            "aliased_bytes": total("parameter", "maybe-live-out"),
            "peak_bytes": arguments + peak_of_temporaries(uses, values, live_ranges(dump))}
