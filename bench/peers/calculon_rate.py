"""How many configurations Calculon costs in so many seconds; run by time_peers.py."""
import itertools
import json
import logging
import os
import random
import sys
import time

import calculon
from calculon.llm import Llm, System

GPUS, BATCH = 64, 512


def executions(app, system):
    for tensor in Llm.get_all_tensor_parallelisms(GPUS, app.hidden, app.attn_heads):
        for pipeline in Llm.get_all_pipeline_parallelisms(GPUS, tensor, app.num_blocks):
            data = Llm.get_data_parallelism(GPUS, tensor, pipeline)
            for interleaving in Llm.get_valid_pipeline_interleavings(app.num_blocks, pipeline):
                for microbatch in Llm.get_valid_microbatch_sizes(app.seq_size, tensor, data, BATCH, pipeline):
                    for recompute in ("full", "attn_only", "none"):
                        for sharded in ((True, False) if data > 1 else (False,)):
                            yield dict(num_procs=GPUS, tensor_par=tensor, pipeline_par=pipeline, data_par=data, tensor_par_net=0,
                                       pipeline_par_net=system.num_networks - 1, data_par_net=system.num_networks - 1,
                                       batch_size=BATCH, microbatch_size=microbatch, datatype="float16", fused_activation=True,
                                       attention_type="multihead", activation_recompute=recompute,
                                       pipeline_interleaving=interleaving, optimizer_sharding=sharded, tensor_par_comm_type="ar",
                                       tensor_par_overlap="none", seq_par_ag_redo=False, data_par_overlap=data > 1,
                                       weight_offload=False, activations_offload=False, optimizer_offload=False, training=True)


def main():
    seconds, folder = float(sys.argv[1]), sys.argv[2]
    app = Llm.Application(calculon.io.read_json_file(os.path.join(folder, "models", "gpt3-175B.json")))
    system = System(calculon.io.read_json_file(os.path.join(folder, "systems", "h100_80g_nvl8.json")))
    choices = list(executions(app, system))
    random.Random(0).shuffle(choices)  # those that fit lie together
    end, began, configurations, costed = time.time() + seconds, time.process_time(), 0, 0
    for execution in itertools.cycle(choices):
        if time.time() > end:
            break
        try:
            model = Llm(app, logging.Logger("quiet"))
            model.compile(system, Llm.Execution.from_json(execution))
            model.run(system)
            costed += 1
        except Llm.Error:  # doesn't fit, or can't be
            pass
        configurations += 1
    if not costed:
        sys.exit("nothing was costed")
    print(json.dumps({"configurations": configurations, "cpu_seconds": time.process_time() - began}))


if __name__ == "__main__":
    main()
