scenario "bad" {
  run "a" {
    workload = 
  }
