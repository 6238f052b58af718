package jsonschema_test

import _ "github.com/weir-bench/weir/workload/kinds"
