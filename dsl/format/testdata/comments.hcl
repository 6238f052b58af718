// the head
/* and
 * a block */
scenario "comments" { # beside the name
  description = <<-EOT
    several
      lines
  EOT


  variable "size" { # beside size
    type = size
    default = "64MiB" // beside the default
    # at the end
  } # after size

  run "first" {

    # before the workload
    workload = "transfer"
    options {
      block_size = var.size
      iterations = (
        # inside an expression
        size(var.size) > 1
        ? 10
        : 20
      )
      op = "${"write"}"
    }
    env = {
      A    = "a \"b\" \\ \t ${var.size} $${x} %%{y}",
      "B"  = "only $${x}" # beside B
      # at the end of env
    }
    sweep {
      # the axes
      batch = [1, 2, # beside two
        4]
    }
    launches = 1e0
    assert = [ # beside the bracket
      "bandwidth >= 1 GB/s",
      # before the second
      { that = "latency.avg <= 1s", name = "slow" }, # beside the second
      # at the end
    ]
  }
  # at the end of the scenario
}
# at the end of the file
