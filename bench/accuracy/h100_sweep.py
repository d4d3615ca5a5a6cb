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
layouts that ran which are not called too large.
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


def load_rows():
    with gzip.open(os.path.join(HERE, "h100_sweep.json.gz")) as file:
        data = json.load(file)
    return data["dims"], data["rows"]


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
    answer = answer.get("evaluation", answer)
    violation = answer.get("infeasible") or {}
    return {"seconds": answer["time"]["step_seconds"], "peak": answer["memory"]["peak_bytes"],
            "violation": violation.get("constraint"), "fit": answer.get("fit", answer["memory"].get("fit"))}


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
    cells = {}
    for row, prediction in zip(rows, costed):
        cells.setdefault((row["model"], row["devices"]), []).append((row, prediction))
    print("model  GPUs  layouts  Spearman  regret  called feasible  measured/predicted")
    verdicts = []
    for (model, devices), cell in sorted(cells.items()):
        verdict = judge(cell)
        if not verdict:
            continue
        verdicts.append(verdict)
        correlation = "   -" if verdict["spearman"] is None else f"{verdict['spearman']:.2f}"
        print(f"{model:>5} {devices:5} {verdict['rows']:8} {correlation:>9} {verdict['regret']:7.1%} "
              f"{verdict['feasible']:16.0%} {verdict['ratio']:19.2f}")
    if not verdicts:
        sys.exit("no cell has three layouts that ran and are costed")
    known = [v["spearman"] for v in verdicts if v["spearman"] is not None]
    print(f"mean Spearman {statistics.mean(known):.2f}, least {min(known):.2f}; mean regret "
          f"{statistics.mean(v['regret'] for v in verdicts):.1%}; "
          f"{sum(p is None for p in costed)} of {len(rows)} layouts have no words in MaxText, {len(failed)} refused")


if __name__ == "__main__":
    main()
