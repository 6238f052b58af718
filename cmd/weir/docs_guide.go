package main

// guide explains the notation of scenarios; the table of keys follows it.
const guide = `AXES. A sweep has axes; the cases are all combinations of their values.
  block_size: [4KiB, 1MiB]            an option of the workload, by a list
  block_size: 4KiB..64MiB x4          4KiB, 16KiB, …: each times 4, up to 64MiB
  in_flight: 1..8 +1                  1, 2, …, 8: plus 1 each
  env.UCX_TLS: [null, rc]             an environment variable of the ranks; null leaves it unset
  variant: [stock, patched]           rows of variants:, with their values, vars, env and options
  tokens: [128, 512]                  an axis of your own, used as ${axis.tokens}
  zip, product, concat                row by row, all combinations, one after the other
  exclude: [{when: fabric == "tcp" && block_size > 16MiB, reason: known slow}]
  order: {by: interleave, axis: fabric}      launches alternate between its values

UNITS. Sizes: B, kB, MB, GB (powers of 1000), KiB, MiB, GiB (of 1024). Rates: GB/s, MiB/s, Gbps.
  Times: ns, us, ms, s, m, h. Shares: 10%. A number without a unit in an assertion has the metric's unit.

NAMES. In ${…}: axis.NAME, var.NAME, env.NAME (of the shell that plans), variant.NAME, and functions
  (weir docs functions); in numbers of options, in env and in texts of roles and services also
  run("NAME").METRIC of a run that is decided earlier: rate: '${0.8 * run("search").found.rate}/s'.
  In when, where and exclude: options and axes by name, env.NAME of an axis; in when also
  host.fabrics, host.backends (of NIXL), host.nodes, host.gpus, host.cpus (of the node with the fewest).

SELECTORS. The key of a case is RUN[AXIS=VALUE,…], axes by name. --only and --skip take a key, a run,
  or a pattern: --only 'bandwidth[fabric=shm,*]'. Axes may be in any order, * in a value is any text, and
  * for an axis is all axes that are not named. Values with blanks, commas or brackets may be quoted.

ASSERTIONS. METRIC within 10% of X, between X and Y, >= X, <= X; increases|decreases with AXIS.
  run("NAME").METRIC                  the case of another run at the same values of the axes
  at(env.V == "old").METRIC           another case of the same run; the launches of both alternate
  baseline.METRIC, reference.METRIC   of a stored session; of a table
  geomean(METRIC over AXIS), min, max, mean, median, ratio, all(…, …), any(…, …), gain(METRIC)
  transport == "rc_mlx5"              the transport that the library reports
  … where CONDITION                   limits the cases; METRIC is one of weir docs metrics

WHILE. A run with while: OTHER is background load: it starts before each launch of OTHER, repeats its
  passes until that launch ends, timed part included, and is then stopped. Its ranks stay busy, so give
  it processors of its own. Its metrics are those of the passes that it finished.

`
