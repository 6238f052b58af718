//go:build !weirtest

package main

const hooksBuilt = false
