scenario "bad" {
  run "a" {
    workload = "transfer"
    options { block_size = "1MiB" }
    when = true
  }
  run "b" {
    workload = "transfer"
    options { block_size = "1MiB" }
    when = fabric == "ucx"
  }
}
