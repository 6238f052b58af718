scenario "bad" {
  run "a" {
    workload = "transfer"
    options { block_size = 1 }
    options { op = "read" }
    env = { A = 1, A = 2, "${var.x}" = 3 }
    sweep {
      batch {}
    }
  }
  run "a" { workload = "transfer" }
}
