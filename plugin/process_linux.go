package plugin

import "syscall"

// dieWithParent has the kernel tell the plugin to end when the thread that
// started it ends. It stands behind the lease. Being killed outright, a plugin
// could neither close its provider nor remove its socket.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGTERM }
