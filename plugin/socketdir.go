package plugin

import (
	"io/fs"
	"os"
	"path/filepath"
)

// socketDirEnv is go-plugin's variable for where a plugin makes its socket.
const socketDirEnv = "PLUGIN_UNIX_SOCKET_DIR"

// maxSocketDir leaves room for the name of a socket in the 104 bytes that
// macOS allows for its path; Linux allows 108.
const maxSocketDir = 80

// removeSockets removes the directory and the sockets in it, unless it holds
// anything else.
func removeSockets(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Type()&fs.ModeSocket != 0 {
			os.Remove(filepath.Join(dir, e.Name()))
		}
	}
	return os.Remove(dir)
}
