scenario "bad" {
  variable "peak" { default = "46" }
  run "a" {
    workload = "transfer"
    options { block_size = "1MiB" }
    assert = [
      "bandwith >= 5",
      "bandwidth >= ${var.peak} GBB/s",
      "bandwidth >= 5 where fabric == \"ucxx\"",
      <<-EOT
      bandwidth >= 5us
      EOT
    ]
  }
}
