package client

import "golang.org/x/sys/unix"

// sleepExactly sleeps in the kernel, late by less than 0.1 ms. A signal ends it early.
func sleepExactly(ns int64) {
	rest := unix.NsecToTimespec(ns)
	_ = unix.Nanosleep(&rest, nil)
}
