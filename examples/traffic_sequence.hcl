# Traffic matrices one after the other: the ranks of each meet, sleep as if they
# computed, and start together; and each is moved alone, to tell what the others cost it.
#
#   weir plan examples/traffic_sequence.hcl      what is moved, and how long all of it sleeps
#   weir run  examples/traffic_sequence.hcl      run it
#   weir docs workloads traffic_sequence         all options; weir docs metrics traffic_sequence: what is measured
#   weir docs generate                           what a sequence can be made of besides
#
# examples/traffic_sequence.yaml says the same in the other syntax.
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

  # A pattern is a matrix with what its ranks do around it. Those without a rank in
  # common run at the same time unless overlap is false.
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
          metadata            = { isl = 4000 } # what is known of it; a name for where, and a column of the report
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
      # near 1 where every rank has a core of its own
      "slowdown.p50 <= 50 where isl > 10000",
    ]
  }

  # A directory as `weir matgen` or NIXL's inference_workload_matgen writes it.
  run "published" {
    workload = "traffic_sequence"
    options {
      metadata_file = "matrices/sequence"
      time_scale    = 0.01 # a hundredth of the sleeps, for a rehearsal; every report says so
    }
    assert = [
      "bandwidth >= 0.01 GB/s",
    ]
  }

  # The same without files: what the prefill ranks of a model send to the decode ranks.
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
