package reporters

import _ "weir/workload/kinds"
