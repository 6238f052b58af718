scenario "s" {
  run "a" {
    workload = "transfer"
    options { op = "write" }
    sweep {
      concat = [{block_size = ["4KiB"], batch = [1]}, {block_size = ["8KiB"]}]
    }
  }
}
