# Traffic matrices one after another: the ranks of each synchronize, sleep for the time
# of a computation, and start together. Each is also measured alone, for its slowdown.
#
#   weir plan examples/traffic_sequence.hcl      the matrices, and the sum of all sleeps
#   weir run  examples/traffic_sequence.hcl      run it
#   weir docs workloads traffic_sequence         all options (weir docs metrics traffic_sequence: all metrics)
#   weir docs generate                           other sources of a sequence
#
# examples/traffic_sequence.yaml is the same scenario in the other syntax.
scenario "traffic_sequence" {
  description = "sequences of traffic matrices between processes of this machine, written down, from files and from a model"

  defaults {
    launches = [3, 5, 8]
    options {
      traffic_sequence {
        fabric              = "shm"
        isolated_iterations = 10
      }
    }
  }

  # A pattern is a matrix with sleeps before and after it. Patterns without a common
  # rank run at the same time unless overlap is false.
  run "written" {
    workload = "traffic_sequence"
    options {
      patterns = [
        {
          matrix = [
            [0, "4M", 0, 0],
            [0, 0, 0, 0],
            [0, 0, 0, 0],
            [0, 0, 0, 0],
          ]
          sleep_before_launch = "5ms"
          metadata            = { isl = 4000 } # further fields, for where and as columns of the report
        },
        {
          matrix = [
            [0, 0, 0, 0],
            [0, 0, 0, 0],
            [0, 0, 0, "1M"],
            [0, 0, 0, 0],
          ]
          sleep_before_launch = "5ms"
          metadata            = { isl = 1000 }
        },
        {
          matrix_file         = "matrices/prefill_decode.txt"
          sleep_before_launch = "10ms"
          sleep_after_launch  = "1ms"
          shards              = 4
          metadata            = { isl = 16000 }
        },
      ]
    }
    sweep {
      overlap = [true, false]
    }
    assert = [
      "bandwidth >= 0.01 GB/s",
      # near 1 if every rank has its own core
      "slowdown.p50 <= 50 where isl > 10000",
    ]
  }

  # A directory as `weir matgen` or NIXL's inference_workload_matgen writes it.
  run "published" {
    workload = "traffic_sequence"
    options {
      metadata_file = "matrices/sequence"
      time_scale    = 0.01 # a hundredth of the sleeps, for a rehearsal; reports show it
    }
    assert = [
      "bandwidth >= 0.01 GB/s",
    ]
  }

  # The same without files: the traffic from the prefill ranks of a model to the decode ranks.
  run "model" {
    workload = "traffic_sequence"
    options {
      time_scale = 0.001
      generate = {
        model         = "llama-8b"
        isl           = "lognormal:4000,2000"
        requests      = 4
        prefill_nodes = 1
        decode_nodes  = 1
        gpus_per_node = 2
        prefill_tp    = 2
        decode_tp     = 2
        bytes_scale   = 0.01 # a hundredth of the bytes
      }
    }
    assert = [
      "bandwidth >= 0.01 GB/s",
    ]
  }
}
