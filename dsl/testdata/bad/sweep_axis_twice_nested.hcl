scenario "s" {
  run "a" {
    workload = "transfer"
    options { op = "write" }
    sweep {
      block_size = ["4KiB"]
      zip {
        block_size = ["8KiB"]
        batch = [1]
      }
    }
  }
}
