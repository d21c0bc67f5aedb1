package main

import (
	"bufio"
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// process is what the kernel says about a process, in bytes; 0 where it does
// not say (only Linux does).
type process struct {
	Resident     int64 // memory in use, mapped files included, once for each mapping
	Proportional int64 // the same, each page divided by the number of its mappings
	Private      int64 // of that, pages that nobody else maps
	Anonymous    int64 // of that, pages that no file backs
	Peak         int64 // the most that was resident
	Written      int64 // handed to the disk
}

// thisProcess reads /proc/self.
func thisProcess() process {
	rollup := procFields("smaps_rollup")
	return process{
		Resident:     rollup["Rss"],
		Proportional: rollup["Pss"],
		Private:      rollup["Private_Clean"] + rollup["Private_Dirty"],
		Anonymous:    rollup["Anonymous"],
		Peak:         procFields("status")["VmHWM"],
		Written:      bytesWritten(),
	}
}

func bytesWritten() int64 { return procFields("io")["write_bytes"] }

// plus adds up what two processes use. Neither shares anonymous memory.
func (p process) plus(q process) process {
	return process{
		Resident:     p.Resident + q.Resident,
		Proportional: p.Proportional + q.Proportional,
		Private:      p.Private + q.Private,
		Anonymous:    p.Anonymous + q.Anonymous,
		Peak:         p.Peak + q.Peak,
		Written:      p.Written + q.Written,
	}
}

// procFields reads a file of lines such as "VmRSS:  1024 kB".
func procFields(name string) map[string]int64 {
	text, err := os.ReadFile("/proc/self/" + name)
	if err != nil {
		return nil
	}
	fields := map[string]int64{}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		key, value, _ := strings.Cut(lines.Text(), ":")
		number, isKB := strings.CutSuffix(strings.TrimSpace(value), " kB")
		if n, err := strconv.ParseInt(number, 10, 64); err == nil {
			if isKB {
				n <<= 10
			}
			fields[key] = n
		}
	}
	return fields
}

// loadAverage is the system's, such as "1.02 0.71 0.50"; "unknown" elsewhere.
func loadAverage() string {
	text, err := os.ReadFile("/proc/loadavg")
	if fields := strings.Fields(string(text)); err == nil && len(fields) > 3 {
		return strings.Join(fields[:3], " ")
	}
	return "unknown"
}

// bytesUnder is the size of all files in dir.
func bytesUnder(dir string) (total int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			total += info.Size()
		}
		return err
	})
	return total, err
}
