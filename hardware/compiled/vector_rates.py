#!/usr/bin/env python3
"""How fast a TPU's vector unit takes elements: `vector_pass_rate` and `vector_operand_rate` of a profile.

    vector_rates.py TOPOLOGY CLOCK_HZ

Compiles bfloat16 kernels of 2 to 5 operands and results over the same elements with the TPU's own compiler
(PyPI's jax==0.12.0.1 and libtpu==0.0.50.1), reads the cycles that it states and fits cycles = elements · (1/pass +
operands/operand). Prints both rates in Gelement/s and each kernel's residual, and AdamW on float32 beside them.
"""
import re, sys

from matmul_shares import prepare


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    prepare()
    import jax, jax.numpy as jnp, numpy
    from jax.experimental import topologies
    from jax.sharding import SingleDeviceSharding
    device = topologies.get_topology_desc(platform="tpu", topology_name=sys.argv[1]).devices[0]
    clock, shape = float(sys.argv[2]), (16384, 8192)
    elements = shape[0] * shape[1]

    def stated(function, operands, dtype):
        args = [jax.ShapeDtypeStruct(shape, dtype, sharding=SingleDeviceSharding(device))] * operands
        text = jax.jit(function).lower(*args).compile().as_text()
        return sum(int(c) for c in re.findall(r'estimated_cycles":"(\d+)"', text))

    two, one = jnp.bfloat16(2), jnp.bfloat16(1)
    kernels = [("copy", lambda x: x * two, 1, 2), ("two results", lambda x: (x * two, x + one), 1, 3),
               ("sum of three", lambda x, y, z: x + y + z, 3, 4), ("sum of four", lambda x, y, z, w: x + y + z + w, 4, 5)]
    cycles = [stated(function, inputs, jnp.bfloat16) for _, function, inputs, _ in kernels]
    operands = numpy.array([count for *_, count in kernels])
    per_operand, per_pass = numpy.polyfit(operands, numpy.array(cycles) / elements, 1)
    print(f"vector_pass_rate {clock / per_pass / 1e9:.0f} Gelement/s, vector_operand_rate {clock / per_operand / 1e9:.0f}")
    for (name, _, _, count), measured in zip(kernels, cycles):
        print(f"  {name}: {measured} cycles, {measured / elements / (per_pass + count * per_operand) - 1:+.1%}")

    def adamw(weight, gradient, m, v):
        m, v = 0.9 * m + 0.1 * gradient, 0.95 * v + 0.05 * gradient * gradient
        return weight - 1e-3 * m / (jnp.sqrt(v) + 1e-8), m, v
    print(f"  AdamW: {stated(adamw, 4, jnp.float32) / elements * 1024:.1f} cycles for 1024 elements")


if __name__ == "__main__":
    main()
