// Package hosts has tests only: they run the real program on several hosts, over ssh, by
// Slurm and with registered agents.
package hosts
