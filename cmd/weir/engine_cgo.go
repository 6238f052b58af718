//go:build cgo

package main

import (
	"github.com/weir-bench/weir/engine/native" // registers the engine that moves real bytes
	"github.com/weir-bench/weir/executor/host/rlimit"
)

func init() {
	rlimit.TryThreads = native.ThreadsFit
	engineBuilt = native.Built
}
