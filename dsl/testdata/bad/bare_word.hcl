scenario "bad" {
  run "a" {
    workload = transfer
    options { 
      block_size = "1MiB"
      op = write
    }
  }
}
