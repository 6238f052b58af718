scenario "ranges" {
  run "quickstart" {
    workload = "transfer"
    sweep {
      block_size = "4KiB..64MiB x2"
      fabric     = ["shm", "tcp"]
    }
    options {
      iterations = min(1000, max(20, floor(size("64MiB") / axis.block_size)))
    }
  }
  run "steps" {
    workload = "transfer"
    options { block_size = "64KiB" }
    sweep {
      batch = "1..8 +3"
      share = "0.1..0.5 +0.2"
    }
    env = { SHARE = axis.share }
  }
  run "merged" {
    workload = "transfer"
    options {
      block_size = 65536
      iterations = 5
    }
  }
  run "missed" {
    workload = "transfer"
    sweep { block_size = "1KiB..100KiB x10" }
  }
}
