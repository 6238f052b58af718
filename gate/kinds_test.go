package gate

import _ "weir/workload/kinds"
