// Package faults has tests only: they inject faults at random moments into sessions of the
// real program on three hosts, and hold every session to the same promises.
package faults
