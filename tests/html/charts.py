"""What each chart of a page has to show, from its answer alone: {chart: {row: {series: value}}}."""
import collections

# {chart: {row: {series: value}}} of everything that bars and points show.
charts_shown = """
(() => { const charts = {};
  for (const figure of document.querySelectorAll("figure[data-chart]")) {
    const rows = (charts[figure.dataset.chart] = {});
    for (const mark of figure.querySelectorAll("[data-value]")) {
      const row = mark.closest("[data-row]") ? mark.closest("[data-row]").dataset.row : "";
      (rows[row] = rows[row] || {})[mark.dataset.series + (row ? "" : Object.keys(rows[row]).length)] = Number(mark.dataset.value);
    }
  }
  return charts; })()
"""


def with_routing(rate, time):
    return rate * time["step_seconds"] / (time["step_seconds"] + time["all_token_routing_seconds"])


def shown(parts):
    return {name: value for name, value in parts.items() if value > 0}


def traffic(collectives):
    names = {"rematerialized_forward": "recomputed forward"}
    rows = collections.defaultdict(collections.Counter)
    for c in collectives:
        rows[f"{c['kind']} over {'+'.join(c['axes']) or 'no axis'}"][names.get(c["phase"], c["phase"])] += c["bytes"] * c["executions"]
    return {row: shown(phases) for row, phases in rows.items()}


def run_charts(e):
    time, compute, memory = e["time"], e["time"]["compute"], e["memory"]
    return {
        "time": {
            "device": shown({"matrix products": compute["matmul_seconds"], "experts' products": compute["grouped_matmul_seconds"],
                             "attention": compute["attention_seconds"], "vector work": compute["vector_seconds"],
                             "update": compute["optimizer_seconds"],
                             "slowed by collectives": compute["contention_seconds"], "waits for collectives": time["exposed_collective_seconds"],
                             "waits for the host": time["exposed_host_seconds"], "pipeline bubble": time["bubble_seconds"],
                             "routing of all tokens": time["all_token_routing_seconds"]}),
            "collectives": shown({"waits for collectives": time["exposed_collective_seconds"],
                                  "hidden behind compute": time["hidden_collective_seconds"]})},
        "traffic": traffic(e["collectives"]),
        "memory": {"at the peak": shown({name: memory[f"{key}_bytes"] for name, key in
                                         [("parameters", "parameters"), ("optimizer", "optimizer"), ("input batch", "batch"),
                                          ("gradients", "gradients"), ("activations", "activations"), ("temporaries", "temporaries")]})},
    }


def what_if_charts(rows):
    """How much faster each change is, by kind."""
    charts = {}
    for row in rows:
        charts.setdefault("what-if", {}).setdefault(row["kind"], {})[row["change"]] = row["faster"]
    return charts


def plan_charts(answer):
    able = [r for r in answer["results"] if r["recommended"]]
    if not able:
        return {}
    best = able[0]
    return {**run_charts(best["recommended"]), **what_if_charts(best["what_if"]),
            "machines": {r["hardware"]: {"tokens/s": with_routing(r["recommended"]["time"]["tokens_per_second_per_device"], r["recommended"]["time"])
                                         * r["recommended"]["devices"]}
                         for r in able},
            "strategies": {s["strategy"]: {"tokens/s": with_routing(s["tokens_per_second_per_device"], s)} for s in best["strategies"]},
            "front": {"": {f"front{i}": p["peak_bytes"] for i, p in enumerate(sorted(best["pareto"], key=lambda p: p["peak_bytes"]))}}}


def compare_charts(answer):
    """By the place of the row: its name is text."""
    rows, first = answer["rows"], answer["rows"][0]["global_batch_tokens"]
    scaled = lambda r, key: r[key] * first / r["global_batch_tokens"]  # noqa: E731
    return {"time": [shown({"compute": scaled(r, "compute_seconds"), "exposed collectives": scaled(r, "exposed_collective_seconds"),
                            "host copies": scaled(r, "exposed_host_seconds"), "pipeline bubble": scaled(r, "bubble_seconds"),
                            "routing of all tokens": scaled(r, "all_token_routing_seconds")}) for r in rows],
            "traffic": [shown({"all-to-all": r["all_to_all_bytes"], "gathered": r["gather_bytes"], "reduced": r["reduce_bytes"],
                               "permuted": r["permute_bytes"]}) for r in rows],
            "memory": [{"peak": r["peak_bytes"]} for r in rows]}


def program_charts(answer):
    t = answer.get("timeline")
    if not t:
        return {}
    compute = t["compute"]
    waited = [c for c in t["collectives"] if c["exposed_seconds"] > 0][:7]
    return {
        "program": {"the program": shown({"matrix products": compute["product_seconds"], "experts' products": compute["grouped_product_seconds"],
                                          "attention": compute["attention_seconds"], "other kernels": compute["vector_seconds"],
                                          "slowed by collectives": compute["contention_seconds"],
                                          "waits for collectives": t["exposed_collective_seconds"], "waits for copies": t["exposed_copy_seconds"]}),
                    answer["against"]: {"step": t["expected_step_seconds"]}},
        "windows": [shown({"waited for": c["exposed_seconds"], "hidden": max(0, c["seconds"] - c["exposed_seconds"])}) for c in waited]}


def sweep_charts(answer):
    """Days of each possible cell where tokens are given, by machine and chips; and the tokens of a chip."""
    charts, scaling = {}, {s["model"] for s in answer["scaling"]}
    for c in answer["cells"]:
        if c["feasible"]:
            value = c["tokens_per_second"] if c["days"] is None else c["days"]
            charts.setdefault(f"map {c['model']}", {}).setdefault(c["hardware"], {})[str(c["chips"])] = value
            if c["model"] in scaling:
                charts.setdefault(f"scaling {c['model']}", {}).setdefault(c["hardware"], {})[str(c["chips"])] = c["tokens_per_second"] / c["chips"]
    return charts


def charts_expected(answer):
    command = answer.get("command", "explain")
    if command == "sweep":
        return sweep_charts(answer)
    if command == "compare":
        return compare_charts(answer)
    if command == "plan":
        return plan_charts(answer)
    if command == "explain":
        return {**run_charts(answer), **what_if_charts(answer["what_if"])}
    fixed = command == "audit" or answer["expected"] != answer["collectives"]
    return {**program_charts(answer), **{name: traffic(answer[key]) for name, key in [("found", "collectives"), ("expected", "expected")]
            if answer[key] and (fixed or name == "found")}}
