scenario "a" {
  run "a" {
    workload = "transfer"
    options { block_size = 1 }
  }
}
scenario "b" {}
