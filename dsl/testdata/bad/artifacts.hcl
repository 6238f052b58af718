scenario "bad" {
  artifact "a" {
    command = ["x"]
    file    = "/x"
  }
  artifacts = {}
  run "a" {
    workload = "transfer"
    options  = { block_size = "1MiB" }
    place {
      rank = 1
    }
  }
}
