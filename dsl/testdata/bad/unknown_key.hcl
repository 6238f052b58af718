scenario "bad" {
  runs = 5
  clutser {}
  run "a" {
    workload = "transfer"
    needs "x" {}
    options { blok_size = "1MiB" }
    assrt = []
  }
}
