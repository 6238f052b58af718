scenario "bad" {
  run "a" {
    workload = "command"
    options {
      ranks = 1
      roles {
        tool = { command = ["true"] }
      }
      services "server" {
        command = ["true"]
      }
    }
  }
}
