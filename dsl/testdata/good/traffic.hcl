scenario "traffic" {
  variable "cell" {
    type    = "size"
    default = "64KiB"
  }
  defaults {
    options {
      traffic = { iterations = 5, matrix_file = "matrices/ring.txt" }
    }
  }
  run "written" {
    workload = "traffic"
    options {
      matrix = [
        [0, "1.5K", "64M"],
        ["4MiB", 0, 7],
        [var.cell, 0, 0],
      ]
      shards = 2
    }
  }
  run "inherited" {
    workload = "traffic"
    options { op = "read" }
  }
  run "text" {
    workload = "traffic"
    options {
      matrix = "2: 0>1=1024 1>0=2048"
      ranks  = 2
    }
  }
  run "generated" {
    workload = "traffic"
    options { generate = "zipf ${var.cell}" }
    sweep { ranks = [2, 4] }
  }
  run "swept" {
    workload = "traffic"
    options { ranks = 4 }
    sweep {
      generate = ["uniform 64KiB", "incast 1MiB", "sparse 64KiB peers=2"]
    }
    assert = ["bottleneck.bandwidth >= 1 GB/s where generate == \"incast 1MiB target=0\""]
  }
  run "files" {
    workload = "traffic"
    sweep {
      matrix_file = ["matrices/ring.txt", "matrices/pair.txt"]
    }
  }
}
