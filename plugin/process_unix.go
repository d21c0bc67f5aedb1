//go:build unix

package plugin

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup puts the process in a group of its own, so that a Ctrl-C at the
// host's terminal is the host's to handle, and so that whatever the plugin
// starts can be ended with it.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	dieWithParent(cmd.SysProcAttr)
}

// killGroup ends p and every process of its group. The caller makes sure that
// p has not been waited for yet.
func killGroup(p *os.Process) { syscall.Kill(-p.Pid, syscall.SIGKILL) }
