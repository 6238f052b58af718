//go:build weirtest

package main

// hooksBuilt is whether the engine has what only tests set: memory of the CUDA stand-in is the host's to libraries.
const hooksBuilt = true
