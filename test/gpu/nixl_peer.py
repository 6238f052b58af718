"""NIXL's own agent with its backend UCX between two GPUs, or on one: WRITE of N blocks of a size.

Prints `NIXL N x SIZE: US us, RATE GB/s`, medians of the host's clock from the post of a request to its
end. Needs torch and the files of the package nixl-cu13 on PYTHONPATH.
"""

import multiprocessing
import os
import statistics
import time

ROWS = (
    (1, 8), (1, 4096), (1, 65536), (1, 1 << 20), (1, 64 << 20), (1, 256 << 20), (1024, 4096), (1024, 65536),
)


def initiate(agent, peer, mine, theirs):
    for count, size in ROWS:
        def blocks(end):
            return agent.get_xfer_descs([(end[0] + i * size, size, end[1]) for i in range(count)], "VRAM")

        handle = agent.initialize_xfer("WRITE", blocks(mine), blocks(theirs), peer)
        times = []
        for _ in range(65 if size * count < 64 << 20 else 25):
            began = time.perf_counter()
            state = agent.transfer(handle)
            while state == "PROC":
                state = agent.check_xfer_state(handle)
            if state != "DONE":
                raise RuntimeError(f"{count} x {size}: {state}")
            times.append(time.perf_counter() - began)
        median = statistics.median(times[5:])
        print(f"NIXL {count:4} x {size:9}: {median * 1e6:9.1f} us {size * count / 1e9 / median:7.1f} GB/s", flush=True)
        agent.release_xfer_handle(handle)


def rank(number, pipe):
    import torch
    from nixl_cu13._api import nixl_agent, nixl_agent_config

    device = number % torch.cuda.device_count()
    torch.cuda.set_device(device)
    agent = nixl_agent(f"rank {number}", nixl_agent_config(backends=["UCX"]))
    memory = torch.full((256 << 20,), number + 1, dtype=torch.uint8, device="cuda")
    torch.cuda.synchronize()
    agent.register_memory([memory])
    mine = memory.data_ptr(), device
    pipe.send((agent.get_agent_metadata(), mine))
    metadata, theirs = pipe.recv()
    peer = agent.add_remote_agent(metadata)
    if number == 0:
        initiate(agent, peer, mine, theirs)
        pipe.send("end")
        pipe.recv()
    else:
        pipe.recv()
        torch.cuda.synchronize()
        print("NIXL received right:", bool((memory == 1).all()), flush=True)
        pipe.send("end")
    os._exit(0)


if __name__ == "__main__":
    os.environ.setdefault("NIXL_LOG_LEVEL", "ERROR")
    spawn = multiprocessing.get_context("spawn")
    ends = spawn.Pipe()
    ranks = [spawn.Process(target=rank, args=(r, ends[r])) for r in range(2)]
    for process in ranks:
        process.start()
    for process in ranks:
        process.join(90)
        process.kill()
