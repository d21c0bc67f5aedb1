package plugin

import "syscall"

// dieWithParent has the kernel end the plugin when the thread that started it
// ends. It stands behind the lease.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }
