scenario "sequence" {
  variable "scale" {
    type    = "number"
    default = 0.001
  }
  variable "tokens" {
    type    = "number"
    default = 16000
  }
  defaults {
    options {
      traffic_sequence = { iterations = 2, shards = 2 }
    }
  }
  run "written" {
    workload = "traffic_sequence"
    options {
      sleep_after_launch = "1ms"
      patterns = [
        {
          matrix              = [[0, "1M", 0], [0, 0, var.tokens], [0, 0, 0]]
          sleep_before_launch = "5ms"
          metadata            = { isl = var.tokens, batch = "a" }
        },
        {
          matrix_file             = "matrices/ring.txt"
          sleep_before_launch_sec = 0.25
          sleep_after_launch_sec  = 0
          shards                  = 4
          op                      = "read"
          metadata                = { batch = "b", isl = 2000, own = "x" }
        },
      ]
    }
    assert = ["slowdown <= 100 where isl > 2000"]
  }
  run "published" {
    workload = "traffic_sequence"
    options {
      metadata_file = "sequence"
      time_scale    = 0.01
    }
  }
  run "generated" {
    workload = "traffic_sequence"
    options {
      time_scale = "1%"
      generate = {
        model         = "llama-405b"
        isl           = var.tokens
        requests      = 2
        prefill_nodes = 1
        decode_nodes  = 1
        prefill_tp    = 8
        decode_tp     = 8
        bytes_scale   = var.scale
      }
    }
    sweep {
      overlap            = [true, false]
    }
  }
  run "traced" {
    workload = "traffic_sequence"
    options {
      generate = { config = "sequence/config.json", trace = "sequence/trace.jsonl", gpus_per_node = 1, prefill_nodes = 1, decode_nodes = 1, sleep = "none" }
    }
  }
  run "one_batch" {
    workload = "traffic"
    options {
      generate = { model = "llama-405b", isl = "fixed:16000", requests = 1, prefill_nodes = 1, decode_nodes = 1, prefill_tp = 8, decode_tp = 8 }
    }
  }
}
