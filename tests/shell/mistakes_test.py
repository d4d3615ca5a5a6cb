#!/usr/bin/env python3
"""What newcomers get wrong is said in one line, with the way out. Usage: mistakes_test.py PATH_OF_SHARDPLAN"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

small = ["--model", "llama2-7b", "--chips", "8", "--hardware", "h100", "--rules", "default", "--remat", "full"]
one = ["explain", "--model", "llama2-7b", "--chips", "8", "--hardware", "h100", "--mesh", "fsdp=8",
       "attention=cudnn_flash_te", "per_device_batch_size=1"]

two = ["--model", "llama3.1-8b", "--chips", "8", "--hardware", "h100,tpu-v5p", "--rules", "default", "--remat", "full",
       "--objective", "cost", "--top", "1"]
launch = ["explain", "--hardware", "v5p-16", "python3", "-m"]
offloaded = ["--model", "llama2-7b", "--hardware", "tpu-v4", "--chips", "8", "--rules", "default", "--remat",
             "minimal_offloaded"]
sliced = ["--model", "llama2-7b", "--hardware", "tpu-v5p", "--chips", "12", "--rules", "default", "--remat", "full"]
odd = ["--model", "llama3.1-8b", "--chips", "24", "--hardware", "h100"]

# What is typed, the exit code, and what stands in the message (2) or in the answer (0, 3).
program = str(pathlib.Path(__file__).resolve().parents[2] / "tests/data/audit/mx7_v5p8_ep8_fix.hlo.gz")
gpu_program = program.replace("mx7_v5p8_ep8_fix", "h100_mx_ep8_dm")
mixtral = ["audit", "--hlo", program, "compile_topology=v5p-16", "moe_dispatch_no_expert_sharding=True",
           "model_name=mixtral-8x7b", "per_device_batch_size=1", "ici_fsdp_parallelism=1", "ici_expert_parallelism=8",
           "capacity_factor=1.25", "sparse_matmul=False", "megablox=False", "max_target_length=4096"]
cases = [
    (mixtral, 4, "other-arguments"),  # of 4 layers
    ([*mixtral, "base_num_decoder_layers=4", "override_model_config=True"], 0, "ok"),
    (["sweep", "--model", "llama2-7b", "--hardware", "h100", "--chips", "8", "--price", "h100=2"], 2,
     "--price needs --tokens"),
    (["compare", *small, "--price", "h100=2"], 2, "--price is for --objective cost here"),
    ([*small, "--price", "h100=2"], 0, "$/M tokens"),
    (["compare", *two, "--price", "h100=20,v5p=1"], 0, "1  tpu-v5p, fsdp=8, default: "),
    (["compare", *two, "--price", "h100=20"], 0, "tpu-v5p default: no price to rank by: give --price tpu-v5p="),
    (["--model", "llama2-7b", "--chips", "32", "--hardware", "h100", "--slices", "2"], 2,
     "h100 has 8 chips a node: 32 chips don't fit in 2 nodes; in 4 they do"),
    (["compare", *small, "--mesh", "fsdp=8", "--mesh", "fsdp=16"], 2,
     "--mesh fsdp=16: no mesh of 8 devices with fsdp=16"),
    (["audit", "--hlo", program, "--tolerance", "50%"], 2, "--tolerance and --ignore-below are for a comparison"),
    (["audit", "--hlo", program, "--program", "train"], 2, "--program is about the plan of a run: give its arguments"),
    (["audit", "--hlo", program, "--baseline", gpu_program], 2,
     "h100_mx_ep8_dm.hlo.gz: compiled by XLA:GPU, but " + program + " by XLA:TPU"),
    (["explain", "--hardware", "v5p-16", "model_name=gemma4-e2b", "scan_layers=true"], 2, "set scan_layers=false"),
    ([*odd, "--per-device-batch", "0.25"], 0, "with 12,288 tokens a step"),
    ([*odd, "--rules", "pure-fsdp"], 2, "no rule set searched has a mesh of 24 devices whose axes divide the dims"),
    ([*odd, "--global-batch-tokens", "3000"], 2, "nearest: 2048 or 4096"),
    ([*odd, "--global-batch-tokens", "512k"], 3, "would fit with: --global-batch-tokens 491520; or --global-batch-tokens "),
    (["--model", "kimi-k2-1t", "--chips", "9216", "--hardware", "7x", "--moe", "ring", "--rules", "default,ep-as-dp"], 0,
     "--chips 8192 would make"),
    (["explain", "model_name=llama2-7b", "compile_topology=v5p-7"], 2,
     "tpu-v5p has no v5p-7; nearest: v5p-8 (4 chips)"),
    (["--model", "llama2-7b", "--hardware", "v5p-12"], 2, "nearest: v5p-8 (4 chips) or v5p-16 (8 chips)"),
    (["explain", "compile_topology=v5p-8"], 2,
     "which model? give model_name=NAME (model_name=default: the dims of base.yml"),
    (["explain", "--hardware", "v5p-16", "python3 -m maxtext.trainers.pre_train.train model_name=llama2-7b"], 2,
     "'python3 …': several words in one: paste a launch without the quotes around it"),
    ([*launch, "maxtext.trainers.post_train.sft.train_sft", "base.yml", "model_name=llama2-7b"], 2,
     "maxtext.trainers.post_train.sft.train_sft: shardplan costs MaxText's pre-training, and no other program: expected "),
    ([*launch, "maxtext.inference.decode", "model_name=llama2-7b"], 2, "costs MaxText's pre-training"),
    (["explain", "export", "LIBTPU_INIT_ARGS=--xla_tpu_scoped_vmem_limit_kib=65536"], 2,
     "paste the variables and python3 as one command without export and &&"),
    (["explain", "--hardware", "v5p-16", "env", "JAX_PLATFORMS=tpu,cpu", "TPU_STDERR_LOG_LEVEL=0", "LIBTPU_INIT_ARGS=",
      *launch[launch.index("python3"):], "MaxText.train", "base.yml", "model_name=llama2-7b"], 0, "llama2-7b on tpu-v5p"),
    (["explain", "remat_policy=foo", *one[1:]], 2, "minimal_flash, "),
    (["--model", "gpt-oss-20b", "--chips", "8", "--hardware", "h200,mi355x"], 0,
     "< at most: the time that gradients of experts' biases take on mi355x is not known, and left out"),
    (["sweep", "--model", "gpt-oss-20b", "--chips", "8", "--hardware", "mi355x"], 0, "at most"),
    ([*small, "--top", "2147483647"], 0, "llama2-7b on 8 chips"),
    ([*small[:6], "--rules", "2d-fsdp"], 2, "MaxText lists the name but has no custom_mesh_and_rule/2d-fsdp.yml"),
    ([*launch, "http.server"], 2, "costs MaxText's pre-training"),
    ([*launch, "maxtext.trainers.pre_train.train_compile", "model_name=llama2-7b"], 0, "llama2-7b on tpu-v5p"),
    ([*launch, "MaxText.train", "MaxText/configs/base.yml", "model_name=llama2-7b"], 0, "llama2-7b on tpu-v5p"),
    ([*launch[:-1], "src/MaxText/train.py", "base.yml", "model_name=llama2-7b"], 0, "llama2-7b on tpu-v5p"),
    ([*launch[:-1], "train.py", "base.yml", "model_name=llama2-7b"], 0, "llama2-7b on tpu-v5p"),
    ([*launch[:-1], "src/maxtext/inference/decode.py", "base.yml", "model_name=llama2-7b"], 2, "decode.py: shardplan costs"),
    (["explain", "--rules", "default", "custom_mesh_and_rule=cp-as-ep", *one[1:]], 2,
     "custom_mesh_and_rule is given twice: 'cp-as-ep' and 'default'"),
    ([*one, "model_name=Llama-2-7B"], 0, "llama2-7b on h100"),
    ([*one, "model_name=llama2-13b"], 2, "model_name is given twice: 'llama2-13b' and 'llama2-7b'"),
    (["check", "--model", "Llama-3-8B", "model_name=llama3-8b", "--mesh", "fsdp=8"], 0, "(llama3-8b on fsdp=8"),
    ([*one, "ici_fsdp_parallelism=8"], 0, "llama2-7b on h100"),
    ([*one, "ici_tensor_parallelism=-1"], 2, "ici_tensor_parallelism=-1: it is 1 in --mesh, which says all sizes"),
    ([*offloaded], 3, "host-traffic-not-priced: remat_policy=minimal_offloaded moves activations to the host"),
    (["compare", *offloaded], 3, "host-traffic-not-priced: "),
    (["sweep", *offloaded], 3, "host-traffic-not-priced"),
    ([*sliced], 0, "tpu-v5p: 12 chips in 3 slices of v5p-8, joined by the data-center network"),
    ([*sliced], 0, "mesh       data=3,fsdp=4 in 3 slices"),
    ([*sliced, "--format", "markdown"], 0, "`data=3,fsdp=4` in 3 slices"),
    ([*small, "--reserve-hbm", "74GiB"], 3, "it fits, but leaves less free than asked: 1"),
    ([*small, "--reserve-hbm", "-1%"], 2, "expected a share from 0% to less than 100%"),
    ([*small, "--xla-flags", "banana"], 2, "XLA flags: 'banana': expected --NAME=VALUE"),
    (["sweep", "--model", "llama2-7b", "--hardware", "h100,H100", "--chips", "8"], 2,
     "h100 and H100 are the same machine, h100"),
    ([*small, "--xla-flags", ""], 2, "--xla-flags: given as an empty text; none is XLA's defaults"),
    ([*one, "--trace", "-"], 2, "--trace -: the answer is on standard output; give a FILE"),
    ([*small, "--model-out", "-"], 2, "--model-out -: the answer is on standard output; give a FILE"),
    ([*one, "--trace", "/dev/stdout"], 2, "--trace /dev/stdout: the answer is on standard output; give a FILE"),
    ([*one, "--trace", "a\nb"], 2, "--trace a\\x0ab: control characters in the name of a file"),
    ([*one, "--trace", "z", "--model-out", "./z"], 2, "--trace z: --model-out writes to the same file; give another"),
    ([*one, "--trace", "same.json", "-o", "./same.json"], 2, "--trace same.json: -o writes the answer to the same file"),
    (["compare", *small, "--mesh", "fsdp=4,tensor=2", "--mesh", "tensor=2,fsdp=4"], 2,
     "--mesh tensor=2,fsdp=4 is given twice"),
    (["calibrate", "--hardware", "h100", "--from", "x.log", "-o", "-"], 2, "calibrate needs -o FILE"),
    ([*small, "-o", "-"], 0, "llama2-7b on 8 chips"),
    (["sweep", *small, "-o", "-"], 0, "llama2-7b"),
]


def deaf(binary, folder):
    """Where nobody listens on standard error the exit code is the same, and no file gets what is said there."""
    failures = []
    for redirection in ("2>&-", "2>/dev/full"):
        for words, code in ((["check", "--rules", "nosuch"], 2), (["sweep", *small, "--xla-flags=--xla_foo_bar=1"], 0),
                            (["sweep", *small, "--format", "json", "-o", "deaf.json"], 0)):
            done = subprocess.run(["sh", "-c", f'exec "$0" "$@" {redirection}', binary, *words], capture_output=True,
                                  text=True, cwd=folder)
            if done.returncode != code:
                failures.append(f"{' '.join(words)} {redirection}\n  exit {done.returncode}, not {code}")
        sweep = pathlib.Path(folder) / "deaf.json"
        if not sweep.exists() or len(json.loads(sweep.read_text())["cells"]) != 1:
            failures.append(f"sweep -o deaf.json {redirection}: the file is torn")
        sweep.unlink(missing_ok=True)
    said = subprocess.run([binary, "sweep", *small, "--xla-flags=--xla_foo_bar=1"], capture_output=True, text=True).stderr
    if "--xla_foo_bar=1 on h100: not known: the figures are those without it" not in said:
        failures.append(f"an unknown flag is not said: {said!r}")
    return failures


def main(binary):
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        for words, code, said in cases:
            done = subprocess.run([binary, *words], capture_output=True, text=True, cwd=folder,
                                  env=dict(os.environ, COLUMNS="250"))
            text = done.stderr if code == 2 else done.stdout
            if done.returncode != code or said not in text or (code == 2 and done.stdout):
                failures.append(f"{' '.join(words)}\n  exit {done.returncode}, not {code} with {said!r}: {text[:300]}")
        failures += deaf(binary, folder)
        if os.listdir(folder):
            failures.append(f"files were written: {os.listdir(folder)}")
    print("\n".join(failures) or f"{len(cases)} mistakes are said")
    return 1 if failures else 0


sys.exit(main(os.path.abspath(sys.argv[1])))
