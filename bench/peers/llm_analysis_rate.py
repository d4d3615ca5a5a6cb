"""How many configurations llm-analysis costs in so many seconds; run by time_peers.py."""
import itertools
import json
import logging
import sys
import time

from llm_analysis.analysis import ActivationRecomputation, DSZeRO, LLMAnalysis, get_dtype_config_by_name, get_gpu_config_by_name
from llm_analysis.config import ModelConfig, ParallelismConfig

GPUS, HEADS, LAYERS = 64, 96, 96


def splits():
    sizes = [2**i for i in range(7)]
    for tensor, pipeline in itertools.product(sizes, sizes):
        if GPUS % (tensor * pipeline) == 0 and HEADS % tensor == 0 and LAYERS % pipeline == 0:
            yield ParallelismConfig(tp_size=tensor, pp_size=pipeline, dp_size=GPUS // (tensor * pipeline))


def main():
    logging.disable(logging.CRITICAL)
    model = ModelConfig("gpt3-175b", LAYERS, HEADS, 12288, 50257, max_seq_len=2048, expansion_ratio=4)
    gpu, dtype = get_gpu_config_by_name("h100-sxm-80gb"), get_dtype_config_by_name("w16a16e16")
    end, began = time.time() + float(sys.argv[1]), time.process_time()
    configurations = 0
    choices = list(itertools.product(splits(), (1, 2, 4, 8), ActivationRecomputation, DSZeRO))
    for split, batch, recomputation, zero in itertools.cycle(choices):
        if time.time() > end:
            break
        analysis = LLMAnalysis(model, gpu, dtype, split, flops_efficiency=0.5)
        try:
            analysis.training(batch_size_per_gpu=batch, gradient_accumulation_steps=8, seq_len=2048,
                              activation_recomputation=recomputation, ds_zero=zero)
        except AssertionError:  # its way to say that it doesn't fit
            pass
        configurations += 1
    print(json.dumps({"configurations": configurations, "cpu_seconds": time.process_time() - began}))


if __name__ == "__main__":
    main()
