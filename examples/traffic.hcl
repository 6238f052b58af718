# Traffic matrices: the bytes that each rank sends to each other rank, all at the same time.
#
#   weir plan examples/traffic.hcl      a summary of each matrix
#   weir run  examples/traffic.hcl      run it
#   weir docs workloads traffic         all options (weir docs metrics traffic: all metrics)
#
# examples/traffic.yaml is the same scenario in the other syntax.
scenario "traffic" {
  description = "traffic matrices between four processes of this machine, written down, from a file and generated"

  defaults {
    launches = [3, 5, 8]
    options {
      traffic {
        fabric     = "shm"
        iterations = 20
        warmup     = 5
      }
    }
  }

  # A row for each sender; K, M and G are powers of 1024, as in files of ct-perftest.
  run "written" {
    workload = "traffic"
    options {
      matrix = [
        [0, "1M", 0, 0],
        [0, 0, "2M", "64K"],
        [0, 0, 0, 0],
        ["512K", 0, 0, 0],
      ]
    }
    sweep {
      op     = ["write", "read"] # senders put, or receivers get
      shards = [1, 4]            # number of descriptors for each cell
    }
    assert = [
      "bandwidth >= 0.1 GB/s",
    ]
  }

  # A file in the published form, beside this one. Its contents become part of the plan.
  run "file" {
    workload = "traffic"
    options {
      matrix_file = "matrices/prefill_decode.txt"
    }
    assert = [
      "bottleneck.bandwidth >= 0.1 GB/s",
    ]
  }

  # The same bytes out of each rank, spread evenly and unevenly.
  run "generated" {
    workload = "traffic"
    options {
      ranks = 4
    }
    sweep {
      generate = ["uniform 1MiB", "ring 3MiB", "incast 3MiB", "zipf 3MiB exponent=1.2"]
    }
    assert = [
      # the bandwidth of the busiest rank, as a share of the capacity of its path; a rank
      # with its own core reaches far more
      "ceiling >= 2%",
    ]
  }
}
