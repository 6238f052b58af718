package jsonschema_test

import _ "weir/workload/kinds"
