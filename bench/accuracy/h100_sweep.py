#!/usr/bin/env python3
"""How well shardplan ranks 2,587 measured layouts on H100 that are not MaxText's.

    bench/accuracy/h100_sweep.py BINARY [--cells 3B/128,…] [--rows FILE]

The rows (h100_sweep.json.gz: nanotron's public sweep of data, tensor and pipeline parallelism, 8 GPUs a node, 1M tokens a
step) are said in MaxText's words and costed with `explain`:
    dp, tp, pp     axes data, tensor_sequence (nanotron splits the sequence too), stage
    zero 1         shard_optimizer_over_data
    microbatches   of the pipeline, else gradient_accumulation_steps
    recomputation  none is said to be used: minimal_with_context, which saves most
Nodes are consecutive ranks with tensor innermost, then data, then stages. A row that MaxText has no word for (fewer
microbatches than stages, or no multiple) is left out and counted. Nothing here tunes anything: another framework's seconds
are not ours, but what is faster than what should be.

For each model and number of GPUs: Spearman's rank correlation of predicted and measured seconds, the regret of the pick
(how much slower than the best measured layout is the one that is predicted fastest, of those that ran), and the share of
layouts that ran which are not called too large. Then the same without what the sweep's own measurements contradict:

    steady       the split (tensor, stages, sequences of a microbatch) takes less than 0.3 s a microbatch more than at
                 another number of replicas, which a step adds once and a microbatch never
    ZeRO pairs   layouts that differ in their ZeRO stage alone, which is no reason for another order: how well the measured
                 seconds of the one order the other is what the sweep can tell
"""
import argparse
import concurrent.futures
import gzip
import json
import os
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
GPUS_A_NODE = 8
DISTURBED = 0.3  # seconds a microbatch


def load_rows():
    with gzip.open(os.path.join(HERE, "h100_sweep.json.gz")) as file:
        data = json.load(file)
    return data["dims"], [row for row in data["rows"] if adds_up(row)]


def adds_up(row):
    """Whether all replicas' microbatches have the sequences of the step. Of 18 rows they have not."""
    p = row["parallelism"]
    return p["data"] * p["micro_batch"] * p["microbatches"] == row["global_batch_seqs"]


def write_model(name, dims, folder):
    path = os.path.join(folder, f"sweep-{name.lower()}.json")
    model = {"name": f"sweep-{name.lower()}", "decoder_block": "llama2", "layers": dims["layers"], "emb": dims["emb"],
             "q_heads": dims["heads"], "kv_heads": dims["kv_heads"], "mlp": dims["mlp"], "vocab": dims["vocab"],
             "head_dim": dims["emb"] // dims["heads"], "tied_embedding": dims["tied"],
             "source": "bench/accuracy/h100_sweep.json.gz, dims"}
    with open(path, "w") as file:
        json.dump(model, file)
    return path


def split_over_nodes(sizes, devices):
    """Sizes from the innermost axis out → their parts inside a node and between nodes."""
    room, inside, between = min(GPUS_A_NODE, devices), [], []
    for size in sizes:
        part = min(size, room)
        inside.append(part)
        between.append(size // part)
        room //= part
    return inside, between


def arguments_of(row):
    """MaxText's words; None where it has none."""
    p, devices = row["parallelism"], row["devices"]
    pipelined = p["pp"] > 1
    if pipelined and (p["microbatches"] < p["pp"] or p["microbatches"] % p["pp"]):
        return None
    axes = ["tensor_sequence", "data", "pipeline"]
    inside, between = split_over_nodes([p["tp"], p["data"], p["pp"]], devices)
    words = [f"ici_{axis}_parallelism={size}" for axis, size in zip(axes, inside)]
    words += [f"dcn_{axis}_parallelism={size}" for axis, size in zip(axes, between)]
    words += ["ici_fsdp_parallelism=1", "dcn_fsdp_parallelism=1"]
    sequences = row["global_batch_seqs"]
    if pipelined:
        words.append(f"num_pipeline_microbatches={p['microbatches']}")
        words.append(f"per_device_batch_size={sequences / devices}")
    else:
        words.append(f"gradient_accumulation_steps={p['microbatches']}")
        words.append(f"per_device_batch_size={sequences / p['microbatches'] / devices}")
    return words + [f"max_target_length={row['seq_len']}", "remat_policy=minimal_with_context",
                    "attention=cudnn_flash_te", "weight_dtype=float32",
                    f"shard_optimizer_over_data={p['zero'] == 1}"]


def explain(binary, model, row):
    words = arguments_of(row)
    if words is None:
        return None
    command = [binary, "explain", "--model", model, "--hardware", "h100", "--chips", str(row["devices"]), "--format",
               "json", "--memory-fraction", "0.97", *words]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode not in (0, 3):
        return {"error": done.stderr.strip()}
    answer = json.loads(done.stdout)
    violation = answer.get("infeasible") or {}
    return {"seconds": answer["time"]["step_seconds"], "peak": answer["memory"]["peak_bytes"],
            "violation": violation.get("constraint"), "fit": answer["fit"]}


def ranks(values):
    order = sorted(range(len(values)), key=values.__getitem__)
    result, i = [0.0] * len(values), 0
    while i < len(order):
        j = i
        while j + 1 < len(order) and values[order[j + 1]] == values[order[i]]:
            j += 1
        for k in order[i:j + 1]:
            result[k] = (i + j) / 2
        i = j + 1
    return result


def spearman(a, b):
    return statistics.correlation(ranks(a), ranks(b)) if len(a) > 2 and len(set(a)) > 1 and len(set(b)) > 1 else None


def measured_seconds(row):
    return row["global_batch_seqs"] * row["seq_len"] / row["tokens_per_s_per_device"] / row["devices"]


def split_of(row, *more):
    p = row["parallelism"]
    return (row["model"], p["tp"], p["pp"], p["micro_batch"]) + tuple(p[key] for key in more)


def seconds_a_microbatch(row):
    return measured_seconds(row) / row["parallelism"]["microbatches"]


def steady_rows(rows):
    """Ids of the rows that ran as fast, for a microbatch, as their split did at its best."""
    ran = [r for r in rows if r["status"] == "ok"]
    least = {}
    for row in ran:
        least[split_of(row)] = min(seconds_a_microbatch(row), least.get(split_of(row), float("inf")))
    return {id(r) for r in ran if seconds_a_microbatch(r) - least[split_of(r)] < DISTURBED}


def order_of_zero_pairs(rows):
    """Rank correlation, by cell, of measured seconds with and without ZeRO-1."""
    cells = {}
    for row in rows:
        if row["status"] == "ok":
            pairs = cells.setdefault((row["model"], row["devices"]), {})
            pairs.setdefault(split_of(row, "data"), {})[row["parallelism"]["zero"]] = measured_seconds(row)
    both = [[v for v in pairs.values() if len(v) == 2] for pairs in cells.values()]
    return [spearman([v[0] for v in pairs], [v[1] for v in pairs]) for pairs in both if len(pairs) >= 6]


def judge(cell):
    """Of the rows of a cell that ran and can be costed."""
    ran = [(r, p) for r, p in cell if r["status"] == "ok" and p and "seconds" in p]
    if len(ran) < 3:
        return None
    predicted, measured = [p["seconds"] for _, p in ran], [measured_seconds(r) for r, _ in ran]
    pick = min(range(len(ran)), key=predicted.__getitem__)
    fits = sum(p["fit"] != "does_not_fit" for _, p in ran)
    return {"rows": len(ran), "spearman": spearman(predicted, measured), "regret": measured[pick] / min(measured) - 1,
            "feasible": fits / len(ran), "ratio": statistics.median(m / p for p, m in zip(predicted, measured))}


def verdicts_of(rows, costed, counts, shown=False):
    cells = {}
    for row, prediction in zip(rows, costed):
        if counts(row):
            cells.setdefault((row["model"], row["devices"]), []).append((row, prediction))
    verdicts = []
    for (model, devices), cell in sorted(cells.items()):
        verdict = judge(cell)
        if not verdict:
            continue
        verdicts.append({**verdict, "devices": devices})
        correlation = "   -" if verdict["spearman"] is None else f"{verdict['spearman']:.2f}"
        if shown:
            print(f"{model:>5} {devices:5} {verdict['rows']:8} {correlation:>9} {verdict['regret']:7.1%} "
                  f"{verdict['feasible']:16.0%} {verdict['ratio']:19.2f}")
    return verdicts


def print_mean(of, verdicts):
    """Over all cells, and over those of up to 256 GPUs."""
    for named, some in (("", verdicts), (", up to 256 GPUs", [v for v in verdicts if v["devices"] <= 256])):
        known = [v["spearman"] for v in some if v["spearman"] is not None]
        if known:
            print(f"{of}{named}: {sum(v['rows'] for v in some)} layouts, mean Spearman {statistics.mean(known):.2f}, "
                  f"least {min(known):.2f}; mean regret {statistics.mean(v['regret'] for v in some):.1%}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary")
    parser.add_argument("--cells", help="only these: 3B/128,8B/64")
    parser.add_argument("--rows", help="write every row with its prediction to this JSON file")
    given = parser.parse_args()
    dims, rows = load_rows()
    wanted = given.cells and set(given.cells.split(","))
    rows = [r for r in rows if not wanted or f"{r['model']}/{r['devices']}" in wanted]
    with tempfile.TemporaryDirectory() as folder:
        models = {name: write_model(name, d, folder) for name, d in dims.items()}
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            costed = list(pool.map(lambda row: explain(given.binary, models[row["model"]], row), rows))
    failed = [p["error"] for p in costed if p and "error" in p]
    if failed:
        print(f"{len(failed)} rows refused, for example: {failed[0]}", file=sys.stderr)
    if given.rows:
        with open(given.rows, "w") as file:
            json.dump([{**r, "predicted": p} for r, p in zip(rows, costed)], file)
    print("model  GPUs  layouts  Spearman  regret  called feasible  measured/predicted")
    verdicts = verdicts_of(rows, costed, lambda row: True, shown=True)
    if not verdicts:
        sys.exit("no cell has three layouts that ran and are costed")
    steady = steady_rows(rows)
    print_mean("all", verdicts)
    print_mean("steady", verdicts_of(rows, costed, lambda row: id(row) in steady))
    print_mean("no pipeline", verdicts_of(rows, costed, lambda row: row["parallelism"]["pp"] == 1))
    print_mean("steady, no pipeline", verdicts_of(
        rows, costed, lambda row: row["parallelism"]["pp"] == 1 and id(row) in steady))
    pairs = order_of_zero_pairs(rows)
    if pairs:
        print(f"ZeRO pairs order each other with {statistics.mean(pairs):.2f} ({min(pairs):.2f} to {max(pairs):.2f})")
    print(f"{sum(p is None for p in costed)} of {len(rows)} layouts have no words in MaxText, {len(failed)} refused")


if __name__ == "__main__":
    main()
