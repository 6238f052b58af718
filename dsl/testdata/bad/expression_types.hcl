scenario "bad" {
  run "a" {
    workload = "transfer"
    options {
      block_size = size("1MB/s")
      batch      = [1]
      iterations = 1.5
      warmup     = null
      in_flight  = axis.nope
      threads    = nofunc(1)
    }
  }
}
