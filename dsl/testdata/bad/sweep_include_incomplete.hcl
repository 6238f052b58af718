scenario "s" {
  run "a" {
    workload = "transfer"
    options { op = "write" }
    sweep {
      block_size = ["4KiB"]
      batch = [1, 2]
      include = [{block_size = "8KiB"}]
    }
  }
}
