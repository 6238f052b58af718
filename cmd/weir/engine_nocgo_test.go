//go:build !cgo

package main

const engineLinked = false
