#!/usr/bin/env python3
"""Shares of peak that products reach on a TPU, by shape: `matmul_shares` of a profile.

    matmul_shares.py [--operands bfloat16|int8|float8] TOPOLOGY PEAK_FLOPS CLOCK_HZ [SCOPED_VMEM_LIMIT_KIB]

Compiles [m, k]·[k, n] for every m, n, k of SIZES with the TPU's own compiler, on any machine (PyPI's jax==0.12.0.1 and
libtpu==0.0.50.1), and reads the cycles that it states for each. Prints a table as JSON. TOPOLOGY: v6e:2x4, v5p:2x2x2,
tpu7x:2x2x1; the clock is 1.75e9 for v5p and v6e, 2.2e9 for 7x; the peak is that of the operands. Results are bfloat16.
Minutes; with a large limit the compiler searches longer.
"""
import argparse, json, os, re

SIZES = [512, 2048, 8192, 32768]
# The type of the operands, and what their products are summed in.
OPERANDS = {"bfloat16": ("bfloat16", "bfloat16"), "int8": ("int8", "int32"), "float8": ("float8_e4m3fn", "float32")}


def prepare():
    """Before jax is imported."""
    os.environ.update(TPU_SKIP_MDS_QUERY="1", JAX_PLATFORMS="cpu", ALLOW_MULTIPLE_LIBTPU_LOAD="1")


def cycles(topology, operands_of, m, limit):
    """Of all products with this m, by (n, k)."""
    import jax, jax.numpy as jnp
    from jax.experimental import topologies
    from jax.sharding import SingleDeviceSharding
    device = topologies.get_topology_desc(platform="tpu", topology_name=topology).devices[0]
    shapes = [(n, k) for n in SIZES for k in SIZES]
    dtype, sums = (jnp.dtype(name) for name in OPERANDS[operands_of])
    operand = lambda *shape: jax.ShapeDtypeStruct(shape, dtype, sharding=SingleDeviceSharding(device))
    operands = [x for n, k in shapes for x in (operand(m, k), operand(k, n))]
    product = lambda a, b: jnp.dot(a, b, preferred_element_type=sums).astype(jnp.bfloat16)
    products = lambda *xs: [product(a, b) for a, b in zip(xs[::2], xs[1::2])]
    options = {"xla_tpu_scoped_vmem_limit_kib": limit} if limit else None
    text = jax.jit(products).lower(*operands).compile(compiler_options=options).as_text()
    found = {}
    for line in text.splitlines():
        result = re.search(r"= bf16\[(\d+),(\d+)\]\S* fusion\(", line)
        stated = re.search(r'estimated_cycles":"(\d+)"', line)
        if result and stated:
            found.setdefault(int(result.group(2)), []).append(int(stated.group(1)))
    # Of one n the products take longer the larger k is.
    return {(n, k): c for n in SIZES for k, c in zip(SIZES, sorted(found[n]), strict=True)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("topology")
    parser.add_argument("peak", type=float)
    parser.add_argument("clock", type=float)
    parser.add_argument("limit", nargs="?")
    parser.add_argument("--operands", choices=OPERANDS, default="bfloat16")
    given = parser.parse_args()
    prepare()
    table = {} if given.operands == "bfloat16" else {"operands": given.operands}
    if given.limit:
        table["scoped_vmem_limit_kib"] = int(given.limit)
    table["sizes"] = SIZES
    table["shares"] = []
    for m in SIZES:
        stated = cycles(given.topology, given.operands, m, given.limit)
        seconds = lambda n, k: stated[n, k] / given.clock
        table["shares"] += [round(min(1, 2 * m * n * k / (seconds(n, k) * given.peak)), 3) for n in SIZES for k in SIZES]
    table["source"] = (f"hardware/compiled/matmul_shares.py: {given.operands} products compiled with libtpu 0.0.50.1, the "
                       "cycles that the compiler states")
    print(json.dumps(table))


if __name__ == "__main__":
    main()
