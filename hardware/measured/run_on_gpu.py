#!/usr/bin/env python3
"""What one GPU takes: MaxText steps (export_step.py), matrix products, attention kernels and elementwise work, alone and
beside a kernel that holds some of its processors as a collective's does.

    run_on_gpu.py --out FOLDER [--steps FOLDER/ID ...] [--seconds S] [--only products,attention,...]

Writes FOLDER/results.json and, for each step, its optimized program and what each of its kernels took (ID.kernels.json:
kernel, HLO operation, times it ran and milliseconds of a step). Everything runs on random numbers (on zeros a product is
an eighth faster), long enough for the clocks to settle at the card's power limit: of each
series the second half counts. Needs jax with CUDA and nvidia-ml-py; `beside` also torch and cupy. The card's settings are
left as they are. Half an H100's memory is enough.
"""
import argparse, collections, glob, json, os, pathlib, statistics, sys, tempfile, threading, time

os.environ.setdefault("XLA_FLAGS", "--xla_gpu_enable_command_buffer=")  # else a profile has no kernels' names
PRODUCTS = {  # name: operands' shapes, contracted dims, batch dims
    "up": ((16384, 8192), (8192, 28672), (1, 0), 0), "up_dgrad": ((16384, 28672), (8192, 28672), (1, 1), 0),
    "up_wgrad": ((16384, 8192), (16384, 28672), (0, 0), 0), "down": ((16384, 28672), (28672, 8192), (1, 0), 0),
    "down_dgrad": ((16384, 8192), (28672, 8192), (1, 1), 0), "down_wgrad": ((16384, 28672), (16384, 8192), (0, 0), 0),
    "q": ((16384, 8192), (8192, 8192), (1, 0), 0), "kv": ((16384, 8192), (8192, 1024), (1, 0), 0),
    "head": ((16384, 8192), (8192, 32000), (1, 0), 0), "s8192": ((8192, 8192), (8192, 8192), (1, 0), 0),
    "s4096": ((4096, 4096), (4096, 4096), (1, 0), 0), "s2048": ((2048, 2048), (2048, 2048), (1, 0), 0),
    "ll8_up": ((16384, 4096), (4096, 14336), (1, 0), 0), "ll8_down": ((16384, 14336), (14336, 4096), (1, 0), 0),
    "mx_up": ((8, 6144, 4096), (8, 4096, 14336), (2, 1), 1), "mx_up_wgrad": ((8, 6144, 4096), (8, 6144, 14336), (1, 1), 1),
    "qw_up": ((64, 1024, 2048), (64, 2048, 768), (2, 1), 1)}
ATTENTION = (  # batch, tokens, heads of queries, of keys, head dim
    (2, 8192, 64, 8, 128), (4, 4096, 32, 8, 128), (4, 2048, 32, 8, 128), (1, 32768, 32, 8, 128), (2, 8192, 64, 8, 64),
    (4, 4096, 16, 16, 256))
HOLD = r"""
extern "C" __global__ void __launch_bounds__(640, 1) hold(const uint4* from, uint4* to, long long each, long long ns) {
  extern __shared__ char room[];  // so that no product's block fits beside it
  unsigned long long begin, now; asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begin)); now = begin;
  from += each * blockIdx.x; to += each * blockIdx.x;
  for (long long at = threadIdx.x; now - begin < ns; at = at + 2560 < each ? at + 2560 : threadIdx.x) {
    uint4 x[4];
    #pragma unroll
    for (int j = 0; j < 4; ++j) x[j] = from[(at + j * 640) % each];
    #pragma unroll
    for (int j = 0; j < 4; ++j) to[(at + j * 640) % each] = x[j];
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  }
  if (threadIdx.x == 0) room[0] = 1;
}"""
keys = iter(range(1 << 30))


def card():
    import pynvml
    pynvml.nvmlInit()
    return pynvml, pynvml.nvmlDeviceGetHandleByIndex(0)


class Watch:
    """Power and clock while it is open."""
    def __enter__(self):
        self.seen, self.open = [], True
        self.thread = threading.Thread(target=self.look, daemon=True)
        self.thread.start()
        return self

    def look(self):
        nvml, handle = card()
        while self.open:
            watts = nvml.nvmlDeviceGetPowerUsage(handle) / 1e3
            self.seen.append((watts, nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_SM)))
            time.sleep(0.02)

    def __exit__(self, *_):
        self.open = False
        self.thread.join()

    def figures(self):
        late = self.seen[len(self.seen) // 2:]
        if not late:
            return {}
        return {"power_w": statistics.mean(w for w, _ in late), "sm_mhz": statistics.median(c for _, c in late)}


def random(shape, dtype, scale=1.0):
    import jax
    return (jax.random.normal(jax.random.key(next(keys), impl="unsafe_rbg"), shape) * scale).astype(dtype)


def timed(f, arguments, seconds):
    """Milliseconds of f, enqueued in chunks of a tenth of a second: the first chunk's, and the median of the second half."""
    import jax
    jax.block_until_ready(f(*arguments))
    begin = time.time()
    jax.block_until_ready(f(*arguments))
    count = max(1, int(0.1 / max(time.time() - begin, 1e-5)))
    chunks, end = [], time.time() + seconds
    with Watch() as watch:
        while time.time() < end:
            begin = time.time()
            for _ in range(count):
                result = f(*arguments)
            jax.block_until_ready(result)
            chunks.append((time.time() - begin) / count * 1e3)
    return {"first_ms": chunks[0], "ms": statistics.median(chunks[len(chunks) // 2:]), **watch.figures()}


def products():
    import jax, math
    import jax.numpy as jnp
    found = {}
    for name, (left, right, (i, j), batch) in PRODUCTS.items():
        dims = (((i,), (j,)), (tuple(range(batch)),) * 2)
        f = jax.jit(lambda x, y, dims=dims: jax.lax.dot_general(x, y, dims, preferred_element_type=jnp.bfloat16))
        found[name] = timed(f, (random(left, jnp.bfloat16), random(right, jnp.bfloat16, 0.02)), 1.2)
        flops = 2 * math.prod(left) * math.prod(right) / left[i] / (left[0] if batch else 1)
        found[name]["tflops"] = flops / found[name]["ms"] / 1e9
    return found


def attention():
    import jax
    import jax.numpy as jnp
    found = {}
    for batch, tokens, heads, of_keys, width in ATTENTION:
        q, k, v = (random((batch, tokens, n, width), jnp.bfloat16) for n in (heads, of_keys, of_keys))
        f = lambda q, k, v: jax.nn.dot_product_attention(q, k, v, is_causal=True, implementation="cudnn")
        forward = timed(jax.jit(f), (q, k, v), 0.7)
        both = timed(jax.jit(lambda q, k, v, d: jax.vjp(f, q, k, v)[1](d)), (q, k, v, q), 1.0)
        flops = 2 * batch * heads * tokens * tokens * width
        found[f"b{batch}_s{tokens}_n{heads}_k{of_keys}_h{width}"] = {
            "forward_tflops": flops / forward["ms"] / 1e9,
            "backward_tflops": 2.5 * flops / (both["ms"] - forward["ms"]) / 1e9, "sm_mhz": both["sm_mhz"]}
    return found


def elementwise():
    """GB/s of what is read and written."""
    import jax
    import jax.numpy as jnp
    half, one = 1 << 29, 1 << 30
    cases = {"scale_bf16": ((one,), jnp.bfloat16, lambda x: x * jnp.bfloat16(1.5), 4 * one),
             "cast_f32_bf16": ((half,), jnp.float32, lambda x: x.astype(jnp.bfloat16), 6 * half),
             "sum_bf16": ((half >> 12, 4096), jnp.bfloat16, lambda x: x.sum(-1), 2 * half),
             "fill_bf16": ((half >> 12,), jnp.bfloat16, lambda x: jnp.broadcast_to(x[:, None], (half >> 12, 4096)), 2 * half),
             "fill_f32": ((half >> 12,), jnp.float32, lambda x: jnp.broadcast_to(x[:, None], (half >> 12, 4096)), 4 * half),
             "tanh_f32": ((half,), jnp.float32, lambda x: jnp.tanh(x * 0.02) * 50, 8 * half),
             "exp_f32": ((half,), jnp.float32, jnp.exp, 8 * half),
             "transpose_bf16": ((16384, 28672), jnp.bfloat16, lambda x: x.T.copy() + jnp.bfloat16(1), 4 * 16384 * 28672)}
    for dtype, size in ((jnp.bfloat16, 2), (jnp.float32, 4)):
        for heads in (2, 4, 8):
            shape = (64 // heads // size, heads, 4096, 4096)
            moved = size * 64 // size << 24
            cases[f"heads_last_{heads}_{dtype.__name__}"] = (
                shape, dtype, lambda x: x.transpose(0, 2, 3, 1) + x.dtype.type(1), 2 * moved)
            cases[f"heads_last_too_{heads}_{dtype.__name__}"] = (
                shape, dtype, lambda x: (x.transpose(0, 2, 1, 3) + x.dtype.type(1), x.transpose(0, 2, 3, 1) + x.dtype.type(1)),
                3 * moved)
            cases[f"heads_first_{heads}_{dtype.__name__}"] = (
                (shape[0], 4096, 4096, heads), dtype, lambda x: x.transpose(0, 3, 1, 2) + x.dtype.type(1), 2 * moved)
    return {name: moved / timed(jax.jit(f), (random(shape, dtype),), 0.3)["ms"] / 1e6
            for name, (shape, dtype, f, moved) in cases.items()}


def scatter():
    """Million elements a second that are added to the rows that an index names: to few, as the gradients of experts' biases,
    or to those of a table."""
    import jax
    import jax.numpy as jnp
    found = {}
    for tokens, rows, width in ((8192, 32, 2880), (8192, 8, 14336), (65536, 128, 2048), (65536, 32, 2880), (8192, 128256, 4096),
                                (8192, 32000, 4096), (65536, 32000, 4096)):
        for dtype in (jnp.bfloat16, jnp.float32):
            for order in ("any", "sorted"):
                index = jax.random.randint(jax.random.key(1), (tokens,), 0, rows)
                index = jnp.sort(index) if order == "sorted" else index
                f = jax.jit(lambda x, i, rows=rows, width=width: jnp.zeros((rows, width), x.dtype).at[i].add(x))
                ms = timed(f, (random((tokens, width), dtype), index), 0.3)["ms"]
                found[f"{tokens}x{width}_to_{rows}_{dtype.__name__}_{order}"] = tokens * width / ms / 1e3
    return found


def beside():
    """Products beside a kernel on 1 (nearly nothing), 16, 24 and 32 processors that copies, 475 GB/s each way on 16."""
    import cupy, numpy, torch
    kernel = cupy.RawModule(code=HOLD, options=("--std=c++17",)).get_function("hold")
    kernel.max_dynamic_shared_size_bytes = room = 100 << 10
    buffers = torch.empty(2, 32, 1 << 20, 4, dtype=torch.int32, device="cuda")
    apart, main = torch.cuda.Stream(priority=-5), torch.cuda.Stream()

    def once(f, count, blocks, ms):
        torch.cuda.synchronize()
        with cupy.cuda.ExternalStream(apart.cuda_stream):
            kernel((blocks,), (640,), (buffers[0].data_ptr(), buffers[1].data_ptr(), numpy.int64(1 << 20),
                                       numpy.int64(ms * 1e6)), shared_mem=room)
        time.sleep(0.0005)
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        with torch.cuda.stream(main):
            f()
            begin.record(main)
            for _ in range(count):
                f()
            end.record(main)
        end.synchronize()
        assert not apart.query(), "the kernel beside it ended first"
        torch.cuda.synchronize()
        return begin.elapsed_time(end) / count

    normal = lambda *shape: torch.randn(*shape, device="cuda", dtype=torch.bfloat16)
    x, w, dy, big = normal(16384, 8192), normal(8192, 28672) * 0.02, normal(16384, 28672), normal(1 << 29)
    rows, experts = normal(8, 6144, 4096), normal(8, 4096, 14336) * 0.02
    cases = {"up": lambda: x @ w, "up_dgrad": lambda: dy @ w.t(), "up_wgrad": lambda: x.t() @ dy,
             "experts": lambda: torch.bmm(rows, experts), "elementwise": lambda: big * 1.5}
    found = {}
    for name, f in cases.items():
        f(); torch.cuda.synchronize(); begin = time.time(); f(); torch.cuda.synchronize()
        one = (time.time() - begin) * 1e3
        count = max(1, int(12 / one))
        ms = {blocks: statistics.median([once(f, count, blocks, 12 + 3.2 * one * count) for _ in range(12)][4:])
              for blocks in (1, 16, 24, 32)}
        found[name] = {"alone_ms": ms[1], "slower_beside": {blocks: ms[blocks] / ms[1] for blocks in (16, 24, 32)}}
    return found


def input_of(name, aval):
    import jax
    import jax.numpy as jnp
    if jnp.issubdtype(aval.dtype, jax.dtypes.prng_key):
        return jnp.broadcast_to(jax.random.key(0, impl="unsafe_rbg"), aval.shape)
    moment = "'mu'" in name or "'nu'" in name
    if ("scale'" in name and not moment) or "segmentation" in name:
        return jnp.ones(aval.shape, aval.dtype)
    if moment or "count" in name or "'step'" in name:
        return jnp.zeros(aval.shape, aval.dtype)
    if "position" in name:
        return jnp.broadcast_to(jnp.arange(aval.shape[-1], dtype=aval.dtype), aval.shape)
    if "'inputs'" in name or "'targets'" in name:
        return jax.random.randint(jax.random.key(1), aval.shape, 0, 32000).astype(aval.dtype)
    return random(aval.shape, aval.dtype, 0.02)


def kernels(folder, steps):
    """[kernel, HLO operation, times, milliseconds] of one step of a profile of so many, longest first."""
    import jax
    found = collections.defaultdict(lambda: [0, 0.0])
    for path in glob.glob(folder + "/**/*.xplane.pb", recursive=True):
        for plane in jax.profiler.ProfileData.from_file(path).planes:
            if not plane.name.startswith("/device:GPU"):
                continue
            for line in plane.lines:
                for event in line.events if line.name.startswith("Stream") else ():
                    operation = next((str(value) for name, value in event.stats if name == "hlo_op"), "")
                    seen = found[event.name, operation]
                    seen[0] += 1
                    seen[1] += event.duration_ns / 1e6
    return sorted(([*key, count / steps, ms / steps] for key, (count, ms) in found.items()), key=lambda row: -row[3])


def step(path, out, seconds):
    import jax
    from jax import export
    told = json.loads(path.with_suffix(".json").read_text())
    program = export.deserialize(bytearray(path.with_suffix(".export").read_bytes()))
    state = told["state"]
    compiled = jax.jit(lambda *leaves: program.call(*leaves), donate_argnums=tuple(range(state))).lower(
        *(jax.ShapeDtypeStruct(a.shape, a.dtype) for a in program.in_avals)).compile()
    (out / (path.name + ".hlo.txt")).write_text(compiled.as_text())
    leaves = [input_of(name, aval) for name, aval in zip(told["inputs"], program.in_avals, strict=True)]

    def run():
        nonlocal leaves
        result = compiled(*leaves)
        leaves = [*result[:state], *leaves[state:]]
        return result

    jax.block_until_ready(run())
    times, end = [], time.time() + seconds
    with Watch() as watch:
        while time.time() < end:
            begin = time.time()
            jax.block_until_ready(run())
            times.append((time.time() - begin) * 1e3)
    with tempfile.TemporaryDirectory() as folder:
        with jax.profiler.trace(folder):
            run()
            jax.block_until_ready(run())
        (out / (path.name + ".kernels.json")).write_text(json.dumps(kernels(folder, 2)))
    memory = compiled.memory_analysis()
    return {"arguments": told["arguments"], "step_ms": statistics.median(times[len(times) // 2:]), **watch.figures(),
            "memory": {"arguments_bytes": memory.argument_size_in_bytes, "temporaries_bytes": memory.temp_size_in_bytes,
                       "peak_bytes": memory.peak_memory_in_bytes}}


def main():
    parts = {"products": products, "attention": attention, "elementwise": elementwise, "scatter": scatter, "beside": beside}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--steps", nargs="*", default=[], type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=9, help="that a step is run for")
    parser.add_argument("--only", default=",".join(parts))
    options = parser.parse_args()
    nvml, handle = card()
    found = {"card": str(nvml.nvmlDeviceGetName(handle)), "xla_flags": os.environ["XLA_FLAGS"]}
    measures = [(path.name, lambda path=path: step(path, options.out, options.seconds)) for path in options.steps]
    measures += [(name, parts[name]) for name in options.only.split(",") if name]
    for name, measure in measures:
        try:
            found[name] = measure()
        except Exception as error:  # one that doesn't fit leaves the others their time
            found[name] = {"error": str(error)[:1000]}
        print(name, str(found[name])[-300:], flush=True)
        (options.out / "results.json").write_text(json.dumps(found, indent=1))
    if failed := [name for name, _ in measures if "error" in found[name]]:
        sys.exit("failed: " + ", ".join(failed))


if __name__ == "__main__":
    main()
