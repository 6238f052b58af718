scenario "bad" {
  run { workload = "transfer" }
  run "a" "b" { workload = "transfer" }
  cluster "x" { nodes = 2 }
}
