//go:build cgo

package main

// engineLinked says whether scripts can move bytes.
const engineLinked = true
