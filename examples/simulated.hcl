# A rehearsal: the same language, plan, gate and reports as on a cluster, but
# fabric `sim` moves no bytes. Its numbers follow from the model that the sim_
# options declare, so this runs anywhere, in a second, and always gives the same.
#
#   weir run examples/simulated.hcl
#   weir run examples/simulated.hcl --var noise=6%     how often can the gate still decide?
#
# Use it to learn the language, to try out assertions before a cluster is there, and
# to see how noise, stragglers and drift affect verdicts. results.json marks
# every launch as simulated. examples/simulated.yaml is the same scenario in the other syntax.
scenario "simulated" {
  description = "what a path of 25 GB/s and 3 µs would give, and what the gate would say of it"

  variable "noise" {
    default = "3%" # variation between launches
  }

  cluster {
    nodes = 2 # simulated nodes: sim-1 and sim-2
  }

  defaults {
    launches = [3, 5, 8, 12]
    options {
      transfer = { # the declared path
        fabric        = "sim"
        sim_latency   = "3us" # of an empty message in one direction
        sim_bandwidth = "25 GB/s"
        sim_noise     = var.noise
      }
    }
  }

  run "bandwidth" {
    workload = "transfer"
    # The bandwidth of a stream is block / (latency / in_flight + block / bandwidth).
    sweep {
      op         = ["write", "read"]
      in_flight  = [1, 16]
      block_size = "4KiB..64MiB x4"
    }
    assert = [
      "bandwidth >= 0.9 * sim_bandwidth where block_size >= 4MiB && in_flight == 16",
      "bandwidth increases with block_size where block_size <= 1MiB",
      "ceiling <= 1.05",
    ]
  }

  run "latency" {
    workload = "transfer"
    options {
      mode       = "pingpong"
      block_size = "8B"
      iterations = 1000
    }
    assert = ["latency.p50 within 10% of sim_latency"]
  }

  # A path with faults. One launch in ten is up to 15 % slower than the others, and
  # the speed drifts by half a percent per launch; both need more launches.
  run "faulty" {
    workload = "transfer"
    options {
      block_size         = "1MiB"
      sim_stragglers     = "10%"
      sim_straggler_loss = "15%"
      sim_drift          = "0.5%"
    }
    assert = ["bandwidth within 15% of 24.5 GB/s"]
  }
}
