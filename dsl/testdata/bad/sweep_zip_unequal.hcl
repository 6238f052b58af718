scenario "s" {
  run "a" {
    workload = "transfer"
    options { op = "write" }
    sweep {
      zip { 
        block_size = ["4KiB", "8KiB"]
        batch = [1, 2, 3]
      }
    }
  }
}
