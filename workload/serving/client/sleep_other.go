//go:build !linux

package client

import "time"

// sleepExactly sleeps as exactly as the runtime does.
func sleepExactly(ns int64) { time.Sleep(time.Duration(ns)) }
