scenario "libfabric-p5" {
  description = "writes over EFA"

  variable "peak" {
    type        = "bandwidth"
    default     = "46.48 GB/s"
    description = "what the fabric was validated at"
  }
  variable "p2p" {
    type    = bool
    default = true
  }

  cluster {
    nodes          = 2
    distinct_hosts = true
    gpus_per_node  = 1
  }

  defaults {
    timeout  = "5m"
    launches = [3, 5, 8, 12]
  }

  check "EFA provider is there" {
    on      = "every node"
    command = ["fi_info", "-p", "efa"]
  }

  run "bandwidth" {
    workload = "transfer"
    options {
      fabric     = "libfabric"
      op         = "write"
      initiator  = "dram"
      target     = "dram"
      iterations = axis.block_size > size("1MiB") ? 63 : 1000
    }
    env = {
      FI_PROVIDER         = "efa"
      FI_HMEM_DISABLE_P2P = var.p2p ? "0" : "1"
    }
    sweep { block_size = ["4KiB", "1MiB", "16MiB", "64MiB"] }
    assert = [
      "bandwidth within 10% of ${var.peak} where block_size == 64MiB",
      "latency.avg <= 60us where block_size == 4KiB",
      "bandwidth increases with block_size",
      "bandwidth >= 0.2 * ceiling.bandwidth",
      "bandwidth within 10% of ceiling.bandwidth",
      { that = "bandwidth >= 0.9 * ceiling.bandwidth", severity = "warn", name = "UCX keeps up" },
      "bandwidth between 40 and 50",
    ]
  }
}
