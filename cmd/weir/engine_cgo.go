//go:build cgo

package main

import _ "weir/engine/native" // registers the engine that moves real bytes
