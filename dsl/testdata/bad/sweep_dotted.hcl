scenario "bad" {
  run "a" {
    workload = "transfer"
    sweep {
      env.FI_PROVIDER = ["tcp"]
    }
  }
}
