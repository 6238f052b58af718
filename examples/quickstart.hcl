# weir's first scenario: how fast do bytes move between two processes of this
# machine, over every fabric that it has, and is that as fast as it should be?
#
#   weir plan examples/quickstart.hcl     the cases and assertions
#   weir run  examples/quickstart.hcl     run it, some ten seconds
#
# examples/quickstart.yaml is the same scenario in the other syntax.
scenario "quickstart" {
  description = "block transfers between two processes of this machine, over every fabric that it has"

  defaults {
    timeout  = "1m"      # of one launch of one case
    launches = [3, 5, 8] # the gate looks after 3, 5 and 8 launches, and stops when all assertions are decided
  }

  run "bandwidth" {
    workload = "transfer" # weir docs workloads lists the options and metrics of each workload

    options {
      op        = "write" # one-sided: the initiator puts into the target's memory
      initiator = "dram"
      target    = "dram"
      ranks     = 2
      # Expressions are evaluated before anything runs: 256 MiB at each size, within limits.
      iterations = max(16, min(4000, size("256MiB") / axis.block_size))
      warmup     = max(4, min(400, size("32MiB") / axis.block_size))
    }

    # Fabrics that this host lacks are skipped, with the reason in the report.
    when = "fabric in host.fabrics"

    # Axes multiply; an axis named like an option sets that option.
    sweep {
      fabric     = ["shm", "tcp", "ucx"]
      block_size = "64KiB..16MiB x16" # 64KiB, 1MiB, 16MiB
    }

    # Assertions are judged over launches. `ceiling.bandwidth` is the capacity of the path,
    # measured in the same launch, so the assertions hold on any machine, even if
    # it has other work.
    assert = [
      "bandwidth >= 0.05 * ceiling.bandwidth",
      "latency.p50 <= 1s",
    ]
  }
}
