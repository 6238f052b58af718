scenario "bad" {
  run "a" {
    workload = "transfer"
    workload = "transfer"
  }
}
