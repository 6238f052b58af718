# weir's first scenario: how fast do bytes move between two processes of this
# machine, over every fabric that it has, and is that as fast as it should be?
#
#   weir plan examples/quickstart.hcl     what would run, and what is asserted
#   weir run  examples/quickstart.hcl     run it
#
# examples/quickstart.yaml says the same in the other syntax.
scenario "quickstart" {
  description = "block transfers between two processes of this machine, over every fabric that it has"

  defaults {
    timeout  = "1m"          # of one launch of one case; a hang ends here
    launches = [3, 5, 8, 12] # the gate looks after so many launches and stops as soon as it is sure
  }

  run "bandwidth" {
    workload = "transfer" # weir docs workloads lists the options and metrics of each workload

    options {
      op        = "write" # one-sided: the initiator puts into the target's memory
      initiator = "dram"
      target    = "dram"
      ranks     = 2
      # Expressions are evaluated before anything runs: 512 MiB at each size, within limits.
      iterations = max(32, min(20000, size("512MiB") / axis.block_size))
      warmup     = max(4, min(2000, size("64MiB") / axis.block_size))
    }

    # A fabric that this host lacks is skipped, and the report says why.
    when = "fabric in host.fabrics"

    # Axes multiply; an axis named like an option sets that option.
    sweep {
      fabric     = ["shm", "tcp", "ucx"]
      block_size = "4KiB..64MiB x2" # 4KiB, 8KiB, 16KiB, …
    }

    # Assertions are judged after the run, launch by launch. `ceiling.bandwidth`
    # is what the same launch found the path to be able to carry, so these hold
    # on any machine.
    assert = [
      # a band: half of all requests move their block as fast as one thread can copy
      # it; slower fails, and so does faster than possible
      "block_size / latency.p50 within 10% of ceiling.bandwidth where fabric == \"shm\" && block_size == 64KiB",
      # a bound on one side
      "bandwidth >= 0.2 * ceiling.bandwidth where block_size >= 1MiB",
      # a trend over the cases along an axis, one for each fabric
      "latency.p50 increases with block_size where block_size <= 8MiB",
    ]
  }
}
