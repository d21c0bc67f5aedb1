//go:build !unix

package plugin

import (
	"os"
	"os/exec"
)

// ownGroup does nothing: this system has no process groups to speak of.
func ownGroup(*exec.Cmd) {}

// killGroup ends p alone.
func killGroup(p *os.Process) { p.Kill() }
