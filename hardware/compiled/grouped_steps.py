#!/usr/bin/env python3
"""What steps of grouped products' kernels take on a TPU: `grouped_kernels` of a profile (cost_models/time/grouped).

    grouped_steps.py TOKAMAX_FOLDER DEVICE FLOPS HBM_BYTES [--swapped]

Nothing is compiled: tokamax (PyPI, 0.0.17) comes with what its authors measured when they tuned its kernels, in
data/autotuning/DEVICE/pallas_mosaic_tpu_ragged_dot.json (tpu7x, tpu_v5, tpu_v6_lite). Of products of bfloat16 and both
their gradients, this takes the time beyond the larger of tiles on the matrix unit (FLOPS, at the clock of the runs) and
their traffic (HBM_BYTES, what a copy reaches), for each step of the grid, and prints the median, how far off all are with
it, and the fastest tiles of each product. Widths that are no whole registers of 128 are left out. `--swapped`: the gradient
of rows has its tiles in the product's order (tpu_v5 and tpu_v6_lite). TPU 7x: 1008.8e12 (1153.5 TFLOP/s at 1.924 of 2.2
GHz) and 3210e9; v5p: 229.5e12 (one of a chip's two cores) and 2295e9.
"""
import json, math, pathlib, re, statistics, sys

PASSES = {"[[1], [1]]": "forward", "[[1], [2]]": "input_gradient", "[[0], [0]]": "weight_gradient"}


def sizes(shape):
    return [int(size) for size in re.search(r"\[(.*)\]", shape).group(1).split(",")]


def measured(path, swapped):
    """(pass, rows, contracted dim, columns, groups, tile, seconds)"""
    for key, configs in json.loads(path.read_text()).items():
        key = json.loads(key)
        lhs, rhs, groups = key["lhs"], key["rhs"], key["group_sizes"]
        narrow = not (isinstance(lhs, str) and isinstance(rhs, str) and lhs.startswith("bf16") and rhs.startswith("bf16"))
        if narrow or key["return_residuals"] or not isinstance(groups, dict):
            continue
        kind = PASSES[str(key["ragged_dot_dimension_numbers"]["dot_dimension_numbers"][0])]
        left, right = sizes(lhs), sizes(rhs)
        contracted, columns = {"forward": (right[1:]), "input_gradient": (right[:0:-1])}.get(kind, (left[1], right[1]))
        for config, run in configs.items():
            tile = [json.loads(config)[name] for name in ("tile_m", "tile_k", "tile_n")]
            if kind == "input_gradient" and swapped:
                tile = [tile[0], tile[2], tile[1]]
            if run["evaluation_times_ms"] and contracted % 128 == 0 and columns % 128 == 0:
                seconds = statistics.median(run["evaluation_times_ms"]) / 1e3
                yield kind, left[0], contracted, columns, groups["num_groups"], tile, seconds


def steps_and_bound(kind, rows, contracted, columns, groups, tile, flops, hbm):
    tile = [min(size, of) for size, of in zip(tile, (rows, contracted, columns))]
    deep, wide, row_tiles = math.ceil(contracted / tile[1]), math.ceil(columns / tile[2]), rows / tile[0] + groups - 1
    steps = row_tiles * deep * wide
    filled = [math.ceil(size / 128) * 128 for size in tile[1:]]
    weights = contracted * columns
    if kind == "weight_gradient":
        elements = rows * (contracted * wide + columns * deep) + groups * weights
    elif deep == 1:
        elements = rows * contracted * wide + groups * weights + rows * columns
    else:
        elements = row_tiles * tile[0] * contracted * wide + row_tiles * weights + rows * columns
    return steps, max(steps * 2 * tile[0] * filled[0] * filled[1] / flops, 2 * elements / hbm)


def main():
    words = [word for word in sys.argv[1:] if word != "--swapped"]
    if len(words) != 4:
        sys.exit(__doc__)
    path = pathlib.Path(words[0], "data/autotuning", words[1], "pallas_mosaic_tpu_ragged_dot.json")
    runs = list(measured(path, "--swapped" in sys.argv))
    bounds = [steps_and_bound(*run[:-1], float(words[2]), float(words[3])) for run in runs]
    beside = statistics.median((run[-1] - bound) / steps for run, (steps, bound) in zip(runs, bounds))
    print(f"{len(runs)} kernels, {beside * 1e6:.2f} us a step")
    for kind in PASSES.values():
        off = [math.log((bound + steps * beside) / run[-1]) for run, (steps, bound) in zip(runs, bounds) if run[0] == kind]
        print(f"  {kind}: {statistics.mean(map(abs, off)):.1%} off in the mean, {max(map(abs, off)):.0%} at worst")
    fastest = {}
    for kind, rows, contracted, columns, groups, tile, seconds in runs:
        swapped = (rows, columns, contracted, groups) if kind == "input_gradient" else (rows, contracted, columns, groups)
        if seconds < fastest.setdefault(swapped, {}).get(kind, (math.inf,))[0]:
            fastest[swapped][kind] = seconds, tile
    for product, tiles in sorted(fastest.items()):
        if len(tiles) == len(PASSES):
            print(json.dumps({"product": product, **{kind: tiles[kind][1] for kind in PASSES.values()}}))


if __name__ == "__main__":
    main()
