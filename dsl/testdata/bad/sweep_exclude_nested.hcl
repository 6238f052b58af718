scenario "s" {
  run "a" {
    workload = "transfer"
    options { op = "write" }
    sweep {
      zip = {block_size = ["4KiB"], exclude = [{when = "block_size == 4KiB"}]}
    }
  }
}
