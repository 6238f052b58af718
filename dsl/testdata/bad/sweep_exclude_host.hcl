scenario "s" {
  run "a" {
    workload = "transfer"
    options { op = "write" }
    sweep {
      block_size = ["4KiB"]
      exclude = [{when = "host.gpus > 1"}]
    }
  }
}
