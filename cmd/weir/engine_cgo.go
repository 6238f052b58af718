//go:build cgo

package main

import (
	"weir/engine/native" // registers the engine that moves real bytes
	"weir/executor/rlimit"
)

func init() { rlimit.TryThreads = native.ThreadsFit }
