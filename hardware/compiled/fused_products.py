#!/usr/bin/env python3
"""What an elementwise operation adds to the product that it is fused with on a TPU: `fused_share` of a profile's
`matmul_shares`.

    fused_products.py TOPOLOGY [SCOPED_VMEM_LIMIT_KIB]

XLA:TPU computes elementwise operations in the product that reads their result or makes their input. This compiles the six
kinds that a gated feed-forward has (SiLU times gate into wo; wo plus residual; both; a product times a gate; both gradients
of the gate from a product; the gate again into wo's weight gradient) and each product and operation by itself with the
TPU's own compiler (PyPI's jax==0.12.0.1 and libtpu==0.0.50.1), on any machine, and reads the cycles that it states. The
share is the sum of what fusions take longer than their products over the sum of what the operations take alone. With a
large limit a tile holds a whole operand, so that it is computed once, beside the product; with the default one it is
computed again for each tile. Minutes.
"""
import re, sys

from matmul_shares import prepare

TOKENS, HIDDEN, EMBED = 8192, 14336, 4096


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    prepare()
    import jax, jax.numpy as jnp
    from jax.experimental import topologies
    from jax.sharding import SingleDeviceSharding
    device = topologies.get_topology_desc(platform="tpu", topology_name=sys.argv[1]).devices[0]
    options = {"xla_tpu_scoped_vmem_limit_kib": sys.argv[2]} if len(sys.argv) == 3 else None
    shaped = lambda *shape: jax.ShapeDtypeStruct(shape, jnp.bfloat16, sharding=SingleDeviceSharding(device))

    def cycles(function, *operands):
        text = jax.jit(function).lower(*operands).compile(compiler_options=options).as_text()
        return sum(int(c) for c in re.findall(r'estimated_cycles":"(\d+)"', text))

    gate = lambda g, u: jax.nn.silu(g) * u
    gradient = lambda d, g, u: jax.vjp(gate, g, u)[1](d)
    hidden, narrow, out, into = shaped(TOKENS, HIDDEN), shaped(TOKENS, EMBED), shaped(HIDDEN, EMBED), shaped(EMBED, HIDDEN)
    gated, residual = cycles(gate, hidden, hidden), cycles(lambda x, y: x + y, narrow, narrow)
    down = cycles(lambda a, w: a @ w, hidden, out)
    up = cycles(lambda a, w: a @ w, narrow, into)
    weights = cycles(lambda a, d: a.T @ d, hidden, narrow)
    kinds = [
        ("gate, product", cycles(lambda g, u, w: gate(g, u) @ w, hidden, hidden, out) - down, gated),
        ("product, residual", cycles(lambda a, w, r: a @ w + r, hidden, out, narrow) - down, residual),
        ("gate, product, residual",
         cycles(lambda g, u, w, r: gate(g, u) @ w + r, hidden, hidden, out, narrow) - down, gated + residual),
        ("product, gate", cycles(lambda a, w, g: gate(g, a @ w), narrow, into, hidden) - up, gated),
        ("product, gate's gradients", cycles(lambda a, w, g, u: gradient(a @ w, g, u), narrow, into, hidden, hidden) - up,
         cycles(gradient, hidden, hidden, hidden)),
        ("gate, weight gradient", cycles(lambda g, u, d: gate(g, u).T @ d, hidden, hidden, narrow) - weights, gated),
    ]
    for kind, added, alone in kinds:
        print(f"  {kind}: {added:+d} cycles, {added / alone:+.2f} of {alone} alone")
    print(f"fused_share {max(0, sum(added for _, added, _ in kinds) / sum(alone for *_, alone in kinds)):.3f}")


if __name__ == "__main__":
    main()
