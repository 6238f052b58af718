# Traffic matrices: each rank moves so many bytes to each other, all at once.
#
#   weir plan examples/traffic.hcl      what each matrix amounts to
#   weir run  examples/traffic.hcl      run it
#   weir docs workloads traffic         all options; weir docs metrics traffic: what is measured
#
# examples/traffic.yaml says the same in the other syntax.
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
      op     = ["write", "read"] # the senders put, or the receivers get
      shards = [1, 4]            # descriptors into which each cell is cut
    }
    assert = [
      "bandwidth >= 0.1 GB/s",
    ]
  }

  # The published form, beside this file. What it says becomes part of the plan.
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
      # what the busiest rank has, as a share of what its path can carry; a rank with a
      # core of its own has far more
      "ceiling >= 2%",
    ]
  }
}
