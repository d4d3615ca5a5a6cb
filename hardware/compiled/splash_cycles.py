#!/usr/bin/env python3
"""Cycles of splash attention's kernels on a TPU: `splash_cycles` of a profile (cost_models/time/splash_time.hpp).

    splash_cycles.py [--limit SCOPED_VMEM_LIMIT_KIB] TOPOLOGY

Kernels written in Pallas carry no estimate in optimized HLO, but libtpu writes their final schedule down: bundles of
instructions, each of them a cycle. For each width of heads and each pair of blocks (queries, keys) this compiles causal
attention and its gradient with the TPU's own compiler (PyPI's jax==0.12.0.1, libtpu==0.0.50.1 and tokamax==0.0.17), on
any machine, and counts the bundles of the kernels' loop over blocks:

    visited  what runs for a block that the mask leaves whole: the longest section that a branch leaves out
    masked   the same for a block that the mask cuts, where the kernel has two of them
    row      the other such sections: what runs once for a row of blocks, first and last
    step     the rest: what runs for every step of the grid, visited or not

Kernels: forward, dq and dkv of jax.experimental.pallas.ops.tpu.splash_attention (MaxText without use_tokamax_splash), fused
(sa_use_fused_bwd_kernel: one kernel for all gradients), and forward and fused of tokamax (use_tokamax_splash). Operands are
bfloat16, with segment ids, as MaxText calls them. Each kernel has a number for each head, block of queries and block of
keys, keys varying fastest. The profiles of v5p, v6e and 7x have what it printed with 98304, 98304 and 65536 KiB. Minutes;
each compilation in a process of its own.
"""
import argparse, glob, itertools, json, os, re, subprocess, sys, tempfile

from matmul_shares import prepare

HEAD_WIDTHS, BLOCKS = (128, 256), (512, 2048)
LIBRARIES = [("jax", False), ("jax", True), ("tokamax", True)]  # and whether gradients are fused
NAMES = {"forward": "forward", "dq": "query_gradient", "dkv": "key_value_gradient", "fused": "fused_gradient"}
SEQUENCE, HEADS = 4096, 2
KERNELS = {"forward": "fwd", "dq": "dq", "dkv": "dkv"}  # as their names in the dumps have it
EDGE = 24  # shorter sections wait for copies
DELAY = 4  # bundles behind a branch that run in any case


def sections(schedule):
    """(bundles of the loop over the grid, bundles of each innermost section that a branch leaves out)"""
    bundles = [line for line in schedule.splitlines() if re.match(r"\s*0x[0-9a-f]+\s", line)]
    begin = next(i for i, line in enumerate(bundles) if re.match(r"\s*0x[0-9a-f]+\s+LB: >", line))
    end = max(i for i, line in enumerate(bundles) if "sbr.rel (!%p" in line) + 1 + DELAY
    lands = {}
    for i, line in enumerate(bundles):
        for region in re.findall(r"Start/End empty region (\d+)", line):
            lands[region] = i
    skipped = []
    for i in range(begin, end):
        branch = re.search(r"sbr\.rel \(%p\w+\) target = \$region(\d+)", bundles[i])
        if branch and lands.get(branch.group(1), 0) > i + 1 + DELAY:
            skipped.append((i + 1 + DELAY, lands[branch.group(1)]))
    inner = [(a, b) for a, b in skipped if not any(a <= c and d <= b for c, d in skipped if (c, d) != (a, b))]
    return end - begin, [b - a for a, b in inner]


def compile_kernels(topology, limit, flavour, fused, head, queries, keys, folder):
    """Writes the dumps of one attention and its gradient to `folder`."""
    prepare()
    os.environ["LIBTPU_INIT_ARGS"] = f"--xla_jf_dump_to={folder} --xla_jf_dump_llo_text=true"
    import jax, jax.numpy as jnp
    from jax.experimental import topologies
    from jax.sharding import SingleDeviceSharding
    device = topologies.get_topology_desc(platform="tpu", topology_name=topology).devices[0]
    blocks = dict(block_q=queries, block_kv=keys, block_kv_compute=keys, block_q_dkv=queries, block_kv_dkv=keys,
                  block_kv_dkv_compute=keys)
    if flavour == "tokamax":
        from tokamax._src.ops.experimental.tpu.splash_attention import splash_attention_kernel as kernels
        from tokamax._src.ops.experimental.tpu.splash_attention import splash_attention_mask as masks
        config = kernels.SplashConfig(**blocks, use_fused_bwd_kernel=True, residual_checkpoint_name="context")
        with jax.default_device(jax.devices("cpu")[0]):
            kernel = kernels.make_splash_mha(masks.CausalMask((SEQUENCE, SEQUENCE)), config=config, q_seq_shards=1)
    else:
        from jax.experimental.pallas.ops.tpu.splash_attention import splash_attention_kernel as kernels
        from jax.experimental.pallas.ops.tpu.splash_attention import splash_attention_mask as masks
        apart = {} if fused else dict(block_q_dq=queries, block_kv_dq=keys)
        mask = masks.MultiHeadMask([masks.CausalMask((SEQUENCE, SEQUENCE))] * HEADS)
        with jax.default_device(jax.devices("cpu")[0]):
            kernel = kernels.make_splash_mha(mask, block_sizes=kernels.BlockSizes(**blocks, **apart, use_fused_bwd_kernel=fused),
                                             head_shards=1, q_seq_shards=1)

    def gradient(q, k, v, ids, result_gradient):
        segments = kernels.SegmentIds(ids, ids)
        return jax.vjp(lambda *qkv: kernel(*qkv, segments), q, k, v)[1](result_gradient)

    placed = lambda shape, dtype: jax.ShapeDtypeStruct(shape, dtype, sharding=SingleDeviceSharding(device))
    x = placed((HEADS, SEQUENCE, head), jnp.bfloat16)
    options = {"xla_tpu_scoped_vmem_limit_kib": limit} if limit else None
    jax.jit(gradient).lower(x, x, x, placed((SEQUENCE,), jnp.int32), x).compile(compiler_options=options)


def counted(folder, fused):
    found = {}
    for kernel, name in KERNELS.items():
        for path in glob.glob(f"{folder}/*{name}*-final_bundles.txt"):
            if "schedule-analysis" in path or "splash" not in path:
                continue
            loop, skipped = sections(open(path).read())
            masked = max(skipped)
            blocks = [s for s in skipped if 2 * s > masked]  # with the mask applied, and without where a kernel has both
            row = sum(s for s in skipped if s not in blocks and s >= EDGE)
            found["fused" if fused and kernel == "dkv" else kernel] = {
                "visited": min(blocks), "masked": masked, "row": row, "step": loop - sum(blocks) - row}
    return found


def cycles_of(given, flavour, fused, head, queries, keys):
    with tempfile.TemporaryDirectory() as folder:
        limit = ["--limit", given.limit] if given.limit else []
        one = ["--one", flavour, str(fused), str(head), str(queries), str(keys), folder]
        run = subprocess.run([sys.executable, __file__, given.topology, *limit, *one], capture_output=True, text=True)
        if run.returncode:
            sys.exit(f"{flavour} {fused} {head} {queries} {keys}: {run.stderr[-300:]}")
        return counted(folder, fused)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("topology")
    parser.add_argument("--limit")
    parser.add_argument("--one", nargs=6, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        flavour, fused, head, queries, keys, folder = given.one
        return compile_kernels(given.topology, given.limit, flavour, fused == "True", int(head), int(queries), int(keys), folder)
    kernels = {}
    for flavour, fused in LIBRARIES:
        for head, queries, keys in itertools.product(HEAD_WIDTHS, BLOCKS, BLOCKS):
            for kernel, cycles in cycles_of(given, flavour, fused, head, queries, keys).items():
                if (flavour, fused, kernel) == ("jax", True, "forward"):
                    continue  # the same again
                corners = kernels.setdefault((flavour, kernel), {"visited": [], "masked": [], "row": [], "step": []})
                for name, number in cycles.items():
                    corners[name].append(number)
    for (flavour, kernel), corners in kernels.items():
        print(json.dumps({"library": flavour, "kernel": NAMES[kernel], **corners}))


if __name__ == "__main__":
    main()
