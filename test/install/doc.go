// Package install has tests only: they install and import weir as other people do, from a module proxy.
package install
