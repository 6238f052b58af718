scenario "s" {
  run "a" {
    workload = "transfer"
    options { op = "write" }
    sweep {
      concat = {block_size = ["4KiB"]}
    }
  }
}
