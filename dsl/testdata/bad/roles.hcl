scenario "roles" {
  run "names" {
    workload = "command"
    options {
      roles = {
        a = { command = ["echo", "x ${role.b.adress}", role["b"].address, launch.name] }
        b = { command = ["echo"], node = "x" }
      }
    }
  }
  run "parts" {
    workload = "command"
    options {
      roles = {
        a = { command = ["echo"], ends = "with c" }
      }
      parse = "iperf3"
    }
  }
}
