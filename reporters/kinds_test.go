package reporters

import _ "github.com/weir-bench/weir/workload/kinds"
