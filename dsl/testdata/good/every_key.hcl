# Every key of the language once; sections as blocks and as attributes.
scenario "every_key" {
  description = "several lines"
  variable "text" { default = "no" }
  variable "number" {
    type    = "number"
    default = 1.5
  }
  variable "flag" {
    type    = "bool"
    default = false
  }
  variable "sizes" {
    type    = "list"
    default = ["4KiB", "1MiB"]
  }
  variable "size" {
    type    = "size"
    default = "64MiB"
  }
  variable "rate" {
    type    = "rate"
    default = "400Gb/s"
  }
  variable "time" {
    type    = "time"
    default = "5us"
  }
  variable "share" {
    type    = "percent"
    default = "10%"
  }
  variable "plain" { default = "0777" }
  cluster { nodes = var.number > 1 ? 1 : 2 }
  defaults {
    launches = 4
    timeout  = "90s"
    env      = { UCX_LOG_LEVEL = "warn", UCX_TLS = "all" }
    options {
      transfer {
        iterations = 1000
        warmup     = 5
      }
    }
  }
  check "one" { command = ["true"] }
  check "two" {
    on      = "every node"
    command = ["test", "-d", env.HOME]
  }
  run "first" {
    workload = "transfer"
    when     = "fabric in ['shm', 'auto'] && host.nodes >= 1"
    options = {
      warmup = 0
      batch  = max(1, floor(size("1MiB") / axis.block_size))
      mode   = axis.kind
    }
    env {
      UCX_TLS = "it's"
      OCTAL   = "0777"
      EMPTY   = ""
      LOUD    = "${upper(var.text)}-${axis.kind}"
      THREADS = var.number * 2
    }
    sweep = {
      block_size     = var.sizes
      in_flight      = "1..9 +4"
      "env.UCX_RNDV" = ["auto", 1024]
      kind           = ["stream", "pingpong"]
    }
    launches = [2, 3]
    timeout  = "90s"
    assert = [
      "latency.p99 <= 4 * latency.p50",
      "latency.p50 <= 2 * ${var.time}",
      "bandwidth >= 90% * ${var.rate} where block_size == ${var.size} || kind == \"pingpong\"",
      "bandwidth within ${var.share} of 2 * block_size / 1ms",
      { that = "ceiling >= 0.5", name = "ceiling", severity = "info" },
    ]
  }
  run "second" {
    workload = "transfer"
    needs    = ["first"]
    options { block_size = 1000 }
    sweep { ranks = [2, 4] }
  }
}
