"""Commands whose pages are tested: every kind that there is."""
import pathlib
import subprocess

data = pathlib.Path(__file__).resolve().parents[1] / "data"
small = ["--remat", "full", "--per-device-batch", "2"]
audited = (f"--hlo {data}/audit/mx7_v5p8_ep8_dm.hlo.gz model_name=mixtral-8x7b per_device_batch_size=1 ici_fsdp_parallelism=1 "
           "ici_expert_parallelism=8 capacity_factor=1.25 sparse_matmul=False megablox=False base_num_decoder_layers=4 "
           "override_model_config=True max_target_length=4096 compile_topology=v5p-16 moe_dispatch_no_expert_sharding=True")
pages = {
    "plan": ["plan", "--model", "mixtral-8x7b", "--chips", "16", "--hardware", "tpu-v5p,tpu-v6e", "--rules", "default",
             "--moe", "dropping", "--remat", "full,minimal", "--per-device-batch", "2"],
    "plan-nothing-fits": ["plan", "--model", "mixtral-8x7b", "--chips", "8", "--hardware", "tpu-v6e", "--rules", "default",
                          "--moe", "dropping", *small],
    "plan-may-fit": ["plan", "--model", "mixtral-8x7b", "--chips", "8", "--hardware", "tpu-v5p,h100", "--rules", "default",
                     "--moe", "dropping", "--remat", "full"],
    "plan-prices": "plan --model llama2-7b --chips 8 --hardware h100,v5p --rules default --remat full --objective cost --price h100=20,v5p=3".split(),
    "explain-reserve": "explain --model llama3.1-8b --hardware h100 --chips 16 --mesh fsdp=16 remat_policy=minimal_with_context "
                       "per_device_batch_size=8 attention=cudnn_flash_te --reserve-hbm 30%".split(),
    "explain-torus": "explain --model llama3-70b --hardware tpu-7x --chips 16 --slices 2 --mesh data=2,fsdp=8,tensor=2 "
                     "per_device_batch_size=1".split(),
    "explain-large-torus": "explain --model llama3-70b --hardware tpu-v5p --chips 1024 --mesh data=8,fsdp=128 per_device_batch_size=1".split(),
    "explain-routing": "explain --model qwen3-30b-a3b --hardware tpu-v5p --chips 16 --mesh fsdp=16 sparse_matmul=false capacity_factor=1.25 "
                       "per_device_batch_size=1".split(),
    "explain-switch": "explain --model llama3-70b --hardware h100 --chips 32 --mesh fsdp=16,tensor=2 per_device_batch_size=1 "
                      "attention=cudnn_flash_te".split(),
    "explain-graph": "explain --model llama2-7b --hardware toy-spine --chips 16 --mesh data=2,fsdp=4,tensor=2 per_device_batch_size=1 "
                     "attention=cudnn_flash_te".split(),
    "explain-does-not-fit": "explain --model llama3-70b --hardware h100 --chips 16 --mesh fsdp=16 per_device_batch_size=1 "
                            "attention=cudnn_flash_te".split(),
    "sweep": ["sweep", "--model", "llama2-7b,mixtral-8x7b", "--hardware", "h100,toy-torus", "--chips", "2..16", "--rules", "default", "--moe",
              "dropping", "--remat", "full", "--global-batch-tokens", "256k", "--tokens", "300B", "--within", "100d", "--price", "h100=2.5"],
    "sweep-of-many": ["sweep", "--model", "llama2-7b,llama3.1-8b,mistral-7b,gemma2-9b", "--hardware",
                      "tpu-v5p,tpu-v6e,tpu-7x,h100,h200,b200,mi300x,mi355x", "--chips", "8,32", "--rules", "default", "--remat", "full", "--per-device-batch", "2"],
    "sweep-without-goal": ["sweep", "--model", "llama2-7b", "--hardware", "h100", "--chips", "4", "--rules", "default", "--remat", "full",
                           "--global-batch-tokens", "256k", "--reserve-hbm", "5%", "--xla-flags=--xla_gpu_enable_latency_hiding_scheduler=true"],
    "sweep-assumed-flags": ["sweep", "--model", "mixtral-8x7b", "--hardware", "mi355x", "--chips", "8", "--rules", "default", "--remat", "full,minimal"],
    "compare": ["compare", "--model", "mixtral-8x7b", "--chips", "8", "--hardware", "mi355x", "--rules", "default,ep-as-dp",
                "--moe", "dropping", *small],
    "compare-nothing-fits": ["compare", "--model", "mixtral-8x7b", "--chips", "8", "--hardware", "h100", "--rules", "default,cp-as-ep", "--moe",
                             "dropping", "--remat", "full"],
    "compare-files": ["compare", "--config", f"{data}/html/experts.yml", "--against", f"{data}/html/fsdp.yml", "--hardware", "b200",
                      "--chips", "8"],
    "compare-rules": ["compare", "--rules", "default", "--against", "ep-as-dp", "--model", "mixtral-8x7b", "--chips", "8",
                      "--hardware", "mi355x", "--mesh", "expert=8", "--moe", "dropping", *small],
    "compare-vary": ["compare", "--model", "mixtral-8x7b", "--chips", "8", "--hardware", "mi355x", "--rules", "default",
                     "--mesh", "expert=8", "--moe", "dropping", "--vary", "moe_dispatch_no_expert_sharding=false,true", *small],
    "check": ["check", "--rules", "default", "--model", "mixtral-8x7b", "--mesh", "expert=8", "sparse_matmul=False"],
    "audit": ["audit", *audited.split()],
    "audit-timeline": ["audit", "--timeline", *audited.split()],
}


def answer_of(binary, words, form):
    run = subprocess.run([binary, *words, "--format", form], capture_output=True, text=True)
    assert run.returncode in (0, 3, 4), run.stderr
    return run.stdout
